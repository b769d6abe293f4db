/** Runs steps of which some need others: each begins when those it comes after have ended, and independent ones run at the same time. */

export interface DependentStep {
  readonly name: string
  /** Names of steps that must have ended before. Those that are not run now count as ended. */
  readonly after: readonly string[]
  readonly run: () => Promise<unknown>
}

/** Throws the first failure when all have ended, so that none goes on afterwards. */
export async function awaitAll(running: readonly Promise<unknown>[]): Promise<void> {
  const results = await Promise.allSettled(running)
  const failed = results.find(({ status }) => status === 'rejected')
  if (failed) throw (failed as PromiseRejectedResult).reason
}

/**
 * Throws the first failure when everything that was running has ended, so that nothing goes on afterwards. Steps that have not begun
 * by then do not begin.
 */
export async function runDependentSteps(steps: readonly DependentStep[]): Promise<void> {
  const ended = new Map<string, Promise<void>>()
  const failures: unknown[] = []
  const run = async (step: DependentStep): Promise<void> => {
    await Promise.all(step.after.map((name) => ended.get(name)))
    if (failures.length > 0) return
    await step.run().catch((error) => failures.push(error))
  }
  for (const step of sortByNeed(steps)) ended.set(step.name, run(step))
  await Promise.all(ended.values())
  if (failures.length > 0) throw failures[0]
}

function sortByNeed(steps: readonly DependentStep[]): DependentStep[] {
  const sorted: DependentStep[] = []
  const waiting = new Map(steps.map((step) => [step.name, step]))
  while (waiting.size > 0) {
    const ready = [...waiting.values()].filter(({ after }) => !after.some((name) => waiting.has(name)))
    if (ready.length === 0) throw new Error(`These steps wait for each other: ${[...waiting.keys()].join(', ')}.`)
    for (const step of ready) waiting.delete(step.name)
    sorted.push(...ready)
  }
  return sorted
}
