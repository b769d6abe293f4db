/** Check of the doctor for tenants with one compliance officer: nobody can close a case there that this person has proposed. */
import { fullScope } from '#kernel/database/scope.ts'
import type { Transactions } from '#kernel/database/tx.ts'
import { SYSTEM_TENANT } from '#kernel/uuid.ts'
import { countOfficers } from '#modules/investigations/index.ts'
import { CANARY_TENANT } from '#modules/tenant/index.ts'
import { listTenants } from '../queries.ts'
import { type Finding, okFinding, warnFinding } from './machine-checks.ts'

const ACTOR = 'operator:doctor'
const MAX_NAMED = 20

export async function checkOfficers({
  app,
  steward,
}: Readonly<Record<'app' | 'steward', Pick<Transactions, 'read'>>>): Promise<Finding> {
  const tenants = await steward.read(fullScope(SYSTEM_TENANT, ACTOR), listTenants)
  const alone: string[] = []
  for (const { tenant_id, slug, state } of tenants) {
    if (state !== 'active' || tenant_id === CANARY_TENANT) continue
    if ((await app.read(fullScope(tenant_id, ACTOR), countOfficers)) === 1) alone.push(slug)
  }
  if (alone.length === 0) return okFinding('officers', 'no tenant has a single compliance officer')
  const more = alone.length > MAX_NAMED ? [`and ${alone.length - MAX_NAMED} more`] : []
  return warnFinding(
    'officers',
    `one compliance officer: ${[...alone.slice(0, MAX_NAMED), ...more].join(', ')}`,
    'An investigation is closed by another person than the one who proposed its outcome. An analyst may propose, or add an officer:\n' +
      'npx probity user add --tenant SLUG --name NAME --email ADDRESS --role compliance_officer',
  )
}
