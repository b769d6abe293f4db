/** SQL of gathering: what the job does with the steps of a case. */
import type { Tx } from '#kernel/database/tx.ts'
import type { GatheringState } from '../model.ts'
import { type StepRow, stepColumns } from '../queries.ts'

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
