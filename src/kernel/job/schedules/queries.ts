/** SQL of schedules: which are due, over all tenants, and their rows inside a tenant. */
import type { Tx } from '../../database/tx.ts'

/** As the worker role. */
export const listDueSchedules = (tx: Tx, kinds: readonly string[]) =>
  tx.query<{ tenant_id: string; schedule_id: string }>(
    `select s.tenant_id, s.schedule_id from app.job_schedule s
      where s.enabled and s.next_run_at <= now() and s.kind = any($1::text[])
        and exists (select 1 from app.tenant t where t.tenant_id = s.tenant_id and t.state = 'active')
      order by s.next_run_at limit 50`,
    [kinds],
  )

export interface DueSchedule {
  readonly schedule_id: string
  readonly name: string
  readonly kind: string
  readonly payload: unknown
  /** Of the job that it starts. */
  readonly restriction_id: string | null
  /** Whether the job it started last is unfinished. */
  readonly still_busy: boolean
}

/**
 * Takes one due schedule unless another worker has: its next time is the first one in the future, so a long pause does not cause
 * a burst.
 */
export const takeDueSchedule = (tx: Tx, schedule_id: string) =>
  tx.find<DueSchedule>(
    `update app.job_schedule s
        set next_run_at = next_run_at + ceil(extract(epoch from now() - next_run_at) / every_s + 1e-6) * every_s * interval '1 s'
      where tenant_id = $1 and schedule_id = $2 and enabled and next_run_at <= now()
     returning schedule_id, name, kind, payload, restriction_id, exists (select 1 from app.job j where j.tenant_id = $1 and j.job_id = s.last_job_id
                                                            and j.state in ('queued', 'running')) as still_busy`,
    [tx.tenant_id, schedule_id],
  )

export const updateScheduleStarted = (tx: Tx, schedule_id: string, job_id: string) => {
  const values = [tx.tenant_id, schedule_id, job_id]
  return tx.run('update app.job_schedule set last_job_id = $3 where tenant_id = $1 and schedule_id = $2', values)
}

/** Repeatable: an existing schedule of that name is kept. */
export const insertSchedule = (
  tx: Tx,
  schedule: { schedule_id: string; name: string; kind: string; payload: unknown; every_s: number; first_in_s: number },
) =>
  tx.run(
    `insert into app.job_schedule (tenant_id, schedule_id, name, kind, payload, every_s, next_run_at)
     values ($1, $2, $3, $4, $5::jsonb, $6, now() + $7::bigint * interval '1 s')
     on conflict on constraint job_schedule_name_key do nothing`,
    [
      tx.tenant_id,
      schedule.schedule_id,
      schedule.name,
      schedule.kind,
      JSON.stringify(schedule.payload),
      schedule.every_s,
      schedule.first_in_s,
    ],
  )
