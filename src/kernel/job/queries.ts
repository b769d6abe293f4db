/**
 * SQL of the queue. Claims, heartbeats and reaping run as the worker role, which sees no payload; the rest as app in the tenant.
 */
import { restrictionInForce } from '../database/restriction-column.ts'
import type { Tx } from '../database/tx.ts'

export const jobStates = ['queued', 'running', 'succeeded', 'failed', 'cancelled'] as const
export type JobState = (typeof jobStates)[number]

export interface JobRow {
  readonly job_id: string
  readonly kind: string
  readonly state: JobState
  readonly resource: string | null
  readonly progress: { readonly done: number; readonly total: number | null; readonly unit: string | null }
  readonly result: Record<string, unknown> | null
  readonly problem: Record<string, unknown> | null
  readonly attempts: number
  readonly max_attempts: number
  readonly cancel_requested: boolean
  readonly run_at: string
  readonly deferred_since: string | null
  readonly created_at: string
  readonly created_by: string
  /** While it is in force. */
  readonly restriction_id: string | null
  readonly started_at: string | null
  readonly finished_at: string | null
  readonly revision: number
}

const columns = `job_id, kind, state, resource, result, problem, attempts, max_attempts, run_at, deferred_since, created_at, created_by,
  started_at, finished_at, revision, cancel_requested_at is not null as cancel_requested, ${restrictionInForce()},
  jsonb_build_object('done', progress_done, 'total', progress_total, 'unit', progress_unit) as progress`

/** Roles as $n; a restricted job does not exist for others. */
const visible = (n: number) => `(visible_to is null or visible_to && $${n}::text[])`

export interface NewJob {
  readonly job_id: string
  readonly kind: string
  readonly payload: unknown
  readonly resource: string | null
  readonly visible_to: readonly string[] | null
  readonly restriction_id: string | null
  readonly max_attempts: number
  readonly progress_total: number | null
  readonly progress_unit: string | null
}

const heavyLimit = (n: number) =>
  `coalesce((select burst from app.tenant_limit where tenant_id = $1 and bucket = 'heavy'), $${n}::bigint)`

/** True while the tenant has fewer unfinished jobs than its `heavy` limit, $n being the default; counts no further than that. */
const hasCapacity = (n: number) =>
  `(select count(*) from (select 1 from app.job where tenant_id = $1 and state = 'queued'
     union all select 1 from app.job where tenant_id = $1 and state = 'running' limit ${heavyLimit(n)}) unfinished) < ${heavyLimit(n)}`

/** Returns no row when the tenant has reached its limit of unfinished jobs. */
export const insertJob = (tx: Tx, job: NewJob, default_limit: number | null) =>
  tx.find<JobRow>(
    `insert into app.job (tenant_id, job_id, kind, payload, resource, visible_to, max_attempts, progress_total, progress_unit, created_by,
       restriction_id)
     select $1, $2, $3, $4::jsonb, $5, $6::text[], $7, $8, $9, $10, $12::uuid
      where $11::bigint is null or ${hasCapacity(11)}
     returning ${columns}`,
    [
      tx.tenant_id,
      job.job_id,
      job.kind,
      JSON.stringify(job.payload),
      job.resource,
      job.visible_to,
      job.max_attempts,
      job.progress_total,
      job.progress_unit,
      tx.actor,
      default_limit,
      job.restriction_id,
    ],
  )

/** With the restriction it belongs to, in force or not. */
type RestrictedJobRow = JobRow & { readonly belongs_to: string | null }
const restrictionColumns = 'restriction_id as belongs_to'

export const findJob = (tx: Tx, job_id: string, roles: readonly string[]) =>
  tx.find<RestrictedJobRow>(
    `select ${columns}, ${restrictionColumns} from app.job where tenant_id = $1 and job_id = $2 and ${visible(3)}`,
    [tx.tenant_id, job_id, roles],
  )

export interface JobFilter {
  readonly kind: string | null
  readonly state: string | null
  readonly roles: readonly string[]
}

/** Newest first. */
export const listJobs = (tx: Tx, filter: JobFilter, after: readonly (string | number)[] | null, count: number) =>
  tx.query<JobRow>(
    `select ${columns} from app.job
      where tenant_id = $1 and ${visible(2)} and ($3::text is null or kind = $3) and ($4::text is null or state = $4)
        and ($5::timestamptz is null or (created_at, job_id) < ($5, $6::uuid))
      order by created_at desc, job_id desc limit $7`,
    [tx.tenant_id, filter.roles, filter.kind, filter.state, after?.[0] ?? null, after?.[1] ?? null, count],
  )

