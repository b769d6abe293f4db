/** SQL of the outbox of events. */
import type { Tx } from '../database/tx.ts'

export interface NewEvent {
  readonly event_id: string
  readonly type: string
  readonly object_kind: string
  readonly object_id: string
  readonly restriction_id: string | null
  readonly also_restriction_id?: string | null
  readonly data: object
}

/** Not deferred to the commit: a dry run in a savepoint must take it back. */
export const insertEvent = (tx: Tx, event: NewEvent) =>
  tx.run(
    `insert into app.event (tenant_id, event_id, event_type, object_kind, object_id, restriction_id, also_restriction_id, data)
     select $1, $2, $3, $4, $5, $6::uuid, $7::uuid, $8::jsonb
      where ($6::uuid is null or not app.is_in_force($6::uuid)) and ($7::uuid is null or not app.is_in_force($7::uuid))`,
    [
      tx.tenant_id,
      event.event_id,
      event.type,
      event.object_kind,
      event.object_id,
      event.restriction_id,
      event.also_restriction_id ?? null,
      JSON.stringify(event.data),
    ],
  )

/** How many events one statement numbers. */
export const NUMBERED_AT_ONCE = 10_000

const MAX_STEP = 1000

/**
 * Numbers grow by random steps: when an event is hidden later, no gap tells it from those that were always there.
 * Gives the next numbers to events of transactions below the horizon, which have all ended, and to restored ones with numbers that this
 * cluster has not reached. Only one transaction does this at a time: the caller holds the lock of the tenant's audit chain.
 */
export const numberEvents = async (tx: Tx, horizon: number): Promise<number> =>
  (
    await tx.find<{ numbered: number }>(
      `with head as (
         select coalesce((select seq from app.event_head where tenant_id = $1), 0) as seq
       ), next as (
         select event_id, sum(step) over (order by txid, event_id)::bigint as place from (
           select txid, event_id, 1 + floor(random() * ${MAX_STEP}) as step from app.event
            where tenant_id = $1 and seq is null and (txid < $2 or txid >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint)
            order by txid, event_id limit ${NUMBERED_AT_ONCE}) unnumbered
       ), numbered as (
         update app.event e set seq = head.seq + next.place from next, head
          where e.tenant_id = $1 and e.event_id = next.event_id returning e.seq
       ), kept as (
         insert into app.event_head (tenant_id, seq) select $1, max(seq) from numbered having count(*) > 0
         on conflict on constraint event_head_pkey do update set seq = excluded.seq
       )
       select count(*) as numbered from numbered`,
      [tx.tenant_id, horizon],
    )
  )?.numbered ?? 0

export interface EventRow {
  readonly seq: number
  readonly event_id: string
  readonly event_type: string
  readonly object_kind: string
  readonly object_id: string
  readonly occurred_at: string
  readonly data: Record<string, unknown>
}

/** The highest number that was given; also to events that the caller may not see, so it is never shown. */
export const findLastNumber = async (tx: Tx): Promise<number> =>
  (await tx.find<{ seq: number }>('select seq from app.event_head where tenant_id = $1', [tx.tenant_id]))?.seq ?? 0

/** In the order of their numbers. */
export const listEvents = (
  tx: Tx,
  { after, types, count }: { after: number; types: readonly string[] | null; count: number },
) =>
  tx.query<EventRow>(
    `select seq, event_id, event_type, object_kind, object_id, occurred_at, data from app.event
      where tenant_id = $1 and seq > $2 and ($3::text[] is null or event_type = any ($3)) order by seq limit $4`,
    [tx.tenant_id, after, types, count],
  )
