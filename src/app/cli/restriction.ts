/** `restriction unreachable|grant`: for a restriction that nobody who is active can see. It shows ids only. */
import { recordEvent } from '#kernel/audit/record.ts'
import { fullScope } from '#kernel/database/scope.ts'
import type { Transactions } from '#kernel/database/tx.ts'
import { isUuid, SYSTEM_TENANT } from '#kernel/uuid.ts'
import { findUser, findUserByEmail } from '#modules/access/index.ts'
import { accessLists, findRestriction, listUnreachable } from '#modules/restrictions/index.ts'
import { CANARY_TENANT } from '#modules/tenant/index.ts'
import { listTenants } from '../queries.ts'
import { type Command, UsageError } from './command.ts'
import { type Finding, okFinding, warnFinding } from './machine-checks.ts'
import { OPERATOR, type OperatorContext, withOperator } from './operator.ts'
import { requireTenant } from './require-tenant.ts'

const MAX_REASON = 2000
const MAX_NAMED = 20

export const restrictionUnreachable: Command = {
  about: `
The ids of restrictions in force whose last person with access was deactivated, and which the MLRO may not see either. Reactivate that
person (npx probity user reactivate), or give somebody access (npx probity restriction grant).

Example:
  npx probity restriction unreachable --tenant acme`,
  options: { tenant: { type: 'string', value: 'SLUG', about: 'slug or id of the tenant' } },
  run: async (invocation) => {
    const slug = invocation.args.required('tenant')
    return withOperator(invocation, { name: 'restriction' }, async (operator) => {
      const { tenant_id } = await requireTenant(operator, slug)
      const found = await operator.guarded.app.read(fullScope(tenant_id, OPERATOR), listUnreachable)
      for (const restriction_id of found) invocation.terminal.out(restriction_id)
      if (found.length === 0) invocation.terminal.note('Somebody can see every restriction.')
      return 0
    })
  },
}

export const restrictionGrant: Command = {
  about: `
The person must be an active compliance officer who was not excluded. The database refuses it while anybody who is active has access.
The access list, the access log and the audit record of the restriction name the operator and the reason.

Example:
  npx probity restriction grant --tenant acme --restriction ID --user ada@acme.example --reason 'Letter of the board'`,
  options: {
    tenant: { type: 'string', value: 'SLUG', about: 'slug or id of the tenant' },
    restriction: { type: 'string', value: 'ID', about: 'id of the restriction' },
    user: { type: 'string', value: 'WHO', about: 'email address or id of the person' },
    reason: { type: 'string', value: 'TEXT', about: 'who asked for it, and why' },
  },
  run: async (invocation) => {
    const { args } = invocation
    const [tenant, restriction] = [args.required('tenant'), args.required('restriction')]
    const [user, reason] = [args.required('user'), args.required('reason').trim()]
    if (!isUuid(restriction)) throw new UsageError('--restriction must be an id.')
    if (reason.length === 0 || reason.length > MAX_REASON)
      throw new UsageError(`--reason must have 1 to ${MAX_REASON} characters.`)
    return withOperator(invocation, { name: 'restriction' }, async (operator) => {
      invocation.terminal.out(await grantAccess(operator, { tenant, restriction, user, reason }))
      return 0
    })
  },
}

type AccessOperator = Pick<OperatorContext, 'audit'> & {
  readonly guarded: Pick<OperatorContext['guarded'], 'app' | 'steward'>
}
interface GrantRequest {
  readonly tenant: string
  readonly restriction: string
  readonly user: string
  readonly reason: string
}

/** The message about it. */
export async function grantAccess(operator: AccessOperator, request: GrantRequest): Promise<string> {
  const { tenant: slug, user: who, restriction: restriction_id, reason } = request
  const { tenant_id } = await requireTenant(operator, slug)
  const keys = await operator.audit()
  return operator.guarded.app.write(fullScope(tenant_id, OPERATOR), async (tx) => {
    const restriction = await findRestriction(tx, restriction_id)
    if (!restriction?.is_in_force) throw new Error(`${slug} has no restriction in force with this id.`)
    const user = isUuid(who) ? await findUser(tx, who) : await findUserByEmail(tx, who.toLowerCase())
    if (!user || user.state === 'inactive') throw new Error(`${slug} has no active user "${who.slice(0, 100)}".`)
    if (user.origin === 'built_in' && !user.roles.includes('compliance_officer'))
      throw new Error(`${user.name} is not a compliance officer.`)
    const { user_id } = user
    await accessLists.upsertAccess(tx, restriction_id, { user_id, effect: 'grant', until: null, reason })
    recordEvent(tx, keys, {
      operation: 'updateRestrictionAccess',
      object_type: 'restrictions',
      object_id: restriction_id,
      detail: { user_id, effect: 'grant' },
      request_id: null,
      restriction_id,
    })
    return `${user.name} has access to ${restriction_id}.`
  })
}

/** Check of the doctor. */
export async function checkRestrictions({
  app,
  steward,
}: Readonly<Record<'app' | 'steward', Pick<Transactions, 'read'>>>): Promise<Finding> {
  const tenants = await steward.read(fullScope(SYSTEM_TENANT, OPERATOR), listTenants)
  const counts: string[] = []
  for (const { tenant_id, slug, state } of tenants) {
    if (state !== 'active' || tenant_id === CANARY_TENANT) continue
    const found = await app.read(fullScope(tenant_id, OPERATOR), listUnreachable)
    if (found.length > 0) counts.push(`${slug}: ${found.length}`)
  }
  if (counts.length === 0) return okFinding('restrictions', 'somebody can see every restriction')
  return warnFinding(
    'restrictions',
    `restrictions that nobody can see: ${counts.slice(0, MAX_NAMED).join(', ')}`,
    'The last person with access was deactivated. Reactivate that person, or give somebody access:\n' +
      'npx probity restriction unreachable --tenant SLUG\nnpx probity restriction grant --tenant SLUG --restriction ID --user WHO --reason TEXT',
  )
}
