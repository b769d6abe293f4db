/**
 * A good plugin on a machine with far more work than cores: it never fails. `overloaded` may occur; it is counted and the item is
 * repeated. Prints one line of JSON; exit code 1 when a run failed.
 */

import { spawn } from 'node:child_process'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { ThreadFailure } from '#kernel/bounded-thread.ts'
import { SandboxRunner } from '#sandbox/sandbox-runner.ts'

const { values } = parseArgs({
  options: { runs: { type: 'string', default: '10000' }, load: { type: 'string', default: '20' } },
})
const [runs, load] = [Number(values.runs), Number(values.load)]
const limits = { fuel: 200, memory_mib: 32 }
const BATCH = 50
/** Busy processes of their own: threads of this one would count as its CPU time. */
const BUSY = 'for (;;) Math.sqrt(Math.random())'

const source = `export function factor({ n }) {
  let sum = 0
  for (let i = 0; i < 20000; i++) sum += i % 7
  return { score_bps: (n + sum) % 10000, reason_code: 'COUNTED' }
}`

const busy = Array.from({ length: load }, () => spawn(process.execPath, ['-e', BUSY], { stdio: 'ignore' }))
const runner = new SandboxRunner({ script: path.join(import.meta.dirname, 'sandbox.mjs') })
let [done, failed, overloaded] = [0, 0, 0]
const first = new Map<number, string>()
try {
  for (let start = 0; start < runs; ) {
    const items = Array.from({ length: Math.min(BATCH, runs - start) }, (_, index) => ({
      args: [JSON.stringify({ n: (start + index) % 100 })],
    }))
    try {
      const results = await runner.run({ source, entry_point: 'factor', items, limits })
      for (const [index, result] of results.entries()) {
        const n = (start + index) % 100
        const output = `${result.ok ? result.output : result.reason} ${result.fuel}`
        const isSame = (first.get(n) ?? output) === output
        first.set(n, output)
        if (!result.ok || !isSame) failed++
        done++
      }
      start += items.length
    } catch (error) {
      if (!(error instanceof ThreadFailure)) throw error
      overloaded++
    }
    if (done % 1000 === 0) console.error(`${done} of ${runs}, ${failed} failed, ${overloaded} times overloaded`)
  }
} finally {
  for (const child of busy) child.kill('SIGKILL')
  await runner.close()
}
process.exitCode = failed === 0 ? 0 : 1
console.log(
  JSON.stringify({ runs: done, failed, overloaded, load, cores: os.availableParallelism(), is_passed: failed === 0 }),
)
