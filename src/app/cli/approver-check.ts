/**
 * Check of the doctor for tenants whose approval policy requires more people than they have: governed changes are refused there.
 */
import { fullScope } from '#kernel/database/scope.ts'
import type { Transactions } from '#kernel/database/tx.ts'
import { describeMissingApprovers } from '#kernel/request/approvers.ts'
import { SYSTEM_TENANT } from '#kernel/uuid.ts'
import { isApprovalSetUp } from '#modules/access/index.ts'
import { CANARY_TENANT, findApprovalPolicy, listUnmetRules } from '#modules/tenant/index.ts'
import { modules } from '../modules.ts'
import { listTenants } from '../queries.ts'
import { type Finding, okFinding, warnFinding } from './machine-checks.ts'

const ACTOR = 'operator:doctor'
const MAX_NAMED = 20

export async function checkApprovers({
  app,
  steward,
}: Readonly<Record<'app' | 'steward', Pick<Transactions, 'read'>>>): Promise<Finding> {
  const tenants = await steward.read(fullScope(SYSTEM_TENANT, ACTOR), listTenants)
  const routes = modules.flatMap((module) => module.routes)
  const unmet: string[] = []
  for (const { tenant_id, slug, state } of tenants) {
    if (state !== 'active' || tenant_id === CANARY_TENANT) continue
    const missing = await app.read(fullScope(tenant_id, ACTOR), async (tx) => {
      const policy = await findApprovalPolicy(tx)
      // A tenant that is being set up has few people yet.
      return policy && (await isApprovalSetUp(tx)) ? listUnmetRules(tx, routes, policy.rules) : []
    })
    unmet.push(...missing.map((one) => `${slug}: ${describeMissingApprovers(one)}`))
  }
  if (unmet.length === 0) return okFinding('approvers', 'every tenant has the people its approval policy asks for')
  const more = unmet.length > MAX_NAMED ? [`and ${unmet.length - MAX_NAMED} more`] : []
  return warnFinding(
    'approvers',
    [...unmet.slice(0, MAX_NAMED), ...more].join('\n'),
    'Until then these changes are refused. The tenant invites people where it still can; otherwise:\n' +
      'npx probity user reactivate --tenant SLUG --user WHO\n' +
      'npx probity user add --tenant SLUG --name NAME --email ADDRESS --role ROLE',
  )
}
