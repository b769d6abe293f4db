/** SQL of second looks: dismissals that another person judges again. */
import type { Tx } from '#kernel/database/tx.ts'
import type { PagePosition } from '#kernel/page.ts'
import type { Priority } from '../model.ts'

export interface SecondLookRow {
  readonly look_id: string
  readonly alert_id: string
  readonly title: string
  readonly source: string
  readonly priority: Priority
  readonly reason_code: string | null
  readonly dismissed_by: string
  readonly revision: number
  readonly sample_code: string
  readonly sample_version: number
  readonly seed: string
  readonly rate_bps: number
  readonly bucket: number
  readonly state: 'waiting' | 'agreed' | 'disagreed'
  readonly decided_at: string | null
  readonly decided_by: string | null
  readonly created_at: string
  readonly restriction_id: string
  readonly is_in_force: boolean
}

export type NewSecondLook = Pick<
  SecondLookRow,
  | 'look_id'
  | 'alert_id'
  | 'revision'
  | 'dismissed_by'
  | 'reason_code'
  | 'sample_code'
  | 'sample_version'
  | 'seed'
  | 'rate_bps'
  | 'bucket'
>

export const insertSecondLook = (tx: Tx, look: NewSecondLook) =>
  tx.run(
    `insert into app.alert_second_look (tenant_id, look_id, alert_id, revision, dismissed_by, reason_code, sample_code, sample_version, seed,
       rate_bps, bucket)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    [
      tx.tenant_id,
      look.look_id,
      look.alert_id,
      look.revision,
      look.dismissed_by,
      look.reason_code,
      look.sample_code,
      look.sample_version,
      look.seed,
      look.rate_bps,
      look.bucket,
    ],
  )

// Looks from before the reason was stored with them: an alert that is still dismissed says it.
const columns = `l.look_id, l.alert_id, a.title, a.source, a.priority, coalesce(l.reason_code, a.reason_code) as reason_code, l.dismissed_by, l.revision, l.sample_code, l.sample_version,
  l.seed, l.rate_bps, l.bucket, l.state, l.decided_at, l.decided_by, l.created_at, a.restriction_id,
  app.is_in_force(a.restriction_id) as is_in_force`
const source = `app.alert_second_look l join app.alert a on a.tenant_id = l.tenant_id and a.alert_id = l.alert_id`

/** Newest first. */
export const listSecondLooks = (tx: Tx, state: SecondLookRow['state'], after: PagePosition, count: number) =>
  tx.query<SecondLookRow>(
    `select ${columns} from ${source}
      where l.tenant_id = $1 and l.state = $2 and ($3::uuid is null or l.look_id < $3) order by l.look_id desc limit $4`,
    [tx.tenant_id, state, after?.[0] ?? null, count],
  )

export const findSecondLook = (tx: Tx, look_id: string) =>
  tx.find<SecondLookRow>(`select ${columns} from ${source} where l.tenant_id = $1 and l.look_id = $2`, [
    tx.tenant_id,
    look_id,
  ])

export const lockSecondLook = (tx: Tx, look_id: string) =>
  tx.find<SecondLookRow>(`select ${columns} from ${source} where l.tenant_id = $1 and l.look_id = $2 for update of l`, [
    tx.tenant_id,
    look_id,
  ])

export const updateDecided = (tx: Tx, look_id: string, state: 'agreed' | 'disagreed') =>
  tx.run(
    `update app.alert_second_look set state = $3, decided_at = now(), decided_by = $4 where tenant_id = $1 and look_id = $2`,
    [tx.tenant_id, look_id, state, tx.actor],
  )

export const countSecondLooks = (tx: Tx) =>
  tx.query<{ source: string; waiting: number; agreed: number; disagreed: number }>(
    `select a.source, count(*) filter (where l.state = 'waiting') as waiting, count(*) filter (where l.state = 'agreed') as agreed,
            count(*) filter (where l.state = 'disagreed') as disagreed
       from ${source} where l.tenant_id = $1 group by a.source order by a.source`,
    [tx.tenant_id],
  )

export const listLookTitles = (tx: Tx, look_ids: readonly string[]) =>
  tx.query<{ id: string; title: string }>(
    `select l.look_id as id, a.title from ${source} where l.tenant_id = $1 and l.look_id = any ($2::uuid[])`,
    [tx.tenant_id, look_ids],
  )
