/** Decisions: make, preview, list and read them. Replay, what-if and the like are in examination-routes.ts. */
import type { Static } from 'typebox'
import { getEvidence, getPlugins } from '#decision/document.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { paginate } from '#kernel/page.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { binding } from '#modules/risk-matrices/index.ts'
import { type DecisionRequest, decide, storeDecision } from './decide/decide.ts'
import { openCitedCalls } from './decide/evidence.ts'
import { createRecordedRuns } from './decide/recorded-runs.ts'
import { findEvidenceCalls } from './evidence-calls.ts'
import { FIRST_BODY, FIRST_KEYS } from './first-body.ts'
import { listEvaluations } from './queries.ts'
import { createRecordCheck, getIntactEvaluation } from './records/read-record.ts'
import {
  isTestDocument,
  toEvaluationItem,
  toEvaluationView,
  toOutcomeView,
  toPinnedDefinition,
  toPinnedLists,
  toReasons,
  toReceiptView,
} from './records/record.ts'
import { type OpenedDocument, openDocuments } from './records/stored-document.ts'
import { redactDecision, redactPage } from './redaction.ts'
import {
  Evaluation,
  EvaluationPage,
  EvaluationParams,
  EvaluationQuery,
  EvaluationRequest,
  EvaluationWithReasons,
  ExplanationView,
  PinnedInputs,
  Preview,
} from './schema.ts'

/** The request with the facts of the calls it cites. */
async function citeCalls(
  kernel: Capabilities<'caches' | 'encryption'>,
  tx: Tx,
  { call_ids, ...request }: Static<typeof EvaluationRequest>,
): Promise<DecisionRequest> {
  if (call_ids === undefined || call_ids.length === 0) return request
  return { ...request, cited: await openCitedCalls(kernel, tx, { call_ids, subject_id: request.subject_id }) }
}

const readers = ['viewer', 'analyst', 'policy_editor', 'compliance_officer', 'auditor', 'service'] as const

