/** SQL of the running processes: rows of the system tenant, each renewed by its process. Times are those of the database. */
import type { Tx } from '../database/tx.ts'

/** A process without a heartbeat for so long is not counted. */
export const EXPIRES_AFTER_S = 15
/** How long its row is kept, for operators who want to know what ran. */
const KEPT_FOR_S = 3600

export interface ProcessKind {
  readonly serves_requests: boolean
  readonly runs_jobs: boolean
}

export const upsertProcess = (tx: Tx, process_id: string, { serves_requests, runs_jobs }: ProcessKind) =>
  tx.run(
    `insert into app.process (tenant_id, process_id, serves_requests, runs_jobs) values ($1, $2, $3, $4)
     on conflict on constraint process_pkey do update set serves_requests = $3, runs_jobs = $4, seen_at = now()`,
    [tx.tenant_id, process_id, serves_requests, runs_jobs],
  )

export type LiveProcess = ProcessKind & { readonly process_id: string }

/** In an order that is the same for every process. */
export const listLiveProcesses = (tx: Tx) =>
  tx.query<LiveProcess>(
    `select process_id, serves_requests, runs_jobs from app.process
      where tenant_id = $1 and seen_at > now() - make_interval(secs => $2) order by process_id`,
    [tx.tenant_id, EXPIRES_AFTER_S],
  )

export const removeProcess = (tx: Tx, process_id: string) =>
  tx.run('delete from app.process where tenant_id = $1 and process_id = $2', [tx.tenant_id, process_id])

export const removeOldProcesses = (tx: Tx) =>
  tx.run('delete from app.process where tenant_id = $1 and seen_at < now() - make_interval(secs => $2)', [
    tx.tenant_id,
    KEPT_FOR_S,
  ])