/** Those that a worker has at this moment. */
export const countRunningJobs = async (tx: Tx): Promise<number> =>
  (
    await tx.find<{ jobs: number }>(
      `select count(*) as jobs from app.job where tenant_id = $1 and state = 'running' and lease_until > now()`,
      [tx.tenant_id],
    )
  )?.jobs ?? 0

/** What search shows of a job. */
export type FoundJobRow = Pick<JobRow, 'job_id' | 'kind' | 'state' | 'created_at' | 'restriction_id'>

/** Newest first. */
export const listNewestJobs = (tx: Tx, roles: readonly string[], count: number) =>
  tx.query<FoundJobRow>(
    `select job_id, kind, state, created_at, ${restrictionInForce()} from app.job
      where tenant_id = $1 and ${visible(2)} order by created_at desc, job_id desc limit $3`,
    [tx.tenant_id, roles, count],
  )

/** Jobs whose ids lie between both, oldest first. */
export const listJobsInRange = (
  tx: Tx,
  { from, to }: { readonly from: string; readonly to: string },
  roles: readonly string[],
  count: number,
) =>
  tx.query<FoundJobRow>(
    `select job_id, kind, state, created_at, ${restrictionInForce()} from app.job
      where tenant_id = $1 and job_id >= $2::uuid and job_id <= $3::uuid and ${visible(4)} order by job_id limit $5`,
    [tx.tenant_id, from, to, roles, count],
  )

export const lockJob = (tx: Tx, job_id: string, roles: readonly string[]) =>
  tx.find<RestrictedJobRow>(
    `select ${columns}, ${restrictionColumns} from app.job where tenant_id = $1 and job_id = $2 and ${visible(3)} for update`,
    [tx.tenant_id, job_id, roles],
  )

/** A queued job ends immediately; a running one is asked to stop and ended by its own worker. */
export const updateCancelRequested = (tx: Tx, job_id: string) =>
  tx.find<JobRow>(
    `update app.job set cancel_requested_at = coalesce(cancel_requested_at, now()), revision = revision + 1,
            state = case state when 'queued' then 'cancelled' else state end,
            finished_at = case state when 'queued' then clock_timestamp() else finished_at end
      where tenant_id = $1 and job_id = $2 returning ${columns}`,
    [tx.tenant_id, job_id],
  )

/** Returns no row when the tenant has reached its limit of unfinished jobs. */
export const updateRetried = (tx: Tx, job_id: string, default_limit: number) =>
  tx.find<JobRow>(
    `update app.job set state = 'queued', attempts = 0, run_at = now(), finished_at = null, problem = null, result = null,
            cancel_requested_at = null, deferred_since = null, revision = revision + 1
      where tenant_id = $1 and job_id = $2 and ${hasCapacity(3)} returning ${columns}`,
    [tx.tenant_id, job_id, default_limit],
  )

// As the worker role ------------------------------------------------------------------------------------------------

export interface JobClaim {
  readonly turn: string
  readonly tenant_id: string | null
  readonly job_id: string | null
  readonly kind: string | null
  readonly attempts: number | null
  readonly max_attempts: number | null
}

/** Never joined or counted: `order by tenant_id, run_at limit 1` is one probe of job_due_idx, however long the queue. */
const due = `j.state = 'queued' and j.run_at <= now() and j.kind = any($2::text[])`

/**
 * Tenants take turns: the oldest due job of the next tenant in id order after the last one served. No row means that there is
 * none after that tenant. Suspended tenants, and `except_tenants`, cost one probe each.
 */
export const claimJob = (
  tx: Tx,
  from: { after_tenant: string; except_tenants: readonly string[]; kinds: readonly string[] },
  lease: { lease_token: string; lease_ms: number; worker: string },
) =>
  tx.find<JobClaim>(
    `with recursive waiting (tenant_id) as (
       (select j.tenant_id from app.job j where ${due} and j.tenant_id > $1 order by j.tenant_id, j.run_at limit 1)
       union all
       select next.tenant_id from waiting cross join lateral
         (select j.tenant_id from app.job j where ${due} and j.tenant_id > waiting.tenant_id order by j.tenant_id, j.run_at limit 1) next
     ), turn as (
       select w.tenant_id from waiting w
        where w.tenant_id <> all($6::uuid[]) and (select t.state from app.tenant t where t.tenant_id = w.tenant_id) = 'active' limit 1
     ), picked as (
       select j.tenant_id, j.job_id from app.job j
        where ${due} and j.tenant_id = (select tenant_id from turn)
        order by j.tenant_id, j.run_at, j.job_id limit 1 for update skip locked
     ), claimed as (
       update app.job j
          set state = 'running', attempts = j.attempts + 1, lease_token = $3, worker = $5, revision = j.revision + 1,
              lease_until = now() + $4::bigint * interval '1 ms', started_at = coalesce(j.started_at, now())
         from picked where j.tenant_id = picked.tenant_id and j.job_id = picked.job_id
       returning j.tenant_id, j.job_id, j.kind, j.attempts, j.max_attempts
     )
     select turn.tenant_id as turn, claimed.* from turn left join claimed on true`,
    [from.after_tenant, from.kinds, lease.lease_token, lease.lease_ms, lease.worker, from.except_tenants],
  )

