/** SQL of gathering: what the job, and people, do with the steps of a case. */
import type { Tx } from '#kernel/database/tx.ts'
import type { GatheringState, StepState } from '../model.ts'
import { type StepRow, stepColumns } from '../queries.ts'

/** Another process takes a step over after this time; while one waits for a provider, the step shows that it waits. */
const TAKEN_S = 60

export const updateGathering = (
  tx: Tx,
  investigation_id: string,
  changed: {
    readonly gathering: GatheringState
    readonly job_id?: string | null
    readonly problem?: Readonly<Record<string, unknown>> | null
  },
) =>
  tx.run(
    `update app.investigation set gathering = $3, gathering_job_id = coalesce($4, gathering_job_id), gathering_problem = $5, updated_at = now(), updated_by = $6
      where tenant_id = $1 and investigation_id = $2 and state = 'open'`,
    [
      tx.tenant_id,
      investigation_id,
      changed.gathering,
      changed.job_id ?? null,
      changed.problem ? JSON.stringify(changed.problem) : null,
      tx.actor,
    ],
  )

/** Whoever else begins, adds or waives a step of the case is waited for; what the job stores is not. */
export const lockSteps = (tx: Tx, investigation_id: string) =>
  tx.find<{ found: number }>(
    `select 1 as found from app.investigation where tenant_id = $1 and investigation_id = $2 for no key update`,
    [tx.tenant_id, investigation_id],
  )

/** One step, locked. */
export const lockStep = (tx: Tx, investigation_id: string, step_key: string) =>
  tx.find<StepRow>(
    `select ${stepColumns} from app.investigation_step t
      where t.tenant_id = $1 and t.investigation_id = $2 and t.step_key = $3 for update`,
    [tx.tenant_id, investigation_id, step_key],
  )

/** A step of the kind task waits for its person. */
export const updateStepWaiting = (tx: Tx, investigation_id: string, step_key: string, task_id: string) =>
  tx.run(
    `update app.investigation_step set state = 'waiting', task_id = $4, started_at = coalesce(started_at, now()), revision = revision + 1,
            updated_at = now(), updated_by = $5
      where tenant_id = $1 and investigation_id = $2 and step_key = $3`,
    [tx.tenant_id, investigation_id, step_key, task_id, tx.actor],
  )

export interface TakenStep extends StepRow {
  /** The restriction of the case is in force. */
  readonly is_restricted: boolean
}

/**
 * Takes steps for a job: those that another one took meanwhile are not returned. One that waits for a provider keeps its state, so that
 * its timeline does not have two events for each attempt.
 */
export const takeSteps = (
  tx: Tx,
  { investigation_id, job_id, keys }: { investigation_id: string; job_id: string; keys: readonly string[] },
) =>
  tx.query<TakenStep>(
    `update app.investigation_step t
        set state = case when t.state = 'pending' then 'running' else t.state end,
            attempt = t.attempt + case when t.state = 'pending' and t.call_id is null then 1 else 0 end,
            job_id = $4, started_at = coalesce(t.started_at, now()), problem = null,
            not_before = case when t.state = 'waiting' then now() + ${TAKEN_S} * interval '1 s' end,
            revision = t.revision + 1, updated_at = now(), updated_by = $5
      where t.tenant_id = $1 and t.investigation_id = $2 and t.step_key = any ($3::text[])
        and (t.state = 'pending' or t.state = 'waiting' and t.not_before <= now() or t.state = 'running' and t.job_id = $4)
     returning ${stepColumns}, (select app.is_in_force(i.restriction_id) from app.investigation i
                                  where i.tenant_id = t.tenant_id and i.investigation_id = t.investigation_id) as is_restricted`,
    [tx.tenant_id, investigation_id, keys, job_id, tx.actor],
  )

/** Their conditions do not apply. */
export const skipSteps = (tx: Tx, investigation_id: string, keys: readonly string[]) =>
  tx.run(
    `update app.investigation_step set state = 'skipped', problem = null, ended_at = now(), revision = revision + 1, updated_at = now(), updated_by = $4
      where tenant_id = $1 and investigation_id = $2 and step_key = any ($3::text[]) and state = 'pending'`,
    [tx.tenant_id, investigation_id, keys, tx.actor],
  )

