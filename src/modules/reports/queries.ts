/** SQL of reports: their rows, sources, files and encrypted content. */
import type { Tx } from '#kernel/database/tx.ts'
import { createErasureClass } from '#kernel/erasure/queries.ts'
import type { PagePosition } from '#kernel/page.ts'
import type { ReportFormatName, ReportPart, ReportState } from './model.ts'
import type { Manifest } from './snapshot.ts'

export interface ReportFile {
  readonly format: ReportFormatName
  readonly sha256: string
  readonly size_bytes: number
}

export interface ReportRow {
  readonly report_id: string
  readonly template_key: string
  readonly template_version: number
  readonly subject_id: string | null
  readonly parameters: Record<string, unknown>
  readonly formats: ReportFormatName[]
  readonly locale: string
  readonly time_zone: string
  readonly schedule_id: string | null
  readonly job_id: string
  readonly state: ReportState
  readonly failure: string | null
  readonly snapshot_sha256: string | null
  readonly files: ReportFile[]
  readonly ready_at: string | null
  readonly verified_at: string | null
  readonly is_identical: boolean | null
  readonly ended_at: string | null
  readonly ended_by: string | null
  readonly end_reason: string | null
  /** While it is in force: of the report, or of something that it was made from. */
  readonly restriction_id: string | null
  readonly revision: number
  readonly created_at: string
  readonly created_by: string
  readonly updated_at: string
  readonly updated_by: string
}

const sourceInForce = `(select s.restriction_id from app.report_source s
  where s.tenant_id = r.tenant_id and s.report_id = r.report_id and app.is_in_force(s.restriction_id) order by s.restriction_id limit 1)`
const files = `coalesce((select json_agg(json_build_object('format', f.format, 'sha256', f.sha256, 'size_bytes', f.size_bytes) order by f.format)
   from app.report_format f where f.tenant_id = r.tenant_id and f.report_id = r.report_id), '[]'::json)`
/** Its job was cancelled or has failed for good: nobody makes it any more. */
const isAbandoned = `(r.state in ('collecting', 'rendering') and (select true from app.job j
  where j.tenant_id = r.tenant_id and j.job_id = r.job_id and j.state in ('queued', 'running') limit 1) is null)`
const columns = `r.report_id, r.template_key, r.template_version, r.subject_id, r.parameters, r.formats, r.locale, r.time_zone, r.schedule_id,
  r.job_id, case when ${isAbandoned} then 'failed' else r.state end as state,
  case when ${isAbandoned} then 'The job that made it has ended.' else r.failure end as failure, r.snapshot_sha256, ${files} as files, r.ready_at, r.verified_at, r.is_identical, r.ended_at, r.ended_by,
  r.end_reason, case when r.restriction_id is not null and app.is_in_force(r.restriction_id) then r.restriction_id else ${sourceInForce} end as restriction_id,
  r.revision, r.created_at, r.created_by, r.updated_at, r.updated_by`

/**
 * The policy of report_source hides what the reader may not see: fewer rows than the report has mean that it was made from something hidden. The
 * first comparison spares most reports the count.
 */
export const isComplete = `(r.source_count = 0 or r.source_count = (select count(*) from app.report_source s
  where s.tenant_id = r.tenant_id and s.report_id = r.report_id))`

export interface ReportFilter {
  readonly template?: string | undefined
  readonly template_key?: string | undefined
  readonly subject_id?: string | undefined
  readonly schedule_id?: string | undefined
  readonly state?: string | undefined
}

/** Newest first, as far as one of the roles may read them. */
export const listReports = (
  tx: Tx,
  { roles, ...filter }: ReportFilter & { readonly roles: readonly string[] },
  after: PagePosition,
  count: number,
) => {
  const values: unknown[] = [tx.tenant_id, roles, after?.[0] ?? null, after?.[1] ?? null, count]
  let where = ''
  for (const name of ['template', 'template_key', 'subject_id', 'schedule_id', 'state'] as const) {
    const column = name === 'template' ? 'template_key' : name
    if (filter[name] !== undefined) where += ` and r.${column} = $${values.push(filter[name])}`
  }
  return tx.query<ReportRow>(
    `select ${columns} from app.report r
      where r.tenant_id = $1 and r.readers && $2::text[] and ${isComplete}
        and ($3::timestamptz is null or (r.created_at, r.report_id) < ($3, $4::uuid))${where}
      order by r.created_at desc, r.report_id desc limit $5`,
    values,
  )
}

/** Undefined where the roles may not read it, or what it was made from is hidden. */
export const findReport = (tx: Tx, roles: readonly string[], report_id: string) =>
  tx.find<ReportRow>(
    `select ${columns} from app.report r where r.tenant_id = $1 and r.report_id = $3 and r.readers && $2::text[] and ${isComplete}`,
    [tx.tenant_id, roles, report_id],
  )

