/** SQL of the audit record: events in the change's transaction, chaining by a worker, reading for verification. */
import type { Tx } from '../database/tx.ts'
import type { AuditEvent, ChainEnd, Checkpoint } from './chain.ts'

/** Sent in the same flight as COMMIT: the record costs no round trip of its own. */
export const deferEvent = (tx: Tx, event: AuditEvent, mac: string): void =>
  tx.defer(
    `insert into app.audit_event (tenant_id, event_id, recorded_at, actor, operation, object_type, object_id, request_id, detail, mac)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      event.tenant_id,
      event.event_id,
      event.recorded_at,
      event.actor,
      event.operation,
      event.object_type,
      event.object_id,
      event.request_id,
      event.detail,
      mac,
    ],
  )

// As the worker role ------------------------------------------------------------------------------------------------

/** Transactions below this number have ended, one way or the other. */
export const findHorizon = async (tx: Tx): Promise<number> =>
  (await tx.find<{ horizon: number }>('select pg_snapshot_xmin(pg_current_snapshot())::text::bigint as horizon'))
    ?.horizon ?? 0

/** The same, with the number that the next transaction will get. */
export const findSnapshot = async (tx: Tx): Promise<{ horizon: number; next_txid: number }> =>
  (await tx.find<{ horizon: number; next_txid: number }>(
    `select pg_snapshot_xmin(s)::text::bigint as horizon, pg_snapshot_xmax(s)::text::bigint as next_txid
       from pg_current_snapshot() s`,
  )) ?? { horizon: 0, next_txid: 0 }

/**
 * Tenant by tenant, along the index that sealing reads: some three microseconds for each, twice a second. An index of all
 * tenants' transactions would save them, and cost as much for every event, at the one page where all of them end. The order
 * keeps the planner from looking for the newest events at the beginning of the table.
 */
const eventsSince = (limit: string): string => `app.tenant t cross join lateral (
       select from app.audit_event e where e.tenant_id = t.tenant_id and e.txid >= $1 order by e.txid ${limit}) event`

export const countEventsSince = async (tx: Tx, since_txid: number): Promise<number> =>
  (await tx.find<{ events: number }>(`select count(*) as events from ${eventsSince('')}`, [since_txid]))?.events ?? 0

/** Tenants with events since a horizon. */
export const listTenantsWithEvents = (tx: Tx, since_txid: number) =>
  tx.query<{ tenant_id: string }>(`select t.tenant_id from ${eventsSince('limit 1')}`, [since_txid])

/** Every tenant that has any event, by skipping through the index. */
export const listAllTenantsWithEvents = (tx: Tx) =>
  tx.query<{ tenant_id: string }>(
    `with recursive t as (
       (select tenant_id from app.audit_event order by tenant_id limit 1)
       union all
       select (select e.tenant_id from app.audit_event e where e.tenant_id > t.tenant_id order by e.tenant_id limit 1)
         from t where t.tenant_id is not null)
     select tenant_id from t where tenant_id is not null`,
  )

// As app, inside the tenant -----------------------------------------------------------------------------------------

export const tryLockSealing = async (tx: Tx): Promise<boolean> =>
  (
    await tx.find<{ locked: boolean }>(
      "select pg_try_advisory_xact_lock(hashtextextended('audit:' || $1, 0)) as locked",
      [tx.tenant_id],
    )
  )?.locked ?? false

export interface HeadRow extends ChainEnd {
  readonly last_txid: number
  readonly last_event_id: string
  readonly mac: string
  readonly sealed_at: string
}

export const findHead = (tx: Tx) =>
  tx.find<HeadRow>(
    'select seq, hash, last_txid, last_event_id, mac, sealed_at from app.audit_head where tenant_id = $1',
    [tx.tenant_id],
  )

export type EventRow = AuditEvent & { readonly txid: number; readonly mac: string }

const eventColumns =
  'tenant_id, event_id, recorded_at, actor, operation, object_type, object_id, request_id, detail, mac, txid'

export const listUnsealed = (
  tx: Tx,
  after: Pick<HeadRow, 'last_txid' | 'last_event_id'>,
  horizon: number,
  count: number,
) =>
  tx.query<EventRow>(
    `select ${eventColumns} from app.audit_event
      where tenant_id = $1 and (txid, event_id) > ($2, $3::uuid) and txid < $4 order by txid, event_id limit $5`,
    [tx.tenant_id, after.last_txid, after.last_event_id, horizon, count],
  )

export const insertLinks = (tx: Tx, links: readonly LinkRow[]) =>
  tx.run(
    `insert into app.audit_link (tenant_id, seq, event_id, prev_hash, hash)
     select $1, seq, event_id, prev_hash, hash from unnest($2::bigint[], $3::uuid[], $4::text[], $5::text[]) as l (seq, event_id, prev_hash, hash)`,
    [
      tx.tenant_id,
      links.map(({ seq }) => seq),
      links.map(({ event_id }) => event_id),
      links.map(({ prev_hash }) => prev_hash),
      links.map(({ hash }) => hash),
    ],
  )

export const upsertHead = (tx: Tx, head: Omit<HeadRow, 'sealed_at'>) =>
  tx.run(
    `insert into app.audit_head (tenant_id, seq, hash, last_txid, last_event_id, mac) values ($1, $2, $3, $4, $5, $6)
     on conflict on constraint audit_head_pkey do update set seq = excluded.seq, hash = excluded.hash,
       last_txid = excluded.last_txid, last_event_id = excluded.last_event_id, mac = excluded.mac, sealed_at = now()`,
    [tx.tenant_id, head.seq, head.hash, head.last_txid, head.last_event_id, head.mac],
  )

/** The newest checkpoint is younger than this: no other is due. */
export const findNewestCheckpoint = (tx: Tx) =>
  tx.find<Checkpoint>(
    `select tenant_id, seq, hash, created_at, key_id, signature from app.audit_checkpoint where tenant_id = $1 order by seq desc limit 1`,
    [tx.tenant_id],
  )

export const insertCheckpoint = (tx: Tx, checkpoint: Checkpoint) =>
  tx.run(
    `insert into app.audit_checkpoint (tenant_id, seq, hash, created_at, key_id, signature) values ($1, $2, $3, $4, $5, $6)
     on conflict on constraint audit_checkpoint_pkey do nothing`,
    [tx.tenant_id, checkpoint.seq, checkpoint.hash, checkpoint.created_at, checkpoint.key_id, checkpoint.signature],
  )

export const listCheckpoints = (tx: Tx, after_seq: number, count: number) =>
  tx.query<Checkpoint>(
    `select tenant_id, seq, hash, created_at, key_id, signature from app.audit_checkpoint
      where tenant_id = $1 and seq > $2 order by seq limit $3`,
    [tx.tenant_id, after_seq, count],
  )

export interface LinkRow {
  readonly seq: number
  readonly event_id: string
  readonly prev_hash: string
  readonly hash: string
}
export type ChainRow = LinkRow & { readonly event: (AuditEvent & { readonly mac: string }) | null }

/**
 * Links in order, each with its event if it is still there. What link and event share, and what every row would repeat, comes
 * once: each column of a million rows is a second of parsing.
 */
export const listChain = async (tx: Tx, after_seq: number, count: number): Promise<ChainRow[]> => {
  const { tenant_id } = tx
  const rows = await tx.query<LinkRow & Omit<AuditEvent, 'tenant_id'> & { mac: string | null }>(
    `select l.seq, l.event_id, l.prev_hash, l.hash, e.recorded_at, e.actor, e.operation, e.object_type, e.object_id,
            e.request_id, e.detail, e.mac
       from app.audit_link l left join app.audit_event e on e.tenant_id = l.tenant_id and e.event_id = l.event_id
      where l.tenant_id = $1 and l.seq > $2 order by l.seq limit $3`,
    [tenant_id, after_seq, count],
  )
  // Written out: spreading each of a million rows costs more than its hashes.
  return rows.map((row) => ({
    seq: row.seq,
    event_id: row.event_id,
    prev_hash: row.prev_hash,
    hash: row.hash,
    event: row.mac === null ? null : eventOf(tenant_id, row, row.mac),
  }))
}

const eventOf = (tenant_id: string, row: Omit<AuditEvent, 'tenant_id'>, mac: string) => ({
  tenant_id,
  event_id: row.event_id,
  recorded_at: row.recorded_at,
  actor: row.actor,
  operation: row.operation,
  object_type: row.object_type,
  object_id: row.object_id,
  request_id: row.request_id,
  detail: row.detail,
  mac,
})

/** Events that no link names, oldest first: the unsealed tail, or something planted. */
export const listUnlinked = (tx: Tx, count: number) =>
  tx.query<EventRow>(
    `select ${eventColumns} from app.audit_event e
      where tenant_id = $1 and not exists (select 1 from app.audit_link l where l.tenant_id = $1 and l.event_id = e.event_id)
      order by txid, event_id limit $2`,
    [tx.tenant_id, count],
  )