/** The step if this job still has it, locked. */
export const lockTakenStep = (tx: Tx, investigation_id: string, step_key: string, job_id: string) =>
  tx.find<{ step_key: string }>(
    `select step_key from app.investigation_step
      where tenant_id = $1 and investigation_id = $2 and step_key = $3 and job_id = $4
        and (state = 'running' or state = 'waiting' and task_id is null) for no key update`,
    [tx.tenant_id, investigation_id, step_key, job_id],
  )

export const updateStepCall = (
  tx: Tx,
  investigation_id: string,
  step_key: string,
  { call_id, reused_from }: { readonly call_id: string; readonly reused_from: string | null },
) =>
  tx.run(
    `update app.investigation_step set call_id = $4, reused_from = $5, revision = revision + 1, updated_at = now(), updated_by = $6
      where tenant_id = $1 and investigation_id = $2 and step_key = $3`,
    [tx.tenant_id, investigation_id, step_key, call_id, reused_from, tx.actor],
  )

export interface StepChange {
  readonly state: Exclude<StepState, 'running' | 'waived'>
  readonly problem: Readonly<Record<string, unknown>> | null
  readonly not_before?: Date
  readonly result?: { readonly kind: string; readonly id: string }
  readonly evidence_id?: string
  readonly contract_result?: Readonly<Record<string, unknown>>
  readonly cost?: { readonly amount: string; readonly currency: string }
}

/** How a run of a step ended. What it found earlier stays where the change says nothing of it. */
export const updateStepEnd = (tx: Tx, investigation_id: string, step_key: string, change: StepChange) =>
  tx.run(
    `update app.investigation_step
        set state = $4, problem = $5, not_before = $6, result_kind = coalesce($7, result_kind), result_id = coalesce($8, result_id),
            evidence_id = coalesce($9, evidence_id), contract_result = coalesce($10, contract_result),
            cost_amount = coalesce($11, cost_amount), cost_currency = coalesce($12, cost_currency),
            ended_at = case when $4 in ('succeeded', 'failed', 'indeterminate', 'skipped') then clock_timestamp() end,
            revision = revision + 1, updated_at = now(), updated_by = $13
      where tenant_id = $1 and investigation_id = $2 and step_key = $3`,
    [
      tx.tenant_id,
      investigation_id,
      step_key,
      change.state,
      change.problem && JSON.stringify(change.problem),
      change.not_before?.toISOString() ?? null,
      change.result?.kind ?? null,
      change.result?.id ?? null,
      change.evidence_id ?? null,
      change.contract_result ? JSON.stringify(change.contract_result) : null,
      change.cost?.amount ?? null,
      change.cost?.currency ?? null,
      tx.actor,
    ],
  )

/** A person begins it again; `call_id`: with this call instead of a new one. */
export const updateStepAgain = (tx: Tx, investigation_id: string, step_key: string, call_id: string | null) =>
  tx.run(
    `update app.investigation_step
        set state = 'pending', call_id = $4, job_id = null, problem = null, not_before = null, started_at = null, ended_at = null,
            result_kind = null, result_id = null, evidence_id = null, contract_result = null, cost_amount = null, cost_currency = null,
            reused_from = null, waived_by = null, waived_at = null, waive_reason = null,
            attempt = attempt + case when $4::uuid is not null and call_id is distinct from $4 then 1 else 0 end,
            revision = revision + 1, updated_at = now(), updated_by = $5
      where tenant_id = $1 and investigation_id = $2 and step_key = $3`,
    [tx.tenant_id, investigation_id, step_key, call_id, tx.actor],
  )

export const updateStepWaived = (tx: Tx, investigation_id: string, step_key: string, reason: string) =>
  tx.run(
    `update app.investigation_step
        set state = 'waived', waived_by = $5, waived_at = now(), waive_reason = $4, not_before = null, ended_at = now(),
            revision = revision + 1, updated_at = now(), updated_by = $5
      where tenant_id = $1 and investigation_id = $2 and step_key = $3`,
    [tx.tenant_id, investigation_id, step_key, reason, tx.actor],
  )

// What dead workers left -----------------------------------------------------------------------------------------------

/** As the worker role. */
export const listGatheringTenants = (tx: Tx) =>
  tx.query<{ tenant_id: string }>(
    `select distinct tenant_id from app.investigation where state = 'open' and gathering = 'running'`,
  )

