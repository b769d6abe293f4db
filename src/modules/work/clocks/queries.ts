/** SQL of clocks and of the tenant's default calendar. */
import type { Tx } from '#kernel/database/tx.ts'
import type { PagePosition } from '#kernel/page.ts'

export interface ObjectRef {
  readonly object_kind: string
  readonly object_id: string
}

export interface ClockRow extends ObjectRef {
  readonly clock_key: string
  readonly kind: 'service' | 'statutory'
  readonly started_at: string
  readonly due_at: string
  readonly paused_at: string | null
  readonly paused_s: number
  readonly state: 'running' | 'paused' | 'met' | 'missed'
  readonly ended_at: string | null
  readonly missed_at: string | null
  readonly receipt: ClockReceipt
  readonly restriction_id: string | null
}

/** What the due time was computed from. */
export interface ClockReceipt {
  readonly duration: { readonly hours: number } | { readonly days: number; readonly day_kind: 'calendar' | 'business' }
  readonly calendar: string
  readonly time_zone: string
  readonly list: { readonly list_key: string; readonly version: number; readonly content_hash: string } | null
  /** False: the holidays of the last days were not known. */
  readonly is_covered: boolean
}

const columns = `object_kind, object_id, clock_key, kind, started_at, due_at, paused_at, paused_s, state, ended_at, missed_at, receipt,
  restriction_id`

export const insertClock = (
  tx: Tx,
  clock: Pick<
    ClockRow,
    'object_kind' | 'object_id' | 'clock_key' | 'kind' | 'started_at' | 'due_at' | 'receipt' | 'restriction_id'
  >,
) =>
  tx.find<ClockRow>(
    `insert into app.work_clock (tenant_id, object_kind, object_id, clock_key, kind, started_at, due_at, receipt, restriction_id, created_by)
     values ($1, $2, $3, $4, $5, $6, $7, $8::jsonb, $9, $10) returning ${columns}`,
    [
      tx.tenant_id,
      clock.object_kind,
      clock.object_id,
      clock.clock_key,
      clock.kind,
      clock.started_at,
      clock.due_at,
      JSON.stringify(clock.receipt),
      clock.restriction_id,
      tx.actor,
    ],
  )

export const listClocksByObject = (tx: Tx, { object_kind, object_id }: ObjectRef) =>
  tx.query<ClockRow>(
    `select ${columns} from app.work_clock where tenant_id = $1 and object_kind = $2 and object_id = $3 order by due_at, clock_key`,
    [tx.tenant_id, object_kind, object_id],
  )

/** A clock whose time is over is not paused: it was missed. */
export const updatePaused = (tx: Tx, { object_kind, object_id }: ObjectRef, clock_keys: readonly string[] | null) =>
  tx.run(
    `update app.work_clock set state = 'paused', paused_at = now(), revision = revision + 1
      where tenant_id = $1 and object_kind = $2 and object_id = $3 and state = 'running' and due_at > now()
        and case when $4::text[] is null then kind = 'service' else clock_key = any ($4) end`,
    [tx.tenant_id, object_kind, object_id, clock_keys],
  )

export const lockPausedClocks = (tx: Tx, { object_kind, object_id }: ObjectRef) =>
  tx.query<ClockRow & { readonly now: string }>(
    `select ${columns}, now() as now from app.work_clock
      where tenant_id = $1 and object_kind = $2 and object_id = $3 and state = 'paused' order by clock_key for update`,
    [tx.tenant_id, object_kind, object_id],
  )

export const updateResumed = (
  tx: Tx,
  clock: Pick<ClockRow, 'object_kind' | 'object_id' | 'clock_key'>,
  { due_at, receipt }: { readonly due_at: string; readonly receipt: ClockReceipt },
) =>
  tx.run(
    `update app.work_clock set state = 'running', due_at = $5, receipt = $6::jsonb, paused_at = null,
            paused_s = paused_s + extract(epoch from now() - paused_at)::bigint, revision = revision + 1
      where tenant_id = $1 and object_kind = $2 and object_id = $3 and clock_key = $4 and state = 'paused'`,
    [tx.tenant_id, clock.object_kind, clock.object_id, clock.clock_key, due_at, JSON.stringify(receipt)],
  )

/** `openings_of`: the clock of this name, and those that later openings started with their number behind it. */
export type StoppedClocks =
  | { readonly clock_key: string }
  | { readonly openings_of: string }
  | { readonly kind: 'service' }

