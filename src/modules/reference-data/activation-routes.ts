/** Routes of what is in force: activate, schedule, roll back, pin, and the timeline. */
import { everyone } from '#kernel/auth/roles.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import { paginate } from '#kernel/page.ts'
import { assertFound } from '#kernel/problem.ts'
import { ChangeRequestView, submitChangeRequest } from '#kernel/request/approval.ts'
import type { Route } from '#kernel/route.ts'
import { SYSTEM_TENANT } from '#kernel/uuid.ts'
import { activationStore, datasetStore, registrySchemas, versionStore } from '#modules/definitions/index.ts'

const toActivationView = ({ dataset_tenant_id, dataset_id: _d, ...activation }: activationStore.ActivationRow) => ({
  ...activation,
  origin: dataset_tenant_id === null ? null : datasetStore.getOrigin(dataset_tenant_id),
})

/** A proposal becomes void when another version comes into force. */
const getListHead = async (tx: Tx, params: Record<string, string>): Promise<string | null> => {
  const list_key = params['list_key'] as string
  const [base, overlay] = [
    await activationStore.findActivationInForce(tx, 'list', list_key, 'base'),
    await activationStore.findActivationInForce(tx, 'list', list_key, 'overlay'),
  ]
  return `${base?.activation_id ?? 'none'} ${overlay?.activation_id ?? 'none'}`
}

const findListGates = (tx: Tx, params: Record<string, string>) =>
  activationStore.findRequestGates(tx, 'list', params['list_key'] as string)

