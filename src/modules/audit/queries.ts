/** SQL of searching the audit record and of its exports and verifications. */
import type { Tx } from '../../kernel/database/tx.ts'
import type { JobState } from '../../kernel/job/queries.ts'
import type { Position } from '../../kernel/page.ts'

export interface AuditEventRow {
  readonly event_id: string
  readonly recorded_at: string
  readonly actor: string
  readonly operation: string
  readonly object_type: string
  readonly object_id: string
  readonly request_id: string | null
  readonly detail: Record<string, unknown>
  readonly seal: { seq: number; prev_hash: string; hash: string } | null
}

const columns = `e.event_id, e.recorded_at, e.actor, e.operation, e.object_type, e.object_id, e.request_id, e.detail::json as detail,
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

/** Newest first. */
export const listEvents = (tx: Tx, filter: AuditFilter, after: Position, count: number) =>
  tx.query<AuditEventRow>(
    `select ${columns} from app.audit_event e
      where e.tenant_id = $1 and ($2::text is null or e.actor = $2) and ($3::text is null or e.operation = $3)
        and ($4::text is null or e.object_type = $4) and ($5::text is null or e.object_id = $5)
        and ($6::timestamptz is null or e.recorded_at >= $6) and ($7::timestamptz is null or e.recorded_at < $7)
        and ($8::timestamptz is null or (e.recorded_at, e.event_id) < ($8, $9::uuid))
      order by e.recorded_at desc, e.event_id desc limit $10`,
    [
      tx.tenant_id,
      filter.actor,
      filter.operation,
      filter.object_type,
      filter.object_id,
      filter.from_at,
      filter.until_at,
      after?.[0] ?? null,
      after?.[1] ?? null,
      count,
    ],
  )

export const findEvent = (tx: Tx, event_id: string) =>
  tx.find<AuditEventRow>(`select ${columns} from app.audit_event e where e.tenant_id = $1 and e.event_id = $2`, [
    tx.tenant_id,
    event_id,
  ])

/** Which links hold the events of a time range: the proofs need an unbroken run of them. */
export const findRange = (tx: Tx, from_at: string | null, until_at: string | null) =>
  tx.find<{ first: number | null; last: number | null }>(
    `select min(l.seq) as first, max(l.seq) as last
       from app.audit_event e join app.audit_link l on l.tenant_id = e.tenant_id and l.event_id = e.event_id
      where e.tenant_id = $1 and ($2::timestamptz is null or e.recorded_at >= $2) and ($3::timestamptz is null or e.recorded_at < $3)`,
    [tx.tenant_id, from_at, until_at],
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

export const findRun = (tx: Tx, run_id: string, kind: 'export' | 'verification') =>
  tx.find<RunRow>(
    `select r.run_id, r.job_id, coalesce(j.state, 'succeeded') as state, r.parameters, r.report, r.upload_id, r.created_at, r.created_by
       from app.audit_run r left join app.job j on j.tenant_id = r.tenant_id and j.job_id = r.job_id
      where r.tenant_id = $1 and r.run_id = $2 and r.kind = $3`,
    [tx.tenant_id, run_id, kind],
  )

export const updateRunReport = (tx: Tx, run_id: string, report: unknown, upload_id: string | null) =>
  tx.run('update app.audit_run set report = $3::jsonb, upload_id = $4 where tenant_id = $1 and run_id = $2', [
    tx.tenant_id,
    run_id,
    JSON.stringify(report),
    upload_id,
  ])

export const countLinks = async (tx: Tx): Promise<number> =>
  (
    await tx.find<{ seq: number | null }>('select max(seq) as seq from app.audit_link where tenant_id = $1', [
      tx.tenant_id,
    ])
  )?.seq ?? 0

/** For the isolation canary: its chain is not meant to verify. */
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
