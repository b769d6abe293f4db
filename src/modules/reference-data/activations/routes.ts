/** What is in force: activate, schedule, roll back, pin, and the timeline of it all. */
import { everyone } from '#kernel/auth/roles.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { paginate } from '#kernel/page.ts'
import { assertFound } from '#kernel/problem.ts'
import { ChangeRequestView, submitChangeRequest } from '#kernel/request/approval.ts'
import { type Route, tenantRoute } from '#kernel/route.ts'
import { SYSTEM_TENANT } from '#kernel/uuid.ts'
import { getOrigin } from '../datasets/origin.ts'
import { findDataset, findDatasetForWrite } from '../datasets/queries.ts'
import { ListKeyParams, VersionParams } from '../schema.ts'
import { findVersion } from '../versions/queries.ts'
import {
  activateVersion,
  cancelActivation,
  findBreakGlassReason,
  findRollbackApprovalRule,
  pinVersion,
  rollBack,
  unpinVersion,
} from './activate.ts'
import { type ActivationRow, findActivationInForce, listActivations } from './queries.ts'
import {
  Activation,
  ActivationParams,
  ActivationRequest,
  PinRequest,
  ReasonBody,
  RevokeQuery,
  RollbackReply,
  RollbackRequest,
  SubmissionRequest,
  Timeline,
  TimelineQuery,
} from './schema.ts'
import { buildTimeline } from './timeline.ts'

const toActivationView = ({ dataset_tenant_id, dataset_id: _d, ...activation }: ActivationRow) => ({
  ...activation,
  origin: dataset_tenant_id === null ? null : getOrigin(dataset_tenant_id),
})

/** A proposal is bound to what was in force when it was made. */
const getListHead = async (tx: Tx, params: Record<string, string>): Promise<string | null> => {
  const list_key = params['list_key'] as string
  const [base, overlay] = [
    await findActivationInForce(tx, 'list', list_key, 'base'),
    await findActivationInForce(tx, 'list', list_key, 'overlay'),
  ]
  return `${base?.activation_id ?? 'none'} ${overlay?.activation_id ?? 'none'}`
}

