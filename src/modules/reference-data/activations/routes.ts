/** What is in force: activate, schedule, roll back, pin, and the timeline of it all. */
import { everyone } from '../../../kernel/auth/roles.ts'
import type { Tx } from '../../../kernel/database/tx.ts'
import { page } from '../../../kernel/page.ts'
import { found } from '../../../kernel/problem.ts'
import { ChangeRequestView, submit } from '../../../kernel/request/governed.ts'
import { type Route, tenantRoute } from '../../../kernel/route.ts'
import { SYSTEM_TENANT } from '../../../kernel/uuid.ts'
import { findDataset, findDatasetToChange } from '../datasets/queries.ts'
import { originOf } from '../datasets/rules.ts'
import { ListKeyParams, VersionParams } from '../schema.ts'
import { findVersion } from '../versions/queries.ts'
import { activate, cancel, findBreakGlassReason, findScheduledRule, pin, rollBack, unpin } from './actions.ts'
import { type ActivationRow, findInForce, listActivations } from './queries.ts'
import { timelineOf } from './rules.ts'
import {
  Activation,
  ActivationOrder,
  ActivationParams,
  PinOrder,
  ReasonBody,
  RevokeQuery,
  RollbackOrder,
  RollbackReply,
  SubmissionOrder,
  Timeline,
  TimelineQuery,
} from './schema.ts'

const shown = ({ dataset_tenant_id, dataset_id: _d, ...activation }: ActivationRow) => ({
  ...activation,
  origin: dataset_tenant_id === null ? null : originOf(dataset_tenant_id),
})

