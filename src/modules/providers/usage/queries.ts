/** SQL of the use of providers. */
import type { Tx } from '#kernel/database/tx.ts'
import type { CallRow } from '../queries.ts'

export interface UsageRow extends UsageCounts, Pick<CallRow, 'provider_origin' | 'provider_version' | 'capability'> {
  readonly currency: string | null
  readonly cost_minor: number
  /** Of it, what requests without an answer cost. */
  readonly unanswered_minor: number
}
export interface UsageCounts {
  readonly sent: number
  readonly answered: number
  readonly failed: number
  readonly refused: number
  readonly unknown: number
}
export interface DayRange {
  readonly from: string
  readonly to: string
}

const usageCounts = `count(*) as sent, count(*) filter (where a.outcome = 'answered') as answered,
  count(*) filter (where a.outcome = 'failed') as failed, count(*) filter (where a.outcome = 'refused') as refused,
  count(*) filter (where a.outcome = 'unknown') as unknown`
const sentWithin = `a.tenant_id = $1 and a.provider_key = $2 and a.sent_at is not null and a.outcome is distinct from 'not_sent'
  and a.sent_at >= $3::date and a.sent_at < $4::date + 1`

/** Every request that was sent within the days, by capability, version of the provider and currency. */
export const listUsage = (tx: Tx, provider_key: string, { from, to }: DayRange) =>
  tx.query<UsageRow>(
    `select c.capability, c.provider_origin, c.provider_version, ${usageCounts}, a.currency,
            coalesce(sum(a.cost_minor), 0)::bigint as cost_minor,
            coalesce(sum(a.cost_minor) filter (where a.outcome in ('failed', 'refused')), 0)::bigint as unanswered_minor
       from app.provider_attempt a join app.provider_call c on c.tenant_id = a.tenant_id and c.call_id = a.call_id
      where ${sentWithin} group by c.capability, c.provider_origin, c.provider_version, a.currency
      order by c.capability collate "C", a.currency collate "C", c.provider_origin, c.provider_version`,
    [tx.tenant_id, provider_key, from, to],
  )

/** The same requests by day, in UTC. */
export const listUsageDays = (tx: Tx, provider_key: string, { from, to }: DayRange) =>
  tx.query<UsageCounts & { readonly day: string }>(
    `select to_char(a.sent_at at time zone 'UTC', 'YYYY-MM-DD') as day, ${usageCounts} from app.provider_attempt a
      where ${sentWithin} group by 1 order by 1`,
    [tx.tenant_id, provider_key, from, to],
  )
