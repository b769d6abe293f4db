/**
 * For tests: the meaning of a matrix written down a second time, as plainly as possible and without any of the engine's code.
 * Tests come as small trees with their text; values are compared as they travel.
 */
import type { BoundLists, DecisionTable, Definition, Inputs, PolicyValue } from '#decision/model.ts'

/** One cell: its text for the engine, its meaning for the naive reading. */
export interface ReferenceCell {
  readonly text: string
  holds(item: unknown): boolean
}

type Matrix = Extract<Definition, { family: 'matrix' }>
export interface ReferenceMatrix {
  readonly definition: Matrix
  /** By pointer of the test. */
  readonly cells: ReadonlyMap<string, ReferenceCell>
}
export type ReferenceOutcome =
  | { ok: true; scores: number[]; score_bps: number; band: string; scored_band: string; reason_codes: string[] }
  | { ok: false; faults: string[] }

class Fault extends Error {
  readonly fault: string
  constructor(fault: string) {
    super(fault)
    this.fault = fault
  }
}

export function decideByReference(
  { definition, cells }: ReferenceMatrix,
  lists: BoundLists,
  given: Inputs,
  plugin_scores: ReadonlyMap<string, number> = new Map(),
): ReferenceOutcome {
  const values = new Map<string, unknown>(
    definition.inputs.map(({ name, default: fallback }) => [name, given[name] ?? fallback]),
  )
  const resolved = (value: PolicyValue): unknown =>
    typeof value === 'object' ? lists.get(value.list_key)?.get(value.key)?.entry[value.field] : value
  const scoreOf = (value: PolicyValue) => resolved(value) as number
  const isOn = (list_key: string, key: unknown) => lists.get(list_key)?.get(String(key)) !== undefined
  const passes = (name: string, pointer: string): boolean => {
    const cell = cells.get(pointer) as ReferenceCell
    const value = values.get(name)
    if (cell.text === '-') return true
    return Array.isArray(value) ? value.some((item) => cell.holds(item)) : cell.holds(value)
  }
  const codes: string[] = []

  const decideTable = (table: DecisionTable, at: string, title_at: string): number => {
    const fired = table.rows.filter((_, r) =>
      table.columns.every((name, c) => passes(name, `${at}/rows/${r}/when/${c}`)),
    )
    const results = fired.map(({ then }) => resolved(then[0] as PolicyValue))
    const scores = results as number[]
    if (fired.length === 0) {
      if (!table.otherwise) throw new Fault(`no_row_fires ${at}`)
      return scoreOf(table.otherwise.then[0] as PolicyValue)
    }
    const order = table.priorities?.map(resolved) ?? []
    const best = Math.min(...results.map((value) => order.indexOf(value)))
    switch (table.hit_policy) {
      case 'unique':
        if (fired.length > 1) throw new Fault(`several_rows_fire ${at}`)
        return scores[0] as number
      case 'any':
        if (new Set(results).size > 1) throw new Fault(`any_rows_differ ${at}`)
        return scores[0] as number
      case 'first':
        return scores[0] as number
      case 'priority':
        return order[best] as number
      case 'collect': {
        if (table.collect === 'count') return fired.length
        if (table.collect === 'min') return Math.min(...scores)
        if (table.collect === 'max') return Math.max(...scores)
        const sum = scores.reduce((a, b) => a + b, 0)
        if (sum > 10_000) throw new Fault(`score_out_of_range ${title_at}`)
        return sum
      }
    }
  }

  const decideFactor = (factor: Matrix['factors'][number], at: string): number => {
    switch (factor.form) {
      case 'plugin':
        return plugin_scores.get(factor.key) as number
      case 'table':
        return decideTable(factor.table, `${at}/table`, at)
      case 'score_map': {
        const score = factor.scores[String(values.get(factor.input))]
        if (score !== undefined) return scoreOf(score)
        if (factor.on_missing === 'fail') throw new Fault(`value_not_scored ${at}`)
        return scoreOf(factor.on_missing.default)
      }
      case 'presence': {
        const hits = new Set([values.get(factor.input)].flat().filter((item) => isOn(factor.list_key, item))).size
        if (hits === 0) return scoreOf(factor.absent)
        const total = factor.count ? hits * scoreOf(factor.present) : scoreOf(factor.present)
        const score = factor.count && factor.at_most !== undefined ? Math.min(total, scoreOf(factor.at_most)) : total
        if (score > 10_000) throw new Fault(`score_out_of_range ${at}`)
        return score
      }
      case 'lookup': {
        const items = [values.get(factor.inputs[0] as string)].flat()
        const found = items.map(
          (item) => lists.get(factor.list_key)?.get(String(item))?.entry[factor.field] as number | undefined,
        )
        const { on_missing } = factor
        if (on_missing === 'fail') {
          if (items.length === 0) throw new Fault(`input_empty /${factor.inputs[0]}`)
          const missing = found.filter((score) => score === undefined).map(() => `list_key_missing ${at}`)
          if (missing.length > 0) throw new Fault(missing.join())
          return Math.max(...(found as number[]))
        }
        const fallback = scoreOf(on_missing.default)
        return items.length === 0 ? fallback : Math.max(...found.map((score) => score ?? fallback))
      }
    }
  }

  const faults: string[] = []
  const scores = definition.factors.map((factor, f) => {
    const reads = factor.form === 'table' ? factor.table.columns : []
    if (reads.some((name) => !values.has(name))) return Number.NaN
    try {
      const score = decideFactor(factor, `/factors/${f}`)
      values.set(`factor.${factor.key}`, score)
      if (score > 0 && factor.reason_code && !codes.includes(factor.reason_code)) codes.push(factor.reason_code)
      return score
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      faults.push(...error.fault.split(','))
      return Number.NaN
    }
  })
  if (faults.length > 0) return { ok: false, faults }

  const weighted = scores.reduce(
    (sum, score, f) => sum + BigInt(score) * BigInt(scoreOf(definition.factors[f]?.weight_bps ?? 0)),
    0n,
  )
  const score_bps = {
    weighted_sum: Number((weighted * 2n + 10_000n) / 20_000n),
    sum: scores.reduce((a, b) => a + b, 0),
    max: Math.max(...scores),
  }[definition.aggregation]
  if (score_bps > 10_000) return { ok: false, faults: ['score_out_of_range /aggregation'] }
  values.set('score', score_bps)

  const bands = (lists.get('bands')?.all ?? []).map(({ entry }) => entry as { band: string; from: number; to: number })
  const ranked = [...bands].sort((a, b) => a.from - b.from).map(({ band }) => band)
  const scored_band = bands.find(({ from, to }) => from <= score_bps && score_bps <= to)?.band as string
  let rank = ranked.indexOf(scored_band)
  definition.triggers.forEach((trigger, t) => {
    if (!trigger.when.every(({ of }, c) => passes(of, `/triggers/${t}/when/${c}/test`))) return
    if (!codes.includes(trigger.reason_code)) codes.push(trigger.reason_code)
    if (trigger.floor_band) rank = Math.max(rank, ranked.indexOf(trigger.floor_band))
  })
  return { ok: true, scores, score_bps, band: ranked[rank] as string, scored_band, reason_codes: codes }
}
