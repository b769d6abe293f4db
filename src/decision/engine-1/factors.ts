/** The factors of a matrix bound to lists: each returns its score in basis points with values and reasons. */
import { escapeStep } from '#registry/content/json-pointer.ts'
import type { Factor, FactorOutcome, OnMissing, UsedEntry } from '../model.ts'
import type { AddedForm, FactorContext, ScoredFactor, ScoreFunction } from './added-form.ts'
import { type Binder, type BoundScore, createFieldReader, isScore } from './binder.ts'
import { type BoundRow, bindTable, type Otherwise } from './decision-table.ts'
import { MAX_SCORE_BPS } from './definition-shape.ts'
import { joinKeyParts } from './entry-key.ts'
import { formatValue } from './inputs.ts'
import type { Subject, UnboundLayout } from './layout.ts'
import { appendListsSentence } from './list-operands.ts'
import type { Run } from './run.ts'
import { compileRunSentence } from './run-sentence.ts'
import { formatScaled } from './scalars.ts'
import type { Sentence } from './sentence-template.ts'
import { formatForMessage } from './shape.ts'
import type { Scalar } from './unary.ts'

export interface BoundFactor {
  /** Slots of its inputs. */
  readonly slots: readonly number[]
  /** Null: a fault, which is stored in the run. */
  decide(run: Run): FactorOutcome | null
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }

interface MatrixContext {
  readonly layout: UnboundLayout
  readonly binder: Binder
  readonly added: AddedForm | undefined
}

export function bindFactor(factor: Factor, index: number, { layout, binder, added }: MatrixContext): BoundFactor {
  const pointer = `/factors/${index}`
  const subjects = listSubjects(factor, pointer, layout)
  const score = bindForm(factor, { layout, binder, pointer, subjects }, added)
  const weight =
    factor.weight_bps === undefined ? null : binder.bindScore(factor.weight_bps, `${pointer}/weight_bps`, 'weight')
  const { key, title } = factor
  const weight_bps = weight?.value ?? null
  const decide = (run: Run): FactorOutcome | null => {
    const scored = score(run)
    if (!scored) return null
    const { score_bps } = scored
    if (score_bps < 0 || score_bps > MAX_SCORE_BPS) {
      const message = `${title}: the score would be ${score_bps}, but a score is from 0 to ${MAX_SCORE_BPS}.`
      return run.fail('score_out_of_range', pointer, message)
    }
    if (weight?.used) run.used.push(weight.used)
    const read: Record<string, unknown> = {}
    for (let n = 0; n < subjects.length; n++) {
      const { reference, slot } = subjects[n] as Subject
      read[reference] = run.raw_values[slot]
    }
    const outcome: Writable<FactorOutcome> = {
      key,
      title,
      score_bps,
      weight_bps,
      contribution_bps: weight_bps === null ? `${score_bps}.0000` : formatScaled(score_bps * weight_bps, 4),
      reason: scored.reason,
      reason_code: scored.reason_code,
      read,
    }
    if (scored.found) outcome.found = scored.found
    if (scored.rows) outcome.rows = scored.rows
    if (scored.defaulted) outcome.defaulted = true
    if (scored.plugin) outcome.plugin = scored.plugin
    return outcome
  }
  return { slots: subjects.map(({ slot }) => slot), decide }
}

function listSubjects(factor: Factor, pointer: string, layout: UnboundLayout): readonly Subject[] {
  switch (factor.form) {
    case 'lookup':
    case 'plugin':
      return factor.inputs.map(layout.subject)
    case 'table':
      return layout.tables.get(`${pointer}/table`)?.subjects ?? []
    default:
      return [layout.subject(factor.input)]
  }
}

function bindForm(factor: Factor, place: FactorContext, added: AddedForm | undefined): ScoreFunction {
  switch (factor.form) {
    case 'lookup':
      return bindLookup(factor, place)
    case 'table':
      return bindTableFactor(factor, place)
    case 'presence':
      return bindPresence(factor, place)
    case 'score_map':
      return bindScoreMap(factor, place)
    case 'plugin':
      if (!added) throw new Error(`${place.pointer}: the definition was not checked`)
      return added.bind(factor, place)
  }
}