/** Extends leases that are still held, by their tokens. A token that is not returned has lost its lease. */
export const extendLeases = (
  tx: Tx,
  leases: { tenant_ids: readonly string[]; job_ids: readonly string[]; tokens: readonly string[]; lease_ms: number },
) =>
  tx.query<{ lease_token: string; cancel_requested: boolean; tenant_active: boolean }>(
    `update app.job j set lease_until = now() + $4::bigint * interval '1 ms'
       from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as held (tenant_id, job_id, lease_token)
      where j.tenant_id = held.tenant_id and j.job_id = held.job_id and j.lease_token = held.lease_token and j.state = 'running'
     returning j.lease_token, j.cancel_requested_at is not null as cancel_requested,
               exists (select 1 from app.tenant t where t.tenant_id = j.tenant_id and t.state = 'active') as tenant_active`,
    [leases.tenant_ids, leases.job_ids, leases.tokens, leases.lease_ms],
  )

/** Jobs of dead workers: retried after a pause, or failed after their last attempt. */
export const reapExpiredLeases = (tx: Tx, problem: Record<string, unknown>) =>
  tx.query<{ tenant_id: string; job_id: string; kind: string; state: JobState }>(
    `with expired as (
       select tenant_id, job_id from app.job where state = 'running' and lease_until < now()
        order by lease_until limit 100 for update skip locked
     )
     update app.job j
        set state = case when j.cancel_requested_at is not null then 'cancelled'
                         when j.attempts >= j.max_attempts then 'failed' else 'queued' end,
            run_at = now() + least(300, power(4, least(j.attempts, 10) - 1)) * interval '1 s',
            finished_at = case when j.cancel_requested_at is not null or j.attempts >= j.max_attempts then clock_timestamp() end,
            problem = case when j.cancel_requested_at is null then $1::jsonb end,
            lease_token = null, lease_until = null, revision = j.revision + 1
       from expired where j.tenant_id = expired.tenant_id and j.job_id = expired.job_id
     returning j.tenant_id, j.job_id, j.kind, j.state`,
    [JSON.stringify(problem)],
  )

// As app, inside the tenant, on behalf of the job --------------------------------------------------------------------

export interface LeasedJob {
  readonly job_id: string
  readonly lease_token: string
}

type StoredJob = Pick<RestrictedJobRow, 'cancel_requested' | 'created_by' | 'restriction_id'> &
  Record<'payload' | 'checkpoint', unknown>

export const findLeasedJob = (tx: Tx, held: LeasedJob) =>
  tx.find<StoredJob>(
    `select payload, checkpoint, cancel_requested_at is not null as cancel_requested, created_by, restriction_id from app.job
      where tenant_id = $1 and job_id = $2 and lease_token = $3`,
    [tx.tenant_id, held.job_id, held.lease_token],
  )

/** The check of the lease: no row means that it was lost, and the transaction must not commit. */
export const updateStep = (
  tx: Tx,
  held: LeasedJob,
  step: { checkpoint: unknown; done: number | null; total: number | null; unit: string | null },
) =>
  tx.find<{ cancel_requested: boolean }>(
    `update app.job set checkpoint = coalesce($4::jsonb, checkpoint), progress_done = coalesce($5, progress_done),
            progress_total = coalesce($6, progress_total), progress_unit = coalesce($7, progress_unit), deferred_since = null,
            revision = revision + 1
      where tenant_id = $1 and job_id = $2 and lease_token = $3 and state = 'running' and lease_until > now()
     returning cancel_requested_at is not null as cancel_requested`,
    [
      tx.tenant_id,
      held.job_id,
      held.lease_token,
      step.checkpoint === undefined ? null : JSON.stringify(step.checkpoint),
      step.done,
      step.total,
      step.unit,
    ],
  )

/** Nobody reaps the job before the transaction ends. */
export const lockLease = (tx: Tx, held: LeasedJob) =>
  tx.find(
    `select 1 as held from app.job
      where tenant_id = $1 and job_id = $2 and lease_token = $3 and state = 'running' and lease_until > now() for share`,
    [tx.tenant_id, held.job_id, held.lease_token],
  )

