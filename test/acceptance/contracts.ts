/**
 * Source contracts over many seeds: inferred contracts admit their samples and refuse mutants at the right place, every seeded drift
 * is found within one window, and stationary windows give no finding. Prints one line of JSON; exit code 1 when a row fails.
 */
import { parseArgs } from 'node:util'
import { findDrift } from '#contract/drift-findings.ts'
import { countCaughtMutants, createInferred } from '#test/support/contract-mutants.ts'
import { createWindows, every, seededDrifts, setMember } from '#test/support/drift-samples.ts'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '20' },
    mutants: { type: 'string', default: '1000' },
    windows: { type: 'string', default: '50' },
  },
})
const [seeds, mutants, windows] = [Number(values.seeds), Number(values.mutants), Number(values.windows)]
const WINDOW_PAYLOADS = 1000
const MIN_CAUGHT = 0.95

let refused_samples = 0
let least_caught = 1
let drifts = 0
let drifts_found = 0
let false_findings = 0

for (let seed = 1; seed <= seeds; seed++) {
  const inferred = createInferred(seed)
  refused_samples += inferred.samples.filter((sample) => inferred.judge(sample).result === 'quarantined').length
  least_caught = Math.min(least_caught, countCaughtMutants(inferred, mutants) / mutants)
  const { collect } = createWindows(seed)
  const baseline = collect(WINDOW_PAYLOADS)
  for (const [kind, pointer, item, change] of seededDrifts) {
    const found = findDrift(baseline, collect(WINDOW_PAYLOADS, change))
    drifts++
    if (found.some((finding) => finding.kind === kind && finding.pointer === pointer && finding.item === item)) {
      drifts_found++
    }
  }
  const nulls = collect(WINDOW_PAYLOADS, setMember('parent', null, every(2)))
  drifts++
  if (findDrift(nulls, baseline).some(({ kind }) => kind === 'null_share_down')) drifts_found++
  for (let window = 0; window < windows; window++) {
    false_findings += findDrift(baseline, collect(WINDOW_PAYLOADS)).length
  }
  console.error(`seed ${seed}: ${drifts_found} of ${drifts} drifts found, ${false_findings} false findings`)
}
const is_passed = refused_samples === 0 && least_caught >= MIN_CAUGHT && drifts_found === drifts && false_findings === 0
process.exitCode = is_passed ? 0 : 1
console.log(
  JSON.stringify({
    seeds,
    refused_samples,
    least_caught,
    drifts,
    drifts_found,
    windows: seeds * windows,
    false_findings,
    is_passed,
  }),
)
