/**
 * Hostile plugins with the limits of production: each ends with its own reason, in bounded memory, without delaying the event loop,
 * and the next task is served. Prints one line of JSON; exit code 1 when a row fails.
 */
import path from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { parseArgs } from 'node:util'
import type { SandboxResult } from '#sandbox/model.ts'
import { SandboxRunner } from '#sandbox/sandbox-runner.ts'
import { attackScripts, toAttackSource } from '#test/support/attack-scripts.ts'

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '3' }, only: { type: 'string' } },
})
const MAX_GROWTH_MIB = 128
const MAX_DELAY_MS = 50
const MAX_NEXT_MS = 1000
const limits = { fuel: 100, memory_mib: 32 }
const MIB = 1024 * 1024

const runner = new SandboxRunner({ script: path.join(import.meta.dirname, 'sandbox.mjs') })
const run = async (source: string): Promise<SandboxResult> => {
  const items = [{ args: ['{}'], entries: {} }]
  return (await runner.run({ source, entry_point: 'factor', items, limits }))[0] as SandboxResult
}
const describeEnd = (result: SandboxResult): string =>
  JSON.stringify(result.ok ? { output: JSON.parse(result.output) } : result.reason)

await run('export const factor = () => 1')
const before_mib = process.memoryUsage().rss / MIB
const delay = monitorEventLoopDelay({ resolution: 5 })
delay.enable()
const wrong: string[] = []
let [ran, most_mib, slowest_next_ms] = [0, 0, 0]
for (let round = 0; round < Number(values.rounds); round++) {
  for (const attack of attackScripts.filter(({ name }) => values.only === undefined || name === values.only)) {
    const end = describeEnd(await run(toAttackSource(attack)))
    ran++
    if (end !== JSON.stringify(attack.ends)) wrong.push(`${attack.name}: ${end}`)
    most_mib = Math.max(most_mib, process.memoryUsage().rss / MIB)
    const started_ms = performance.now()
    const next = await run('export const factor = () => 1')
    if (!next.ok) wrong.push(`after ${attack.name}: ${next.reason}`)
    slowest_next_ms = Math.max(slowest_next_ms, performance.now() - started_ms)
  }
  console.error(`round ${round + 1}: ${ran} attacks, ${wrong.length} wrong`)
}
delay.disable()
await runner.close()
const growth_mib = Math.round(most_mib - before_mib)
const longest_delay_ms = Math.round(delay.max / 1e6)
const is_passed =
  wrong.length === 0 &&
  growth_mib <= MAX_GROWTH_MIB &&
  longest_delay_ms <= MAX_DELAY_MS &&
  slowest_next_ms <= MAX_NEXT_MS
process.exitCode = is_passed ? 0 : 1
console.log(
  JSON.stringify({
    attacks: ran,
    wrong,
    growth_mib,
    longest_delay_ms,
    slowest_next_ms: Math.round(slowest_next_ms),
    is_passed,
  }),
)
