/** What the states of its steps say about a case: which steps can begin, what they rest on, and how far gathering is. */
import { type GatheringState, type StepState, settledStates } from '../model.ts'
import type { StepRow } from '../queries.ts'

/** How many steps of a case run at once. */
export const MAX_AT_ONCE = 4

/** Steps in these states are over until a person acts. */
export const endedStates: readonly StepState[] = ['succeeded', 'failed', 'indeterminate', 'skipped', 'waived']

/** What keeps a step from being asked until a person changes it: a credential is missing, or a plugin cannot run. */
const blockingCodes: readonly (string | undefined)[] = ['provider_credential_missing', 'plugin_invalid']

export const isBlocked = ({ state, problem }: StepRow): boolean =>
  state === 'pending' && blockingCodes.includes(problem?.code)

/** Waits for a dependency and is run again by itself; a step without a time waits for a person. */
export const isDeferred = ({ state, not_before }: StepRow): boolean => state === 'waiting' && not_before !== null

/** Keys of settled steps. */
const listSettled = (steps: readonly StepRow[]): ReadonlySet<string> =>
  new Set(steps.filter(({ state }) => settledStates.includes(state)).map(({ step_key }) => step_key))

const hasNeeds = ({ needs }: StepRow, settled: ReadonlySet<string>): boolean => needs.every((key) => settled.has(key))

/** Steps that nothing keeps from beginning. */
export function listStartable(steps: readonly StepRow[]): StepRow[] {
  const settled = listSettled(steps)
  return steps.filter((step) => step.state === 'pending' && !isBlocked(step) && hasNeeds(step, settled))
}

/** The steps that a job works on: all, or the named ones with those that need them. */
export function listOwn(steps: readonly StepRow[], only: readonly string[] | undefined): readonly StepRow[] {
  if (only === undefined) return steps
  const own = new Set(only)
  for (let size = -1; size !== own.size; ) {
    size = own.size
    for (const { step_key, needs } of steps) if (needs.some((key) => own.has(key))) own.add(step_key)
  }
  return steps.filter(({ step_key }) => own.has(step_key))
}

/** Those that a run can take now: startable ones, those whose time has come, and those that a dead worker of the same job left. */
export function listReady(
  own: readonly StepRow[],
  steps: readonly StepRow[],
  { job_id, now_ms }: { readonly job_id: string; readonly now_ms: number },
): StepRow[] {
  const startable = new Set(listStartable(steps))
  return own.filter(
    (step) =>
      startable.has(step) ||
      (step.state === 'running' && step.job_id === job_id) ||
      (isDeferred(step) && Date.parse(step.not_before as string) <= now_ms),
  )
}

/** Calls of providers that gave something admitted, of the steps that it needs and of those that they need. */
export function listEarlierCalls(steps: readonly StepRow[], step_key: string): string[] {
  const byKey = new Map(steps.map((step) => [step.step_key, step]))
  const seen = new Set<string>()
  const visit = (key: string): void => {
    for (const need of byKey.get(key)?.needs ?? []) {
      if (seen.has(need)) continue
      seen.add(need)
      visit(need)
    }
  }
  visit(step_key)
  return steps.flatMap(({ step_key: key, state, call_id, contract_result }) =>
    seen.has(key) && state === 'succeeded' && call_id !== null && contract_result?.['is_admitted'] === true
      ? [call_id]
      : [],
  )
}

/** How far gathering is, whichever job works on it. */
export function getGathering(steps: readonly StepRow[]): Exclude<GatheringState, 'none'> {
  if (steps.some((step) => step.state === 'running' || isDeferred(step)) || listStartable(steps).length > 0)
    return 'running'
  if (steps.some((step) => step.is_required && isBlocked(step))) return 'blocked'
  return steps.every(({ state }) => settledStates.includes(state)) ? 'done' : 'partial'
}

/** The problem of a blocked case: every credential that is missing, and every plugin that cannot run. */
export function getBlockage(steps: readonly StepRow[]): Readonly<Record<string, unknown>> | null {
  const blocked = steps.filter((step) => step.is_required && isBlocked(step))
  const [first] = blocked
  if (!first) return null
  const problems = blocked.map(({ problem }) => problem as StoredProblem)
  const plugins = problems.filter(({ code }) => code === 'plugin_invalid')
  return {
    code: first.problem?.code,
    detail: [...new Set(problems.flatMap(({ detail }) => detail ?? []))].join(' '),
    steps: blocked.map(({ step_key }) => step_key),
    missing: listOnce(problems.flatMap(({ missing }) => missing ?? [])),
    plugins: listOnce(plugins.map(({ plugin_key, reasons }) => ({ plugin_key: plugin_key ?? null, reasons }))),
  }
}

interface StoredProblem {
  readonly code: string
  readonly detail?: string
  readonly missing?: readonly object[]
  readonly plugin_key?: string
  readonly reasons?: readonly object[]
}

const listOnce = (items: readonly object[]): object[] => [
  ...new Map(items.map((item) => [JSON.stringify(item), item])).values(),
]