export const activationRoutes: readonly Route[] = [
  tenantRoute('GET /reference-data/datasets/:list_key/activations', {
    id: 'listActivations',
    summary: 'Timeline: which version was in force between which instants',
    roles: everyone,
    tx: 'read',
    uses: ['cursors'],
    params: registrySchemas.ListKeyParams,
    query: registrySchemas.TimelineQuery,
    reply: [200, registrySchemas.Timeline],
    problems: ['not_found'],
  }).handle(async (input) => {
    const { tx, params, query } = input
    assertFound(await datasetStore.findDataset(tx, params.list_key))
    const tenant_id = query.scope === 'shared' ? SYSTEM_TENANT : tx.tenant_id
    const of = { tenant_id, family: 'list' as const, list_key: params.list_key }
    const activations = await paginate(input, `listActivations ${params.list_key}`, ['seq'], (after, count) =>
      activationStore.listActivations(tx, of, after, count),
    )
    const all = query.cursor === undefined ? await activationStore.listActivations(tx, of, null, 1000) : []
    return {
      ...activations,
      items: activations.items.map(toActivationView),
      in_force: activationStore.buildTimeline(all),
    }
  }),

  tenantRoute('POST /reference-data/datasets/:list_key/activations', {
    id: 'activateDatasetVersion',
    summary: 'Make a version the one in force, now or from an instant on',
    roles: ['compliance_officer'],
    tx: 'write',
    uses: ['reviews'],
    params: registrySchemas.ListKeyParams,
    body: registrySchemas.ActivationRequest,
    reply: [201, registrySchemas.Activation],
    governed: { action: 'activation', head: getListHead, findGates: findListGates },
    location: ({ list_key }) => `/reference-data/datasets/${list_key}/activations`,
    problems: ['not_found', 'conflict', 'gates_closed', 'transition_not_allowed'],
  }).handle(async ({ tx, params, body, audit, request, kernel }) => {
    const before = await activationStore.describeInForce(tx, 'list', params.list_key)
    const input = { list_key: params.list_key, ...body, cr_id: request.change_request_id }
    const activation = await activationStore.activateVersion(tx, input, kernel)
    activationStore.recordActivation(audit, { before, activation, requested_from: body.effective_from })
    return toActivationView(activation)
  }),

  tenantRoute('POST /reference-data/datasets/:list_key/versions/:version/submit', {
    id: 'submitDatasetVersion',
    summary: 'Ask for a version to be put in force; creates a change request',
    description:
      'Where the caller proposed exactly this before and that request is open, the answer is that one, with `existing: true`.',
    submits: 'activateDatasetVersion',
    tool: {
      name: 'propose_activation',
      title: 'Propose to put a version in force',
      description:
        'Asks for a version of a list to be put in force. Always creates a change request that another person ' +
        'approves or rejects; nothing changes before that. Confirm by repeating list_key@version in confirm. ' +
        'The same proposal again answers the open change request, with existing: true.',
      effect: 'propose',
      confirm: '{list_key}@{version}',
      confirm_shows: {
        effective_from: { title: 'In force from', absent: 'the moment it is approved' },
        reason: { title: 'Reason' },
      },
      confirm_reads: 'getDatasetVersion',
    },
    roles: ['policy_editor'],
    tx: 'write',
    uses: ['routes', 'runHandler'],
    params: registrySchemas.VersionParams,
    body: registrySchemas.SubmissionRequest,
    reply: [201, ChangeRequestView],
    proposes: 'activation',
    location: ({ cr_id }) => `/change-requests/${cr_id}`,
    links: { getChangeRequest: { cr_id: 'cr_id' } },
    problems: ['not_found', 'gates_closed', 'transition_not_allowed'],
  }).handle(async ({ tx, params, body, kernel, actor, request, audit }) => {
    const dataset = assertFound(await datasetStore.findDatasetForWrite(tx, params.list_key))
    const version = assertFound(await versionStore.findVersion(tx, dataset, params.version))
    const operation = assertFound(kernel.routes.find(({ id }) => id === 'activateDatasetVersion'))
    const proposal = { params: { list_key: params.list_key }, body: { version: version.version, ...body } }
    return submitChangeRequest(tx, operation, proposal, {
      run: () => kernel.runHandler(operation.id, { tx, actor, request, audit, ...proposal }),
      audit,
      request,
    })
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
    uses: ['reviews'],
    params: registrySchemas.ListKeyParams,
    body: registrySchemas.RollbackRequest,
    reply: [201, registrySchemas.RollbackReply],
    governed: {
      action: 'rollback',
      head: getListHead,
      findGates: findListGates,
      breakGlass: activationStore.findBreakGlassReason,
      findDefaultRule: (tx, { params, body }) =>
        activationStore.findRollbackApprovalRule(tx, 'list', (params as { list_key: string }).list_key, body),
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
    const before = await activationStore.describeInForce(tx, 'list', params.list_key)
    const input = { list_key: params.list_key, ...body, cr_id: request.change_request_id }
    const { activation, revoked } = await activationStore.rollBack(tx, input, kernel)
    activationStore.recordRollback(audit, before, activation, body)
    return { activation: toActivationView(activation), revoked: revoked.map(toActivationView) }
  }),

  tenantRoute('POST /reference-data/datasets/:list_key/pin', {
    id: 'pinDataset',
    summary: 'Keep this tenant on one version of a shared list',
    roles: ['compliance_officer'],
    tx: 'write',
    uses: ['reviews'],
    params: registrySchemas.ListKeyParams,
    body: registrySchemas.PinRequest,
    reply: [201, registrySchemas.Activation],
    governed: { action: 'activation', head: getListHead },
    problems: ['not_found', 'transition_not_allowed', 'conflict', 'gates_closed'],
  }).handle(async ({ tx, params, body, audit, request, kernel }) => {
    const input = { list_key: params.list_key, ...body, cr_id: request.change_request_id }
    const before = await activationStore.describePin(tx, 'list', params.list_key)
    const activation = await activationStore.pinVersion(tx, input, kernel)
    const { version, expires_at, reason } = activation
    audit.recordDiff(before, { pinned: version, version, expires_at, reason })
    return toActivationView(activation)
  }),

  tenantRoute('POST /reference-data/datasets/:list_key/unpin', {
    id: 'unpinDataset',
    summary: 'Follow the shared list again',
    roles: ['compliance_officer'],
    tx: 'write',
    uses: ['reviews'],
    params: registrySchemas.ListKeyParams,
    body: registrySchemas.ReasonBody,
    reply: [201, registrySchemas.Activation],
    governed: { action: 'activation', head: getListHead },
    problems: ['not_found', 'transition_not_allowed', 'gates_closed'],
  }).handle(async ({ tx, params, body, request, kernel, audit }) => {
    const input = { list_key: params.list_key, ...body, cr_id: request.change_request_id }
    const before = await activationStore.describePin(tx, 'list', params.list_key)
    const activation = await activationStore.unpinVersion(tx, input, kernel)
    audit.recordDiff(before, {
      ...(await activationStore.describePin(tx, 'list', params.list_key)),
      reason: body.reason,
    })
    return toActivationView(activation)
  }),

  tenantRoute('DELETE /reference-data/datasets/:list_key/activations/:activation_id', {
    id: 'deleteActivation',
    summary: 'Cancel a scheduled activation that has not happened yet',
    roles: ['compliance_officer'],
    tx: 'write',
    uses: ['reviews'],
    params: registrySchemas.ActivationParams,
    query: registrySchemas.RevokeQuery,
    reply: [200, registrySchemas.Activation],
    governed: { action: 'activation', head: getListHead },
    problems: ['not_found', 'gates_closed', 'transition_not_allowed'],
  }).handle(async ({ tx, params, query, audit, kernel }) => {
    const { activation, revoked } = await activationStore.cancelActivation(tx, { ...params, ...query }, kernel)
    audit.recordDiff({ scheduled: activation.version }, { scheduled: null, reason: revoked.revoke_reason })
    return toActivationView(revoked)
  }),
]
