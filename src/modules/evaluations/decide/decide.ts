/**
 * Makes one decision: resolves the versions of one instant, merges the subject's attributes with the inputs, decides, and builds
 * the decision document. Missing data is refused. `decide` stores nothing; `storeDecision` does.
 */
import { buildDecisionDocument, type DecisionContent } from '#decision/document.ts'
import { CURRENT_ENGINE } from '#decision/engines.ts'
import type { Decision, DefinitionFamily, Inputs } from '#decision/model.ts'
import { createSalt } from '#decision/salt.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { resolver } from '#modules/definitions/index.ts'

import { binding } from '#modules/risk-matrices/index.ts'

import { deferRating, findSubject } from '#modules/subjects/index.ts'
import { insertEvaluation } from '../records/read-record.ts'
import { type EvaluationRow, toColumns } from '../records/record.ts'
import { mergeInputs, toProblemErrors } from './inputs.ts'

export interface DecisionRequest {
  readonly matrix_key?: string
  readonly rule_key?: string
  readonly subject_id?: string
  readonly inputs?: Readonly<Record<string, unknown>>
  readonly valid_at?: string
}

/** The bytes of a decision document and their content. */
export interface DecisionDocument {
  readonly content: DecisionContent
  readonly document: string
  readonly document_hash: string
}
export type DecisionResult = DecisionDocument & { readonly resolution: binding.Resolution }
type SuccessfulDecision = Extract<Decision, { ok: true }>
type RefusedDecision = Extract<Decision, { ok: false }>

export async function decide(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  request: DecisionRequest,
  engine = CURRENT_ENGINE,
): Promise<DecisionResult> {
  const wanted = getRequestedDefinition(request)
  const subject = request.subject_id === undefined ? null : assertFound(await findSubject(tx, request.subject_id))
  const resolution = await binding.getResolution(kernel, tx, { ...wanted, valid_at: request.valid_at }, engine)
  const { inputs: declared } = resolution.compiled.definition
  const inputs = mergeInputs(declared, subject?.attributes ?? {}, request.inputs ?? {})
  const decision = await binding.decideWith(kernel, tx, resolution, inputs)
  if (!decision.ok) return failRefused(decision)
  const facts = { inputs, valid_at: request.valid_at ?? null }
  return { resolution, ...buildDocument(resolution, facts, decision, createSalt()) }
}

function getRequestedDefinition({ matrix_key, rule_key }: DecisionRequest): { family: DefinitionFamily; key: string } {
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

/** Deterministic: the same resolution, inputs, decision and salt give the same bytes. */
export function buildDocument(
  { definition, lists, engine }: binding.Resolution<resolver.ContentPointer>,
  { inputs, valid_at }: { readonly inputs: Inputs; readonly valid_at: string | null },
  { outcome, explanation, used }: SuccessfulDecision,
  salt: string | null,
): DecisionDocument {
  const facts = {
    family: definition.family as DefinitionFamily,
    key: definition.list_key,
    version: definition.version,
    content_hash: definition.content_hash,
    inputs,
    valid_at,
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
  kernel: Capabilities<'integrity'>,
  tx: Tx,
  request: DecisionRequest,
  decided: DecisionResult,
) {
  const { resolution, content, document, document_hash } = decided
  assertNotFuture(request, resolution)
  const evaluation_id = uuidv7()
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
  insertEvaluation(kernel, tx, { document, ...row })
  if (row.subject_id !== null && row.band !== null && row.score_bps !== null) {
    deferRating(tx, {
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
  return row
}
