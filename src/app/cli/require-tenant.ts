/** Finds the tenant that a command names. */
import { fullScope } from '#kernel/database/scope.ts'
import { SYSTEM_TENANT } from '#kernel/uuid.ts'
import { CANARY_TENANT } from '#modules/tenant/index.ts'
import { findTenantBySlug, listTenants, type TenantSummary } from '../queries.ts'
import { OPERATOR, type OperatorContext } from './operator.ts'

const SCOPE = fullScope(SYSTEM_TENANT, OPERATOR)
const MAX_LISTED_TENANTS = 20

/** By slug or id; for an unknown one the error lists those that exist. One that is being deleted is left alone. */
export async function requireTenant(
  { guarded }: { readonly guarded: Pick<OperatorContext['guarded'], 'steward'> },
  slug: string,
): Promise<TenantSummary> {
  const [found, known] = await guarded.steward.read(SCOPE, async (tx) => [
    await findTenantBySlug(tx, slug),
    await listTenants(tx),
  ])
  if (found && found.tenant_id !== CANARY_TENANT) {
    if (found.state === 'deleting') throw new Error(`${found.slug} is being deleted.`)
    return found
  }
  const slugs = known.filter(({ tenant_id }) => tenant_id !== CANARY_TENANT).map((tenant) => tenant.slug)
  const more = slugs.length > MAX_LISTED_TENANTS ? `, and ${slugs.length - MAX_LISTED_TENANTS} more` : ''
  const list =
    slugs.length === 0 ? 'there is none yet' : `there are ${slugs.slice(0, MAX_LISTED_TENANTS).join(', ')}${more}`
  throw new Error(`There is no tenant "${slug.slice(0, 100)}"; ${list}.`)
}