export const lockReport = (tx: Tx, roles: readonly string[], report_id: string) =>
  tx.find<ReportRow>(
    `select ${columns} from app.report r
      where r.tenant_id = $1 and r.report_id = $3 and r.readers && $2::text[] and ${isComplete} for update of r`,
    [tx.tenant_id, roles, report_id],
  )

/** Ids that begin with what was typed. */
export const listReportsInRange = (
  tx: Tx,
  roles: readonly string[],
  range: { from: string; to: string },
  count: number,
) =>
  tx.query<ReportRow>(
    `select ${columns} from app.report r
      where r.tenant_id = $1 and r.report_id between $3 and $4 and r.readers && $2::text[] and ${isComplete} order by r.report_id limit $5`,
    [tx.tenant_id, roles, range.from, range.to, count],
  )

/** For jobs, which no role limits. */
export interface StoredReport extends ReportRow {
  readonly own_restriction_id: string | null
  readonly is_restricted: boolean
  readonly readers: string[]
  /** Restrictions of what it was made from. */
  readonly sources: string[]
  readonly manifest: Manifest | null
}

export const findStoredReport = (tx: Tx, report_id: string) =>
  tx.find<StoredReport>(
    `select ${columns}, r.restriction_id as own_restriction_id, r.manifest, r.readers,
            array(select s.restriction_id::text from app.report_source s
                   where s.tenant_id = r.tenant_id and s.report_id = r.report_id) as sources,
            r.restriction_id is not null and app.is_in_force(r.restriction_id) as is_restricted
       from app.report r where r.tenant_id = $1 and r.report_id = $2 and ${isComplete}`,
    [tx.tenant_id, report_id],
  )

/** In force or not; that of a source only while it is in force. */
export const findReportRestriction = (tx: Tx, report_id: string) =>
  tx.find<{ restriction_id: string | null; is_in_force: boolean }>(
    `select coalesce(case when app.is_in_force(r.restriction_id) then r.restriction_id end, ${sourceInForce}, r.restriction_id) as restriction_id,
            coalesce(app.is_in_force(r.restriction_id), false) or ${sourceInForce} is not null as is_in_force
       from app.report r where r.tenant_id = $1 and r.report_id = $2`,
    [tx.tenant_id, report_id],
  )

export const findManifest = async (tx: Tx, report_id: string): Promise<Manifest | null> =>
  (
    await tx.find<{ manifest: Manifest | null }>(
      'select manifest from app.report where tenant_id = $1 and report_id = $2',
      [tx.tenant_id, report_id],
    )
  )?.manifest ?? null

export interface NewReport {
  readonly report_id: string
  readonly restriction_id: string | null
  readonly subject_id: string | null
  readonly template_key: string
  readonly template_version: number
  readonly parameters: Record<string, unknown>
  readonly formats: readonly ReportFormatName[]
  readonly readers: readonly string[]
  readonly locale: string
  readonly time_zone: string
  readonly schedule_id: string | null
  readonly job_id: string
}

/** In the state `collecting`. */
export const insertReport = (tx: Tx, report: NewReport) =>
  tx.run(
    `insert into app.report (tenant_id, report_id, restriction_id, subject_id, template_key, template_version, parameters, formats, readers,
       locale, time_zone, schedule_id, job_id, state, created_by, updated_by)
     values ($1, $2, $3, $4, $5, $6, $7::jsonb, $8, $9, $10, $11, $12, $13, 'collecting', $14, $14)`,
    [
      tx.tenant_id,
      report.report_id,
      report.restriction_id,
      report.subject_id,
      report.template_key,
      report.template_version,
      JSON.stringify(report.parameters),
      report.formats,
      report.readers,
      report.locale,
      report.time_zone,
      report.schedule_id,
      report.job_id,
      tx.actor,
    ],
  )

export const insertSources = (tx: Tx, report_id: string, restrictions: readonly string[]) =>
  tx.run(
    'insert into app.report_source (tenant_id, report_id, restriction_id) select $1, $2, * from unnest($3::uuid[])',
    [tx.tenant_id, report_id, restrictions],
  )

export const insertPart = (tx: Tx, report_id: string, part: ReportPart, content: Buffer) =>
  tx.run('insert into app.report_part (tenant_id, report_id, part, content) values ($1, $2, $3, $4)', [
    tx.tenant_id,
    report_id,
    part,
    content,
  ])

export const insertFile = (tx: Tx, report_id: string, { format, sha256, size_bytes }: ReportFile) =>
  tx.run(
    'insert into app.report_format (tenant_id, report_id, format, sha256, size_bytes) values ($1, $2, $3, $4, $5)',
    [tx.tenant_id, report_id, format, sha256, size_bytes],
  )

