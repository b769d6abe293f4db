/**
 * A plugin factor: a context of its own for each call, beside one context for all calls and the same function in this process. The
 * ratios say what isolation costs; they are no targets.
 */
import type { SandboxItem, SandboxTask } from '#sandbox/model.ts'
import { SandboxRunner } from '#sandbox/sandbox-runner.ts'
import { median } from './median.ts'
import type { Comparison } from './registry-bench.ts'

const ROUNDS = 5
const CALLS = 200

const source = `export function factor(inputs) {
  const signals = []
  if (inputs.employees === 0) signals.push('NO_EMPLOYEES')
  if (inputs.companies >= 50) signals.push('SHARED_ADDRESS')
  if (inputs.age < 12) signals.push('NEWLY_FORMED')
  return { score_bps: signals.length * 2500, reason_code: signals[0] ?? 'NO_SIGNAL', values: { signals } }
}`

interface Inputs {
  readonly employees: number
  readonly companies: number
  readonly age: number
}

/** The same function without a sandbox, from JSON text to JSON text. */
function computeNative(text: string): string {
  const inputs = JSON.parse(text) as Inputs
  const signals: string[] = []
  if (inputs.employees === 0) signals.push('NO_EMPLOYEES')
  if (inputs.companies >= 50) signals.push('SHARED_ADDRESS')
  if (inputs.age < 12) signals.push('NEWLY_FORMED')
  const output = { score_bps: signals.length * 2500, reason_code: signals[0] ?? 'NO_SIGNAL', values: { signals } }
  return JSON.stringify(output)
}

export async function measureSandbox(script: string): Promise<Comparison[]> {
  const runner = new SandboxRunner({ script, base_ms: 60_000 })
  const items = Array.from(
    { length: CALLS },
    (_, index): SandboxItem => ({
      args: [JSON.stringify({ employees: index % 3, companies: index, age: index % 40 } satisfies Inputs)],
    }),
  )
  const task: SandboxTask = { source, entry_point: 'factor', items, limits: { fuel: 200, memory_mib: 32 } }
  const time = async (run: () => unknown): Promise<number> => {
    const started = performance.now()
    await run()
    return ((performance.now() - started) * 1000) / CALLS
  }
  const rounds: Record<'fresh' | 'shared' | 'native', number>[] = []
  try {
    for (let round = 0; round <= ROUNDS; round++) {
      const fresh = await time(() => runner.run(task))
      const shared = await time(() => runner.run({ ...task, is_shared: true }))
      const native = await time(() => items.map(({ args }) => computeNative(args[0] as string)))
      // The first round warms.
      if (round > 0) rounds.push({ fresh, shared, native })
    }
  } finally {
    await runner.close()
  }
  const middle = (side: 'fresh' | 'shared' | 'native'): string =>
    `${median(rounds.map((round) => round[side])).toFixed(1)} µs`
  const compare = (other: 'shared' | 'native', name: string): Comparison => ({
    label: 'a plugin factor, in a context of its own for each call',
    entries: CALLS,
    ours: middle('fresh'),
    baseline: `${name} ${middle(other)}`,
    ratio: median(rounds.map((round) => round[other] / round.fresh)),
  })
  return [compare('shared', 'one context for all calls'), compare('native', 'the same function without a sandbox')]
}
