/** Hostile code ends with its own reason, and the thread serves the next item. */
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { attackScripts, toAttackSource } from '#test/support/attack-scripts.ts'
import { threadsDir } from '#test/support/threads.ts'
import type { SandboxResult } from './model.ts'
import { SandboxRunner } from './sandbox-runner.ts'

const script = path.join(threadsDir, 'sandbox.mjs')
const runner = new SandboxRunner({ script, base_ms: 20_000 })
/** Ends native loops soon; what uses fuel or memory runs with the other. */
const impatient = new SandboxRunner({ script, base_ms: 40, ms_per_fuel: 0 })
afterAll(() => Promise.all([runner.close(), impatient.close()]))

/** Little memory is filled sooner. */
const limits = { fuel: 100, memory_mib: 20 }
const run = async (by: SandboxRunner, source: string): Promise<SandboxResult> =>
  (await by.run({ source, entry_point: 'factor', items: [{ args: ['{}'], entries: {} }], limits }))[0] as SandboxResult

const describeResult = (result: SandboxResult): unknown =>
  result.ok ? { output: JSON.parse(result.output) } : result.reason

test.each(attackScripts)('$name: $ends', async (attack) => {
  const by = attack.ends === 'native_loop' ? impatient : runner
  const result = await run(by, toAttackSource(attack))
  expect(describeResult(result)).toEqual(attack.ends)
  if (!result.ok && 'message' in result) expect(result.message.length).toBeLessThanOrEqual(200)
  if (attack.ends === 'native_loop') return
  expect(await run(by, 'export const factor = () => 1')).toMatchObject({ ok: true, output: '1', fuel: 0 })
})

test('gives each attack the same fuel again', async () => {
  const deterministic = attackScripts.filter(({ ends }) => ends === 'fuel' || ends === 'memory').slice(0, 4)
  for (const attack of deterministic) {
    const [first, second] = [await run(runner, toAttackSource(attack)), await run(runner, toAttackSource(attack))]
    expect([second.fuel, describeResult(second)]).toEqual([first.fuel, describeResult(first)])
  }
})