/** Steps that run for a job that no worker has. Their jobs are locked: nobody takes one over until the transaction ends. */
export const lockDeadJobs = (tx: Tx, count: number) =>
  tx.query<{ job_id: string }>(
    `select j.job_id from app.job j
      where j.tenant_id = $1 and not (j.state = 'running' and j.lease_until > now())
        and j.job_id in (select t.job_id from app.investigation_step t where t.tenant_id = $1 and t.state = 'running')
      limit $2 for no key update skip locked`,
    [tx.tenant_id, count],
  )

/** Back to where the next run of the job finds them; a call that was sent stays with its step. */
export const releaseSteps = (tx: Tx, job_ids: readonly string[]) =>
  tx.run(
    `update app.investigation_step t
        set state = 'pending', revision = t.revision + 1, updated_at = now(), updated_by = $3
      where t.tenant_id = $1 and t.state = 'running'
        and (t.job_id = any ($2::uuid[]) or not exists (select 1 from app.job j where j.tenant_id = t.tenant_id and j.job_id = t.job_id))
        and exists (select 1 from app.investigation i where i.tenant_id = t.tenant_id and i.investigation_id = t.investigation_id and i.state = 'open')`,
    [tx.tenant_id, job_ids, tx.actor],
  )

/** Cases whose last job ended without saying how far it came: it was cancelled, or failed for good. One that succeeded is no problem. */
export const endAbandonedGathering = (tx: Tx) =>
  tx.run(
    `update app.investigation i
        set gathering = case when exists (select 1 from app.investigation_step t where t.tenant_id = i.tenant_id
                                             and t.investigation_id = i.investigation_id and t.state not in ('succeeded', 'skipped', 'waived'))
                             then 'partial' else 'done' end,
            updated_at = now(), updated_by = $2,
            gathering_problem = (select jsonb_build_object('code', coalesce(j.problem ->> 'code', j.state), 'detail', j.problem ->> 'detail')
                                   from app.job j where j.tenant_id = i.tenant_id and j.job_id = i.gathering_job_id and j.state in ('failed', 'cancelled'))
      where i.tenant_id = $1 and i.state = 'open' and i.gathering = 'running'
        and not exists (select 1 from app.job j where j.tenant_id = i.tenant_id and j.state in ('queued', 'running')
                           and j.kind = 'investigation.gather' and j.resource = '/api/investigations/' || i.investigation_id)`,
    [tx.tenant_id, tx.actor],
  )

// Counts over all tenants, as the worker role ----------------------------------------------------------------------------

export interface GatheringCounts {
  readonly running: number
  readonly waiting: number
  readonly indeterminate: number
  readonly oldest_running_s: number
  readonly gathering: number
  readonly blocked: number
}

export interface OpenCaseCounts {
  readonly state: 'open' | 'proposed'
  readonly cases: number
  readonly oldest_s: number
}

/** As the worker, over all tenants. A state without a case has no row. */
export const countOpenCases = (tx: Tx) =>
  tx.query<OpenCaseCounts>(
    `select state, count(*) as cases, extract(epoch from now() - min(created_at))::float8 as oldest_s
       from app.investigation where state in ('open', 'proposed') group by state`,
  )

/** As the worker, over all tenants. Steps of cases that have ended wait for nobody. */
export const countGathering = async (tx: Tx): Promise<GatheringCounts> =>
  (await tx.find<GatheringCounts>(
    `select count(*) filter (where s.state = 'running') as running, count(*) filter (where s.state = 'waiting') as waiting,
            count(*) filter (where s.state = 'indeterminate') as indeterminate,
            coalesce(extract(epoch from now() - min(s.started_at) filter (where s.state = 'running')), 0)::float8 as oldest_running_s,
            (select count(*) from app.investigation where gathering = 'running' and state = 'open') as gathering,
            (select count(*) from app.investigation where gathering = 'blocked' and state = 'open') as blocked
       from app.investigation_step s
       join app.investigation i on i.tenant_id = s.tenant_id and i.investigation_id = s.investigation_id and i.state in ('open', 'proposed')
      where s.state in ('running', 'waiting', 'indeterminate')`,
  )) as GatheringCounts
