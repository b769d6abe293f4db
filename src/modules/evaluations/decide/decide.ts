/**
 * Makes one decision: resolves the versions of one instant, merges the subject's attributes with the inputs, decides, and builds
 * the decision document. Missing data is refused. `decide` stores nothing; `storeDecision` does.
 */
import { buildDecisionDocument, type DecisionContent, type PinnedEvidence } from '#decision/document.ts'
import type { Decision, DefinitionFamily, Inputs } from '#decision/model.ts'
import { createSalt } from '#decision/salt.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { fail, Problem } from '#kernel/problem.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { raiseDecisionAlerts } from '#modules/alerts/index.ts'
import { resolver } from '#modules/definitions/index.ts'

import { binding } from '#modules/risk-matrices/index.ts'

import { evidenceStore } from '#modules/source-contracts/index.ts'
import { findSubject, ratingStore } from '#modules/subjects/index.ts'
import { insertEvaluation } from '../records/read-record.ts'
import { type EvaluationRow, toColumns } from '../records/record.ts'
import { applyEvidence, type CitedCall, toPinnedEvidence } from './evidence.ts'
import { mergeInputs, toProblemErrors } from './inputs.ts'

export interface DecisionRequest {
  readonly matrix_key?: string
  readonly rule_key?: string
  readonly subject_id?: string
  readonly inputs?: Readonly<Record<string, unknown>>
  readonly valid_at?: string
  /** Opened by the caller: see openCitedCalls. */
  readonly cited?: readonly CitedCall[]
}

/** The bytes of a decision document and their content. */
export interface DecisionDocument {
  readonly content: DecisionContent
  readonly document: string
  readonly document_hash: string
}
export type DecisionResult = DecisionDocument & {
  readonly resolution: binding.Resolution
  /** Admissions that the decision was made on. */
  readonly admission_ids: readonly string[]
}
type SuccessfulDecision = Extract<Decision, { ok: true }> & Pick<binding.PinnedDecision, 'plugins'>
type RefusedDecision = Extract<Decision, { ok: false }>

interface DecideOptions {
  /** That of new decisions when absent. */
  readonly engine?: number
  readonly runs?: binding.PluginRuns
}

export async function decide(
  kernel: binding.DecideCapabilities,
  tx: Tx,
  request: DecisionRequest,
  { engine, runs }: DecideOptions = {},
): Promise<DecisionResult> {
  const wanted = { ...getRequestedDefinition(request), valid_at: request.valid_at }
  const subject = request.subject_id === undefined ? null : await getSubject(tx, request.subject_id)
  const merge = ({ compiled }: binding.Resolution) => {
    const { inputs: declared } = compiled.definition
    const given = request.inputs ?? {}
    const evidence = applyEvidence(declared, given, request.cited ?? [])
    return { evidence, inputs: mergeInputs(declared, subject?.attributes ?? {}, { ...given, ...evidence.inputs }) }
  }
  const resolution = await binding.getResolution(kernel, tx, wanted, engine).catch(async (error: unknown) => {
    // Faults of the request come before a plugin that cannot run.
    if (error instanceof Problem && error.code === 'plugin_invalid') {
      const plain = await binding.getResolution(kernel, tx, { ...wanted, without_plugins: true }, engine)
      const refused = await binding.findRefusal(kernel, tx, plain, merge(plain).inputs)
      if (refused) failRefused(refused)
    }
    throw error
  })
  const { evidence, inputs } = merge(resolution)
  const decision = await binding.decideWith(kernel, tx, { ...resolution, runs }, inputs)
  if (!decision.ok) return failRefused(decision)
  const salt = createSalt()
  const facts = { inputs, valid_at: request.valid_at ?? null, evidence: toPinnedEvidence(evidence, salt) }
  const admission_ids = evidence.sources.map(({ admission_id }) => admission_id)
  return { resolution, admission_ids, ...buildDocument(resolution, facts, decision, salt) }
}

/** The body may name several things: the answer says which of them is missing. */
const getSubject = async (tx: Tx, subject_id: string) =>
  (await findSubject(tx, subject_id)) ?? fail('not_found', 'There is no subject with this id.')

export function getRequestedDefinition({ matrix_key, rule_key }: DecisionRequest): {
  family: DefinitionFamily
  key: string
} {
  if (matrix_key !== undefined && rule_key === undefined) return { family: 'matrix', key: matrix_key }
  if (rule_key !== undefined && matrix_key === undefined) return { family: 'rule', key: rule_key }
  const detail = 'Give either matrix_key or rule_key.'
  return fail('inputs_refused', {
    detail,
    errors: [{ in: 'body', pointer: '#', detail, keyword: 'definition_unclear' }],
  })
}

