/** SQL of schedules and their runs. The row in job_schedule, which wakes a worker, is always changed together with a schedule. */
import type { DefinitionFamily } from '#decision/model.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { createErasureClass } from '#kernel/erasure/queries.ts'
import type { PagePosition } from '#kernel/page.ts'
import type { Static } from '#kernel/schema.ts'
import type { BatchFilter } from '../schema.ts'

export interface RunRow {
  readonly run_id: string
  readonly due_at: string | null
  readonly outcome: 'started' | 'skipped'
  readonly batch_id: string | null
  readonly skipped: string | null
  readonly detail: string | null
  readonly recorded_at: string
  readonly recorded_by: string
}

export interface ScheduleTiming {
  readonly cron: string
  readonly time_zone: string
}

/** The members that people set. */
export interface ScheduleSettings extends ScheduleTiming {
  readonly name: string
  readonly filter: Static<typeof BatchFilter>
  readonly note: string | null
  readonly paused: boolean
  readonly next_run_at: string | null
}
export interface NewSchedule extends ScheduleSettings {
  readonly schedule_id: string
  readonly family: DefinitionFamily
  readonly definition_key: string
}
export interface ScheduleRow extends NewSchedule {
  readonly last_batch_id: string | null
  readonly created_at: string
  readonly created_by: string
  readonly updated_at: string
  readonly updated_by: string
  readonly revision: number
}
export type ScheduleWithLastRun = ScheduleRow & { readonly last_run: RunRow | null }

export const findNow = async (tx: Tx): Promise<string> =>
  ((await tx.find<{ now: string }>('select now() as now')) as { now: string }).now

/** Counts up to `most`. */
export const countSchedules = async (tx: Tx, most: number): Promise<number> =>
  (
    await tx.query(
      'select schedule_id from app.batch_schedule where tenant_id = $1 order by tenant_id, schedule_id limit $2',
      [tx.tenant_id, most],
    )
  ).length

const columns = `s.schedule_id, s.name, s.family, s.definition_key, s.filter, s.note, s.cron, s.time_zone, s.paused, s.next_run_at,
  s.last_batch_id, s.created_at, s.created_by, s.updated_at, s.updated_by, s.revision`
const runColumns = `r.run_id, r.due_at, case when r.skipped is null then 'started' else 'skipped' end as outcome, r.batch_id,
  r.skipped, r.detail, r.recorded_at, r.recorded_by`
const lastRun = `select ${runColumns} from app.batch_schedule_run r where r.tenant_id = s.tenant_id and r.schedule_id = s.schedule_id
  order by r.recorded_at desc, r.run_id desc limit 1`
const runMembers = [
  'run_id',
  'due_at',
  'outcome',
  'batch_id',
  'skipped',
  'detail',
  'recorded_at',
  'recorded_by',
] as const
const whole = `select ${columns}, ${runMembers.map((name) => `l.${name} as last_${name}_of_run`).join(', ')}
  from app.batch_schedule s left join lateral (${lastRun}) l on true`

/** Built here and not as JSON by PostgreSQL, which would format timestamps differently. */
function toSchedule(row: Record<string, unknown>): ScheduleWithLastRun {
  const schedule = { ...row }
  const run: Record<string, unknown> = {}
  for (const name of runMembers) {
    run[name] = schedule[`last_${name}_of_run`]
    delete schedule[`last_${name}_of_run`]
  }
  return { ...schedule, last_run: run['run_id'] === null ? null : run } as unknown as ScheduleWithLastRun
}

export const listSchedules = async (tx: Tx, after: PagePosition, count: number): Promise<ScheduleWithLastRun[]> =>
  (
    await tx.query<Record<string, unknown>>(
      `${whole} where s.tenant_id = $1 and ($2::timestamptz is null or (s.created_at, s.schedule_id) > ($2, $3::uuid))
        order by s.created_at, s.schedule_id limit $4`,
      [tx.tenant_id, after?.[0] ?? null, after?.[1] ?? null, count],
    )
  ).map(toSchedule)

export const findSchedule = async (tx: Tx, schedule_id: string): Promise<ScheduleWithLastRun | undefined> => {
  const row = await tx.find<Record<string, unknown>>(`${whole} where s.tenant_id = $1 and s.schedule_id = $2`, [
    tx.tenant_id,
    schedule_id,
  ])
  return row && toSchedule(row)
}

/** Serializes changes and runs of a schedule. The clock of the database decides whether it is due. */
export const lockSchedule = (tx: Tx, schedule_id: string) =>
  tx.find<ScheduleRow & { readonly now: string; readonly is_due: boolean }>(
    `select ${columns}, now() as now, coalesce(s.next_run_at <= now(), false) as is_due from app.batch_schedule s
      where s.tenant_id = $1 and s.schedule_id = $2 for update`,
    [tx.tenant_id, schedule_id],
  )

export const insertSchedule = (tx: Tx, row: NewSchedule) =>
  tx.run(
    `insert into app.batch_schedule (tenant_id, schedule_id, name, family, definition_key, filter, note, cron, time_zone, paused,
       next_run_at, created_by, updated_by) values ($1, $2, $3, $4, $5, $6::jsonb, $7, $8, $9, $10, $11, $12, $12)`,
    [
      tx.tenant_id,
      row.schedule_id,
      row.name,
      row.family,
      row.definition_key,
      JSON.stringify(row.filter),
      row.note,
      row.cron,
      row.time_zone,
      row.paused,
      row.next_run_at,
      tx.actor,
    ],
  )

