/** SQL of suppressions: reports that are counted and not raised until a given time. */
import type { Tx } from '#kernel/database/tx.ts'
import type { PagePosition } from '#kernel/page.ts'
import type { Priority } from '../model.ts'

export interface SuppressionRow {
  readonly suppression_id: string
  readonly source: string
  readonly subject_id: string | null
  readonly dedup_key: string | null
  readonly up_to_priority: Priority
  readonly reason_code: string
  readonly reason: string
  readonly state: 'proposed' | 'active' | 'ended' | 'expired'
  readonly expires_at: string
  readonly proposed_at: string
  readonly proposed_by: string
  readonly confirmed_at: string | null
  readonly confirmed_by: string | null
  readonly ended_at: string | null
  readonly ended_by: string | null
  readonly end_reason: string | null
  readonly occurrences: number
  readonly last_seen_at: string | null
}

/** Expiring needs no transaction: it is read off the clock. */
const stateNow = `case when state <> 'ended' and expires_at <= now() then 'expired' else state end`
const columns = `suppression_id, source, subject_id, dedup_key, up_to_priority, reason_code, reason, ${stateNow} as state, expires_at, proposed_at,
  proposed_by, confirmed_at, confirmed_by, ended_at, ended_by, end_reason, occurrences, last_seen_at`

/** Newest first. */
export const listSuppressions = (tx: Tx, state: SuppressionRow['state'] | null, after: PagePosition, count: number) =>
  tx.query<SuppressionRow>(
    `select ${columns} from app.alert_suppression
      where tenant_id = $1 and ($2::text is null or ${stateNow} = $2)
        and ($3::timestamptz is null or (proposed_at, suppression_id) < ($3, $4::uuid))
      order by proposed_at desc, suppression_id desc limit $5`,
    [tx.tenant_id, state, after?.[0] ?? null, after?.[1] ?? null, count],
  )

export const lockSuppression = (tx: Tx, suppression_id: string) =>
  tx.find<SuppressionRow>(
    `select ${columns} from app.alert_suppression where tenant_id = $1 and suppression_id = $2 for update`,
    [tx.tenant_id, suppression_id],
  )

export type NewSuppression = Pick<
  SuppressionRow,
  'suppression_id' | 'source' | 'subject_id' | 'dedup_key' | 'up_to_priority' | 'reason_code' | 'reason' | 'expires_at'
>

export const insertSuppression = (tx: Tx, row: NewSuppression, proposed_by = tx.actor) =>
  tx.find<SuppressionRow>(
    `insert into app.alert_suppression (tenant_id, suppression_id, source, subject_id, dedup_key, up_to_priority, reason_code, reason, expires_at,
       proposed_by)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) returning ${columns}`,
    [
      tx.tenant_id,
      row.suppression_id,
      row.source,
      row.subject_id,
      row.dedup_key,
      row.up_to_priority,
      row.reason_code,
      row.reason,
      row.expires_at,
      proposed_by,
    ],
  )

export const updateConfirmed = (tx: Tx, suppression_id: string) =>
  tx.find<SuppressionRow>(
    `update app.alert_suppression set state = 'active', confirmed_at = now(), confirmed_by = $3
      where tenant_id = $1 and suppression_id = $2 returning ${columns}`,
    [tx.tenant_id, suppression_id, tx.actor],
  )

export const updateEnded = (tx: Tx, suppression_id: string, reason: string) =>
  tx.find<SuppressionRow>(
    `update app.alert_suppression set state = 'ended', ended_at = now(), ended_by = $3, end_reason = $4
      where tenant_id = $1 and suppression_id = $2 returning ${columns}`,
    [tx.tenant_id, suppression_id, tx.actor, reason],
  )
