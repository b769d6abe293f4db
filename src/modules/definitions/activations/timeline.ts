/** Computes from the activations which version is in force in which period. */

import { getOrigin, type Origin } from '../datasets/origin.ts'

export interface TimelineActivation {
  readonly activation_id: string
  readonly seq: number
  readonly layer: 'base' | 'overlay'
  readonly version: number | null
  readonly dataset_tenant_id: string | null
  readonly effective_from: string
  readonly expires_at: string | null
  readonly revoked_at: string | null
}

export interface TimelinePeriod {
  readonly version: number | null
  /** Owner of the version; NULL without a version. */
  readonly origin: Origin | null
  readonly from: string
  readonly until: string | null
  readonly activation_id: string
}

/** At each instant the activation with the greatest (effective_from, seq) is in force; a pin that has ended is ignored. */
export function buildTimeline(statements: readonly TimelineActivation[]): TimelinePeriod[] {
  const effective = statements
    .filter(({ layer, revoked_at }) => layer === 'base' && revoked_at === null)
    .sort((a, b) =>
      a.effective_from === b.effective_from ? a.seq - b.seq : a.effective_from < b.effective_from ? -1 : 1,
    )
  const spans: TimelinePeriod[] = []
  effective.forEach(({ activation_id, version, dataset_tenant_id, effective_from, expires_at }, index) => {
    const next = effective[index + 1]?.effective_from ?? null
    // Several activations have the same instant: the latest replaces the others.
    if (next === effective_from) return
    const ends = expires_at !== null && (next === null || expires_at < next)
    const origin = dataset_tenant_id === null ? null : getOrigin(dataset_tenant_id)
    spans.push({ version, origin, from: effective_from, until: ends ? expires_at : next, activation_id })
    if (ends) spans.push({ version: null, origin: null, from: expires_at as string, until: next, activation_id })
  })
  return spans
}
