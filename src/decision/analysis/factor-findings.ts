/**
 * Analyses factors that are not tables: the engine decides every combination of their inputs, and each failure is a finding with
 * those inputs as example.
 */
import type { Layout } from '../engine-1/layout.ts'
import type { BoundLists, Factor, Finding, Inputs } from '../model.ts'
import type { ExampleFinder } from './examples.ts'
import { compileFactorScore } from './factor-score.ts'
import { InputUsage } from './input-usage.ts'
import { buildDimensions, toInputs } from './table-space.ts'
import type { Dimension } from './value-classes.ts'

/** Each combination is a decision, which is slower than the bit operations of tables. */
export const MAX_DECISIONS = 100_000

/** Throws NotAnalysable. */
export function analyseFactor(index: number, layout: Layout, lists: BoundLists, examples: ExampleFinder): Finding[] {
  const { definition } = layout
  const factor = definition.family === 'matrix' ? definition.factors[index] : undefined
  if (definition.family !== 'matrix' || !factor || isAlwaysScored(factor, definition.inputs, lists)) return []
  const questions = new InputUsage(layout, lists)
  questions.factor(factor, index)
  const dimensions = buildDimensions(questions, layout, MAX_DECISIONS)
  const answer = compileFactorScore(definition, factor.key, lists)
  const found = new Map<string, { finding: Finding; some: Inputs; times: number }>()
  forEachBox(dimensions, (some) => {
    const given = answer(examples.complete(some))
    if ('score_bps' in given) return
    for (const finding of given.findings) {
      const known = found.get(finding.code)
      if (known) known.times += 1
      else found.set(finding.code, { finding, some, times: 1 })
    }
  })
  return [...found.values()].map(({ finding: { code, message }, some, times }) => {
    const more = times > 1 ? ` The same holds for ${times - 1} more.` : ''
    const shown = examples.showing(some, (finding) => finding.code === code)
    return { code, pointer: `/factors/${index}`, message: `${message}${more}`, severity: 'error', ...shown }
  })
}

/** Whether a factor of a plugin, or on a list too large to enumerate, always has a score. */
function isAlwaysScored(factor: Factor, inputs: Layout['definition']['inputs'], lists: BoundLists): boolean {
  // A plugin that does not give a score of its range is a failure of the plugin, not a gap of the matrix.
  if (factor.form === 'plugin') return true
  if (!('list_key' in factor) || lists.get(factor.list_key)?.all) return false
  // Present or absent, both have a score, which binding has checked; only an unlimited sum could become too large.
  if (factor.form === 'presence') return !factor.count || factor.at_most !== undefined
  // The allowed values are the keys of the same list: none is missing.
  if (factor.inputs.length !== 1) return false
  const input = inputs.find(({ name }) => name === factor.inputs[0])
  return input?.type !== 'list' && input?.one_of?.list_key === factor.list_key && input.one_of.field === undefined
}

export function forEachBox(dimensions: readonly Dimension[], visit: (some: Inputs) => void): void {
  const classes = dimensions.map(() => 0)
  for (;;) {
    visit(toInputs(dimensions, classes))
    // Counts up like an odometer, the last input fastest.
    let at = classes.length - 1
    for (; at >= 0; at--) {
      const next = (classes[at] as number) + 1
      classes[at] = next % (dimensions[at] as Dimension).classes.length
      if (classes[at] !== 0) break
    }
    if (at < 0) return
  }
}