export const activationRoutes: readonly Route[] = [
  tenantRoute('GET /reference-data/datasets/:list_key/activations', {
    id: 'listActivations',
    summary: 'Timeline: which version was in force between which instants',
    roles: everyone,
    tx: 'read',
    params: ListKeyParams,
    query: TimelineQuery,
    reply: [200, Timeline],
    problems: ['not_found'],
  }).handle(async (input) => {
    const { tx, params, query } = input
    assertFound(await findDataset(tx, params.list_key))
    const tenant_id = query.scope === 'shared' ? SYSTEM_TENANT : tx.tenant_id
    const of = { tenant_id, family: 'list' as const, list_key: params.list_key }
    const activations = await paginate(input, `listActivations ${params.list_key}`, ['seq'], (after, count) =>
      listActivations(tx, of, after, count),
    )
    const all = query.cursor === undefined ? await listActivations(tx, of, null, 1000) : []
    return { ...activations, items: activations.items.map(toActivationView), in_force: buildTimeline(all) }
  }),

  tenantRoute('POST /reference-data/datasets/:list_key/activations', {
    id: 'activateDatasetVersion',
    summary: 'Make a version the one in force, now or from an instant on',
    roles: ['compliance_officer'],
    tx: 'write',
    params: ListKeyParams,
    body: ActivationRequest,
    reply: [201, Activation],
    governed: { action: 'activation', head: getListHead },
    location: ({ list_key }) => `/reference-data/datasets/${list_key}/activations`,
    problems: ['not_found', 'conflict', 'gates_closed', 'transition_not_allowed'],
  }).handle(async ({ tx, params, body, audit, request, kernel }) => {
    const before = await findActivationInForce(tx, 'list', params.list_key, 'base')
    const order = { list_key: params.list_key, ...body, cr_id: request.change_request_id }
    const made = await activateVersion(tx, order, 'activate', 'list', kernel)
    audit.recordDiff(
      { version: before?.version ?? null },
      { version: made.version, effective_from: made.effective_from, reason: made.reason },
    )
    return toActivationView(made)
  }),

  tenantRoute('POST /reference-data/datasets/:list_key/versions/:version/submit', {
    id: 'submitDatasetVersion',
    summary: 'Ask for a version to be put in force; creates a change request',
    submits: 'activateDatasetVersion',
    roles: ['policy_editor'],
    tx: 'write',
    params: VersionParams,
    body: SubmissionRequest,
    reply: [201, ChangeRequestView],
    proposes: 'activation',
    location: ({ cr_id }) => `/change-requests/${cr_id}`,
    links: { getChangeRequest: { cr_id: 'cr_id' } },
    problems: ['not_found', 'gates_closed', 'transition_not_allowed'],
  }).handle(async ({ tx, params, body, kernel, actor, request, audit }) => {
    const dataset = assertFound(await findDatasetForWrite(tx, params.list_key))
    const version = assertFound(await findVersion(tx, dataset, params.version))
    const operation = assertFound(kernel.routes.find(({ id }) => id === 'activateDatasetVersion'))
    const order = { params: { list_key: params.list_key }, body: { version: version.version, ...body } }
    return submitChangeRequest(tx, operation, order, () =>
      kernel.executeOperation(operation.id, { tx, actor, request, audit, ...order }),
    )
  }),

  tenantRoute('POST /reference-data/datasets/:list_key/rollback', {
    id: 'rollBackDataset',
    summary: 'Put an earlier version in force again, in one call, with a reason',
    description:
      'Without to_version, the one that was in force before. Scheduled activations are revoked unless keep_scheduled. ' +
      'The version must have been in force here before: otherwise 409 `version_never_in_force`. break_glass executes it ' +
      'immediately where the policy requires approval: it is for people, not for API keys, and is in the inbox of everybody ' +
      'else who could have approved it until one of them acknowledges it. Where the policy names no `rollback`, one that cancels ' +
      'scheduled activations needs the approval of an `activation`.',
    roles: ['compliance_officer'],
    tx: 'write',
    params: ListKeyParams,
    body: RollbackRequest,
    reply: [201, RollbackReply],
    governed: {
      action: 'rollback',
      head: getListHead,
      breakGlass: findBreakGlassReason,
      findDefaultRule: (tx, { params, body }) =>
        findRollbackApprovalRule(tx, 'list', (params as { list_key: string }).list_key, body),
    },
    problems: [
      'not_found',
      'conflict',
      'nothing_in_force',
      'gates_closed',
      'transition_not_allowed',
      'version_never_in_force',
    ],
  }).handle(async ({ tx, params, body, audit, request, kernel }) => {
    const before = await findActivationInForce(tx, 'list', params.list_key, 'base')
    const order = { list_key: params.list_key, ...body, cr_id: request.change_request_id }
    const { activation, revoked } = await rollBack(tx, order, 'list', kernel)
    audit.recordDiff(
      { version: before?.version ?? null },
      {
        version: activation.version,
        reason: body.reason,
        ...(body.break_glass && { break_glass: body.break_glass.reason }),
      },
    )
    return { activation: toActivationView(activation), revoked: revoked.map(toActivationView) }
  }),

  tenantRoute('POST /reference-data/datasets/:list_key/pin', {
    id: 'pinDataset',
    summary: 'Keep this tenant on one version of a shared list',
    roles: ['compliance_officer'],
    tx: 'write',
    params: ListKeyParams,
    body: PinRequest,
    reply: [201, Activation],
    governed: { action: 'activation', head: getListHead },
    problems: ['not_found', 'transition_not_allowed', 'conflict', 'gates_closed'],
  }).handle(async ({ tx, params, body, audit, request, kernel }) => {
    const made = await pinVersion(tx, { list_key: params.list_key, ...body, cr_id: request.change_request_id }, kernel)
    audit.recordDiff(null, { pinned: made.version, expires_at: made.expires_at, reason: made.reason })
    return toActivationView(made)
  }),

  tenantRoute('POST /reference-data/datasets/:list_key/unpin', {
    id: 'unpinDataset',
    summary: 'Follow the shared list again',
    roles: ['compliance_officer'],
    tx: 'write',
    params: ListKeyParams,
    body: ReasonBody,
    reply: [201, Activation],
    governed: { action: 'activation', head: getListHead },
    problems: ['not_found', 'transition_not_allowed', 'gates_closed'],
  }).handle(async ({ tx, params, body, request, kernel }) =>
    toActivationView(await unpinVersion(tx, params.list_key, body.reason, request.change_request_id, kernel)),
  ),

  tenantRoute('DELETE /reference-data/datasets/:list_key/activations/:activation_id', {
    id: 'deleteActivation',
    summary: 'Cancel a scheduled activation that has not happened yet',
    roles: ['compliance_officer'],
    tx: 'write',
    params: ActivationParams,
    query: RevokeQuery,
    reply: [200, Activation],
    governed: { action: 'activation', head: getListHead },
    problems: ['not_found', 'gates_closed', 'transition_not_allowed'],
  }).handle(async ({ tx, params, query, audit, kernel }) => {
    const { activation, revoked } = await cancelActivation(tx, { ...params, ...query }, 'list', kernel)
    audit.recordDiff({ scheduled: activation.version }, { scheduled: null, reason: revoked.revoke_reason })
    return toActivationView(revoked)
  }),
]
