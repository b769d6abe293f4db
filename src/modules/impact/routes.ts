/** Impact runs: of a version of a list, and of what a change request would activate. */
import { noteRestriction } from '#kernel/audit/restricted-object.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import { JobView } from '#kernel/job/schema.ts'
import { paginate } from '#kernel/page.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import { mayReadChangeRequest } from '#kernel/request/visibility.ts'
import type { Route } from '#kernel/route.ts'
import { findChangeRequest, lockChangeRequest } from '#modules/change-requests/index.ts'
import { registrySchemas, versionStore } from '#modules/definitions/index.ts'

import { createListCandidate, createRequestCandidate } from './candidates.ts'
import { IMPACT_RUN, startRun, toRunView } from './impact-runs.ts'
import { findRun, listRuns, updateRequestImpact } from './queries.ts'
import { redactRun } from './redaction.ts'
import { DatasetVersionParams, RequestParams, RunPage, RunParams, RunQuery, RunRequest, RunView } from './schema.ts'

const makers = ['policy_editor', 'compliance_officer'] as const
const readers = ['policy_editor', 'compliance_officer', 'auditor'] as const

const getRunPath = (run_id: string) => `/reference-data/impact-runs/${run_id}` as const

export const impactRoutes: readonly Route[] = [
  tenantRoute('POST /reference-data/datasets/:list_key/versions/:version/impact', {
    id: 'startDatasetImpact',
    summary: 'Measure the impact of a version on past decisions before it is put in force',
    description:
      'The latest decision about each active subject of the last 400 days is made again, once with what is in force and once ' +
      'with this version in its place, so that only its effect is measured. Nothing is changed, and no subject is rated.',
    roles: makers,
    tx: 'write',
    uses: ['caches', 'jobs', 'plugin_policy', 'threads'],
    executes: 'plugin',
    runs_plugins_of: ['matrix'],
    params: DatasetVersionParams,
    query: registrySchemas.OriginQuery,
    body: RunRequest,
    reply: [202, JobView],
    starts: IMPACT_RUN,
    problems: ['not_found', 'conflict', 'content_corrupt'],
  }).handle(async ({ tx, params, query, body, kernel }) => {
    const { dataset, version } = await versionStore.getVersion(tx, params, query.origin)
    const candidate = await createListCandidate(tx, dataset, version)
    return (await startRun(kernel, tx, candidate, { ...body, path: getRunPath })).job
  }),

  tenantRoute('GET /reference-data/impact-runs', {
    id: 'listImpactRuns',
    summary: 'Impact runs, newest first',
    roles: readers,
    tx: 'one',
    uses: ['cursors'],
    query: RunQuery,
    reply: [200, RunPage],
  }).handle(async (input) => {
    const { family, list_key } = input.query
    return paginate(input, 'listImpactRuns', ['created_at', 'run_id'], (after, count) =>
      listRuns(input.tx, { family, list_key }, after, count),
    )
  }),

  tenantRoute('GET /reference-data/impact-runs/:run_id', {
    id: 'getImpactRun',
    summary: 'Progress and result of a run, and whether it still holds',
    roles: readers,
    tx: 'read',
    uses: ['caches', 'plugin_policy', 'threads'],
    params: RunParams,
    reply: [200, RunView],
    redact: redactRun,
    problems: ['not_found', 'conflict', 'content_corrupt'],
  }).handle(async ({ tx, params, kernel }) => toRunView(kernel, tx, assertFound(await findRun(tx, params.run_id)))),

  tenantRoute('POST /change-requests/:cr_id/impact', {
    id: 'startChangeRequestImpact',
    summary: 'Measure the impact of a pending change on past decisions, or measure it again',
    description:
      'The change is tried in a transaction that is rolled back, so that the measured versions are those approving would put in force. The run is ' +
      'attached to the change request and replaces an earlier one.',
    roles: makers,
    tx: 'write',
    uses: ['auditKeys', 'caches', 'runHandler', 'jobs', 'plugin_policy', 'routes', 'threads'],
    executes: 'plugin',
    runs_plugins_of: ['matrix'],
    params: RequestParams,
    body: RunRequest,
    reply: [202, JobView],
    starts: IMPACT_RUN,
    // Includes the problems of the operations that the dry run may execute.
    problems: [
      'not_found',
      'transition_not_allowed',
      'approval_void',
      'gates_closed',
      'nothing_in_force',
      'conflict',
      'type_violation',
      'content_corrupt',
    ],
  }).handle(async (input) => {
    const { tx, params, body, kernel, actor, request: facts } = input
    const request = assertFound(await lockChangeRequest(tx, params.cr_id))
    await noteRestriction(input, 'change_request', request.cr_id)
    if (request.state !== 'open') fail('transition_not_allowed', `The change request is ${request.state}.`)
    const candidate = await createRequestCandidate(kernel, tx, request, { actor, request: facts })
    const { run_id, job } = await startRun(kernel, tx, candidate, {
      ...body,
      path: getRunPath,
      cr_id: request.cr_id,
    })
    await updateRequestImpact(tx, request.cr_id, run_id)
    return job
  }),

  tenantRoute('GET /change-requests/:cr_id/impact', {
    id: 'getChangeRequestImpact',
    summary: 'The impact run attached to a change request, and whether it still holds',
    description:
      'For those who may read the change request in full; 404 for others. Once the request is decided, the run is shown as it was ' +
      'then and is never stale.',
    roles: ['policy_editor', 'compliance_officer', 'auditor', 'tenant_admin'],
    tx: 'read',
    uses: ['caches', 'plugin_policy', 'routes', 'threads'],
    params: RequestParams,
    reply: [200, RunView],
    redact: redactRun,
    problems: ['not_found', 'conflict', 'content_corrupt'],
  }).handle(async (input) => {
    const { tx, params, kernel, actor } = input
    const request = assertFound(await findChangeRequest(tx, params.cr_id))
    await noteRestriction(input, 'change_request', request.cr_id)
    if (!mayReadChangeRequest(kernel.routes, actor.roles, request))
      fail('not_found', 'Only those who may call its operation or approve it, and auditors, read its impact run.')
    const { impact_run_id } = request
    const run = impact_run_id === null ? undefined : await findRun(tx, impact_run_id)
    return toRunView(kernel, tx, run ?? fail('not_found', 'No impact run has been made for this change request.'), {
      isDecided: request.state !== 'open',
    })
  }),
]
