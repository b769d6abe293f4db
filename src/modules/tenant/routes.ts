/** Tenant-wide settings: profile, approval policy, retention, and the proof of isolation. */
import type { Static } from 'typebox'
import { everyone } from '#kernel/auth/roles.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import { failMissingApprovers } from '#kernel/request/approvers.ts'
import { findStrictestRule } from '#kernel/request/queries.ts'
import { assertRevision } from '#kernel/revision.ts'
import { needsApproval, ROLES_ACTION } from '#modules/access/index.ts'
import { checkIsolation, listUnmetRules } from './isolation-check.ts'
import {
  findApprovalPolicy,
  findRetentionPolicy,
  findTenant,
  lockApprovalPolicy,
  lockRetentionPolicy,
  lockTenant,
  type PolicyRow,
  updateApprovalPolicy,
  updateApprovalPolicySetUp,
  updateRetentionPolicy,
  updateTenant,
} from './queries.ts'
import { findRetentionFault } from './retention.ts'
import {
  ApprovalPolicy,
  ApprovalPolicyChange,
  IsolationProof,
  RetentionPolicy,
  RetentionPolicyChange,
  Tenant,
  TenantChange,
} from './schema.ts'
import {
  findDuplicateName,
  findImpactFault,
  hasSameRules,
  isRuleChanged,
  isUnknownTimeZone,
  listGovernedActions,
} from './settings-checks.ts'

const toPolicyView = (policy: PolicyRow, kernel: Capabilities<'routes'>) => ({
  ...policy,
  actions: listGovernedActions(kernel.routes),
})