/** Ends clocks of an object: met in time, otherwise missed. One that was marked as missed keeps that and gets its end. */
export const updateStopped = (tx: Tx, { object_kind, object_id }: ObjectRef, which: StoppedClocks) =>
  tx.query<ClockRow>(
    `update app.work_clock set
            state = case when state = 'missed' or (state = 'running' and due_at < now()) then 'missed' else 'met' end,
            missed_at = case when state = 'running' and due_at < now() then now() else missed_at end,
            paused_at = null, ended_at = now(), revision = revision + 1
      where tenant_id = $1 and object_kind = $2 and object_id = $3 and ended_at is null
        and ($4::text is null or clock_key = $4) and ($5::text is null or kind = $5)
        and ($6::text is null or clock_key = $6 or starts_with(clock_key, $6 || '-') and substr(clock_key, length($6) + 2) ~ '^[0-9]+$')
     returning ${columns}`,
    [
      tx.tenant_id,
      object_kind,
      object_id,
      'clock_key' in which ? which.clock_key : null,
      'kind' in which ? which.kind : null,
      'openings_of' in which ? which.openings_of : null,
    ],
  )

/** Marks the clocks whose time is over. Returns at most `count` of them. */
export const updateMissed = (tx: Tx, count: number) =>
  tx.query<ClockRow>(
    `with due as materialized (
       select object_kind, object_id, clock_key from app.work_clock
        where tenant_id = $1 and state = 'running' and due_at < now() order by due_at limit $2 for update skip locked)
     update app.work_clock c set state = 'missed', missed_at = now(), revision = revision + 1 from due
      where c.tenant_id = $1 and c.object_kind = due.object_kind and c.object_id = due.object_id and c.clock_key = due.clock_key
     returning c.object_kind, c.object_id, c.clock_key, c.kind, c.started_at, c.due_at, c.paused_at, c.paused_s, c.state, c.ended_at,
               c.missed_at, c.receipt, c.restriction_id`,
    [tx.tenant_id, count],
  )

/** Earliest due first. */
export const listClocks = (
  tx: Tx,
  filter: { readonly state: string | null; readonly kind: string | null; readonly object_kinds: readonly string[] },
  after: PagePosition,
  count: number,
) =>
  tx.query<ClockRow & { readonly is_in_force: boolean }>(
    `select ${columns}, restriction_id is not null and app.is_in_force(restriction_id) as is_in_force from app.work_clock
      where tenant_id = $1 and ($2::text is null or state = $2) and ($3::text is null or kind = $3)
        and object_kind = any ($4)
        and ($5::timestamptz is null or (due_at, object_kind, object_id, clock_key) > ($5, $6, $7::uuid, $8))
      order by due_at, object_kind, object_id, clock_key limit $9`,
    [
      tx.tenant_id,
      filter.state,
      filter.kind,
      filter.object_kinds,
      after?.[0] ?? null,
      after?.[1] ?? null,
      after?.[2] ?? null,
      after?.[3] ?? null,
      count,
    ],
  )

/** As the worker role. */
export const listTenantsWithOverdueClocks = (tx: Tx) =>
  tx.query<{ tenant_id: string }>(
    `select distinct c.tenant_id from app.work_clock c join app.tenant t on t.tenant_id = c.tenant_id and t.state = 'active'
      where c.state = 'running' and c.due_at < now() limit 200`,
  )

export const findTimeZone = async (tx: Tx): Promise<string> =>
  (await tx.find<{ time_zone: string }>('select time_zone from app.tenant where tenant_id = $1', [tx.tenant_id]))
    ?.time_zone ?? 'UTC'

export interface WorkSettingRow {
  readonly calendar_key: string
  readonly updated_at: string
  readonly updated_by: string
  readonly revision: number
}

const settingColumns = 'calendar_key, updated_at, updated_by, revision'

export const findSetting = (tx: Tx) =>
  tx.find<WorkSettingRow>(`select ${settingColumns} from app.work_setting where tenant_id = $1`, [tx.tenant_id])

export const lockSetting = (tx: Tx) =>
  tx.find<WorkSettingRow>(`select ${settingColumns} from app.work_setting where tenant_id = $1 for update`, [
    tx.tenant_id,
  ])

export const upsertSetting = (tx: Tx, calendar_key: string) =>
  tx.find<WorkSettingRow>(
    `insert into app.work_setting (tenant_id, calendar_key, updated_by) values ($1, $2, $3)
     on conflict on constraint work_setting_pkey do update set calendar_key = excluded.calendar_key, updated_at = now(),
       updated_by = excluded.updated_by, revision = work_setting.revision + 1
     returning ${settingColumns}`,
    [tx.tenant_id, calendar_key, tx.actor],
  )

export const isInForce = async (tx: Tx, restriction_id: string): Promise<boolean> =>
  (await tx.find<{ is_in_force: boolean }>('select app.is_in_force($1::uuid) as is_in_force', [restriction_id]))
    ?.is_in_force ?? false
