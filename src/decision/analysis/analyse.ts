/**
 * Proves that a definition decides every valid input with the list versions in force: no gap, no forbidden overlap, no unreachable
 * row, no allowed value without a score. Every fault has example inputs. A definition that is too large to enumerate is reported as
 * not provable.
 */
import type { BoundDefinition, BoundLists, CompiledDefinition, Finding } from '../model.ts'
import { NotAnalysable } from './atoms.ts'
import { analyseDefaults } from './default-findings.ts'
import { ExampleFinder } from './examples.ts'
import { analyseFactor } from './factor-findings.ts'
import { analyseSum, analyseTriggers } from './matrix-findings.ts'
import { bindWithScores, buildScoredLayout } from './plugin-scores.ts'
import { MAX_BOXES } from './sweep.ts'
import { analyseTable } from './table-findings.ts'

/** Limit for all tables of a definition together, so that the analysis takes a bounded time. */
const MAX_BOXES_OF_DEFINITION = 5 * MAX_BOXES

/** When binding finds unsuitable lists, only those findings are returned. */
export function analyseDefinition(compiled: CompiledDefinition, lists: BoundLists): Finding[] {
  const bound = bindWithScores(compiled, lists)
  if (!isBound(bound)) return [...bound]
  const { definition } = compiled
  const layout = buildScoredLayout(definition, lists)
  const examples = new ExampleFinder(layout, lists, bound)
  const budget = { boxes_left: MAX_BOXES_OF_DEFINITION }
  const table = (pointer: string, scores: boolean): Finding[] => {
    const parsed = layout.tables.get(pointer)
    return parsed
      ? reportUnanalysable(pointer, () => analyseTable({ parsed, layout, lists, examples, scores, budget }))
      : []
  }
  const defaults = analyseDefaults(definition, bound, examples)
  if (definition.family === 'rule') return [...defaults, ...table('/table', false)]
  return [
    ...defaults,
    ...definition.factors.flatMap((factor, index) => {
      const pointer = `/factors/${index}`
      if (factor.form === 'table') return table(`${pointer}/table`, true)
      return reportUnanalysable(pointer, () => analyseFactor(index, layout, lists, examples))
    }),
    ...reportUnanalysable('/aggregation', () => analyseSum(layout, lists, bound, examples)),
    ...analyseTriggers(definition, layout, lists),
  ]
}

const isBound = (bound: BoundDefinition | readonly Finding[]): bound is BoundDefinition => 'decide' in bound

function reportUnanalysable(pointer: string, find: () => Finding[]): Finding[] {
  try {
    return find()
  } catch (error) {
    if (!(error instanceof NotAnalysable)) throw error
    const message = `This cannot be proved complete: ${error.message}.`
    return [{ code: 'not_analysable', pointer, message, severity: 'error' }]
  }
}
