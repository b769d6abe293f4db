/** SQL of schedules of reports. The row in job_schedule, which wakes a worker, is always changed together with a schedule. */
import { restrictionInForce } from '#kernel/database/restriction-column.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { createErasureClass } from '#kernel/erasure/queries.ts'
import type { PagePosition } from '#kernel/page.ts'
import type { ReportFormatName } from '../model.ts'
import { isComplete } from '../queries.ts'

/** The members that people set. */
export interface ScheduleSettings {
  readonly name: string
  readonly parameters: Record<string, unknown>
  readonly formats: ReportFormatName[]
  readonly locale: string
  readonly cron: string
  readonly time_zone: string
  readonly paused: boolean
  readonly next_run_at: string | null
}
interface ScheduleIdentity extends ScheduleSettings {
  readonly schedule_id: string
  readonly template_key: string
}
export interface NewSchedule extends ScheduleIdentity {
  /** Of what its reports are about; null: that has none. */
  readonly restriction_id: string | null
}
export interface ScheduleRow extends ScheduleIdentity {
  /** While it is in force. */
  readonly restriction_id: string | null
  readonly last_run_at: string | null
  readonly last_report_id: string | null
  readonly last_skipped: string | null
  readonly revision: number
  readonly created_at: string
  readonly created_by: string
  readonly updated_at: string
  readonly updated_by: string
}

const columns = `schedule_id, name, template_key, parameters, formats, locale, cron, time_zone, paused, next_run_at, last_run_at,
  (select r.report_id from app.report r where r.tenant_id = report_schedule.tenant_id and r.report_id = last_report_id and ${isComplete})
    as last_report_id,
  last_skipped, ${restrictionInForce()}, revision, created_at, created_by, updated_at, updated_by`

/** Counts up to `most`. */
export const countSchedules = async (tx: Tx, most: number): Promise<number> =>
  (
    await tx.query(
      'select schedule_id from app.report_schedule where tenant_id = $1 order by tenant_id, schedule_id limit $2',
      [tx.tenant_id, most],
    )
  ).length

/** Oldest first. */
export const listSchedules = (tx: Tx, after: PagePosition, count: number) =>
  tx.query<ScheduleRow>(
    `select ${columns} from app.report_schedule
      where tenant_id = $1 and ($2::timestamptz is null or (created_at, schedule_id) > ($2, $3::uuid))
      order by created_at, schedule_id limit $4`,
    [tx.tenant_id, after?.[0] ?? null, after?.[1] ?? null, count],
  )

export const findSchedule = (tx: Tx, schedule_id: string) =>
  tx.find<ScheduleRow>(`select ${columns} from app.report_schedule where tenant_id = $1 and schedule_id = $2`, [
    tx.tenant_id,
    schedule_id,
  ])

export interface LockedSchedule extends ScheduleRow {
  readonly now: string
  readonly is_due: boolean
  /** In force or not. */
  readonly own_restriction_id: string | null
  /** Whether whoever set it may see it now. */
  readonly is_seen: boolean
}

/** Serializes changes and runs of a schedule. The clock of the database decides whether it is due. */
export const lockSchedule = (tx: Tx, schedule_id: string) =>
  tx.find<LockedSchedule>(
    `select ${columns}, now() as now, coalesce(next_run_at <= now(), false) as is_due, restriction_id as own_restriction_id,
            app.may_see(updated_by, restriction_id) as is_seen
       from app.report_schedule where tenant_id = $1 and schedule_id = $2 for update`,
    [tx.tenant_id, schedule_id],
  )

export const insertSchedule = (tx: Tx, row: NewSchedule) =>
  tx.run(
    `insert into app.report_schedule (tenant_id, schedule_id, name, template_key, parameters, formats, locale, cron, time_zone, paused,
       next_run_at, created_by, updated_by, restriction_id) values ($1, $2, $3, $4, $5::jsonb, $6, $7, $8, $9, $10, $11, $12, $12, $13)`,
    [
      tx.tenant_id,
      row.schedule_id,
      row.name,
      row.template_key,
      JSON.stringify(row.parameters),
      row.formats,
      row.locale,
      row.cron,
      row.time_zone,
      row.paused,
      row.next_run_at,
      tx.actor,
      row.restriction_id,
    ],
  )

