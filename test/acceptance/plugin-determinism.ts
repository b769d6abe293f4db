/**
 * The same inputs give the same bytes and the same fuel: in two orders, in two threads, and between machines and versions of Node by
 * the hash it prints. Prints one line of JSON; exit code 1 when a row fails.
 */
import { hash } from 'node:crypto'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { SANDBOX_HASH } from '#sandbox/builds.ts'
import type { SandboxItem } from '#sandbox/model.ts'
import { SandboxRunner } from '#sandbox/sandbox-runner.ts'

const { values } = parseArgs({ options: { inputs: { type: 'string', default: '10000' } } })
const count = Number(values.inputs)
const limits = { fuel: 500, memory_mib: 32 }
const BATCH = 200

/** Uses what could differ: floating point, sorting, patterns, maps, memory of many sizes, exceptions. */
const source = `
const words = 'alpha beta gamma delta epsilon'.split(' ')
export function factor({ n }, lists) {
  const sizes = Array.from({ length: (n * 7919) % 200 }, (_, i) => Math.sin(i * n) * Math.exp(i / 50))
  sizes.sort((a, b) => a - b)
  const map = new Map(sizes.map((size, i) => [words[i % 5] + i, size.toFixed(6)]))
  const buffer = new Uint8Array((n * 104729) % 2000000)
  buffer[buffer.length - 1] = n
  if (n % 97 === 0) throw new Error('every 97th: ' + n)
  if (n % 101 === 0) for (;;);
  const found = [...map.keys()].join(' ').match(/(alpha|delta)\\d+/g) ?? []
  return { n, sum: sizes.reduce((a, b) => a + b, 0), found, last: buffer.at(-1), power: Math.pow(n, 1.5), text: words.map((w) => w.padEnd(n % 20, '·')).join() }
}`
const items = Array.from({ length: count }, (_, n): SandboxItem => ({ args: [JSON.stringify({ n })] }))
const backwards = [...items].reverse()

async function runAll(all: readonly SandboxItem[]): Promise<string[]> {
  const runner = new SandboxRunner({ script: path.join(import.meta.dirname, 'sandbox.mjs') })
  const lines: string[] = []
  try {
    for (let start = 0; start < all.length; start += BATCH) {
      const task = { source, entry_point: 'factor' as const, items: all.slice(start, start + BATCH), limits }
      for (const result of await runner.run(task)) {
        const end = result.ok ? result.output : `${result.reason} ${'message' in result ? result.message : ''}`
        lines.push(`${end} ${result.fuel}`)
      }
      if (start % 2000 === 0) console.error(`${lines.length} of ${all.length}`)
    }
  } finally {
    await runner.close()
  }
  return lines
}

const forwards = await runAll(items)
const reversed = (await runAll(backwards)).reverse()
const different = forwards.filter((line, index) => line !== reversed[index]).length
const is_passed = different === 0
process.exitCode = is_passed ? 0 : 1
console.log(
  JSON.stringify({
    ...{
      inputs: count,
      different,
      result_hash: hash('sha256', forwards.join('\n'), 'hex'),
      sandbox_hash: SANDBOX_HASH,
    },
    ...{ node: process.version, is_passed },
  }),
)
