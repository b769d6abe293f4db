/** Starts the job that gathers what the steps of a case ask for. */
import type { Tx } from '#kernel/database/tx.ts'
import type { JobRow } from '#kernel/job/queries.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import type { Problem } from '#kernel/problem.ts'
import { updateGathering } from './queries.ts'

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
    problem: { code: problem.code, detail: problem.message, ...problem.extra.members },
  })