/** The sentence of the factor, or a minimal one. */
export const compileReason = (
  factor: Factor,
  { layout, subjects }: FactorContext,
  otherwise: string,
  list_key?: string,
): Sentence<Run> => compileRunSentence(factor.reason ?? otherwise, layout, subjects, list_key)

interface MissingDefault {
  readonly score: BoundScore
  readonly reason: Sentence<Run>
}

/** Null: a missing value is a fault. */
function bindMissing(
  on_missing: OnMissing,
  { layout, binder, pointer, subjects }: FactorContext,
  list_key?: string,
): MissingDefault | null {
  if (on_missing === 'fail') return null
  return {
    score: binder.bindScore(on_missing.default, `${pointer}/on_missing/default`),
    reason: compileRunSentence(on_missing.reason, layout, subjects, list_key),
  }
}

function defaulted(
  run: Run,
  { score, reason }: MissingDefault,
  reason_code: string | null,
  found?: ScoredFactor['found'],
): ScoredFactor {
  run.score_bps = score.value
  return { score_bps: score.value, reason: reason(run), reason_code, ...(found && { found }), defaulted: true }
}

/** Builds the keys for the inputs of a factor: one, or one per item of a list. */
function createKeyReader(subjects: readonly Subject[]): (run: Run) => readonly string[] {
  const [only] = subjects as readonly [Subject, ...Subject[]]
  if (subjects.length > 1) {
    return (run) => [joinKeyParts(subjects.map(({ slot, column }) => formatValue(run.values[slot] as Scalar, column)))]
  }
  const { slot, column } = only
  if (column.many) return (run) => run.values[slot] as readonly string[]
  return (run) => [formatValue(run.values[slot] as Scalar, column)]
}

function bindLookup(factor: Extract<Factor, { form: 'lookup' }>, place: FactorContext): ScoreFunction {
  const { list_key, field, title, reason_code = null } = factor
  const { binder, pointer, subjects } = place
  const list = binder.bindList(list_key, pointer)
  const read = createFieldReader(field)
  const keys = createKeyReader(subjects)
  const missing = bindMissing(factor.on_missing, place, list_key)
  const reason = compileReason(
    factor,
    place,
    '{value} gives {score_bps} basis points by the list {list_key}.',
    list_key,
  )

  return (run) => {
    const found: NonNullable<FactorOutcome['found']>[number][] = []
    let highest = -1
    let lacks = false
    const asked = keys(run)
    for (const key of asked) {
      const entry = run.find(list, key)
      const value = entry && read(entry.entry)
      const used: UsedEntry = { list_key, key, field, value: value ?? null, hash: entry?.hash ?? null }
      run.used.push(used)
      if (!entry) {
        lacks = true
        if (!missing)
          run.fail('list_key_missing', pointer, `${title}: ${formatForMessage(key)} is not on the list "${list_key}".`)
        continue
      }
      if (!isScore(value)) {
        const message = `${title}: the entry ${formatForMessage(key)} of the list "${list_key}" has no score at "${field}", but ${formatForMessage(value)}.`
        return run.fail(value === undefined ? 'field_missing' : 'not_a_score', pointer, message)
      }
      found.push({ list_key, key, field, value })
      if (value > highest) highest = value
    }
    if (lacks || asked.length === 0) {
      if (!missing)
        return lacks ? null : run.fail('input_empty', `/${factor.inputs[0]}`, `${title}: the list is empty.`)
      if (missing.score.used) run.used.push(missing.score.used)
      if (highest < missing.score.value) return defaulted(run, missing, reason_code, found)
    }
    run.score_bps = highest
    return { score_bps: highest, reason: reason(run), reason_code, found }
  }
}

