/** Who asked for a decision: the record names the job that made it, readers need the person who ordered that job, batch or schedule. */
import { toName } from '#kernel/auth/actor-names.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { isUuid } from '#kernel/uuid.ts'
import { type BatchOrderRow, listBatchOrders, listJobOrders } from './queries.ts'

type Names = Readonly<Record<string, string>>

export interface Requesters {
  /** Who ordered a job, by the actor that it writes as. Jobs are removed after a while: then it is not known. */
  readonly jobs: Readonly<Record<string, string>>
  readonly batches: Readonly<Record<string, BatchOrderRow>>
}

const JOB = 'job:'

export async function findRequesters(
  tx: Tx,
  { actors, batch_ids }: { readonly actors: readonly string[]; readonly batch_ids: readonly (string | null)[] },
): Promise<Requesters> {
  const batches = await listBatchOrders(tx, [...new Set(batch_ids.filter((id) => id !== null))])
  const jobs = [...actors, ...batches.map(({ created_by }) => created_by)]
    .filter((actor) => actor.startsWith(JOB))
    .map((actor) => actor.slice(JOB.length))
    .filter(isUuid)
  const orders = await listJobOrders(tx, [...new Set(jobs)])
  return {
    jobs: Object.fromEntries(orders.map(({ job_id, created_by }) => [`${JOB}${job_id}`, created_by])),
    batches: Object.fromEntries(batches.map((one) => [one.batch_id, one])),
  }
}

/** Whose names are needed. */
export const listRequesters = ({ jobs, batches }: Requesters): (string | null)[] => [
  ...Object.values(jobs),
  ...Object.values(batches).flatMap(({ created_by, schedule_set_by }) => [created_by, schedule_set_by]),
]

export const nameRequester = ({ jobs }: Requesters, names: Names, actor: string): string =>
  toName(names, jobs[actor] ?? actor)

/** A batch of a schedule is ordered by whoever set the schedule, unless somebody ran it by hand. */
export function describeBatchOrder(requesters: Requesters, names: Names, batch_id: string): string {
  const order = requesters.batches[batch_id]
  if (!order) return 'in a batch'
  const { created_by, schedule_name, schedule_set_by } = order
  if (schedule_name !== null && created_by.startsWith(JOB))
    return `in a batch of the schedule “${schedule_name}”, set by ${toName(names, schedule_set_by)}`
  return `in a batch ordered by ${nameRequester(requesters, names, created_by)}`
}
