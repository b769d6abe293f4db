/** SQL of the audit record: events in the change's transaction, chaining by a worker, reading for verification. */
import type { Tx } from '../database/tx.ts'
import type { AuditEvent, ChainEnd, Checkpoint } from './chain.ts'

/** Sent in the same batch as COMMIT: the event costs no round trip of its own. */
export function deferEvent(
  tx: Tx,
  event: AuditEvent,
  {
    mac,
    restriction_id,
    also_restriction_id = null,
  }: { readonly mac: string; readonly restriction_id: string | null; readonly also_restriction_id?: string | null },
): void {
  const restriction_ids = [restriction_id, also_restriction_id].filter(
    (id, at, all) => id !== null && all.indexOf(id) === at,
  )
  // The object was visible when the change was made. An access that ends before the commit must not undo the record of it.
  if (restriction_ids.length > 0)
    tx.defer(`select set_config('app.sight', 'restriction:' || array_to_string($1::uuid[], ','), true)`, [
      restriction_ids,
    ])
  tx.defer(
    `insert into app.audit_event (tenant_id, event_id, recorded_at, actor, operation, object_type, object_id, request_id, detail, mac,
       restriction_id, also_restriction_id)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
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
      restriction_id,
      also_restriction_id,
    ],
  )
  if (restriction_ids.length > 0)
    tx.defer(
      'insert into app.restriction_event (tenant_id, restriction_id, event_id) select $1, unnest($2::uuid[]), $3',
      [event.tenant_id, restriction_ids, event.event_id],
    )
}

/** Tables whose rows belong to a restriction, with the column of their id. */
const restrictedTables = {
  alert: 'alert_id',
  audit_event: 'event_id',
  change_request: 'cr_id',
  document: 'document_id',
  evidence_item: 'evidence_id',
  hold: 'hold_id',
  investigation: 'investigation_id',
  mcp_approval: 'approval_id',
  mcp_call: 'call_id',
  provider_call: 'call_id',
  report: 'report_id',
  report_schedule: 'schedule_id',
  restriction: 'restriction_id',
  source_payload: 'payload_id',
} as const
export type RestrictedTable = keyof typeof restrictedTables

/** Tables whose rows may belong to a second one. */
const twiceRestricted: readonly RestrictedTable[] = ['audit_event', 'evidence_item']

const isInForce = (column: string): string => `(${column} is not null and app.is_in_force(${column}))`

export const findObjectRestriction = (tx: Tx, table: RestrictedTable, id: string) =>
  tx.find<{ restriction_id: string | null; also_restriction_id: string | null; is_in_force: boolean }>(
    `select restriction_id, also_restriction_id, ${isInForce('restriction_id')} or ${isInForce('also_restriction_id')} as is_in_force
       from (select r.restriction_id, ${twiceRestricted.includes(table) ? 'r.also_restriction_id' : 'null::uuid'} as also_restriction_id
               from app.${table} r where r.tenant_id = $1 and r.${restrictedTables[table]} = $2) o`,
    [tx.tenant_id, id],
  )

// As the worker role ------------------------------------------------------------------------------------------------

/** One scan at a time over all processes; the lock ends with the transaction, so a pooler in transaction mode is supported. */
export const tryLockScan = async (tx: Tx): Promise<boolean> =>
  (await tx.find<{ locked: boolean }>("select pg_try_advisory_xact_lock(hashtextextended('audit scan', 0)) as locked"))
    ?.locked ?? false

/** The position of the isolation canary, whose events are never chained. */
export const NEVER_CHAINED = Number.MAX_SAFE_INTEGER

/**
 * Each tenant with the position of its chain. `state` says how to find events that are not chained yet: without a chain, all
 * events; with a position counted in this cluster, those after it; `moved`, those without a link. Numbers that this cluster has
 * not reached belong to events of another cluster, which are chained. The chain of a tenant that is being deleted ends.
 */
const positions = `with cluster as materialized (
       select pg_snapshot_xmax(s)::text::bigint as next_txid, app.cluster_id() as cluster_id from pg_current_snapshot() s
     ), positions as materialized (
       select t.tenant_id, c.next_txid, h.seq, h.last_txid, h.last_event_id, h.sealed_at,
              case when h.tenant_id is null then 'empty' when h.last_txid = ${NEVER_CHAINED} then 'never'
                   when coalesce(h.cluster_id = c.cluster_id, c.cluster_id is null) and h.last_txid < c.next_txid then 'current'
                   else 'moved' end as state
         from cluster c cross join app.tenant t left join app.audit_head h on h.tenant_id = t.tenant_id
        where t.state <> 'deleting')`

const isBehind = (position: string): string =>
  `e.tenant_id = ${position}.tenant_id and (e.txid, e.event_id) > (${position}.last_txid, ${position}.last_event_id) and e.txid < ${position}.next_txid`

/**
 * Tenants with something to chain. One index probe each, about three microseconds; an index over all tenants would save them and
 * cost as much for every event. The order keeps the planner from searching from the oldest event on.
 */
export const listTenantsToChain = (tx: Tx) =>
  tx.query<{ tenant_id: string }>(
    `${positions} select p.tenant_id from positions p where case p.state
       when 'never' then false when 'moved' then true
       when 'empty' then (select true from app.audit_event e where e.tenant_id = p.tenant_id order by e.txid limit 1)
       else (select true from app.audit_event e where ${isBehind('p')} order by e.txid, e.event_id limit 1) end`,
  )

export interface UnchainedEvents {
  readonly events: number
  /** A version 7 UUID, hence with the time of the event. */
  readonly oldest_event_id: string | null
  /** When a chain that was moved here was last extended; null when none with unchained events was. */
  readonly moved_since: string | null
}

/** Counts events that are recorded and not chained. A link has exactly one event, which gives the count for a moved chain. */
export const findUnchainedEvents = async (tx: Tx): Promise<UnchainedEvents> =>
  (await tx.find<UnchainedEvents>(
    `${positions} select coalesce(sum(u.events), 0)::bigint as events, min(u.oldest) as oldest_event_id, min(u.since) as moved_since from (
       select b.events, b.oldest, null::timestamptz as since from positions p cross join lateral (
         select count(*) as events, min(e.event_id::text) as oldest from app.audit_event e where ${isBehind('p')}) b
        where p.state = 'current'
       union all
       select a.events, a.oldest, null from positions p cross join lateral (
         select count(*) as events, min(e.event_id::text) as oldest from app.audit_event e where e.tenant_id = p.tenant_id) a
        where p.state = 'empty'
       union all
       select m.events - p.seq, null, p.sealed_at from positions p cross join lateral (
         select count(*) as events from app.audit_event e where e.tenant_id = p.tenant_id) m
        where p.state = 'moved' and m.events > p.seq) u`,
  )) ?? { events: 0, oldest_event_id: null, moved_since: null }

/** How many chains have a position of another cluster, and how many of those one that this cluster has not reached. */
export const countMovedChains = async (tx: Tx): Promise<{ moved: number; ahead: number }> =>
  (await tx.find<{ moved: number; ahead: number }>(
    `${positions} select count(*) as moved, count(*) filter (where last_txid >= next_txid) as ahead from positions where state = 'moved'`,
  )) ?? { moved: 0, ahead: 0 }

// As app, inside the tenant -----------------------------------------------------------------------------------------

export const tryLockChain = async (tx: Tx): Promise<boolean> =>
  (
    await tx.find<{ locked: boolean }>(
      "select pg_try_advisory_xact_lock(hashtextextended('audit:' || $1, 0)) as locked",
      [tx.tenant_id],
    )
  )?.locked ?? false

export interface ChainPosition {
  readonly last_txid: number
  readonly last_event_id: string
}

export interface HeadRow extends ChainEnd, ChainPosition {
  readonly mac: string
  readonly sealed_at: string
  /** Whether the position was counted in this cluster: only then does it say which events are chained. */
  readonly in_this_cluster: boolean
}

export const findHead = (tx: Tx) =>
  tx.find<HeadRow>(
    `select h.seq, h.hash, h.last_txid, h.last_event_id, h.mac, h.sealed_at,
            coalesce(h.cluster_id = c.id, c.id is null) and h.last_txid < pg_snapshot_xmax(pg_current_snapshot())::text::bigint
              as in_this_cluster
       from app.audit_head h cross join (select app.cluster_id() as id) c where h.tenant_id = $1`,
    [tx.tenant_id],
  )

/** Transactions of this cluster below this number have ended, committed or not. */
export const findHorizon = async (tx: Tx): Promise<number> =>
  (await tx.find<{ horizon: number }>('select pg_snapshot_xmin(pg_current_snapshot())::text::bigint as horizon'))
    ?.horizon ?? 0

export type EventRow = AuditEvent & {
  readonly txid: number
  readonly mac: string
  readonly restriction_id: string | null
}

const eventColumns =
  'tenant_id, event_id, recorded_at, actor, operation, object_type, object_id, request_id, detail, mac, txid, restriction_id'

/**
 * Events after a position, chained or not: some may have numbers of another cluster. A scalar subquery stays one index probe per
 * event, whatever the planner estimates.
 */
export const listEventsAfter = (tx: Tx, after: ChainPosition, horizon: number, count: number) =>
  tx.query<EventRow & { readonly is_chained: boolean }>(
    `select ${eventColumns}, (select l.seq from app.audit_link l where l.tenant_id = $1 and l.event_id = e.event_id) is not null as is_chained
       from app.audit_event e
      where tenant_id = $1 and (txid, event_id) > ($2, $3::uuid) and txid < $4 order by txid, event_id limit $5`,
    [tx.tenant_id, after.last_txid, after.last_event_id, horizon, count],
  )

/**
 * Events without a link, in the order of their ids: those of ended transactions of this cluster, and those with numbers that
 * this cluster has not reached. Events in between may still be overtaken and are found by their number later. Links are probed
 * one by one: right after a restore there are no statistics, and a join may be planned as if the tables were empty.
 */
export const listUnchainedById = (tx: Tx, after_event_id: string, horizon: number, count: number) =>
  tx.query<EventRow>(
    `select ${eventColumns} from app.audit_event e
      where tenant_id = $1 and event_id > $2::uuid
        and (txid < $3 or txid >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint)
        and (select l.seq from app.audit_link l where l.tenant_id = $1 and l.event_id = e.event_id) is null
      order by event_id limit $4`,
    [tx.tenant_id, after_event_id, horizon, count],
  )

export const insertLinks = (tx: Tx, links: readonly LinkRow[]) =>
  tx.run(
    `insert into app.audit_link (tenant_id, seq, event_id, prev_hash, hash, event_hash)
     select $1, seq, event_id, prev_hash, hash, event_hash
       from unnest($2::bigint[], $3::uuid[], $4::text[], $5::text[], $6::text[]) as l (seq, event_id, prev_hash, hash, event_hash)`,
    [
      tx.tenant_id,
      links.map(({ seq }) => seq),
      links.map(({ event_id }) => event_id),
      links.map(({ prev_hash }) => prev_hash),
      links.map(({ hash }) => hash),
      links.map(({ event_hash }) => event_hash),
    ],
  )

/** Without a position the stored position and its cluster are kept. */
export const upsertHead = (tx: Tx, head: ChainEnd & { readonly mac: string }, position: ChainPosition | null) =>
  tx.run(
    `insert into app.audit_head as h (tenant_id, seq, hash, mac, last_txid, last_event_id, cluster_id)
     values ($1, $2, $3, $4, coalesce($5::bigint, 0), coalesce($6::uuid, app.system_tenant()), case when $5::bigint is not null then app.cluster_id() end)
     on conflict on constraint audit_head_pkey do update set seq = excluded.seq, hash = excluded.hash, mac = excluded.mac, sealed_at = now(),
       last_txid = coalesce($5::bigint, h.last_txid), last_event_id = coalesce($6::uuid, h.last_event_id),
       cluster_id = coalesce(excluded.cluster_id, h.cluster_id)`,
    [tx.tenant_id, head.seq, head.hash, head.mac, position?.last_txid ?? null, position?.last_event_id ?? null],
  )

/** Whether the newest checkpoint is recent enough that no other is due. */
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
  /** Only for events that belong to a restriction: proves the link to people who may not see the event. */
  readonly event_hash: string | null
}
export type ChainRow = LinkRow & {
  readonly event: (AuditEvent & { readonly mac: string }) | null
  /** Of the event; empty also where the event may not be seen. */
  readonly restriction_ids: readonly string[]
}

/**
 * Links in order, each with its event if it still exists. Columns that link and event share are selected once: each column of a
 * million rows costs a second of parsing.
 */
export const listChain = async (tx: Tx, after_seq: number, count: number): Promise<ChainRow[]> => {
  const { tenant_id } = tx
  const rows = await tx.query<
    LinkRow & Omit<AuditEvent, 'tenant_id'> & { mac: string | null; restriction_ids: string | null }
  >(
    `select l.seq, l.event_id, l.prev_hash, l.hash, l.event_hash, e.recorded_at, e.actor, e.operation, e.object_type, e.object_id,
            e.request_id, e.detail, e.mac,
            case when e.restriction_id is not null then concat_ws(',', e.restriction_id, e.also_restriction_id) end as restriction_ids
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
    event_hash: row.event_hash,
    restriction_ids: row.restriction_ids === null ? [] : row.restriction_ids.split(','),
    event: row.mac === null ? null : toAuditEvent(tenant_id, row, row.mac),
  }))
}

const toAuditEvent = (tenant_id: string, row: Omit<AuditEvent, 'tenant_id'>, mac: string) => ({
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

/** Events that no link names, oldest first: the part that is not chained yet, or inserted rows. */
export const listUnlinkedEvents = (tx: Tx, count: number) =>
  tx.query<EventRow>(
    `select ${eventColumns} from app.audit_event e
      where tenant_id = $1 and not exists (select 1 from app.audit_link l where l.tenant_id = $1 and l.event_id = e.event_id)
      order by txid, event_id limit $2`,
    [tx.tenant_id, count],
  )
