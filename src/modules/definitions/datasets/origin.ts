/** Pure decisions about lists and definitions: whose they are, their ETag, and which settings approved changes rely on. */
import { canonicalJson } from '#kernel/canonical-json.ts'
import { toContentEtag, toEtag } from '#kernel/revision.ts'
import { SYSTEM_TENANT } from '#kernel/uuid.ts'

/** Of this tenant, or published by the operator for all of them. */
export type Origin = 'own' | 'shared'

export const getOrigin = (tenant_id: string): Origin => (tenant_id === SYSTEM_TENANT ? 'shared' : 'own')

/** The tag of a shared one never fits a change: changes go to the tenant's own, which may have the same revision. */
export const toViewEtag = (view: { readonly revision: number; readonly origin: Origin }): string =>
  view.origin === 'shared' ? toEtag(`shared-${toContentEtag(view).slice(1, -1)}`) : toContentEtag(view)

/** What a version must keep to, when it is stale and how often it is reviewed: approved changes rely on these. */
const GOVERNED_SETTINGS = ['guards', 'stale_after_days', 'review_every_days'] as const

/** Whether a change of settings touches more than what describes the list, which may be corrected at once. */
export function changesGovernedSettings(present: object, change: unknown): boolean {
  const [now, wanted] = [present as Record<string, unknown>, change as Record<string, unknown>]
  return GOVERNED_SETTINGS.some(
    (name) => wanted[name] !== undefined && canonicalJson(wanted[name]) !== canonicalJson(now[name] ?? null),
  )
}