export const updateSchedule = (tx: Tx, schedule_id: string, to: ScheduleSettings) =>
  tx.find<ScheduleRow>(
    `update app.report_schedule set name = $3, parameters = $4::jsonb, formats = $5, locale = $6, cron = $7, time_zone = $8, paused = $9,
            next_run_at = $10, updated_at = now(), updated_by = $11, revision = revision + 1
      where tenant_id = $1 and schedule_id = $2 returning ${columns}`,
    [
      tx.tenant_id,
      schedule_id,
      to.name,
      JSON.stringify(to.parameters),
      to.formats,
      to.locale,
      to.cron,
      to.time_zone,
      to.paused,
      to.next_run_at,
      tx.actor,
    ],
  )

/** Raises the revision, because the representation has the last run, but not `updated_at`, because the settings stay. */
export const updateScheduleAfterRun = (
  tx: Tx,
  schedule_id: string,
  run: Pick<ScheduleRow, 'next_run_at' | 'last_report_id' | 'last_skipped'>,
) =>
  tx.run(
    `update app.report_schedule set next_run_at = $3, last_run_at = now(), last_report_id = coalesce($4, last_report_id), last_skipped = $5, revision = revision + 1
      where tenant_id = $1 and schedule_id = $2`,
    [tx.tenant_id, schedule_id, run.next_run_at, run.last_report_id, run.last_skipped],
  )

/** Until somebody resumes it. */
export const updateSchedulePaused = (tx: Tx, schedule_id: string, reason: string) =>
  tx.run(
    `update app.report_schedule set paused = true, next_run_at = null, last_skipped = $3, revision = revision + 1
      where tenant_id = $1 and schedule_id = $2`,
    [tx.tenant_id, schedule_id, reason],
  )

export const isDeactivated = async (tx: Tx, principal: string): Promise<boolean> =>
  (await tx.find(
    `select 1 as found from app.user_account where tenant_id = $1 and 'user:' || user_id = $2 and state = 'inactive'`,
    [tx.tenant_id, principal],
  )) !== undefined

const without = (column: string, erase: 'erase_text' | 'erase_texts'): string =>
  `app.${erase}(r.${column}, m.subject_id, m.own, m.marks)`

/** One about the subject is paused. Of others that mention it, the words are overwritten; without its parameters a schedule is paused too. */
export const scheduleErasure = createErasureClass('report-schedules', 'Names and parameters of schedules of reports', [
  {
    table: 'report_schedule',
    id: 'r.schedule_id',
    owner: `case when r.parameters ->> 'subject_id' ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then (r.parameters ->> 'subject_id')::uuid end`,
    text: `concat_ws(E'\\n', r.name, r.last_skipped, app.json_texts(r.parameters))`,
    restriction: 'r.restriction_id',
    set: `name = 'erased ' || r.schedule_id, paused = true, next_run_at = null, last_skipped = 'Its subject was erased.', revision = r.revision + 1`,
    by_mark: `name = case when ${without('name', 'erase_text')} = r.name then r.name else 'erased ' || r.schedule_id end,
        parameters = ${without('parameters', 'erase_texts')}, last_skipped = ${without('last_skipped', 'erase_text')},
        paused = r.paused or ${without('parameters', 'erase_texts')} <> r.parameters,
        next_run_at = case when ${without('parameters', 'erase_texts')} = r.parameters then r.next_run_at end, revision = r.revision + 1`,
  },
])

export const removeSchedule = (tx: Tx, schedule_id: string) =>
  tx.run('delete from app.report_schedule where tenant_id = $1 and schedule_id = $2', [tx.tenant_id, schedule_id])
