/** Input and output of every fault run: counts and a seed from the command line, its end by a signal, one line of JSON. */
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { createRandom } from '#test/support/random.ts'

export interface FaultTestContext<Name extends string> {
  readonly counts: Readonly<Record<Name, number>>
  readonly random: (below: number) => number
  /** Aborted by Ctrl-C and SIGTERM: the run tidies up and says what it has. */
  readonly signal: AbortSignal
  readonly say: (text: string) => void
}

/** `defaults` names the counts that may be given, each at least 1. */
export async function runFaultTest<Name extends string>(
  name: string,
  defaults: Readonly<Record<Name, number>>,
  run: (context: FaultTestContext<Name>) => Promise<{ passed: boolean } & Record<string, unknown>>,
): Promise<void> {
  const names = [...(Object.keys(defaults) as Name[]), 'seed']
  const { values } = parseArgs({
    options: Object.fromEntries(names.map((option) => [option, { type: 'string' as const }])),
  })
  const whole = (option: string, fallback: number, least: number): number => {
    const value = Number(values[option] ?? fallback)
    if (Number.isSafeInteger(value) && value >= least) return value
    console.error(`--${option} must be a whole number from ${least} on.`)
    process.exit(2)
  }
  const seed = whole('seed', randomInt(2 ** 31), 0)
  const counts = Object.fromEntries(
    Object.entries<number>(defaults).map(([option, fallback]) => [option, whole(option, fallback, 1)]),
  ) as Record<Name, number>
  const abort = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => abort.abort())
  const say = (text: string) => console.error(text)
  say(`seed ${seed}`)
  const started_ms = performance.now()
  const result = await run({ counts, random: createRandom(seed), signal: abort.signal, say })
  const duration_s = Math.round((performance.now() - started_ms) / 1000)
  const passed = result.passed && !abort.signal.aborted
  console.log(JSON.stringify({ run: name, seed, ...result, duration_s, passed }))
  process.exitCode = passed ? 0 : 1
}
