/** SQL of searching audit events, of the configuration in force at an instant, and of exports and verifications. */
import { eitherInForce } from '#kernel/database/restriction-column.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { JobState } from '#kernel/job/queries.ts'
import type { PagePosition } from '#kernel/page.ts'
import { getFirstIdAfter, getFirstIdFrom } from './event-ids.ts'

export interface AuditEventRow {
  readonly event_id: string
  readonly recorded_at: string
  readonly actor: string
  readonly operation: string
  readonly object_type: string
  readonly object_id: string
  readonly request_id: string | null
  readonly detail: Record<string, unknown>
  readonly restriction_id: string | null
  readonly seal: { seq: number; prev_hash: string; hash: string } | null
}

const columns = `e.event_id, e.recorded_at, e.actor, e.operation, e.object_type, e.object_id, e.request_id, e.detail::json as detail,
  ${eitherInForce('e')},
  (select json_build_object('seq', l.seq, 'prev_hash', l.prev_hash, 'hash', l.hash) from app.audit_link l
    where l.tenant_id = e.tenant_id and l.event_id = e.event_id) as seal`

export interface AuditFilter {
  readonly actor: string | null
  readonly operation: string | null
  readonly object_type: string | null
  readonly object_id: string | null
  readonly from_at: string | null
  readonly until_at: string | null
}

/**
 * Contains only the conditions that are set, because an optional condition could keep the planner from an index. Actor and
 * object have indexes in order of time; everything else is read along the primary key, which has the same order.
 */
function buildSearch(tx: Tx, filter: AuditFilter, after: PagePosition) {
  const values: unknown[] = [tx.tenant_id]
  const where = ['e.tenant_id = $1']
  const place = (value: unknown): string => `$${values.push(value)}`
  for (const name of ['actor', 'operation', 'object_type', 'object_id'] as const) {
    if (filter[name] !== null) where.push(`e.${name} = ${place(filter[name])}`)
  }
  const { from_at, until_at } = filter
  if (from_at !== null)
    where.push(`e.recorded_at >= ${place(from_at)}`, `e.event_id >= ${place(getFirstIdFrom(from_at))}`)
  if (until_at !== null)
    where.push(`e.recorded_at < ${place(until_at)}`, `e.event_id < ${place(getFirstIdAfter(until_at))}`)
  const isIndexed = filter.actor !== null || (filter.object_type !== null && filter.object_id !== null)
  if (after && isIndexed)
    where.push(`(e.recorded_at, e.event_id) < (${place(after[0])}::timestamptz, ${place(after[1])}::uuid)`)
  if (after && !isIndexed) where.push(`e.event_id < ${place(after[1])}`)
  const order = isIndexed ? 'e.recorded_at desc, e.event_id desc' : 'e.event_id desc'
  return { values, place, where: where.join(' and '), order }
}

/** Newest first. */
export const listEvents = (tx: Tx, filter: AuditFilter, after: PagePosition, count: number) => {
  const { values, place, where, order } = buildSearch(tx, filter, after)
  return tx.query<AuditEventRow>(
    `select ${columns} from app.audit_event e where ${where} order by ${order} limit ${place(count)}`,
    values,
  )
}

/** People by name, then keys: not the actors of all events, because each job is an actor of its own. */
export const listActors = (tx: Tx, count: number) =>
  tx.query<{ actor: string; name: string | null }>(
    `(select 'user:' || user_id as actor, name from app.user_account where tenant_id = $1 order by name, user_id limit $2)
     union all
     (select 'key:' || key_id, null from app.api_key where tenant_id = $1 order by created_at desc, key_id limit $2)
     limit $2`,
    [tx.tenant_id, count],
  )

/** Reads one index entry per type, however many events there are. */
export const listObjectTypes = (tx: Tx, count: number) =>
  tx.query<{ value: string }>(
    `with recursive found as (
       (select object_type as value from app.audit_event where tenant_id = $1 order by object_type limit 1)
       union all
       select (select e.object_type from app.audit_event e where e.tenant_id = $1 and e.object_type > f.value
                order by e.object_type limit 1)
         from found f where f.value is not null)
     select value from found where value is not null limit $2`,
    [tx.tenant_id, count],
  )

export const findEvent = (tx: Tx, event_id: string) =>
  tx.find<AuditEventRow>(`select ${columns} from app.audit_event e where e.tenant_id = $1 and e.event_id = $2`, [
    tx.tenant_id,
    event_id,
  ])

/** The links that hold the events of a time range: proofs need a range without gaps. */
export const findRange = (tx: Tx, from_at: string | null, until_at: string | null) => {
  const anything = { actor: null, operation: null, object_type: null, object_id: null }
  const { values, where } = buildSearch(tx, { ...anything, from_at, until_at }, null)
  return tx.find<{ first: number | null; last: number | null }>(
    `select min(l.seq) as first, max(l.seq) as last
       from app.audit_event e join app.audit_link l on l.tenant_id = e.tenant_id and l.event_id = e.event_id where ${where}`,
    values,
  )
}

