/** Starts the job that gathers what the steps of a case ask for. */
import type { Tx } from '#kernel/database/tx.ts'
import type { JobRow } from '#kernel/job/queries.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { type Problem, problems } from '#kernel/problem.ts'
import { type InvestigationRow, listSteps } from '../queries.ts'
import { updateGathering } from './queries.ts'
import { getBlockage, getGathering, isDeferred, listStartable } from './step-states.ts'

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
  before: Pick<InvestigationRow, 'investigation_id' | 'restriction_id' | 'gathering'>,
): Promise<JobRow | null> {
  const { investigation_id, restriction_id } = before
  const steps = await listSteps(tx, investigation_id)
  // Without a job nothing else begins a step that waits for its provider.
  const deferred = before.gathering === 'running' ? [] : steps.filter(isDeferred)
  const startable = [...listStartable(steps), ...deferred].map(({ step_key }) => step_key)
  if (startable.length > 0) {
    const started = { investigation_id, restriction_id, steps: steps.length, is_scheduled: true }
    return startGathering(kernel, tx, started, startable)
  }
  const gathering = getGathering(steps)
  if (gathering !== 'running') await updateGathering(tx, investigation_id, { gathering, problem: getBlockage(steps) })
  return null
}