export const decisionRoutes = [
  tenantRoute('POST /evaluations', {
    id: 'createEvaluation',
    summary: 'Evaluate a subject, or inputs, now',
    description:
      'Decides with the versions in force, and keeps the outcome, its explanation and the receipt of what was consulted, ' +
      'together. Nothing is decided on missing or invalid data: 409 names each fault, and nothing is stored. ' +
      FIRST_KEYS,
    tool: {
      name: 'evaluate_subject',
      title: 'Evaluate a subject',
      description:
        'Decides now with the versions in force, for a subject or for given inputs, and stores the decision ' +
        'with its receipt. It becomes the rating of the subject. Missing or invalid inputs answer a problem ' +
        'that names each of them; nothing is guessed.',
      effect: 'work',
    },
    roles: ['analyst', 'service'],
    tx: 'write',
    uses: ['caches', 'encryption', 'integrity', 'metrics', 'plugin_policy', 'threads', 'transactions'],
    executes: 'plugin',
    runs_plugins_of: ['matrix'],
    ready_body: FIRST_BODY,
    body: EvaluationRequest,
    reply: [201, EvaluationWithReasons],
    redact: redactDecision,
    location: ({ evaluation_id }) => `/evaluations/${evaluation_id}`,
    links: { getEvaluation: { evaluation_id: 'evaluation_id' } },
    problems: [
      'not_found',
      'nothing_in_force',
      'inputs_refused',
      'conflict',
      'contract_violated',
      'content_corrupt',
      'dependency_unavailable',
    ],
  }).handle(async ({ tx, body, kernel, audit, request }) => {
    // The transaction is repeated after a plugin ran: what was recorded of the run names the decision of the last attempt.
    const evaluation_id = request.new_id ?? uuidv7()
    const runs = createRecordedRuns(kernel, tx, evaluation_id)
    const decided = await decide(kernel, tx, await citeCalls(kernel, tx, body), { runs })
    const row = await storeDecision(kernel, tx, { ...body, evaluation_id }, decided)
    // Not keyed: the audit chain then proves which document was decided. The salt prevents guessing the inputs.
    audit.recordDiff(null, { document_hash: row.document_hash })
    const shown = toEvaluationView(row, decided.content, binding.getResolutionPins(decided.resolution))
    return Object.assign(shown, { explanation: decided.content.explanation })
  }),

  tenantRoute('POST /evaluations/preview', {
    id: 'previewEvaluation',
    summary: 'Evaluate without storing anything',
    description: FIRST_KEYS,
    roles: ['analyst', 'policy_editor'],
    tx: 'read',
    uses: ['caches', 'encryption', 'metrics', 'plugin_policy', 'threads'],
    executes: 'plugin',
    runs_plugins_of: ['matrix'],
    ready_body: FIRST_BODY,
    body: EvaluationRequest,
    reply: [200, Preview],
    redact: redactDecision,
    stores_nothing: true,
    problems: [
      'not_found',
      'nothing_in_force',
      'inputs_refused',
      'conflict',
      'contract_violated',
      'content_corrupt',
      'dependency_unavailable',
    ],
  }).handle(async ({ tx, body, kernel }) => {
    const { content, resolution } = await decide(kernel, tx, await citeCalls(kernel, tx, body))
    return {
      valid_at: content.valid_at,
      engine: content.engine,
      reasons: toReasons(content.outcome, content.explanation),
      outcome: toOutcomeView(content.outcome),
      explanation: content.explanation,
      definition: toPinnedDefinition(content, binding.getResolutionPins(resolution)),
      lists: toPinnedLists(binding.getResolutionPins(resolution)),
      evidence: getEvidence(content),
      plugins: getPlugins(content),
    }
  }),

  tenantRoute('GET /evaluations', {
    id: 'listEvaluations',
    summary: 'Search by subject, definition, band and time, newest first',
    tool: {
      name: 'list_evaluations',
      title: 'List decisions',
      description:
        'Decisions of this tenant, newest first, by subject, matrix or rule, band and time. Returns ' +
        'identifiers and outcomes; explain_evaluation gives the reasons.',
      effect: 'read',
    },
    roles: readers,
    tx: 'read',
    uses: ['caches', 'cursors', 'encryption', 'integrity'],
    query: EvaluationQuery,
    reply: [200, EvaluationPage],
    redact: redactPage,
  }).handle(async (input) => {
    const { limit: _limit, cursor: _cursor, ...filter } = input.query
    const found = await paginate(input, 'listEvaluations', ['decided_at', 'evaluation_id'], (after, count) =>
      listEvaluations(input.tx, filter, after, count),
    )
    const isIntact = createRecordCheck(input.kernel, input.actor.tenant_id)
    const documents = await openDocuments(input.kernel, input.tx, found.items)
    return {
      ...found,
      items: found.items.map((row, index) => {
        const { state, document } = documents[index] as OpenedDocument
        return {
          ...toEvaluationItem(row),
          subject_name: row.subject_name,
          is_test: document !== null && isTestDocument(document),
          intact: state !== 'altered' && isIntact(row),
          is_erased: state === 'erased',
        }
      }),
    }
  }),

  tenantRoute('GET /evaluations/:evaluation_id', {
    id: 'getEvaluation',
    summary: 'Outcome of one decision with the versions it used',
    description:
      'Of an erased subject 410 `erased`, with what remains: band, score, times, and the hashes of document and receipt.',
    roles: readers,
    tx: 'read',
    uses: ['caches', 'encryption', 'integrity'],
    params: EvaluationParams,
    reply: [200, Evaluation],
    redact: redactDecision,
    problems: ['not_found', 'content_corrupt'],
  }).handle(async ({ tx, params, kernel }) => {
    const { row, content, manifest } = await getIntactEvaluation(kernel, tx, params.evaluation_id)
    return toEvaluationView(row, content, manifest)
  }),

  tenantRoute('GET /evaluations/:evaluation_id/explanation', {
    id: 'getEvaluationExplanation',
    summary: 'Contributions of factors, triggers that fired, reasons in plain words, and the versions that decided',
    tool: {
      name: 'explain_evaluation',
      title: 'Explain a decision',
      description:
        'Why one decision came out as it did: contribution of each factor, rows and triggers that fired, ' +
        'reasons in plain words, versions used. list_evaluations finds the evaluation_id.',
      effect: 'read',
    },
    roles: readers,
    tx: 'read',
    uses: ['caches', 'encryption', 'integrity'],
    params: EvaluationParams,
    reply: [200, ExplanationView],
    redact: redactDecision,
    problems: ['not_found', 'content_corrupt'],
  }).handle(async ({ tx, params, kernel }) => {
    const { row, content, manifest } = await getIntactEvaluation(kernel, tx, params.evaluation_id)
    const { outcome, explanation } = content
    return {
      evaluation_id: row.evaluation_id,
      reasons: toReasons(outcome, explanation),
      outcome: toOutcomeView(outcome),
      explanation: explanation,
      definition: toPinnedDefinition(content, manifest),
      lists: toPinnedLists(manifest),
      plugins: getPlugins(content),
    }
  }),

  tenantRoute('GET /evaluations/:evaluation_id/inputs', {
    id: 'getEvaluationInputs',
    summary: 'Everything pinned: inputs, versions, and each entry that was read',
    roles: ['analyst', 'compliance_officer', 'auditor'],
    tx: 'read',
    uses: ['encryption', 'integrity'],
    params: EvaluationParams,
    reply: [200, PinnedInputs],
    problems: ['not_found', 'content_corrupt'],
  }).handle(async ({ tx, params, kernel }) => {
    const { row, content, manifest } = await getIntactEvaluation(kernel, tx, params.evaluation_id)
    return {
      evaluation_id: row.evaluation_id,
      inputs: { ...content.inputs },
      valid_at: content.valid_at,
      engine: content.engine,
      definition: toPinnedDefinition(content, manifest),
      lists: toPinnedLists(manifest),
      evidence: getEvidence(content),
      plugins: getPlugins(content),
      evidence_calls: await findEvidenceCalls(tx, content, row.evaluation_id),
      used: content.used,
      receipt: toReceiptView(row),
      document_hash: row.document_hash,
    }
  }),
]