/** A row of app.definition_family. */
export type Family = string

/** For one key: the version in force at an instant as known then, and as known now. */
export interface AsOfRow {
  readonly family: Family
  readonly key: string
  readonly via: 'tenant-own' | 'tenant-pin' | 'shared' | null
  readonly version: number | null
  readonly version_known_now: number | null
  readonly overlay_version: number | null
  readonly overlay_known_now: number | null
  readonly title: string
  readonly label: string | null
  readonly content_hash: string | null
  readonly overlay_hash: string | null
  readonly activation: ActivationRecordRow | null
  readonly overlay_activation: ActivationRecordRow | null
}

/** Who activated it when, who requested it and who approved it. */
export interface ActivationRecordRow {
  readonly activation_id: string
  readonly kind: string
  readonly effective_from: string
  readonly recorded_at: string
  readonly retroactive: boolean
  readonly reason: string
  readonly actor: string
  readonly cr_id: string | null
  readonly proposed_by: string | null
  readonly approvals: { readonly approved_by: string; readonly approved_at: string }[]
}

const instant = (column: string): string => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`

/** An activation as JSON. Only the tenant's own activations have approvals; the operator has no approval queue. */
const selectActivationRecord = (activation_id: string): string => `(
  select json_build_object('activation_id', a.activation_id, 'kind', a.kind, 'effective_from', ${instant('a.effective_from')},
           'recorded_at', ${instant('a.recorded_at')}, 'retroactive', a.retroactive, 'reason', a.reason, 'actor', a.actor,
           'cr_id', a.cr_id, 'proposed_by', c.created_by,
           'approvals', coalesce((select json_agg(json_build_object('approved_by', p.approved_by,
                                           'approved_at', ${instant('p.approved_at')}) order by p.approved_at, p.approved_by)
                          from app.change_approval p where p.tenant_id = $1 and p.cr_id = a.cr_id), '[]'))
    from app.activation a
    left join app.change_request c on c.tenant_id = $1 and c.cr_id = a.cr_id
   where a.tenant_id in ($1, app.system_tenant()) and a.activation_id = ${activation_id})`

/** By family and key. Leaves out what was in force then neither as known then nor as known now. */
export const listAsOf = (
  tx: Tx,
  clocks: { valid_at: string; known_at: string; family: Family | null },
  after: PagePosition,
  count: number,
) =>
  tx.query<AsOfRow>(
    `select k.family, k.list_key as key, r.via, r.version, n.version as version_known_now, r.overlay_version,
            n.overlay_version as overlay_known_now, d.title, v.label, v.content_hash, o.content_hash as overlay_hash,
            ${selectActivationRecord('r.activation_id')} as activation, ${selectActivationRecord('r.overlay_activation_id')} as overlay_activation
       from (select distinct family, list_key from app.dataset
              where tenant_id in ($1, app.system_tenant()) and role = 'base' and ($4::text is null or family = $4)
                and ($5::text is null or (family, list_key) > ($5, $6))) k
      cross join lateral app.resolve_lists(k.family, array[k.list_key], $2::timestamptz, $3::timestamptz) r
      cross join lateral app.resolve_lists(k.family, array[k.list_key], $2::timestamptz, null) n
       join lateral (select title from app.dataset t where t.tenant_id in ($1, app.system_tenant()) and t.family = k.family
                        and t.list_key = k.list_key and t.role = 'base'
                      order by (t.dataset_id = coalesce(r.dataset_id, n.dataset_id)) desc limit 1) d on true
       left join app.dataset_version v on v.tenant_id = r.dataset_tenant_id and v.dataset_id = r.dataset_id and v.version = r.version
       left join app.dataset_version o on o.tenant_id = $1 and o.dataset_id = r.overlay_dataset_id and o.version = r.overlay_version
      where r.version is not null or n.version is not null
      order by k.family, k.list_key limit $7`,
    [tx.tenant_id, clocks.valid_at, clocks.known_at, clocks.family, after?.[0] ?? null, after?.[1] ?? null, count],
  )

/** The last link that was chained at an instant. */
export const findChainEndAt = (tx: Tx, at: string) =>
  tx.find<{ seq: number; hash: string; event_id: string; recorded_at: string }>(
    `select l.seq, l.hash, e.event_id, e.recorded_at
       from app.audit_event e join app.audit_link l on l.tenant_id = e.tenant_id and l.event_id = e.event_id
      where e.tenant_id = $1 and e.recorded_at <= $2 and e.event_id < $3 order by e.event_id desc limit 1`,
    [tx.tenant_id, at, getFirstIdAfter(at)],
  )

export interface RunRow {
  readonly run_id: string
  readonly job_id: string
  readonly state: JobState
  readonly parameters: Record<string, string | null>
  readonly report: Record<string, unknown> | null
  readonly upload_id: string | null
  readonly created_at: string
  readonly created_by: string
}

export const insertRun = (
  tx: Tx,
  run: { run_id: string; kind: 'export' | 'verification'; job_id: string; parameters: unknown },
) =>
  tx.run(
    `insert into app.audit_run (tenant_id, run_id, kind, job_id, parameters, created_by) values ($1, $2, $3, $4, $5::jsonb, $6)`,
    [tx.tenant_id, run.run_id, run.kind, run.job_id, JSON.stringify(run.parameters), tx.actor],
  )

/** No row where the file contains events that the caller may not see. */
export const findRun = (tx: Tx, run_id: string, kind: 'export' | 'verification') =>
  tx.find<RunRow>(
    `select r.run_id, r.job_id, coalesce(j.state, 'succeeded') as state, r.parameters, r.report, r.upload_id, r.created_at, r.created_by
       from app.audit_run r left join app.job j on j.tenant_id = r.tenant_id and j.job_id = r.job_id
      where r.tenant_id = $1 and r.run_id = $2 and r.kind = $3
        and not exists (select 1 from unnest(r.restriction_ids) as c (id) where not exists (
          select 1 from app.restriction v where v.tenant_id = r.tenant_id and v.restriction_id = c.id))`,
    [tx.tenant_id, run_id, kind],
  )

export interface VerificationRow {
  readonly verification_id: string
  readonly job_id: string
  readonly state: JobState
  readonly created_at: string
  readonly created_by: string
  readonly intact: boolean | null
  readonly events: number | null
  readonly faults_total: number | null
}

/** Newest first: run ids are in order of time. */
export const listVerifications = (tx: Tx, after: PagePosition, count: number) =>
  tx.query<VerificationRow>(
    `select r.run_id as verification_id, r.job_id, coalesce(j.state, 'succeeded') as state, r.created_at, r.created_by,
            (r.report->>'intact')::boolean as intact, (r.report->>'events')::bigint as events,
            (r.report->>'faults_total')::bigint as faults_total
       from app.audit_run r left join app.job j on j.tenant_id = r.tenant_id and j.job_id = r.job_id
      where r.tenant_id = $1 and r.kind = 'verification' and ($2::uuid is null or r.run_id < $2)
      order by r.run_id desc limit $3`,
    [tx.tenant_id, after?.[0] ?? null, count],
  )

/** `restriction_ids`: the restrictions whose events the file contains. */
export const updateRunReport = (
  tx: Tx,
  run_id: string,
  end: { report: unknown; upload_id: string | null; restriction_ids: ReadonlySet<string> },
) =>
  tx.run(
    `update app.audit_run set report = $3::jsonb, upload_id = $4, restriction_ids = $5::uuid[] where tenant_id = $1 and run_id = $2`,
    [tx.tenant_id, run_id, JSON.stringify(end.report), end.upload_id, [...end.restriction_ids]],
  )

export const countLinks = async (tx: Tx): Promise<number> =>
  (
    await tx.find<{ seq: number | null }>('select max(seq) as seq from app.audit_link where tenant_id = $1', [
      tx.tenant_id,
    ])
  )?.seq ?? 0

/** For the isolation canary only: this chain does not verify. */
export const insertCanaryRecord = async (tx: Tx, event_id: string, run_id: string): Promise<void> => {
  await tx.run(
    `insert into app.audit_event (tenant_id, event_id, recorded_at, actor, operation, object_type, object_id, request_id, detail, mac)
     values ($1, $2, now(), 'seed:canary', 'canary', 'canary', 'canary', 'canary', '{"note":"canary"}', 'canary')`,
    [tx.tenant_id, event_id],
  )
  await tx.run(
    `insert into app.audit_link (tenant_id, seq, event_id, prev_hash, hash) values ($1, 1, $2, 'canary', 'canary')`,
    [tx.tenant_id, event_id],
  )
  await tx.run(
    `insert into app.audit_head (tenant_id, seq, hash, last_txid, last_event_id, mac) values ($1, 1, 'canary', 9007199254740991, $2, 'canary')`,
    [tx.tenant_id, event_id],
  )
  await tx.run(
    `insert into app.audit_checkpoint (tenant_id, seq, hash, created_at, key_id, signature) values ($1, 1, 'canary', now(), 'canary', 'canary')`,
    [tx.tenant_id],
  )
  await tx.run(
    `insert into app.audit_run (tenant_id, run_id, kind, job_id, parameters, report, created_by)
     values ($1, $2, 'verification', $2, '{"note":"canary"}', '{"note":"canary"}', 'seed:canary')`,
    [tx.tenant_id, run_id],
  )
}