export const findPart = async (tx: Tx, report_id: string, part: ReportPart): Promise<Buffer | undefined> =>
  (
    await tx.find<{ content: Buffer }>(
      'select content from app.report_part where tenant_id = $1 and report_id = $2 and part = $3',
      [tx.tenant_id, report_id, part],
    )
  )?.content

export const removeParts = (tx: Tx, report_ids: readonly string[]) =>
  tx.run('delete from app.report_part where tenant_id = $1 and report_id = any ($2::uuid[])', [
    tx.tenant_id,
    report_ids,
  ])

const touch = 'revision = revision + 1, updated_at = now(), updated_by = $3'

export const updateCollected = (
  tx: Tx,
  report_id: string,
  { manifest, source_count }: { readonly manifest: Manifest; readonly source_count: number },
) =>
  tx.run(
    `update app.report set state = 'rendering', manifest = $4::jsonb, snapshot_sha256 = $5, source_count = $6, failure = null, ${touch}
      where tenant_id = $1 and report_id = $2 and state = 'collecting'`,
    [tx.tenant_id, report_id, tx.actor, JSON.stringify(manifest), manifest.snapshot_sha256, source_count],
  )

/** Begins again after a failure. */
export const updateRestarted = (tx: Tx, report_id: string) =>
  tx.run(
    `update app.report set state = case when manifest is null then 'collecting' else 'rendering' end, failure = null, ${touch}
      where tenant_id = $1 and report_id = $2 and state = 'failed'`,
    [tx.tenant_id, report_id, tx.actor],
  )

/** `failure` says why one of the files could not be made. */
export const updateReady = (tx: Tx, report_id: string, failure: string | null) =>
  tx.run(
    `update app.report set state = 'ready', ready_at = now(), failure = $4, ${touch}
      where tenant_id = $1 and report_id = $2 and state = 'rendering'`,
    [tx.tenant_id, report_id, tx.actor, failure],
  )

export const updateFailed = (tx: Tx, report_id: string, failure: string) =>
  tx.run(
    `update app.report set state = 'failed', failure = $4, ${touch}
      where tenant_id = $1 and report_id = $2 and state in ('collecting', 'rendering')`,
    [tx.tenant_id, report_id, tx.actor, failure],
  )

/** A report that ended meanwhile is left as it is. */
export const updateVerified = (tx: Tx, report_id: string, is_identical: boolean) =>
  tx.run(
    `update app.report set verified_at = now(), is_identical = $4, ${touch}
      where tenant_id = $1 and report_id = $2 and state not in ('deleted', 'erased')`,
    [tx.tenant_id, report_id, tx.actor, is_identical],
  )

export const updateEnded = (
  tx: Tx,
  report_ids: readonly string[],
  end: { readonly state: 'deleted' | 'erased'; readonly reason: string },
) =>
  tx.run(
    `update app.report set state = $4, ended_at = now(), ended_by = $3, end_reason = $5, failure = null, ${touch}
      where tenant_id = $1 and report_id = any ($2::uuid[]) and state not in ('deleted', 'erased')`,
    [tx.tenant_id, report_ids, tx.actor, end.state, end.reason],
  )

interface ReportOfSubject {
  readonly report_id: string
  readonly restriction_id: string | null
  readonly other_restriction_ids: readonly string[]
}

const sources = `array(select s.restriction_id from app.report_source s where s.tenant_id = r.tenant_id and s.report_id = r.report_id)`

/** Reports about a subject that are not gone. */
export const lockReportsBySubject = (tx: Tx, subject_id: string) =>
  tx.query<ReportOfSubject>(
    `select r.report_id, r.restriction_id, ${sources}::text[] as other_restriction_ids from app.report r
      where r.tenant_id = $1 and r.subject_id = $2 and r.state not in ('deleted', 'erased') order by r.report_id for update`,
    [tx.tenant_id, subject_id],
  )

/** Why a report was deleted before its subject is erased may name the person. */
export const reportRows = createErasureClass('reports', 'Reports about the subject', [
  {
    table: 'report',
    id: 'r.report_id',
    owner: 'r.subject_id',
    text: `concat_ws(E'\\n', r.end_reason, r.parameters::text)`,
    match: `case when r.subject_id = m.subject_id then 'id' end`,
    where: `r.state <> 'erased' and r.end_reason is distinct from 'erased' and ${isComplete}`,
    set: `end_reason = 'erased'`,
    held_by: ['r.report_id'],
    restriction: 'r.restriction_id',
    other_restrictions: sources,
  },
])

/** Name and time zone of the tenant. */
export const findIssuer = (tx: Tx) =>
  tx.find<{ name: string; time_zone: string; now: string }>(
    'select name, time_zone, now() as now from app.tenant where tenant_id = $1',
    [tx.tenant_id],
  )
