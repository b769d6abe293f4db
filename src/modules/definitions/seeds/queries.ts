/** SQL of the seed ledger. */
import type { Tx } from '#kernel/database/tx.ts'
import type { PagePosition } from '#kernel/page.ts'

export interface SeedLedgerRow {
  readonly subject: string
  readonly seed_hash: string
  readonly version: number | null
  readonly outcome: 'applied' | 'activated' | 'pending'
  readonly applied_at: string
}

const columns = 'subject, seed_hash, version, outcome, applied_at'

export const listSeedLedger = (tx: Tx, after: PagePosition, count: number) =>
  tx.query<SeedLedgerRow>(
    `select ${columns} from app.seed_ledger where tenant_id = app.system_tenant()
        and ($1::text is null or (subject, seed_hash) > ($1, $2)) order by subject, seed_hash limit $3`,
    [after?.[0] ?? null, after?.[1] ?? null, count],
  )

export const listSeedHashes = (tx: Tx) =>
  tx.query<{ subject: string; seed_hash: string }>(
    'select subject, seed_hash from app.seed_ledger where tenant_id = app.system_tenant()',
  )

export const insertSeedLedger = (tx: Tx, row: Omit<SeedLedgerRow, 'applied_at'>) =>
  tx.run(
    `insert into app.seed_ledger (tenant_id, subject, seed_hash, version, outcome) values (app.system_tenant(), $1, $2, $3, $4)`,
    [row.subject, row.seed_hash, row.version, row.outcome],
  )

export const insertOperatorEvent = (tx: Tx, event: { operation: string; subject: string; detail: string }) =>
  tx.run(
    `insert into app.operator_event (tenant_id, seq, recorded_at, actor, operation, subject, detail, prev_hash, hash)
     values (app.system_tenant(), 0, now(), $1, $2, $3, $4, '', '')`,
    [tx.actor, event.operation, event.subject, event.detail],
  )

export interface OperatorEventRow {
  readonly seq: number
  readonly recorded_at: string
  readonly actor: string
  readonly operation: string
  readonly subject: string
  readonly detail: string
  readonly prev_hash: string
  readonly hash: string
}

export const listOperatorEvents = (tx: Tx, after: PagePosition, count: number) =>
  tx.query<OperatorEventRow>(
    `select seq, recorded_at, actor, operation, subject, detail, prev_hash, hash from app.operator_event
      where tenant_id = app.system_tenant() and ($1::bigint is null or seq < $1) order by seq desc limit $2`,
    [after?.[0] ?? null, count],
  )
