/** Converts guards to and from form fields: percentages, and one fill rate per line. Pure. */
import type { Schemas } from '@probity/client'

export type Guards = Schemas['Guards']

/** Empty text: no limit. */
export interface GuardTexts {
  readonly min_entries: number | string
  readonly max_entries: number | string
  readonly max_removed_entries: number | string
  readonly removed_percent: number | string
  readonly changed_percent: number | string
  readonly lost_percent: number | string
  readonly max_members_lost: number | string
  readonly emptied_percent: number | string
  readonly max_emptied_entries: number | string
  readonly max_orphan_rows: number | string
  /** `/country 95`, one per line. */
  readonly filled: string
}

const percent = (bps: number | undefined): number | string => (bps === undefined ? '' : bps / 100)

export const toGuardTexts = (guards: Guards): GuardTexts => ({
  min_entries: guards.min_entries ?? '',
  max_entries: guards.max_entries ?? '',
  max_removed_entries: guards.max_removed_entries ?? '',
  removed_percent: percent(guards.max_removed_bps),
  changed_percent: percent(guards.max_changed_bps),
  lost_percent: percent(guards.max_members_lost_bps),
  max_members_lost: guards.max_members_lost ?? '',
  emptied_percent: percent(guards.max_emptied_bps),
  max_emptied_entries: guards.max_emptied_entries ?? '',
  max_orphan_rows: guards.max_orphan_rows ?? '',
  filled: Object.entries(guards.min_filled_bps ?? {})
    .map(([pointer, bps]) => `${pointer} ${bps / 100}`)
    .join('\n'),
})

const LINE = /^(\/\S+)\s+(\d{1,3}(?:\.\d{1,2})?)\s*%?$/

const splitLines = (filled: string): string[] =>
  filled
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

/** The error in the lines of fill rates, or null. */
export function findFillRateFault(filled: string): string | null {
  const odd = splitLines(filled).find((line) => Number(LINE.exec(line)?.[2] ?? 101) > 100)
  return odd === undefined ? null : `“${odd}” is not a field and a percentage up to 100, for example /country 95`
}

export function parseGuards(words: GuardTexts): Guards {
  const count = (value: number | string) => (typeof value === 'number' ? value : undefined)
  const bps = (value: number | string) => (typeof value === 'number' ? Math.round(value * 100) : undefined)
  const filled = splitLines(words.filled).flatMap((line): [string, number][] => {
    const [, pointer, share] = LINE.exec(line) ?? []
    return pointer === undefined ? [] : [[pointer, Math.round(Number(share) * 100)]]
  })
  const guards = {
    min_entries: count(words.min_entries),
    max_entries: count(words.max_entries),
    max_removed_entries: count(words.max_removed_entries),
    max_removed_bps: bps(words.removed_percent),
    max_changed_bps: bps(words.changed_percent),
    max_members_lost_bps: bps(words.lost_percent),
    max_members_lost: count(words.max_members_lost),
    max_emptied_bps: bps(words.emptied_percent),
    max_emptied_entries: count(words.max_emptied_entries),
    max_orphan_rows: count(words.max_orphan_rows),
    min_filled_bps: filled.length > 0 ? Object.fromEntries(filled) : undefined,
  }
  return Object.fromEntries(Object.entries(guards).filter(([, value]) => value !== undefined)) as Guards
}
