/** Routes that put a version of a definition in force now or later, roll back, pin, and list the timeline. */

import { everyone } from '#kernel/auth/roles.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import { paginate } from '#kernel/page.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import { ChangeRequestView, submitChangeRequest } from '#kernel/request/approval.ts'
import type { Route } from '#kernel/route.ts'
import { SYSTEM_TENANT } from '#kernel/uuid.ts'
import {
  activateVersion,
  cancelActivation,
  findBreakGlassReason,
  findRollbackApprovalRule,
  pinVersion,
  rollBack,
  unpinVersion,
} from '../activations/activate.ts'
import { describeInForce, describePin, recordActivation, recordRollback } from '../activations/describe-in-force.ts'
import { findRequestGates } from '../activations/frozen.ts'
import { type ActivationRow, findActivationInForce, listActivations } from '../activations/queries.ts'
import { buildTimeline } from '../activations/timeline.ts'
import { getOrigin } from '../datasets/origin.ts'
import { findDatasetForWrite } from '../datasets/queries.ts'
import * as registrySchemas from '../schemas.ts'
import { failGatesClosed } from '../versions/publish.ts'
import { findVersion } from '../versions/queries.ts'
import { getDefinition } from './document.ts'
import { type DefinitionKind, getDefinitionKey, listHookCapabilities, toKindReply } from './kind.ts'
import type { DefinitionSchemas } from './schema.ts'

