/** Examining a decision: replay, re-evaluation, what-if, comparison, certificate, examiner's pack, and override. */
import { toComparableContent } from '#decision/document.ts'
import { withoutCaches } from '#kernel/cache/caches.ts'
import { requestScope } from '#kernel/database/scope.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import { fail } from '#kernel/problem.ts'
import { streamReply } from '#kernel/route.ts'
import { binding } from '#modules/risk-matrices/index.ts'
import { overrideApproval, ratingSchemas, type ratingStore } from '#modules/subjects/index.ts'
import { isEqualJson, listFieldChanges } from '#registry/content/json-patch.ts'
import { createCertificate } from './certificate.ts'
import {
  Certificate,
  Comparison,
  ComparisonRequest,
  Reevaluation,
  Replay,
  WhatIf,
  WhatIfRequest,
} from './examination-schema.ts'
import { createPack } from './pack/create-pack.ts'
import { findEvaluation } from './queries.ts'
import { getIntactEvaluation } from './records/read-record.ts'
import { toEvaluationView, toPinnedLists } from './records/record.ts'
import { redactWhatIf } from './redaction.ts'
import { reevaluate } from './reevaluate.ts'
import { replay } from './replay.ts'
import { replayEvidence } from './replay-evidence.ts'
import { EvaluationParams } from './schema.ts'
import { whatIf } from './what-if.ts'

/** A proposed override is bound to the current risk of the decision's subject. */
const getSubjectHead = async (tx: Tx, params: Record<string, string>): Promise<string | null> => {
  const row = await findEvaluation(tx, params['evaluation_id'] as string)
  return row?.subject_id ? overrideApproval.getRiskHead(tx, { subject_id: row.subject_id }) : null
}

