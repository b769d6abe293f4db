/** Bounds of event ids for an instant. Ids begin with their time, so the primary key serves searches by time. */

/** In older events, the time in the id differs from `recorded_at` by at most this much, where a clock was set back. */
const SKEW_MS = 3_600_000
const LAST_MS = 2 ** 48 - 1

/** Smaller than every id created in this millisecond or later. */
function buildIdAt(time_ms: number): string {
  const hex = Math.min(Math.max(time_ms, 0), LAST_MS).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}

/** JavaScript cannot parse a leap second, so the second before it is used; the allowed skew is far wider. */
const parseTime = (at: string): number => Math.floor(Date.parse(at.replace(':60', ':59')))

/** No event of this instant or later has a smaller id. */
export const getFirstIdFrom = (at: string): string => buildIdAt(parseTime(at) - SKEW_MS)

/** No event of this instant or earlier has this id or a greater one. */
export const getFirstIdAfter = (at: string): string => buildIdAt(parseTime(at) + SKEW_MS)

export interface EventOutcome {
  readonly outcome: 'done' | 'proposed' | 'executed'
  readonly cr_id: string | null
  readonly approved_by: string[]
}

/** From the detail of an event: executed at once, waiting for approval, or executed after approval. */
export function readOutcome(detail: Readonly<Record<string, unknown>>): EventOutcome {
  const { proposed, executed, approved_by } = detail
  if (typeof proposed === 'string') return { outcome: 'proposed', cr_id: proposed, approved_by: [] }
  if (typeof executed !== 'string') return { outcome: 'done', cr_id: null, approved_by: [] }
  return {
    outcome: 'executed',
    cr_id: executed,
    approved_by: Array.isArray(approved_by) ? approved_by.map(String) : [],
  }
}
