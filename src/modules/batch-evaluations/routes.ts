/** Batches: estimate, start, list, cancel, resume and retry. Results are in results/routes.ts. */
import { tenantRoute } from '#kernel/declare-route.ts'
import { updateCancelRequested } from '#kernel/job/queries.ts'
import { JobView } from '#kernel/job/schema.ts'
import { paginate } from '#kernel/page.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import { resumeBatch, retryFailed, startBatch } from './create-batch.ts'
import { estimateBatch } from './estimate.ts'
import { findBatch, listBatches } from './queries.ts'
import { toBatchView } from './results/batch-views.ts'
import { BatchPage, BatchParams, BatchQuery, BatchRequest, BatchView, Estimate } from './schema.ts'

const readers = ['analyst', 'compliance_officer', 'auditor', 'service'] as const

export const batchRoutes = [
  tenantRoute('POST /batch-evaluations/estimate', {
    id: 'estimateBatchEvaluation',
    summary: 'Estimate of items and duration, with results of the first items; nothing is stored',
    roles: ['analyst', 'policy_editor', 'compliance_officer'],
    tx: 'self',
    uses: ['caches', 'metrics', 'plugin_policy', 'threads'],
    executes: 'plugin',
    runs_plugins_of: ['matrix'],
    body: BatchRequest,
    reply: [200, Estimate],
    stores_nothing: true,
    problems: ['not_found', 'nothing_in_force', 'inputs_refused', 'source_invalid', 'conflict', 'content_corrupt'],
  }).handle(({ body, read, kernel }) => estimateBatch(kernel, read, body)),

  tenantRoute('POST /batch-evaluations', {
    id: 'startBatchEvaluation',
    summary: 'Evaluate an upload, a list or all subjects that match a filter, on one receipt',
    description:
      'The versions in force now are pinned at once, and everything is decided on them. Each item is decided and stored, and its ' +
      'subject rated, or it fails by itself with its faults located; a file that cannot be read to its end decides nothing.',
    tool: {
      name: 'start_batch',
      title: 'Start a batch',
      description:
        'Evaluates an upload, a list or all subjects that match a filter as a job, on one set of versions. ' +
        'Returns job_id; follow it with get_job.',
      effect: 'work',
    },
    roles: ['analyst', 'compliance_officer', 'service'],
    tx: 'write',
    uses: ['caches', 'encryption', 'jobs', 'metrics', 'plugin_policy', 'threads'],
    executes: 'plugin',
    runs_plugins_of: ['matrix'],
    body: BatchRequest,
    reply: [202, JobView],
    starts: 'batch-evaluation',
    problems: [
      'not_found',
      'nothing_in_force',
      'inputs_refused',
      'source_invalid',
      'upload_incomplete',
      'conflict',
      'content_corrupt',
    ],
  }).handle(({ tx, body, kernel }) => startBatch(kernel, tx, body)),

  tenantRoute('GET /batch-evaluations', {
    id: 'listBatchEvaluations',
    summary: 'Batches, newest first',
    roles: readers,
    tx: 'one',
    uses: ['cursors'],
    query: BatchQuery,
    reply: [200, BatchPage],
  }).handle(async (input) => {
    const batches = await paginate(input, 'listBatchEvaluations', ['created_at', 'batch_id'], (after, count) =>
      listBatches(input.tx, after, count),
    )
    return { ...batches, items: batches.items.map(toBatchView) }
  }),

  tenantRoute('GET /batch-evaluations/:batch_id', {
    id: 'getBatchEvaluation',
    summary: 'State, counts and versions of one batch',
    roles: readers,
    tx: 'one',
    params: BatchParams,
    reply: [200, BatchView],
    problems: ['not_found'],
  }).handle(async ({ tx, params }) => toBatchView(assertFound(await findBatch(tx, params.batch_id)))),

  tenantRoute('POST /batch-evaluations/:batch_id/cancel', {
    id: 'cancelBatchEvaluation',
    summary: 'Stop a batch; finished items stay',
    roles: ['analyst', 'compliance_officer'],
    tx: 'write',
    params: BatchParams,
    reply: [200, BatchView],
    problems: ['not_found', 'transition_not_allowed'],
  }).handle(async ({ tx, params }) => {
    const { state, job_id } = assertFound(await findBatch(tx, params.batch_id))
    if (state !== 'queued' && state !== 'running') fail('transition_not_allowed', `The batch is ${state}.`)
    await updateCancelRequested(tx, job_id)
    return toBatchView(assertFound(await findBatch(tx, params.batch_id)))
  }),

  tenantRoute('POST /batch-evaluations/:batch_id/resume', {
    id: 'resumeBatchEvaluation',
    summary: 'Resume after a stop or an outage, on the same receipt',
    roles: ['analyst', 'compliance_officer'],
    tx: 'write',
    uses: ['caches', 'jobs', 'plugin_policy', 'threads'],
    executes: 'plugin',
    runs_plugins_of: ['matrix'],
    params: BatchParams,
    reply: [202, JobView],
    starts: 'batch-evaluation',
    problems: ['not_found', 'transition_not_allowed', 'content_corrupt'],
  }).handle(({ tx, params, kernel }) => resumeBatch(kernel, tx, params.batch_id)),

  tenantRoute('POST /batch-evaluations/:batch_id/retry-failed', {
    id: 'retryBatchItems',
    summary: 'Retry the failed items on the same receipt, with the current records of their subjects',
    roles: ['analyst', 'compliance_officer'],
    tx: 'write',
    uses: ['caches', 'jobs', 'plugin_policy', 'threads'],
    executes: 'plugin',
    runs_plugins_of: ['matrix'],
    params: BatchParams,
    reply: [202, JobView],
    starts: 'batch-evaluation',
    problems: ['not_found', 'transition_not_allowed', 'content_corrupt'],
  }).handle(({ tx, params, kernel }) => retryFailed(kernel, tx, params.batch_id)),
]
