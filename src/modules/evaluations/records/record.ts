/** The row of a decision: what its MAC covers, how its columns agree with its document, and its views. */
import { type DecisionContent, getEvidence, getPlugins } from '#decision/document.ts'
import type { Explanation, Outcome } from '#decision/model.ts'
import { datasetStore, type resolver } from '#modules/definitions/index.ts'

import { isEqualJson } from '#registry/content/json-patch.ts'

/** A stored decision without its document. */
export interface EvaluationRow {
  readonly evaluation_id: string
  readonly family: 'matrix' | 'rule'
  readonly definition_key: string
  readonly definition_version: number
  readonly subject_id: string | null
  readonly valid_at: string
  readonly receipt_id: string
  readonly receipt_hash: string
  readonly engine: number
  readonly band: string | null
  readonly score_bps: number | null
  readonly hit: boolean | null
  readonly reason_codes: string[]
  readonly required_actions: string[]
  readonly document_hash: string
  readonly decided_at: string
  readonly created_by: string
  /** As answers name who decided; absent where the caller is deciding. */
  readonly shown_by?: string
  readonly mac: string
}

/** All columns that the MAC covers; the document is included by its hash. The order never changes: stored MACs depend on it. */
export const recordedColumns = [
  'evaluation_id',
  'family',
  'definition_key',
  'definition_version',
  'subject_id',
  'valid_at',
  'receipt_id',
  'receipt_hash',
  'engine',
  'band',
  'score_bps',
  'hit',
  'reason_codes',
  'required_actions',
  'document_hash',
  'decided_at',
  'created_by',
] as const satisfies readonly (keyof EvaluationRow)[]

/** The text that the MAC of the row is computed over. */
export const toMacInput = (tenant_id: string, row: Omit<EvaluationRow, 'mac'>): string =>
  JSON.stringify(['probity-evaluation', tenant_id, ...recordedColumns.map((column) => row[column])])

/** The columns that are copies of values in the document. */
export const toColumns = ({ family, key, version, engine, outcome }: DecisionContent) => ({
  family,
  definition_key: key,
  definition_version: version,
  engine,
  band: outcome.family === 'matrix' ? outcome.band : null,
  score_bps: outcome.family === 'matrix' ? outcome.score_bps : null,
  hit: outcome.family === 'rule' ? outcome.hit : null,
  reason_codes: [...outcome.reason_codes],
  required_actions: [...outcome.required_actions],
})

/** Names of the columns that differ from the document. */
export function listMismatchedColumns(row: EvaluationRow, content: DecisionContent): string[] {
  const said = Object.entries(toColumns(content))
  return said.filter(([name, value]) => !isEqualJson(row[name as keyof EvaluationRow], value)).map(([name]) => name)
}

/** One shape for both families; members of the other family are null. */
export const toOutcomeView = (outcome: Outcome) => ({
  family: outcome.family,
  band: outcome.family === 'matrix' ? outcome.band : null,
  scored_band: outcome.family === 'matrix' ? outcome.scored_band : null,
  score_bps: outcome.family === 'matrix' ? outcome.score_bps : null,
  hit: outcome.family === 'rule' ? outcome.hit : null,
  outputs: outcome.family === 'rule' ? { ...outcome.outputs } : null,
  required_actions: [...outcome.required_actions],
  reason_codes: [...outcome.reason_codes],
})

/** The reason text of each code of the outcome, in the order of the codes. */
export function toReasons({ reason_codes }: Outcome, explanation: Explanation) {
  const parts = [
    ...explanation.triggers,
    ...explanation.factors,
    ...explanation.rows.map((row) => ({ ...row, title: row.key })),
  ]
  return reason_codes.map((code) => {
    const saying = parts.filter((part) => part.reason_code === code && part.reason !== null)
    const titles = [...new Set(saying.map(({ title }) => title))]
    const texts = [...new Set(saying.map(({ reason }) => reason))]
    // The code of a rule belongs to no part of it: the reason is that of the whole decision.
    const text = texts.length > 0 ? texts.join(' ') : explanation.summary.join(' ')
    return { code, title: titles.length > 0 ? titles.join('; ') : code, text }
  })
}

/** The receipt holds the owner of the definition. */
export const toPinnedDefinition = (
  { family, key, version, content_hash }: DecisionContent,
  manifest: readonly resolver.PinnedVersion[],
) => ({
  family,
  key,
  origin: datasetStore.getOrigin(manifest.find((pin) => pin.family === family)?.dataset_tenant_id ?? ''),
  version,
  content_hash,
})

/** The lists that a receipt pins. */
export const toPinnedLists = (manifest: readonly resolver.PinnedVersion[]) =>
  manifest
    .filter(({ family = 'list' }) => family === 'list')
    .map(({ list_key, dataset_tenant_id, via, version, content_hash, overlay_version, overlay_hash }) => ({
      list_key,
      origin: datasetStore.getOrigin(dataset_tenant_id),
      via,
      version,
      content_hash,
      overlay_version,
      overlay_hash,
    }))

/** The versions a decision was made on, as it names them itself. */
export const toPinnedVersions = (content: DecisionContent, manifest: readonly resolver.PinnedVersion[]) => ({
  definition: toPinnedDefinition(content, manifest),
  lists: toPinnedLists(manifest),
})

export const toReceiptView = ({ receipt_id, receipt_hash, valid_at, decided_at }: Omit<EvaluationRow, 'mac'>) => ({
  receipt_id,
  manifest_hash: receipt_hash,
  valid_at,
  known_at: decided_at,
})

export const toEvaluationItem = (row: Omit<EvaluationRow, 'mac'>) => ({
  evaluation_id: row.evaluation_id,
  family: row.family,
  definition_key: row.definition_key,
  definition_version: row.definition_version,
  subject_id: row.subject_id,
  valid_at: row.valid_at,
  band: row.band,
  score_bps: row.score_bps,
  hit: row.hit,
  reason_codes: row.reason_codes,
  required_actions: row.required_actions,
  engine: row.engine,
  document_hash: row.document_hash,
  decided_at: row.decided_at,
  created_by: row.shown_by ?? row.created_by,
})

const isTest = (content: DecisionContent): boolean => getEvidence(content).some(({ mode }) => mode !== 'live')

/** False for a document that cannot be read: the list shows that it was altered. */
export function isTestDocument(document: string): boolean {
  // Most documents cite nothing and need not be parsed.
  if (!document.includes('"evidence":[{')) return false
  try {
    return isTest(JSON.parse(document) as DecisionContent)
  } catch {
    return false
  }
}

export const toEvaluationView = (
  row: Omit<EvaluationRow, 'mac'>,
  content: DecisionContent,
  manifest: readonly resolver.PinnedVersion[],
) => ({
  ...toEvaluationItem(row),
  evidence: getEvidence(content),
  plugins: getPlugins(content),
  is_test: isTest(content),
  reasons: toReasons(content.outcome, content.explanation),
  outcome: toOutcomeView(content.outcome),
  definition: toPinnedDefinition(content, manifest),
  lists: toPinnedLists(manifest),
  receipt: toReceiptView(row),
})