/** `now()` is when the transaction began, which may span all the work of the job. */
export const updateFinished = (
  tx: Tx,
  held: LeasedJob,
  end: { state: 'succeeded' | 'failed' | 'cancelled'; result: unknown; problem: unknown },
) =>
  tx.run(
    `update app.job set state = $4, result = $5::jsonb, problem = $6::jsonb, finished_at = clock_timestamp(), lease_token = null,
            lease_until = null, deferred_since = null, revision = revision + 1,
            progress_done = case when $4 = 'succeeded' then coalesce(progress_total, progress_done) else progress_done end
      where tenant_id = $1 and job_id = $2 and lease_token = $3 and state = 'running' and lease_until > now()`,
    [
      tx.tenant_id,
      held.job_id,
      held.lease_token,
      end.state,
      end.result === null ? null : JSON.stringify(end.result),
      end.problem === null ? null : JSON.stringify(end.problem),
    ],
  )

/**
 * Returns a job to the queue: after a failure with a pause and its problem, or immediately when its worker stops. A job that was
 * cancelled meanwhile ends here.
 */
export const updateReleased = (
  tx: Tx,
  held: LeasedJob,
  release: { pause_s: number; problem: unknown; attempt_counts: boolean },
) =>
  tx.find<{ state: 'queued' | 'cancelled' }>(
    `update app.job set state = case when cancel_requested_at is null then 'queued' else 'cancelled' end,
            finished_at = case when cancel_requested_at is null then null else clock_timestamp() end,
            run_at = now() + $4::bigint * interval '1 s', problem = case when cancel_requested_at is null then coalesce($5::jsonb, problem) end,
            lease_token = null, lease_until = null, attempts = attempts - case when $6 then 0 else 1 end, revision = revision + 1
      where tenant_id = $1 and job_id = $2 and lease_token = $3 and state = 'running' returning state`,
    [
      tx.tenant_id,
      held.job_id,
      held.lease_token,
      release.pause_s,
      release.problem === null ? null : JSON.stringify(release.problem),
      release.attempt_counts,
    ],
  )

/**
 * Returns a job to the queue until the given time, at most 24 hours, without counting the attempt. A job that was cancelled
 * meanwhile ends here; one that was first deferred seven days ago keeps its lease, and its worker fails it.
 */
export const updateDeferred = (tx: Tx, held: LeasedJob, deferral: { until: Date; problem: unknown }) =>
  tx.find<{ state: JobState; has_expired: boolean }>(
    `with held as (
       select job_id, cancel_requested_at is null and coalesce(deferred_since < now() - interval '7 days', false) as has_expired
         from app.job where tenant_id = $1 and job_id = $2 and lease_token = $3 and state = 'running' for update
     )
     update app.job j
        set state = case when has_expired then 'running' when cancel_requested_at is null then 'queued' else 'cancelled' end,
            finished_at = case when cancel_requested_at is not null then clock_timestamp() end,
            run_at = case when has_expired then run_at
                          else least(greatest($4::timestamptz, now()), now() + interval '24 hours') end,
            deferred_since = case when cancel_requested_at is null then coalesce(deferred_since, now()) end,
            problem = case when cancel_requested_at is null then $5::jsonb end,
            lease_token = case when has_expired then lease_token end, lease_until = case when has_expired then lease_until end,
            attempts = attempts - case when has_expired then 0 else 1 end, revision = revision + 1
       from held where j.tenant_id = $1 and j.job_id = held.job_id
     returning j.state, held.has_expired`,
    [
      tx.tenant_id,
      held.job_id,
      held.lease_token,
      deferral.until.toISOString(),
      deferral.problem === null ? null : JSON.stringify(deferral.problem),
    ],
  )

/**
 * For metrics; jobs of suspended tenants wait on purpose and are left out. `waiting`: of the queued ones, those that have begun and
 * wait for their next run, deferred or after a failed attempt.
 */
type QueueDepth = Readonly<Record<'queued' | 'running' | 'waiting' | 'oldest_due_s' | 'oldest_waiting_s', number>>

export const findQueueDepth = async (tx: Tx): Promise<QueueDepth> =>
  (await tx.find<QueueDepth>(
    `select count(*) as queued, (select count(*) from app.job where state = 'running') as running,
            count(*) filter (where j.started_at is not null and j.run_at > now()) as waiting,
            coalesce(extract(epoch from now() - min(j.run_at) filter (where j.run_at <= now())), 0)::float8 as oldest_due_s,
            coalesce(extract(epoch from now() - min(j.started_at) filter (where j.run_at > now())), 0)::float8 as oldest_waiting_s
       from app.job j join app.tenant t on t.tenant_id = j.tenant_id where j.state = 'queued' and t.state = 'active'`,
  )) ?? { queued: 0, running: 0, waiting: 0, oldest_due_s: 0, oldest_waiting_s: 0 }