export const updateSchedule = (tx: Tx, schedule_id: string, to: ScheduleSettings) =>
  tx.run(
    `update app.batch_schedule set name = $3, filter = $4::jsonb, note = $5, cron = $6, time_zone = $7, paused = $8, next_run_at = $9,
            updated_at = now(), updated_by = $10, revision = revision + 1 where tenant_id = $1 and schedule_id = $2`,
    [
      tx.tenant_id,
      schedule_id,
      to.name,
      JSON.stringify(to.filter),
      to.note,
      to.cron,
      to.time_zone,
      to.paused,
      to.next_run_at,
      tx.actor,
    ],
  )

/** Raises the revision, because the representation includes the last run, but not `updated_at`, because the settings stay. */
export const updateScheduleAfterRun = (
  tx: Tx,
  schedule_id: string,
  to: Pick<ScheduleRow, 'next_run_at' | 'last_batch_id'>,
) =>
  tx.run(
    `update app.batch_schedule set next_run_at = $3, last_batch_id = $4, revision = revision + 1
      where tenant_id = $1 and schedule_id = $2`,
    [tx.tenant_id, schedule_id, to.next_run_at, to.last_batch_id],
  )

export const removeSchedule = (tx: Tx, schedule_id: string) =>
  tx.run('delete from app.batch_schedule where tenant_id = $1 and schedule_id = $2', [tx.tenant_id, schedule_id])

/** Sets when a worker handles the schedule; until it has set the next time, a worker tries again every `again_s` seconds. */
export const upsertWakeUp = (
  tx: Tx,
  waking: {
    readonly schedule_id: string
    readonly kind: string
    readonly again_s: number
    readonly next_run_at: string | null
    /** Of the jobs that it starts. */
    readonly restriction_id?: string | null
  },
) =>
  tx.run(
    `insert into app.job_schedule (tenant_id, schedule_id, name, kind, payload, every_s, enabled, next_run_at, restriction_id)
     values ($1, $2, $3 || ' ' || $2::uuid, $3, $4::jsonb, $5, $6::timestamptz is not null, coalesce($6, now()), $7)
     on conflict on constraint job_schedule_pkey do update set enabled = excluded.enabled, next_run_at = excluded.next_run_at`,
    [
      tx.tenant_id,
      waking.schedule_id,
      waking.kind,
      JSON.stringify({ schedule_id: waking.schedule_id }),
      waking.again_s,
      waking.next_run_at,
      waking.restriction_id ?? null,
    ],
  )

export const removeWakeUp = (tx: Tx, schedule_id: string) =>
  tx.run('delete from app.job_schedule where tenant_id = $1 and schedule_id = $2', [tx.tenant_id, schedule_id])

export const insertScheduleRun = (
  tx: Tx,
  schedule_id: string,
  run: Pick<RunRow, 'run_id' | 'due_at' | 'batch_id' | 'skipped' | 'detail'>,
) =>
  tx.run(
    `insert into app.batch_schedule_run (tenant_id, schedule_id, run_id, due_at, batch_id, skipped, detail, recorded_by)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [tx.tenant_id, schedule_id, run.run_id, run.due_at, run.batch_id, run.skipped, run.detail, tx.actor],
  )

/** Newest first. */
export const listScheduleRuns = (tx: Tx, schedule_id: string, after: PagePosition, count: number) =>
  tx.query<RunRow>(
    `select ${runColumns} from app.batch_schedule_run r where r.tenant_id = $1 and r.schedule_id = $2
        and ($3::timestamptz is null or (r.recorded_at, r.run_id) < ($3, $4::uuid))
      order by r.recorded_at desc, r.run_id desc limit $5`,
    [tx.tenant_id, schedule_id, after?.[0] ?? null, after?.[1] ?? null, count],
  )

const without = (column: string, erase: 'erase_text' | 'erase_texts'): string =>
  `app.${erase}(r.${column}, m.subject_id, m.own, m.marks)`

/** An overwritten filter is marked, so that the batch is not resumed with other items; a file name selects none. */
const erasedSource = `${without('source', 'erase_texts')} || case
  when ${without('source', 'erase_texts')} - 'file_name' <> r.source - 'file_name' then '{"is_erased": true}'::jsonb else '{}' end`

/** A schedule whose filter is overwritten is paused: it would find nobody, or everybody. */
export const batchErasure = createErasureClass('batches', 'Filters, names and notes of batches and their schedules', [
  {
    table: 'batch_schedule',
    id: 'r.schedule_id',
    owner: null,
    text: `concat_ws(E'\\n', r.name, r.note, app.json_texts(r.filter))`,
    json: 'r.filter',
    set: `name = case when ${without('name', 'erase_text')} = r.name then r.name else 'erased ' || r.schedule_id end,
        note = ${without('note', 'erase_text')}, filter = ${without('filter', 'erase_texts')},
        paused = r.paused or ${without('filter', 'erase_texts')} <> r.filter,
        next_run_at = case when ${without('filter', 'erase_texts')} = r.filter then r.next_run_at end, revision = r.revision + 1`,
  },
  {
    table: 'batch_evaluation',
    id: 'r.batch_id',
    owner: null,
    text: `concat_ws(E'\\n', r.note, case when r.source_kind <> 'items' then app.json_texts(r.source) end)`,
    set: `note = ${without('note', 'erase_text')}, source = case when r.source_kind = 'items' then r.source else ${erasedSource} end`,
  },
])
