/** The result of a batch item: a decision with its hash and the change of band, or the findings that prevented it. */
import type { BoundLists, Decision, Finding, Inputs, MatrixDefinition } from '#decision/model.ts'
import type { SubjectRow } from '#modules/subjects/index.ts'
import type { InputRow, ItemFinding } from '../source/input-rows.ts'

export const bandChanges = ['first', 'same', 'raised', 'lowered', 'moved'] as const
export type BandChange = (typeof bandChanges)[number]

/** A stored item. */
export interface ItemRow {
  readonly seq: number
  readonly line: number | null
  readonly subject_id: string | null
  readonly external_id: string | null
  readonly state: 'done' | 'failed'
  readonly inputs: Inputs | null
  readonly band: string | null
  readonly score_bps: number | null
  readonly hit: boolean | null
  readonly reason_codes: readonly string[]
  /** Of an item that was just decided; not stored. */
  readonly required_actions?: readonly string[]
  readonly document_hash: string | null
  /** Null for failed items and for items that are older than salts. */
  readonly document_salt: string | null
  readonly previous_band: string | null
  readonly change: BandChange | null
  readonly failure_code: string | null
  readonly findings: readonly ItemFinding[]
  /** Its subject was erased: external id, inputs and findings are gone. */
  readonly is_erased: boolean
}

/** An item with its subject and merged inputs. */
export interface PreparedItem {
  readonly row: InputRow
  readonly subject: SubjectRow | null
  /** Merged inputs; null when the row has findings that prevent a decision. */
  readonly inputs: Inputs | null
  readonly previous_band: string | null
}

/** Rank of each band, lowest first, by the pinned list of bands. */
export function rankBands({ bands }: Pick<MatrixDefinition, 'bands'>, lists: BoundLists): ReadonlyMap<string, number> {
  const entries = lists.get(bands.list_key)?.all ?? []
  const sorted = entries.toSorted((a, b) => Number(a.entry[bands.from_field]) - Number(b.entry[bands.from_field]))
  return new Map(sorted.map(({ entry }, place) => [String(entry[bands.band_field]), place]))
}

/** Bands can be compared only when both are on the list. */
export function compareBands(from: string | null, to: string, rank: ReadonlyMap<string, number>): BandChange {
  if (from === null) return 'first'
  if (from === to) return 'same'
  const [before, after] = [rank.get(from), rank.get(to)]
  if (before === undefined || after === undefined) return 'moved'
  return after > before ? 'raised' : 'lowered'
}

export function toDoneItem(
  { row, subject, inputs, previous_band }: PreparedItem,
  { outcome }: Extract<Decision, { ok: true }>,
  document: { readonly document_hash: string; readonly document_salt: string },
  rank: ReadonlyMap<string, number>,
): ItemRow {
  const isRating = outcome.family === 'matrix'
  return {
    seq: row.seq,
    line: row.line,
    subject_id: subject?.subject_id ?? null,
    external_id: row.external_id ?? subject?.external_id ?? null,
    state: 'done',
    inputs,
    band: isRating ? outcome.band : null,
    score_bps: isRating ? outcome.score_bps : null,
    hit: isRating ? null : outcome.hit,
    reason_codes: outcome.reason_codes,
    required_actions: outcome.required_actions,
    document_hash: document.document_hash,
    document_salt: document.document_salt,
    previous_band,
    change: isRating && subject ? compareBands(previous_band, outcome.band, rank) : null,
    failure_code: null,
    findings: [],
    is_erased: false,
  }
}

/** Stores the inputs unchanged, so that the item can be retried. */
export function toFailedItem({ row, subject, previous_band }: PreparedItem, findings: readonly ItemFinding[]): ItemRow {
  const [first] = findings
  return {
    seq: row.seq,
    line: row.line,
    subject_id: subject?.subject_id ?? null,
    external_id: row.external_id ?? subject?.external_id ?? null,
    state: 'failed',
    inputs: row.inputs,
    band: null,
    score_bps: null,
    hit: null,
    reason_codes: [],
    document_hash: null,
    document_salt: null,
    previous_band,
    change: null,
    failure_code: first?.code ?? 'unknown',
    findings: findings.slice(0, MAX_FINDINGS),
    is_erased: false,
  }
}
const MAX_FINDINGS = 20

export const toItemFindings = (findings: readonly Finding[]): ItemFinding[] =>
  findings
    .filter(({ severity }) => severity === 'error')
    .map(({ code, pointer, message }) => ({ code, pointer, message }))
