/** How versions and what is in force are spoken of. Pure. */
import type { Dataset } from '#console/ui/registry-queries.ts'

export const viaTexts = {
  'tenant-own': 'own list',
  'tenant-pin': 'pinned',
  shared: 'follows the operator',
} as const

export const overlayPolicyTexts = {
  none: 'This list is taken as it is: a tenant may change nothing of it, only pin a version for up to 90 days.',
  add_only: 'A tenant may add entries of its own, and change or remove none.',
  tighten_only: 'A tenant may be stricter than this list, never more lenient.',
  free: 'A tenant may add, change and remove entries as it sees fit.',
} as const

export const entriesInForce = ({ active, versions }: Pick<Dataset, 'active' | 'versions'>): number | null =>
  versions.find(({ version }) => version === active?.version)?.entry_count ?? null
