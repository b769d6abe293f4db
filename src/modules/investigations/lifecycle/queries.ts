/** SQL of the acts on a case. */
import type { Tx } from '#kernel/database/tx.ts'
import type { InvestigationRow } from '../queries.ts'

export type CaseChange = Pick<
  InvestigationRow,
  | 'state'
  | 'title'
  | 'priority'
  | 'waiting_for'
  | 'waiting_until'
  | 'proposed_outcome'
  | 'proposed_by'
  | 'proposal_hash'
  | 'proposed_without'
  | 'outcome'
  | 'closed_by'
  | 'seal_no'
> & {
  readonly merged_into: string | null
}

/** Instants follow from what is set: they are kept where it stays the same. */
export const updateCase = (tx: Tx, investigation_id: string, row: CaseChange) =>
  tx.run(
    `update app.investigation set state = $3, title = $4, priority = $5,
            waiting_for = $6, waiting_since = case when $6::text is null then null else coalesce(waiting_since, now()) end, waiting_until = $7,
            proposed_outcome = $8, proposed_by = $9, proposal_hash = $10,
            proposed_at = case when $9::text is null then null else coalesce(proposed_at, now()) end,
            outcome = $11, closed_by = $12, closed_at = case when $12::text is null then null else coalesce(closed_at, now()) end, seal_no = $13,
            merged_into = $14, merged_by = case when $14::uuid is null then null else $15::text end,
            merged_at = case when $14::uuid is null then null else now() end,
            proposed_without = $16, revision = revision + 1, updated_at = now(), updated_by = $15
      where tenant_id = $1 and investigation_id = $2`,
    [
      tx.tenant_id,
      investigation_id,
      row.state,
      row.title,
      row.priority,
      row.waiting_for,
      row.waiting_until,
      row.proposed_outcome,
      row.proposed_by,
      row.proposal_hash,
      row.outcome,
      row.closed_by,
      row.seal_no,
      row.merged_into,
      tx.actor,
      row.proposed_without,
    ],
  )

/** For the canary: that of subjects erases one in the same transaction, and an erasure merges nothing. */
export const leaveErasure = (tx: Tx) => tx.run(`select set_config('app.erasing', '', true)`)

/** As the worker, over all tenants. */
export const listTenantsToResume = (tx: Tx) =>
  tx.query<{ tenant_id: string }>(`select distinct tenant_id from app.investigation where waiting_until <= now()`)

/** Cases that have waited as long as was agreed. */
export const resumeWaiting = (tx: Tx, count: number) =>
  tx.query<{ investigation_id: string; restriction_id: string }>(
    `update app.investigation i set waiting_for = null, waiting_since = null, waiting_until = null, revision = revision + 1, updated_at = now(),
            updated_by = $3
       from (select investigation_id from app.investigation where tenant_id = $1 and waiting_until <= now() order by waiting_until limit $2
                for update skip locked) due
      where i.tenant_id = $1 and i.investigation_id = due.investigation_id returning i.investigation_id, i.restriction_id`,
    [tx.tenant_id, count, tx.actor],
  )

/** In a replayed erasure of the subject, and in no other. */
export const endCasesBySubject = (tx: Tx, subject_id: string) =>
  tx.query<{ investigation_id: string }>(
    `update app.investigation
        set state = 'ended', gathering = case when gathering = 'running' then 'partial' else gathering end, waiting_for = null, waiting_since = null,
            waiting_until = null, proposed_outcome = null, proposed_by = null, proposed_at = null, proposal_hash = null, proposed_without = '{}',
            revision = revision + 1, updated_at = now(), updated_by = $3
      where tenant_id = $1 and subject_id = $2 and state in ('open', 'proposed') and exists (
        select 1 from app.erasure e where e.tenant_id = $1 and e.subject_id = $2 and e.state = 'executing' and e.origin = 'ledger')
     returning investigation_id`,
    [tx.tenant_id, subject_id, tx.actor],
  )

/** Keys of steps that failed, had an unknown outcome or could not be asked, at any time: as `app.was_tried` says. */
export const listTriedSteps = async (tx: Tx, investigation_id: string): Promise<ReadonlySet<string>> =>
  new Set(
    (
      await tx.query<{ step_key: string }>(
        `select step_key from app.investigation_step where tenant_id = $1 and investigation_id = $2 and app.was_tried(tenant_id, investigation_id, step_key)`,
        [tx.tenant_id, investigation_id],
      )
    ).map(({ step_key }) => step_key),
  )
