/** Guards: what a new version of a list must keep to, so that a truncated download does not delist thousands of parties. */
/** As a list declares them; what it leaves out has a default. */
export interface GuardSettings {
  readonly min_entries?: number
  readonly max_entries?: number
  readonly max_removed_bps?: number
  readonly max_removed_entries?: number
  readonly max_changed_bps?: number
  readonly min_filled_bps?: Record<string, number>
}

export interface Gate {
  readonly gate: 'guard' | 'overlay-conflict' | 'stale-base' | 'frozen' | 'referenced-by' | 'proof' | 'impact'
  readonly detail: string
  readonly overridable: boolean
  readonly facts: Record<string, unknown>
}

export interface GuardFacts {
  readonly entries: number
  /** Entries of the head; null for the first version. */
  readonly before: number | null
  readonly removed: number
  readonly changed: number
  readonly filled: Readonly<Record<string, number>>
}

const DEFAULT_REMOVED_BPS = 1000
const DEFAULT_REMOVED_ENTRIES = 10
const DEFAULT_CHANGED_BPS = 5000

const guard = (detail: string, facts: Record<string, unknown>): Gate => ({
  gate: 'guard',
  detail,
  overridable: true,
  facts,
})
const percent = (bps: number): string => `${bps / 100} %`

export function guardBreaches(guards: GuardSettings, facts: GuardFacts): Gate[] {
  const { entries, before, removed, changed, filled } = facts
  const found: Gate[] = []
  const least = guards.min_entries ?? 1
  if (entries < least)
    found.push(guard(`The list would have ${entries} entries; at least ${least} are expected.`, { entries, least }))
  if (guards.max_entries !== undefined && entries > guards.max_entries) {
    found.push(
      guard(`The list would have ${entries} entries; at most ${guards.max_entries} are expected.`, {
        entries,
        most: guards.max_entries,
      }),
    )
  }
  if (before !== null && before > 0) {
    const share = guards.max_removed_bps ?? DEFAULT_REMOVED_BPS
    const always = guards.max_removed_entries ?? DEFAULT_REMOVED_ENTRIES
    if (removed > always && removed * 10_000 > before * share) {
      found.push(
        guard(`${removed} of ${before} entries would be removed; at most ${percent(share)} (or ${always}) may be.`, {
          removed,
          before,
          max_removed_bps: share,
          max_removed_entries: always,
        }),
      )
    }
    const changeable = guards.max_changed_bps ?? DEFAULT_CHANGED_BPS
    // A handful of edits in a short list is a large share of it and no accident.
    if (changed > DEFAULT_REMOVED_ENTRIES && changed * 10_000 > before * changeable) {
      found.push(
        guard(`${changed} of ${before} entries would be changed; at most ${percent(changeable)} may be.`, {
          changed,
          before,
          max_changed_bps: changeable,
        }),
      )
    }
  }
  for (const [pointer, least_bps] of Object.entries(guards.min_filled_bps ?? {})) {
    const count = filled[pointer] ?? 0
    if (count * 10_000 < entries * least_bps) {
      found.push(
        guard(`${pointer} is filled in ${count} of ${entries} entries; at least ${percent(least_bps)} are expected.`, {
          pointer,
          filled: count,
          entries,
          min_filled_bps: least_bps,
        }),
      )
    }
  }
  return found
}