export const examinationRoutes = [
  tenantRoute('POST /evaluations/:evaluation_id/replay', {
    id: 'replayEvaluation',
    summary: 'Replay the decision with its pinned versions: identical, or the differences',
    description:
      'Recomputes the decision document from the receipt and compares it byte by byte. A record, receipt or list that was ' +
      'altered is named: the answer is a verdict, not an error.',
    roles: ['compliance_officer', 'auditor'],
    tx: 'self',
    uses: ['caches', 'encryption', 'integrity', 'metrics', 'plugin_policy', 'threads', 'transactions'],
    params: EvaluationParams,
    reply: [200, Replay],
    stores_nothing: true,
    problems: ['not_found', 'dependency_unavailable'],
  }).handle(async ({ params, kernel, read, actor }) => {
    const scope = requestScope(actor)
    // Results of this replay only: a cache is not trusted.
    const runs = binding.createOwnRuns(withoutCaches(kernel), { caller: actor.tenant_id })
    const { content, ...result } = await read((tx) => replay(kernel, tx, params.evaluation_id, runs))
    return { ...result, ...(await replayEvidence(kernel, scope, { ...result, content })) }
  }),

  tenantRoute('POST /evaluations/:evaluation_id/reevaluate', {
    id: 'reevaluateEvaluation',
    summary: 'Decide again with the versions in force today, with the effect of each changed version',
    roles: ['analyst', 'compliance_officer'],
    tx: 'self',
    uses: ['caches', 'encryption', 'integrity', 'metrics', 'plugin_policy', 'threads'],
    executes: 'plugin',
    runs_plugins_of: ['matrix'],
    params: EvaluationParams,
    reply: [200, Reevaluation],
    stores_nothing: true,
    problems: ['not_found', 'nothing_in_force', 'conflict', 'content_corrupt'],
  }).handle(async ({ params, kernel, read }) => await reevaluate(kernel, read, params.evaluation_id)),

  tenantRoute('POST /evaluations/:evaluation_id/what-if', {
    id: 'exploreEvaluation',
    summary: 'Change inputs or versions; also the smallest change that would alter the band',
    tool: {
      name: 'evaluate_what_if',
      title: 'Try a decision with other inputs',
      description:
        'Decides a stored evaluation again with changed inputs or versions, and finds the smallest change ' +
        'that would alter the band. Stores nothing and changes no rating.',
      effect: 'work',
    },
    roles: ['analyst', 'policy_editor', 'compliance_officer'],
    tx: 'self',
    uses: ['caches', 'encryption', 'integrity', 'metrics', 'plugin_policy', 'threads'],
    executes: 'plugin',
    runs_plugins_of: ['matrix'],
    params: EvaluationParams,
    body: WhatIfRequest,
    reply: [200, WhatIf],
    redact: redactWhatIf,
    stores_nothing: true,
    problems: ['not_found', 'conflict', 'nothing_in_force', 'content_corrupt'],
  }).handle(async ({ params, body, kernel, read }) => await whatIf(kernel, read, params.evaluation_id, body)),

  tenantRoute('POST /evaluations/compare', {
    id: 'compareEvaluations',
    summary: 'Compare two evaluations field by field',
    roles: ['analyst', 'compliance_officer', 'auditor'],
    tx: 'read',
    uses: ['encryption', 'integrity'],
    body: ComparisonRequest,
    reply: [200, Comparison],
    stores_nothing: true,
    problems: ['not_found', 'content_corrupt'],
  }).handle(async ({ tx, body, kernel }) => {
    const [one, two] = body.evaluation_ids as [string, string]
    const before = await getIntactEvaluation(kernel, tx, one)
    const after = await getIntactEvaluation(kernel, tx, two)
    const toVersions = ({ content, manifest }: typeof before) => [content.content_hash, toPinnedLists(manifest)]
    return {
      before: toEvaluationView(before.row, before.content, before.manifest),
      after: toEvaluationView(after.row, after.content, after.manifest),
      same_outcome: isEqualJson(before.content.outcome, after.content.outcome),
      same_inputs: isEqualJson(before.content.inputs, after.content.inputs),
      same_versions: isEqualJson(toVersions(before), toVersions(after)),
      changes: listFieldChanges(toComparableContent(before.content), toComparableContent(after.content)).map(
        (change) => ({
          ...change,
        }),
      ),
    }
  }),

  tenantRoute('GET /evaluations/:evaluation_id/certificate', {
    id: 'getCertificate',
    summary: 'Signed record of the decision that verifies offline',
    description: 'Verify it with: npx probity verify certificate FILE. Repeated requests return the same certificate.',
    roles: ['compliance_officer', 'auditor'],
    tx: 'read',
    uses: ['auditKeys', 'encryption', 'integrity'],
    params: EvaluationParams,
    reply: [200, Certificate],
    audited: true,
    problems: ['not_found', 'content_corrupt'],
  }).handle(async ({ tx, params, kernel }) =>
    createCertificate(kernel, tx, await getIntactEvaluation(kernel, tx, params.evaluation_id)),
  ),

  tenantRoute('GET /evaluations/:evaluation_id/pack', {
    id: 'getEvaluationPack',
    summary: 'All evidence of the decision in one archive for an examiner',
    description:
      'Document, explanation, receipt, definition, the entries that were read with their proofs, approvals, certificate and ' +
      'audit events, with a manifest; it says itself how each part is verified offline.',
    roles: ['compliance_officer', 'auditor'],
    tx: 'read',
    uses: ['auditKeys', 'caches', 'encryption', 'integrity', 'plugin_policy', 'threads'],
    params: EvaluationParams,
    reply: [200, streamReply('application/zip', 'A zip archive.')],
    headers: () => ({ 'content-disposition': 'attachment; filename="evaluation-pack.zip"' }),
    audited: true,
    problems: ['not_found', 'content_corrupt'],
  }).handle(async ({ tx, params, kernel }) => {
    const bytes = await createPack(kernel, tx, await getIntactEvaluation(kernel, tx, params.evaluation_id))
    return (async function* () {
      yield bytes
    })()
  }),

  tenantRoute('POST /evaluations/:evaluation_id/override', {
    id: 'overrideEvaluation',
    summary: 'Override the rating with a reason and an expiry',
    description:
      'The decision itself stays as it is: what changes is the rating of its subject, until the override ends. An override that ' +
      'lowers the rating needs the approval of a compliance officer, unless the approval policy says more.',
    roles: ['analyst', 'compliance_officer'],
    tx: 'write',
    uses: ['encryption', 'integrity', 'runHandler'],
    params: EvaluationParams,
    body: ratingSchemas.Override,
    reply: [201, ratingSchemas.Rating],
    governed: {
      action: 'risk-override',
      head: getSubjectHead,
      findDefaultRule: async (tx, { params, body }) => {
        const row = await findEvaluation(tx, (params as { evaluation_id: string }).evaluation_id)
        return row?.subject_id
          ? overrideApproval.findLoweringRule(tx, row.subject_id, (body as { band: string }).band)
          : undefined
      },
    },
    location: ({ subject_id }) => `/subjects/${subject_id}/risk`,
    problems: ['not_found', 'conflict', 'transition_not_allowed', 'content_corrupt'],
  }).handle(async ({ tx, params, body, kernel, actor, request, audit }) => {
    const { row } = await getIntactEvaluation(kernel, tx, params.evaluation_id)
    if (row.subject_id === null)
      fail('transition_not_allowed', 'The decision is about no subject: nobody has its rating.')
    const override = { params: { subject_id: row.subject_id }, body }
    return (await kernel.runHandler('createRiskOverride', {
      tx,
      actor,
      request,
      audit,
      ...override,
    })) as ratingStore.RatingRow
  }),
]