export const tenantRoutes = [
  tenantRoute('GET /tenant', {
    id: 'getTenant',
    summary: 'Name, jurisdictions, licences, time zone, residency',
    roles: everyone,
    tx: 'one',
    reply: [200, Tenant],
    revisioned: true,
    problems: ['not_found'],
  }).handle(async ({ tx }) => assertFound(await findTenant(tx))),

  tenantRoute('PATCH /tenant', {
    id: 'updateTenant',
    summary: 'Change the tenant profile',
    roles: ['tenant_admin'],
    tx: 'write',
    body: TenantChange,
    reply: [200, Tenant],
    revisioned: true,
    governed: { action: 'tenant-profile', head: async (tx) => String((await findTenant(tx))?.revision ?? 0) },
    problems: ['not_found', 'conflict'],
  }).handle(async (input) => {
    const tenant = assertFound(await lockTenant(input.tx))
    assertRevision(tenant.revision, input)
    const { expected_revision: _, ...change } = input.body
    if (change.time_zone !== undefined && isUnknownTimeZone(change.time_zone)) {
      fail('conflict', 'time_zone is not a zone of the IANA time zone database, such as Europe/Berlin.')
    }
    const changed = assertFound(await updateTenant(input.tx, { ...tenant, ...change }))
    input.audit.recordDiff(tenant, changed)
    return changed
  }),

  tenantRoute('GET /tenant/approval-policy', {
    id: 'getApprovalPolicy',
    summary: 'Which changes need how many approvers of which role',
    roles: everyone,
    tx: 'one',
    uses: ['routes'],
    reply: [200, ApprovalPolicy],
    revisioned: true,
    problems: ['not_found'],
  }).handle(async ({ tx, kernel }) => toPolicyView(assertFound(await findApprovalPolicy(tx)), kernel)),

  tenantRoute('PUT /tenant/approval-policy', {
    id: 'updateApprovalPolicy',
    summary: 'Change the approval policy',
    description:
      'Needs approval itself: as `approval-policy` where the policy names it, otherwise by its strictest rule, as soon as there is ' +
      'somebody else who could approve. A new or changed rule that nobody could meet is refused with 409 `approvers_missing`: the ' +
      'author of a change never approves it, nor does an API key, so there must be as many other active people with the role. The ' +
      'same rules again change nothing and need no approval.',
    roles: ['tenant_admin', 'compliance_officer'],
    tx: 'write',
    uses: ['routes', 'modules'],
    body: ApprovalPolicyChange,
    reply: [200, ApprovalPolicy],
    revisioned: true,
    governed: {
      action: 'approval-policy',
      head: async (tx: Tx) => String((await findApprovalPolicy(tx))?.revision ?? 0),
      // Without it, one person could remove all rules.
      findDefaultRule: async (tx: Tx) => {
        const rule = await findStrictestRule(tx)
        return rule && (await needsApproval(tx, rule)) ? rule : undefined
      },
      // The same rules again change nothing that anybody could approve.
      requiresApproval: async (tx, _rule, { body }) => {
        const policy = await findApprovalPolicy(tx)
        return !policy || !hasSameRules(policy.rules, (body as Static<typeof ApprovalPolicyChange>).rules)
      },
    },
    problems: ['not_found', 'conflict'],
  }).handle(async (input) => {
    const { tx, body, kernel } = input
    const policy = assertFound(await lockApprovalPolicy(tx))
    assertRevision(policy.revision, input)
    const repeated = findDuplicateName(body.rules.map((rule) => rule.action))
    if (repeated) fail('conflict', `The action ${repeated} is named twice.`)
    const unknown = body.rules.find((rule) => !listGovernedActions(kernel.routes).includes(rule.action))
    if (unknown)
      fail('conflict', `There is no governed action ${unknown.action}. GET this policy to see those that exist.`)
    const fault = findImpactFault(
      body.rules,
      kernel.modules.flatMap(({ measures = [] }) => measures),
    )
    if (fault) fail('conflict', fault)
    const unmet = await listUnmetRules(tx, kernel.routes, body.rules)
    const missing = unmet.filter(({ action }) => isRuleChanged(policy.rules, body.rules, action))
    if (missing.length > 0) failMissingApprovers(missing, 'Invite them first, or ask for fewer approvers.')
    const is_set_up =
      !unmet.some(({ action }) => action === ROLES_ACTION) && body.rules.some(({ approvers }) => approvers > 0)
    if (hasSameRules(policy.rules, body.rules)) {
      if (is_set_up) await updateApprovalPolicySetUp(tx)
      input.audit.recordDiff(policy, policy)
      return toPolicyView(policy, kernel)
    }
    const changed = assertFound(await updateApprovalPolicy(tx, body.rules, is_set_up))
    input.audit.recordDiff(policy, changed)
    return toPolicyView(changed, kernel)
  }),

  tenantRoute('GET /tenant/retention-policy', {
    id: 'getRetentionPolicy',
    summary: 'How long each class of record is kept, and why',
    roles: everyone,
    tx: 'one',
    reply: [200, RetentionPolicy],
    revisioned: true,
    problems: ['not_found'],
  }).handle(async ({ tx }) => assertFound(await findRetentionPolicy(tx))),

  tenantRoute('PUT /tenant/retention-policy', {
    id: 'updateRetentionPolicy',
    summary: 'Change how long records are kept',
    description:
      'Classes: `jobs` (finished jobs), `import-rejects` (rejected rows of imports and of files of subjects, counted from the end of ' +
      'the import), `documents` (cannot be deleted before), `audit` (never removed, so `keep_days` is null). A class that nothing acts on is refused with 409. Housekeeping ' +
      'removes what is older once an hour and records how much.',
    roles: ['tenant_admin', 'compliance_officer'],
    tx: 'write',
    body: RetentionPolicyChange,
    reply: [200, RetentionPolicy],
    revisioned: true,
    governed: {
      action: 'retention-policy',
      head: async (tx) => String((await findRetentionPolicy(tx))?.revision ?? 0),
    },
    problems: ['not_found', 'conflict'],
  }).handle(async (input) => {
    const { tx, body } = input
    const policy = assertFound(await lockRetentionPolicy(tx))
    assertRevision(policy.revision, input)
    const repeated = findDuplicateName(body.classes.map(({ record_class }) => record_class))
    if (repeated) fail('conflict', `The record class ${repeated} is named twice.`)
    const fault = findRetentionFault(body.classes)
    if (fault) fail('conflict', fault)
    const changed = assertFound(await updateRetentionPolicy(tx, body.classes))
    input.audit.recordDiff(policy, changed)
    return changed
  }),

  tenantRoute('POST /tenant/isolation-checks', {
    id: 'checkIsolation',
    summary: 'Test tenant isolation and return the evidence',
    description:
      'Tries to read, change, remove and insert rows of a canary tenant in every table, each in a savepoint that is rolled back, ' +
      'and reports what the database did.',
    roles: ['tenant_admin', 'auditor'],
    tx: 'write',
    reply: [200, IsolationProof],
  }).handle(async ({ tx }) => checkIsolation(tx)),
]
