/** Texts for the origin of a version and for overlay policies. Pure. */
import type { Dataset } from '#console/ui/registry-queries.ts'

export const viaTexts = {
  'tenant-own': 'own list',
  'tenant-pin': 'pinned',
  shared: 'follows the operator',
} as const

export const overlayPolicyTexts = {
  none: 'Tenants cannot change this list; they can pin a version for up to 90 days.',
  add_only: 'Tenants can add entries, but not change or remove any.',
  tighten_only: 'Tenants can be stricter than this list, never more lenient.',
  free: 'Tenants can add, change and remove entries.',
} as const

export const entriesInForce = ({ active, versions }: Pick<Dataset, 'active' | 'versions'>): number | null =>
  versions.find(({ version }) => version === active?.version)?.entry_count ?? null