function bindTableFactor(factor: Extract<Factor, { form: 'table' }>, place: FactorContext): ScoreFunction {
  const { layout, binder, pointer, subjects } = place
  const at = `${pointer}/table`
  const parsed = layout.tables.get(at)
  if (!parsed) throw new Error(`There is no table at ${at}`)
  const counts = factor.table.collect === 'count'
  const table = bindTable(
    parsed,
    binder,
    // `count` accepts fields other than scores.
    (value, place_of) => (counts ? binder.bindValue(value, place_of) : binder.bindScore(value, place_of)),
    (text) => compileRunSentence(text, layout, subjects),
  )
  const own = factor.reason === undefined ? null : compileRunSentence(factor.reason, layout, subjects)
  const own_code = factor.reason_code ?? null

  return (run) => {
    const hit = table.decide(run)
    if (hit === undefined) return run.fail('no_row_fires', at, `${factor.title}: no row of the table fires.`)
    if (hit === null) return null
    const score_bps = hit.gives[0] as number
    run.score_bps = score_bps
    const { rows } = hit
    const [first] = rows
    if (!first) {
      const { reason, reason_code } = table.otherwise as Otherwise
      return { score_bps, reason: reason(run), reason_code: reason_code ?? own_code, rows: [] }
    }
    const keys = rows.length === 1 ? first.keys : rows.map(({ key }) => key)
    if (score_bps > 0) for (const { reason_code } of rows) run.addReasonCode(reason_code)
    const reason = joinRowReasons(rows, run) ?? own?.(run) ?? `${keys.join(', ')} gives ${score_bps} basis points.`
    const found = rows.flatMap(({ compared }) => compared.map(({ hash: _, ...said }) => said))
    return {
      score_bps,
      reason: rows.reduce((text, { by_lists }) => appendListsSentence(text, by_lists), reason),
      reason_code: first.reason_code ?? own_code,
      ...(found.length > 0 && { found }),
      rows: keys,
    }
  }
}

/** The sentences of all rows that fired; null when none has one. */
function joinRowReasons(rows: readonly BoundRow[], run: Run): string | null {
  if (rows.length === 1) return (rows[0] as BoundRow).reason?.(run) ?? null
  const reasons = rows.flatMap(({ reason }) => (reason ? [reason(run)] : []))
  return reasons.length === 0 ? null : reasons.join(' ')
}

function bindPresence(factor: Extract<Factor, { form: 'presence' }>, place: FactorContext): ScoreFunction {
  const { list_key, count, reason_code = null } = factor
  const { binder, pointer, subjects } = place
  const list = binder.bindList(list_key, pointer)
  const keys = createKeyReader(subjects)
  const present = binder.bindScore(factor.present, `${pointer}/present`)
  const absent = binder.bindScore(factor.absent, `${pointer}/absent`)
  const at_most = factor.at_most === undefined ? null : binder.bindScore(factor.at_most, `${pointer}/at_most`)
  const own = factor.reason === undefined ? null : compileRunSentence(factor.reason, place.layout, subjects, list_key)

  return (run) => {
    const hits = new Set<string>()
    for (const key of keys(run)) if (run.isListed(list, key)) hits.add(key)
    const taken = hits.size === 0 ? absent : present
    if (taken.used) run.used.push(taken.used)
    let score_bps = taken.value
    if (count && hits.size > 0) {
      score_bps *= hits.size
      if (at_most?.used) run.used.push(at_most.used)
      if (at_most && score_bps > at_most.value) score_bps = at_most.value
    }
    run.score_bps = score_bps
    const found = [...hits].map((key) => ({ list_key, key, field: null, value: true }))
    const where =
      hits.size === 0 ? `Nothing is on the list ${list_key}` : `On the list ${list_key}: ${[...hits].join(', ')}`
    const reason = own?.(run) ?? `${where}. This gives ${score_bps} basis points.`
    return { score_bps, reason, reason_code, found }
  }
}

function bindScoreMap(factor: Extract<Factor, { form: 'score_map' }>, place: FactorContext): ScoreFunction {
  const { title, reason_code = null } = factor
  const { binder, pointer } = place
  const { slot, column } = place.subjects[0] as Subject
  const scores = new Map(
    Object.entries(factor.scores).map(([value, score]) => [
      value,
      binder.bindScore(score, `${pointer}/scores/${escapeStep(value)}`),
    ]),
  )
  const missing = bindMissing(factor.on_missing, place)
  const reason = compileReason(factor, place, '{value} gives {score_bps} basis points.')

  return (run) => {
    const value = formatValue(run.values[slot] as Scalar, column)
    const score = scores.get(value)
    if (!score) {
      if (!missing) return run.fail('value_not_scored', pointer, `${title}: ${formatForMessage(value)} has no score.`)
      if (missing.score.used) run.used.push(missing.score.used)
      return defaulted(run, missing, reason_code)
    }
    if (score.used) run.used.push(score.used)
    run.score_bps = score.value
    return { score_bps: score.value, reason: reason(run), reason_code }
  }
}