/** Longer than 80 lines: a list of route declarations. */
export function createActivationRoutes(kind: DefinitionKind, s: DefinitionSchemas): Route[] {
  const { family, segment, param, word, operations } = kind
  const at = `/${segment}/:${param}` as const
  const toActivationView = ({ dataset_tenant_id: owner, dataset_id: _d, list_key, ...activation }: ActivationRow) =>
    toKindReply({ [param]: list_key, ...activation, origin: owner === null ? null : getOrigin(owner) })

  /** A proposal becomes void when another version comes into force. */
  const head = async (tx: Tx, params: Record<string, string>): Promise<string | null> =>
    (await findActivationInForce(tx, family, params[param] as string, 'base'))?.activation_id ?? 'none'

  const findGates = (tx: Tx, params: Record<string, string>) => findRequestGates(tx, family, params[param] as string)

  return [
    tenantRoute(`GET ${at}/activations`, {
      id: operations.listActivations,
      summary: 'Timeline: which version was in force between which instants',
      roles: everyone,
      tx: 'read',
      uses: ['cursors'],
      params: s.KeyParams,
      query: registrySchemas.TimelineQuery,
      reply: [200, s.Timeline],
      problems: ['not_found'],
    }).handle(async (input) => {
      const { tx, params, query } = input
      const { list_key } = await getDefinition(tx, family, getDefinitionKey(kind, params))
      const of = { tenant_id: query.scope === 'shared' ? SYSTEM_TENANT : tx.tenant_id, family, list_key }
      const { items, next_cursor } = await paginate(
        input,
        `${operations.listActivations} ${list_key}`,
        ['seq'],
        (after, count) => listActivations(tx, of, after, count),
      )
      const all = query.cursor === undefined ? await listActivations(tx, of, null, 1000) : []
      return { items: items.map(toActivationView), in_force: buildTimeline(all), next_cursor }
    }),

    tenantRoute(`POST ${at}/activations`, {
      id: operations.activateVersion,
      summary: 'Put a version in force, now or from an instant on, if it is complete for the lists in force then',
      roles: ['compliance_officer'],
      tx: 'write',
      uses: ['reviews', ...listHookCapabilities(kind.activation)],
      params: s.KeyParams,
      body: s.ActivationRequest,
      reply: [201, s.Activation],
      governed: { action: 'activation', head, findGates, has_impact: kind.has_impact },
      location: (reply) => `/${segment}/${getDefinitionKey(kind, reply)}/activations`,
      problems: ['not_found', 'conflict', 'gates_closed', 'transition_not_allowed', 'content_corrupt'],
    }).handle(async ({ tx, params, body, audit, request, kernel }) => {
      const list_key = getDefinitionKey(kind, params)
      const before = await describeInForce(tx, family, list_key)
      const gates = await kind.activation?.findGates(kernel, tx, { key: list_key, version: body.version, body })
      if (gates && gates.length > 0) failGatesClosed(gates)
      const input = { family, list_key, ...body, cr_id: request.change_request_id }
      const activation = await activateVersion(tx, input, kernel)
      recordActivation(audit, { before, activation, requested_from: body.effective_from })
      return toActivationView(activation)
    }),

    tenantRoute(`POST ${at}/versions/:version/submit`, {
      id: operations.submitVersion,
      summary: 'Ask for a version to be put in force; creates a change request',
      description:
        'Where the caller proposed exactly this before and that request is open, the answer is that one, with `existing: true`.',
      submits: operations.activateVersion,
      roles: ['policy_editor'],
      tx: 'write',
      uses: ['routes', 'runHandler'],
      params: s.VersionParams,
      body: s.SubmissionRequest,
      reply: [201, ChangeRequestView],
      proposes: 'activation',
      location: ({ cr_id }) => `/change-requests/${cr_id}`,
      links: { getChangeRequest: { cr_id: 'cr_id' } },
      problems: ['not_found', 'gates_closed', 'transition_not_allowed', 'content_corrupt'],
    }).handle(async ({ tx, params, body, kernel, actor, request, audit }) => {
      const { version } = params as unknown as { version: string }
      if (version === 'draft') fail('transition_not_allowed', 'Publish the draft first.')
      const dataset = assertFound(await findDatasetForWrite(tx, getDefinitionKey(kind, params), family))
      const published = assertFound(await findVersion(tx, dataset, version))
      const operation = assertFound(kernel.routes.find(({ id }) => id === operations.activateVersion))
      const proposal = { params: { [param]: dataset.list_key }, body: { version: published.version, ...body } }
      return submitChangeRequest(tx, operation, proposal, {
        run: () => kernel.runHandler(operation.id, { tx, actor, request, audit, ...proposal }),
        audit,
        request,
      })
    }),

    tenantRoute(`POST ${at}/rollback`, {
      id: operations.rollBack,
      summary: `Put an earlier version of the ${word} in force again, in one call, with a reason`,
      description:
        'Without to_version, the one that was in force before. Scheduled activations are revoked unless keep_scheduled. ' +
        'The version must have been in force here before: otherwise 409 `version_never_in_force`. break_glass executes it ' +
        'immediately where the policy requires approval: it is for people, not for API keys, and is in the inbox of everybody ' +
        'else who could have approved until one of them acknowledges it. Where the policy names no `rollback`, one that cancels ' +
        'scheduled activations needs the approval of an `activation`.',
      roles: ['compliance_officer'],
      tx: 'write',
      uses: ['reviews'],
      params: s.KeyParams,
      body: registrySchemas.RollbackRequest,
      reply: [201, s.Rollback],
      governed: {
        action: 'rollback',
        head,
        findGates,
        breakGlass: findBreakGlassReason,
        findDefaultRule: (tx, { params, body }) =>
          findRollbackApprovalRule(tx, family, getDefinitionKey(kind, params), body),
      },
      problems: [
        'not_found',
        'conflict',
        'nothing_in_force',
        'gates_closed',
        'transition_not_allowed',
        'version_never_in_force',
        'content_corrupt',
      ],
    }).handle(async ({ tx, params, body, audit, request, kernel }) => {
      const list_key = getDefinitionKey(kind, params)
      const before = await describeInForce(tx, family, list_key)
      const input = { family, list_key, ...body, cr_id: request.change_request_id }
      const { activation, revoked } = await rollBack(tx, input, kernel)
      recordRollback(audit, before, activation, body)
      return { activation: toActivationView(activation), revoked: revoked.map(toActivationView) }
    }),

    tenantRoute(`POST ${at}/pin`, {
      id: operations.pin,
      summary: `Keep this tenant on one version of a shared ${word}`,
      roles: ['compliance_officer'],
      tx: 'write',
      uses: ['reviews'],
      params: s.KeyParams,
      body: registrySchemas.PinRequest,
      reply: [201, s.Activation],
      governed: { action: 'activation', head, has_impact: kind.has_impact },
      problems: ['not_found', 'transition_not_allowed', 'conflict', 'gates_closed', 'content_corrupt'],
    }).handle(async ({ tx, params, body, audit, request, kernel }) => {
      const input = { family, list_key: getDefinitionKey(kind, params), ...body, cr_id: request.change_request_id }
      const before = await describePin(tx, family, input.list_key)
      const activation = await pinVersion(tx, input, kernel)
      const { version, expires_at, reason } = activation
      audit.recordDiff(before, { pinned: version, version, expires_at, reason })
      return toActivationView(activation)
    }),

    tenantRoute(`POST ${at}/unpin`, {
      id: operations.unpin,
      summary: `Follow the shared ${word} again`,
      roles: ['compliance_officer'],
      tx: 'write',
      uses: ['reviews'],
      params: s.KeyParams,
      body: registrySchemas.ReasonBody,
      reply: [201, s.Activation],
      governed: { action: 'activation', head, has_impact: kind.has_impact },
      problems: ['not_found', 'transition_not_allowed', 'gates_closed', 'content_corrupt'],
    }).handle(async ({ tx, params, body, request, kernel, audit }) => {
      const input = { family, list_key: getDefinitionKey(kind, params), ...body, cr_id: request.change_request_id }
      const before = await describePin(tx, family, input.list_key)
      const activation = await unpinVersion(tx, input, kernel)
      audit.recordDiff(before, { ...(await describePin(tx, family, input.list_key)), reason: body.reason })
      return toActivationView(activation)
    }),

    tenantRoute(`DELETE ${at}/activations/:activation_id`, {
      id: operations.deleteActivation,
      summary: 'Cancel a scheduled activation that has not happened yet',
      roles: ['compliance_officer'],
      tx: 'write',
      uses: ['reviews'],
      params: s.ActivationParams,
      query: registrySchemas.RevokeQuery,
      reply: [200, s.Activation],
      governed: { action: 'activation', head, has_impact: kind.has_impact },
      problems: ['not_found', 'gates_closed', 'transition_not_allowed', 'content_corrupt'],
    }).handle(async ({ tx, params, query, audit, kernel }) => {
      const { activation_id } = params as unknown as { activation_id: string }
      const input = { family, list_key: getDefinitionKey(kind, params), activation_id, ...query }
      const { activation, revoked } = await cancelActivation(tx, input, kernel)
      audit.recordDiff({ scheduled: activation.version }, { scheduled: null, reason: revoked.revoke_reason })
      return toActivationView(revoked)
    }),
  ]
}
