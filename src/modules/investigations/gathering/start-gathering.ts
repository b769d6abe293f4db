/** Starts the job that gathers what the steps of a case ask for. */
import type { Tx } from '#kernel/database/tx.ts'
import type { JobRow } from '#kernel/job/queries.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { type Problem, problems } from '#kernel/problem.ts'
import { listSteps } from '../queries.ts'
import { updateGathering } from './queries.ts'
import { getBlockage, getGathering, listStartable } from './step-states.ts'

export const GATHER = 'investigation.gather'

export interface GatheredCase {
  readonly investigation_id: string
  readonly restriction_id: string
  /** How many steps the job reports progress of. */
  readonly steps: number
  /** Not started by a request: it does not count against the tenant's limit of jobs. */
  readonly is_scheduled?: boolean
}

/** One job for each case; `only`: these steps, for example one that is tried again. */
export async function startGathering(
  kernel: Capabilities<'jobs'>,
  tx: Tx,
  { investigation_id, restriction_id, steps, is_scheduled = false }: GatheredCase,
  only?: readonly string[],
): Promise<JobRow> {
  const job = await kernel.jobs.enqueue(tx, {
    kind: GATHER,
    payload: { investigation_id, ...(only && { only }) },
    resource: `/api/investigations/${investigation_id}`,
    total: only?.length ?? steps,
    unit: 'steps',
    restriction_id,
    ...(is_scheduled && { unlimited: true }),
  })
  await updateGathering(tx, investigation_id, { gathering: 'running', job_id: job.job_id })
  return job
}

/** A case that was opened at night keeps why nothing could be asked. */
export const updateBlocked = (tx: Tx, investigation_id: string, problem: Problem): Promise<number> =>
  updateGathering(tx, investigation_id, {
    gathering: 'blocked',
    problem: {
      code: problem.code,
      detail: problem.extra.detail ?? problems[problem.code].title,
      ...problem.extra.members,
    },
  })

/** After a person ended a step: a job begins what needed it, or the case shows how far gathering is. */
export async function continueGathering(
  kernel: Capabilities<'jobs'>,
  tx: Tx,
  { investigation_id, restriction_id }: Pick<GatheredCase, 'investigation_id' | 'restriction_id'>,
): Promise<JobRow | null> {
  const steps = await listSteps(tx, investigation_id)
  const startable = listStartable(steps).map(({ step_key }) => step_key)
  if (startable.length > 0) {
    const started = { investigation_id, restriction_id, steps: steps.length, is_scheduled: true }
    return startGathering(kernel, tx, started, startable)
  }
  const gathering = getGathering(steps)
  if (gathering !== 'running') await updateGathering(tx, investigation_id, { gathering, problem: getBlockage(steps) })
  return null
}
