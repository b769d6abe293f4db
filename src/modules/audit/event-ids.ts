/** Where in the record an instant is. Event ids begin with their time, so that the primary key serves searches by time. */

/** Id and time of an event agree; in older records, whose ids went on where a clock was set back, by so much or less. */
const SKEW_MS = 3_600_000
const LAST_MS = 2 ** 48 - 1

/** Below every id made from this millisecond on. */
function idAt(time_ms: number): string {
  const hex = Math.min(Math.max(time_ms, 0), LAST_MS).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}

/** A leap second is that before it; the skew is far wider. */
const timeOf = (at: string): number => Math.floor(Date.parse(at.replace(':60', ':59')))

/** No event of this instant or later has a smaller id. */
export const firstIdFrom = (at: string): string => idAt(timeOf(at) - SKEW_MS)

/** No event of this instant or earlier has this id or a greater one. */
export const firstIdAfter = (at: string): string => idAt(timeOf(at) + SKEW_MS)

export interface EventOutcome {
  readonly outcome: 'done' | 'proposed' | 'executed'
  readonly cr_id: string | null
  readonly approved_by: string[]
}

/** What the detail of an event says became of the request: made at once, waiting for approval, or made because it was approved. */
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
