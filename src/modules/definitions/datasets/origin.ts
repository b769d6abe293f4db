/** Pure functions on lists and definitions: their owner, their ETag, and which settings need approval to change. */
import { canonicalJson } from '#kernel/canonical-json.ts'
import { toContentEtag, toEtag } from '#kernel/revision.ts'
import { SYSTEM_TENANT } from '#kernel/uuid.ts'

/** Owned by this tenant, or published by the operator for all tenants. */
export type Origin = 'own' | 'shared'

export const getOrigin = (tenant_id: string): Origin => (tenant_id === SYSTEM_TENANT ? 'shared' : 'own')

/**
 * The ETag of a shared definition never matches a change: changes apply to the tenant's own, which may have the same
 * revision.
 */
export const toViewEtag = (view: { readonly revision: number; readonly origin: Origin }): string =>
  view.origin === 'shared' ? toEtag(`shared-${toContentEtag(view).slice(1, -1)}`) : toContentEtag(view)

/** Guards, staleness and review interval: approvals rely on these settings. */
const GOVERNED_SETTINGS = ['guards', 'stale_after_days', 'review_every_days'] as const

/** Whether the change includes a governed setting. Descriptive settings may be changed without approval. */
export function hasGovernedChange(present: object, change: unknown): boolean {
  const [now, wanted] = [present as Record<string, unknown>, change as Record<string, unknown>]
  return GOVERNED_SETTINGS.some(
    (name) => wanted[name] !== undefined && canonicalJson(wanted[name]) !== canonicalJson(now[name] ?? null),
  )
}
