/**
 * Samples of test matrices that are too large to run whole each time (fault × call, hostile document × operation). The seed is
 * the commit, so that a landed state is tested the same way every time and the next one differently; it is printed, and
 * PROBITY_TEST_SEED repeats a run. PROBITY_TEST_WHOLE=1 runs everything.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createRandom } from './random.ts'

const isWhole = process.env['PROBITY_TEST_WHOLE'] === '1'
const seed = process.env['PROBITY_TEST_SEED'] ?? readCommit()

function readCommit(): string {
  try {
    const git = ['rev-parse', '--short=12', 'HEAD']
    return execFileSync('git', git, { cwd: import.meta.dirname, stdio: ['ignore', 'pipe', 'ignore'] })
      .toString()
      .trim()
  } catch {
    // A copy without its history.
    return 'unversioned'
  }
}

/** Says in the output of a test file what is sampled, and how to repeat it. */
export function announceSampling(what: string): void {
  console.log(isWhole ? `${what}: all of them` : `${what}: a sample, PROBITY_TEST_SEED=${seed}`)
}

/** `count` of the items in their order, chosen by seed and label. */
export function sample<T>(items: readonly T[], count: number, label: string): readonly T[] {
  if (isWhole || items.length <= count) return items
  const below = createRandom(createHash('sha256').update(`${seed} ${label}`).digest().readInt32BE())
  const left = items.map((_, index) => index)
  const chosen = Array.from({ length: count }, () => left.splice(below(left.length), 1)[0] as number)
  return chosen.sort((a, b) => a - b).map((index) => items[index] as T)
}
