/**
 * The scores a factor may have, at most: never fewer than it has, sometimes more. So what cannot be with these cannot be at
 * all, but what can be with these may still not happen.
 */
import { fieldReader, isScore } from '../engine-1/binder.ts'
import { MAX_ITEMS, MAX_SCORE_BPS } from '../engine-1/definition-shape.ts'
import type { Factor, Input, Lists, Table, Value } from '../model.ts'
import { plainValue, plainValues } from './values.ts'

export interface PossibleScores {
  /** Null where they were not told one by one. */
  readonly values: readonly number[] | null
  readonly highest: number
}

export function possibleScores(factor: Factor, inputs: readonly Input[], lists: Lists): PossibleScores {
  const scores = (values: readonly (Value | undefined)[]): number[] =>
    values.flatMap((value) => (value === undefined ? [] : [Number(plainValue(value, lists))]))
  const missing = 'on_missing' in factor && factor.on_missing !== 'fail' ? [factor.on_missing.default] : []
  switch (factor.form) {
    case 'lookup': {
      const all = lists.get(factor.list_key)?.all
      if (!all) return UNKNOWN
      const read = fieldReader(factor.field)
      return among([...all.map(({ entry }) => read(entry)).filter(isScore), ...scores(missing)])
    }
    case 'score_map':
      return among(scores([...Object.values(factor.scores), ...missing]))
    case 'presence': {
      if (!factor.count) return among(scores([factor.present, factor.absent]))
      const items = inputs.find(({ name }) => name === factor.input)?.max_items ?? MAX_ITEMS
      const [present = 0, absent = 0] = scores([factor.present, factor.absent])
      const [most = MAX_SCORE_BPS] = scores([factor.at_most])
      return { values: null, highest: Math.max(absent, Math.min(present * items, most, MAX_SCORE_BPS)) }
    }
    case 'table':
      return tableScores(factor.table, lists)
  }
}

function tableScores({ rows, otherwise, collect }: Table, lists: Lists): PossibleScores {
  const given = rows.flatMap(({ then }) => plainValues(then, lists)).map(Number)
  const other = plainValues(otherwise?.then ?? [], lists).map(Number)
  if (collect !== 'sum' && collect !== 'count') return among([...given, ...other])
  const together = collect === 'count' ? rows.length : given.reduce((sum, score) => sum + score, 0)
  return { values: null, highest: Math.min(MAX_SCORE_BPS, Math.max(together, ...other)) }
}

const UNKNOWN: PossibleScores = { values: null, highest: MAX_SCORE_BPS }

const among = (values: readonly number[]): PossibleScores => ({
  values: [...new Set(values)],
  highest: values.reduce((highest, value) => Math.max(highest, value), 0),
})