/** A proposal is bound to what was in force when it was made. */
const headOfList = async (tx: Tx, params: Record<string, string>): Promise<string | null> => {
  const list_key = params['list_key'] as string
  const [base, overlay] = [
    await findInForce(tx, 'list', list_key, 'base'),
    await findInForce(tx, 'list', list_key, 'overlay'),
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
    found(await findDataset(tx, params.list_key))
    const tenant_id = query.scope === 'shared' ? SYSTEM_TENANT : tx.tenant_id
    const of = { tenant_id, family: 'list' as const, list_key: params.list_key }
    const activations = await page(input, `listActivations ${params.list_key}`, ['seq'], (after, count) =>
      listActivations(tx, of, after, count),
    )
    const all = query.cursor === undefined ? await listActivations(tx, of, null, 1000) : []
    return { ...activations, items: activations.items.map(shown), in_force: timelineOf(all) }
  }),

  tenantRoute('POST /reference-data/datasets/:list_key/activations', {
    id: 'activateDatasetVersion',
    summary: 'Make a version the one in force, now or from an instant on',
    roles: ['compliance_officer'],
    tx: 'write',
    params: ListKeyParams,
    body: ActivationOrder,
    reply: [201, Activation],
    governed: { action: 'activation', head: headOfList },
    location: ({ list_key }) => `/reference-data/datasets/${list_key}/activations`,
    problems: ['not_found', 'conflict', 'gates_closed', 'transition_not_allowed'],
  }).handle(async ({ tx, params, body, audit, request, kernel }) => {
    const before = await findInForce(tx, 'list', params.list_key, 'base')
    const order = { list_key: params.list_key, ...body, cr_id: request.approves }
    const made = await activate(tx, order, 'activate', 'list', kernel)
    audit.configuration(
      { version: before?.version ?? null },
      { version: made.version, effective_from: made.effective_from, reason: made.reason },
    )
    return shown(made)
  }),

  tenantRoute('POST /reference-data/datasets/:list_key/versions/:version/submit', {
    id: 'submitDatasetVersion',
    summary: 'Ask for a version to be put in force; creates a change request',
    submits: 'activateDatasetVersion',
    roles: ['policy_editor'],
    tx: 'write',
    params: VersionParams,
    body: SubmissionOrder,
    reply: [201, ChangeRequestView],
    proposes: 'activation',
    location: ({ cr_id }) => `/change-requests/${cr_id}`,
    links: { getChangeRequest: { cr_id: 'cr_id' } },
    problems: ['not_found', 'gates_closed', 'transition_not_allowed'],
  }).handle(async ({ tx, params, body, kernel, actor, request, audit }) => {
    const dataset = found(await findDatasetToChange(tx, params.list_key))
    const version = found(await findVersion(tx, dataset, params.version))
    const operation = found(kernel.routes.find(({ id }) => id === 'activateDatasetVersion'))
    const order = { params: { list_key: params.list_key }, body: { version: version.version, ...body } }
    return submit(tx, operation, order, () => kernel.perform(operation.id, { tx, actor, request, audit, ...order }))
  }),

  tenantRoute('POST /reference-data/datasets/:list_key/rollback', {
    id: 'rollBackDataset',
    summary: 'Put an earlier version in force again, in one call, with a reason',
    description:
      'Without to_version, the one that was in force before. Scheduled activations are revoked unless keep_scheduled. ' +
      'The version must have been in force here before: otherwise 409 `version_never_in_force`. break_glass makes it happen at ' +
      'once where the policy would ask for approval: it is for people, not for API keys, and stands in the inbox of everybody ' +
      'else who could have approved until one of them acknowledges it. Where the policy names no `rollback`, one that cancels ' +
      'scheduled activations needs the approval of an `activation`.',
    roles: ['compliance_officer'],
    tx: 'write',
    params: ListKeyParams,
    body: RollbackOrder,
    reply: [201, RollbackReply],
    governed: {
      action: 'rollback',
      head: headOfList,
      breakGlass: findBreakGlassReason,
      otherwise: (tx, { params, body }) =>
        findScheduledRule(tx, 'list', (params as { list_key: string }).list_key, body),
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
    const before = await findInForce(tx, 'list', params.list_key, 'base')
    const order = { list_key: params.list_key, ...body, cr_id: request.approves }
    const { activation, revoked } = await rollBack(tx, order, 'list', kernel)
    audit.configuration(
      { version: before?.version ?? null },
      {
        version: activation.version,
        reason: body.reason,
        ...(body.break_glass && { break_glass: body.break_glass.reason }),
      },
    )
    return { activation: shown(activation), revoked: revoked.map(shown) }
  }),

  tenantRoute('POST /reference-data/datasets/:list_key/pin', {
    id: 'pinDataset',
    summary: 'Keep this tenant on one version of a shared list',
    roles: ['compliance_officer'],
    tx: 'write',
    params: ListKeyParams,
    body: PinOrder,
    reply: [201, Activation],
    governed: { action: 'activation', head: headOfList },
    problems: ['not_found', 'transition_not_allowed', 'conflict', 'gates_closed'],
  }).handle(async ({ tx, params, body, audit, request, kernel }) => {
    const made = await pin(tx, { list_key: params.list_key, ...body, cr_id: request.approves }, kernel)
    audit.configuration(null, { pinned: made.version, expires_at: made.expires_at, reason: made.reason })
    return shown(made)
  }),

  tenantRoute('POST /reference-data/datasets/:list_key/unpin', {
    id: 'unpinDataset',
    summary: 'Follow the shared list again',
    roles: ['compliance_officer'],
    tx: 'write',
    params: ListKeyParams,
    body: ReasonBody,
    reply: [201, Activation],
    governed: { action: 'activation', head: headOfList },
    problems: ['not_found', 'transition_not_allowed', 'gates_closed'],
  }).handle(async ({ tx, params, body, request, kernel }) =>
    shown(await unpin(tx, params.list_key, body.reason, request.approves, kernel)),
  ),

  tenantRoute('DELETE /reference-data/datasets/:list_key/activations/:activation_id', {
    id: 'deleteActivation',
    summary: 'Cancel a scheduled activation that has not happened yet',
    roles: ['compliance_officer'],
    tx: 'write',
    params: ActivationParams,
    query: RevokeQuery,
    reply: [200, Activation],
    governed: { action: 'activation', head: headOfList },
    problems: ['not_found', 'gates_closed', 'transition_not_allowed'],
  }).handle(async ({ tx, params, query, audit, kernel }) => {
    const { activation, revoked } = await cancel(tx, { ...params, ...query }, 'list', kernel)
    audit.configuration({ scheduled: activation.version }, { scheduled: null, reason: revoked.revoke_reason })
    return shown(revoked)
  }),
]
