/**
 * Guards: limits on what a new version of a list may change, so that a truncated download does not delist thousands of
 * parties.
 */
import { formatCount } from '#kernel/count-words.ts'
import type { Warning } from '#registry/adapter.ts'

/** As a list declares them; missing ones have defaults. */
export interface GuardSettings {
  readonly min_entries?: number
  readonly max_entries?: number
  readonly max_removed_bps?: number
  readonly max_removed_entries?: number
  readonly max_changed_bps?: number
  readonly min_filled_bps?: Record<string, number>
  readonly max_members_lost_bps?: number
  readonly max_members_lost?: number
  readonly max_emptied_bps?: number
  readonly max_emptied_entries?: number
  readonly max_orphan_rows?: number
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
  readonly losses?: readonly MemberLoss[]
  /** Warnings of the source: rows without their party, fewer entries than announced. */
  readonly doubts?: readonly Warning[]
}

/** Values of one array member that are lost by entries in both versions. */
export interface MemberLoss {
  readonly pointer: string
  readonly title: string
  readonly lost: number
  readonly values_before: number
  /** Entries that would lose all values. */
  readonly emptied: number
  readonly entries_before: number
}

const DEFAULT_LOST_BPS = 1000
const DEFAULT_LOST = 10
const DEFAULT_REMOVED_BPS = 1000
const DEFAULT_REMOVED_ENTRIES = 10
const DEFAULT_CHANGED_BPS = 5000

/** The number of values and entries of a member that may always be lost, whatever share of the list they are. */
export const getLossLimits = (guards: GuardSettings): { readonly lost: number; readonly emptied: number } => ({
  lost: guards.max_members_lost ?? DEFAULT_LOST,
  emptied: guards.max_emptied_entries ?? DEFAULT_LOST,
})

const toGuardGate = (detail: string, facts: Record<string, unknown>): Gate => ({
  gate: 'guard',
  detail,
  overridable: true,
  facts,
})
const formatPercent = (bps: number): string => `${bps / 100} %`

const formatEntries = (count: number): string => formatCount(count, 'entry', 'entries')

export function findGuardBreaches(guards: GuardSettings, facts: GuardFacts): Gate[] {
  const { entries, before, removed, changed, filled } = facts
  const found: Gate[] = []
  const least = guards.min_entries ?? 1
  if (entries < least)
    found.push(
      toGuardGate(`The list would have ${formatEntries(entries)}; at least ${formatEntries(least)} must be in it.`, {
        entries,
        least,
      }),
    )
  if (guards.max_entries !== undefined && entries > guards.max_entries) {
    found.push(
      toGuardGate(
        `The list would have ${formatEntries(entries)}; at most ${formatEntries(guards.max_entries)} may be in it.`,
        {
          entries,
          most: guards.max_entries,
        },
      ),
    )
  }
  if (before !== null && before > 0) {
    const share = guards.max_removed_bps ?? DEFAULT_REMOVED_BPS
    const always = guards.max_removed_entries ?? DEFAULT_REMOVED_ENTRIES
    if (removed > always && removed * 10_000 > before * share) {
      found.push(
        toGuardGate(
          `${removed} of ${before} entries would be removed; at most ${formatPercent(share)} (or ${always}) may be.`,
          {
            removed,
            before,
            max_removed_bps: share,
            max_removed_entries: always,
          },
        ),
      )
    }
    const changeable = guards.max_changed_bps ?? DEFAULT_CHANGED_BPS
    // A few changes are a large share of a short list.
    if (changed > DEFAULT_REMOVED_ENTRIES && changed * 10_000 > before * changeable) {
      found.push(
        toGuardGate(`${changed} of ${before} entries would be changed; at most ${formatPercent(changeable)} may be.`, {
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
        toGuardGate(
          `${pointer} is filled in ${count} of ${entries} entries; at least ${formatPercent(least_bps)} are expected.`,
          {
            pointer,
            filled: count,
            entries,
            min_filled_bps: least_bps,
          },
        ),
      )
    }
  }
  return [...found, ...findLossBreaches(guards, facts.losses ?? []), ...findDoubtBreaches(guards, facts.doubts ?? [])]
}

/** A list can keep all its entries and still lose the values that searches match. */
function findLossBreaches(guards: GuardSettings, losses: readonly MemberLoss[]): Gate[] {
  const share = guards.max_members_lost_bps ?? DEFAULT_LOST_BPS
  const { lost: always, emptied: emptied_always } = getLossLimits(guards)
  const emptied_share = guards.max_emptied_bps ?? DEFAULT_LOST_BPS
  return losses.flatMap((loss): Gate[] => {
    const { pointer, title, lost, values_before, emptied, entries_before } = loss
    const gates: Gate[] = []
    if (lost > always && lost * 10_000 > values_before * share) {
      const detail = `${title} (${pointer}): ${lost} of ${values_before} values would be lost by entries that stay; at most ${formatPercent(share)} (or ${always}) may be.`
      gates.push(
        toGuardGate(detail, { pointer, lost, values_before, max_members_lost_bps: share, max_members_lost: always }),
      )
    }
    if (emptied > emptied_always && emptied * 10_000 > entries_before * emptied_share) {
      const detail = `${title} (${pointer}): ${emptied} of ${entries_before} entries that have any would lose all; at most ${formatPercent(emptied_share)} (or ${emptied_always}) may.`
      gates.push(
        toGuardGate(detail, {
          pointer,
          emptied,
          entries_before,
          max_emptied_bps: emptied_share,
          max_emptied_entries: emptied_always,
        }),
      )
    }
    return gates
  })
}

function findDoubtBreaches({ max_orphan_rows = 0 }: GuardSettings, doubts: readonly Warning[]): Gate[] {
  const orphans = doubts.filter(({ code }) => code === 'rows_orphaned')
  const orphan_rows = orphans.reduce((sum, { count = 0 }) => sum + count, 0)
  return doubts
    .filter(({ code }) => code !== 'rows_orphaned' || orphan_rows > max_orphan_rows)
    .map(({ code, message, count, at }) =>
      toGuardGate(message, {
        code,
        ...(count !== undefined && { rows: count }),
        ...(at && { at }),
        ...(code === 'rows_orphaned' && { orphan_rows, max_orphan_rows }),
      }),
    )
}