function failRefused({ findings }: RefusedDecision): never {
  const errors = toProblemErrors(findings)
  const detail = errors.length === 1 ? (errors[0]?.detail as string) : `There are ${errors.length} faults.`
  return fail('inputs_refused', { detail: `Nothing was decided. ${detail}`, errors })
}

interface DocumentInputs {
  readonly inputs: Inputs
  readonly valid_at: string | null
  readonly evidence?: readonly PinnedEvidence[]
}

/** Deterministic: the same resolution, inputs, decision and salt give the same bytes. */
export function buildDocument(
  { definition, lists, engine }: binding.Resolution<resolver.ContentPointer>,
  { inputs, valid_at, evidence }: DocumentInputs,
  { outcome, explanation, used, plugins }: SuccessfulDecision,
  salt: string | null,
): DecisionDocument {
  const facts = {
    family: definition.family as DefinitionFamily,
    key: definition.list_key,
    version: definition.version,
    content_hash: definition.content_hash,
    inputs,
    valid_at,
    evidence: evidence ?? [],
    plugins: plugins ?? [],
    lists: getListArray(lists),
    used,
    engine,
    outcome,
    explanation,
  }
  const { text, hash, content } = buildDecisionDocument(facts, salt)
  return { content, document: text, document_hash: hash }
}

/** Many decisions share one map of lists; its array is built once, so that the document serializes it once. */
const arrays = new WeakMap<object, readonly resolver.ContentPointer[]>()
function getListArray(lists: ReadonlyMap<string, resolver.ContentPointer>): readonly resolver.ContentPointer[] {
  let array = arrays.get(lists)
  if (!array) {
    array = [...lists.values()]
    arrays.set(lists, array)
  }
  return array
}

/** Versions may still be activated for a future instant, so a subject is not rated for one. */
function assertNotFuture({ subject_id, valid_at }: DecisionRequest, { definition }: binding.Resolution): void {
  if (subject_id === undefined || valid_at === undefined || Date.parse(valid_at) <= Date.parse(definition.now)) return
  const detail = 'A subject is not rated for later: valid_at lies ahead.'
  fail('inputs_refused', {
    detail,
    errors: [{ in: 'body', pointer: '#/valid_at', detail, keyword: 'valid_at_ahead' }],
  })
}

/** Stores the receipt, the decision and, for a subject, the rating in the caller's transaction. */
export async function storeDecision(
  kernel: Capabilities<'caches' | 'encryption' | 'integrity'>,
  tx: Tx,
  request: DecisionRequest & { readonly evaluation_id?: string },
  decided: DecisionResult,
) {
  const { resolution, content, document, document_hash } = decided
  assertNotFuture(request, resolution)
  const { evaluation_id = uuidv7() } = request
  const consumer = `evaluation ${evaluation_id}`
  const receipt =
    request.valid_at === undefined
      ? resolver.createCurrentReceipt(
          tx,
          consumer,
          binding.getResolutionManifest(resolution),
          resolution.definition.now,
        )
      : await resolver.createReceipt(tx, consumer, binding.toPointers(resolution), { valid_at: request.valid_at })
  const row: Omit<EvaluationRow, 'mac'> = {
    evaluation_id,
    subject_id: request.subject_id ?? null,
    valid_at: receipt.valid_at,
    receipt_id: receipt.receipt_id,
    receipt_hash: receipt.manifest_hash,
    document_hash,
    decided_at: receipt.known_at,
    created_by: tx.actor,
    ...toColumns(content),
  }
  await insertEvaluation(kernel, tx, { document, ...row })
  for (const admission_id of decided.admission_ids)
    await evidenceStore.insertEvidence(tx, { consumer_kind: 'evaluation', consumer_id: evaluation_id, admission_id })
  if (row.subject_id !== null && row.band !== null && row.score_bps !== null) {
    ratingStore.deferRating(tx, {
      rating_id: uuidv7(),
      subject_id: row.subject_id,
      matrix_key: row.definition_key,
      matrix_version: row.definition_version,
      band: row.band,
      score_bps: row.score_bps,
      evaluation_id,
      cause: 'evaluation',
      valid_at: row.valid_at,
    })
  }
  // A decision as of another time says nothing about now.
  if (request.valid_at === undefined) await raiseAlerts(kernel, tx, row, decided)
  return row
}

/** The epochs were read with the definition, so a decision that raises nothing costs no statement. */
async function raiseAlerts(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  row: Omit<EvaluationRow, 'mac'>,
  { content, resolution }: DecisionResult,
): Promise<void> {
  const { definition_key: key, definition_version: version } = row
  const decidedBy = { key, version, epochs: resolution.definition }
  const reference = `evaluation:${row.evaluation_id}`
  await raiseDecisionAlerts(kernel, tx, decidedBy, [{ ...row, reference, explanation: content.explanation }])
}
