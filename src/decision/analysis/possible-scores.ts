/**
 * An upper bound of the scores a factor may have: never fewer, sometimes more. What is impossible with these scores is impossible;
 * what is possible with them may still never happen.
 */
import { createFieldReader, isScore } from '../engine-1/binder.ts'
import { MAX_ITEMS, MAX_SCORE_BPS } from '../engine-1/definition-shape.ts'
import type { BoundLists, DecisionTable, Factor, Input, PolicyValue } from '../model.ts'
import { resolveValue, resolveValues } from './policy-values.ts'

export interface PossibleScores {
  /** Null when they were not enumerated. */
  readonly values: readonly number[] | null
  /** 0 when absent. */
  readonly lowest?: number
  readonly highest: number
}

export function getPossibleScores(factor: Factor, inputs: readonly Input[], lists: BoundLists): PossibleScores {
  const scores = (values: readonly (PolicyValue | undefined)[]): number[] =>
    values.flatMap((value) => (value === undefined ? [] : [Number(resolveValue(value, lists))]))
  const missing = 'on_missing' in factor && factor.on_missing !== 'fail' ? [factor.on_missing.default] : []
  switch (factor.form) {
    case 'lookup': {
      const all = lists.get(factor.list_key)?.all
      if (!all) return UNKNOWN
      const read = createFieldReader(factor.field)
      return toPossibleScores([...all.map(({ entry }) => read(entry)).filter(isScore), ...scores(missing)])
    }
    case 'score_map':
      return toPossibleScores(scores([...Object.values(factor.scores), ...missing]))
    case 'presence': {
      if (!factor.count) return toPossibleScores(scores([factor.present, factor.absent]))
      const items = inputs.find(({ name }) => name === factor.input)?.max_items ?? MAX_ITEMS
      const [present = 0, absent = 0] = scores([factor.present, factor.absent])
      const [most = MAX_SCORE_BPS] = scores([factor.at_most])
      return { values: null, highest: Math.max(absent, Math.min(present * items, most, MAX_SCORE_BPS)) }
    }
    case 'table':
      return getTableScores(factor.table, lists)
    case 'plugin':
      return { values: null, lowest: factor.score_min_bps, highest: factor.score_max_bps }
  }
}

function getTableScores({ rows, otherwise, collect }: DecisionTable, lists: BoundLists): PossibleScores {
  const given = rows.flatMap(({ then }) => resolveValues(then, lists)).map(Number)
  const other = resolveValues(otherwise?.then ?? [], lists).map(Number)
  if (collect !== 'sum' && collect !== 'count') return toPossibleScores([...given, ...other])
  const together = collect === 'count' ? rows.length : given.reduce((sum, score) => sum + score, 0)
  return { values: null, highest: Math.min(MAX_SCORE_BPS, Math.max(together, ...other)) }
}

const UNKNOWN: PossibleScores = { values: null, highest: MAX_SCORE_BPS }

const toPossibleScores = (values: readonly number[]): PossibleScores => ({
  values: [...new Set(values)],
  highest: values.reduce((highest, value) => Math.max(highest, value), 0),
})
