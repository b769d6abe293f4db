/** SQL of impact runs, and of the past decisions they use: the latest of each subject by each definition. */
import type { DefinitionFamily } from '#decision/model.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { createErasureClass } from '#kernel/erasure/queries.ts'
import type { JobState } from '#kernel/job/queries.ts'
import type { PagePosition } from '#kernel/page.ts'
import type { decisionDocuments, EvaluationRow } from '#modules/evaluations/index.ts'
import type { Candidate, Target } from './candidates.ts'

export interface NewRun {
  readonly run_id: string
  readonly job_id: string
  readonly candidate: Candidate
  readonly cr_id: string | null
  readonly receipt_id: string | null
  readonly manifest_hash: string
  readonly until_at: string
  readonly max_subjects: number
  readonly seed: number
}
export interface RunRow {
  readonly run_id: string
  readonly job_id: string
  readonly family: 'list' | 'matrix' | 'rule' | 'plugin'
  readonly key: string
  readonly version: number | null
  /** Owner of the version. */
  readonly origin: 'own' | 'shared'
  readonly content_hash: string
  readonly overlay_hash: string | null
  readonly cr_id: string | null
  readonly state: JobState
  readonly progress: { readonly done: number; readonly total: number | null; readonly unit: string | null }
  readonly problem: Record<string, unknown> | null
  readonly from_at: string
  readonly until_at: string
  readonly receipt_id: string | null
  readonly manifest_hash: string
  readonly created_at: string
  readonly created_by: string
  readonly finished_at: string | null
}
export type RunWithResult = RunRow & {
  readonly candidate: Candidate
  readonly max_subjects: number
  readonly seed: number
  readonly result: Record<string, unknown> | null
}

/** How far back decisions are read. */
const WINDOW_DAYS = 400

export const findNow = async (tx: Tx): Promise<string> =>
  ((await tx.find<{ now: string }>('select clock_timestamp() as now')) as { now: string }).now

export const insertRun = (tx: Tx, run: NewRun) =>
  tx.run(
    `insert into app.impact_run (tenant_id, run_id, job_id, family, list_key, version, candidate, content_hash, cr_id, receipt_id,
       manifest_hash, from_at, until_at, max_subjects, seed, created_by)
     values ($1, $2, $3, $4, $5, $6, $7::jsonb, $8, $9, $10, $11, $12::timestamptz - make_interval(days => $13), $12, $14, $15, $16)`,
    [
      tx.tenant_id,
      run.run_id,
      run.job_id,
      run.candidate.family,
      run.candidate.key,
      run.candidate.pin?.version ?? null,
      JSON.stringify(run.candidate),
      run.candidate.content_hash,
      run.cr_id,
      run.receipt_id,
      run.manifest_hash,
      run.until_at,
      WINDOW_DAYS,
      run.max_subjects,
      run.seed,
      tx.actor,
    ],
  )

/** The state is that of the job; after the job is removed, only the outcome remains. */
const columns = `r.run_id, r.job_id, r.family, r.list_key as key, r.version, r.content_hash,
  case when r.candidate -> 'pin' ->> 'dataset_tenant_id' = app.system_tenant()::text then 'shared' else 'own' end as origin,
  r.candidate -> 'overlay' ->> 'hash' as overlay_hash, r.cr_id, r.from_at, r.until_at, r.receipt_id, r.manifest_hash, r.created_at,
  r.created_by, coalesce(r.finished_at, j.finished_at) as finished_at, j.problem,
  coalesce(j.state, case when r.finished_at is null then 'failed' else 'succeeded' end) as state,
  jsonb_build_object('done', coalesce(j.progress_done, 0), 'total', j.progress_total, 'unit', j.progress_unit) as progress`
const source = 'app.impact_run r left join app.job j on j.tenant_id = r.tenant_id and j.job_id = r.job_id'

export const findRun = (tx: Tx, run_id: string) =>
  tx.find<RunWithResult>(
    `select ${columns}, r.candidate, r.max_subjects, r.seed, r.result from ${source} where r.tenant_id = $1 and r.run_id = $2`,
    [tx.tenant_id, run_id],
  )

/** Newest first. Contains only the conditions that are set. */
export const listRuns = (
  tx: Tx,
  filter: { readonly family?: string | undefined; readonly list_key?: string | undefined },
  after: PagePosition,
  count: number,
) => {
  const values: unknown[] = [tx.tenant_id]
  const where = ['r.tenant_id = $1']
  if (filter.family !== undefined) where.push(`r.family = $${values.push(filter.family)}`)
  if (filter.list_key !== undefined) where.push(`r.list_key = $${values.push(filter.list_key)}`)
  if (after) {
    where.push(`(r.created_at, r.run_id) < ($${values.push(after[0])}::timestamptz, $${values.push(after[1])}::uuid)`)
  }
  return tx.query<RunRow>(
    `select ${columns} from ${source} where ${where.join(' and ')}
      order by r.created_at desc, r.run_id desc limit $${values.push(count)}`,
    values,
  )
}

export const updateRunFinished = (tx: Tx, run_id: string, result: object) =>
  tx.run(
    'update app.impact_run set result = $3::jsonb, finished_at = now() where tenant_id = $1 and run_id = $2 and finished_at is null',
    [tx.tenant_id, run_id, JSON.stringify(result)],
  )

/** The newest finished run of a version that was started at the version itself, with the overlay in force then. */
export const findFinishedRunOfVersion = (
  tx: Tx,
  of: Target & { readonly version: number; readonly origin: RunRow['origin'] },
) =>
  tx.find<RunWithResult>(
    `select ${columns}, r.candidate, r.max_subjects, r.seed, r.result from ${source}
      where r.tenant_id = $1 and r.family = $2 and r.list_key = $3 and r.version = $4 and r.cr_id is null and r.finished_at is not null
        and (r.candidate -> 'pin' ->> 'dataset_tenant_id' = app.system_tenant()::text) = $5
      order by r.created_at desc, r.run_id desc limit 1`,
    [tx.tenant_id, of.family, of.key, of.version, of.origin === 'shared'],
  )

/** Raises the revision of the change request, because its representation includes the run. */
export const updateRequestImpact = (tx: Tx, cr_id: string, run_id: string) =>
  tx.find<{ impact_run_id: string; revision: number }>(
    `update app.change_request set impact_run_id = $3, revision = revision + 1 where tenant_id = $1 and cr_id = $2
     returning impact_run_id, revision`,
    [tx.tenant_id, cr_id, run_id],
  )

/** Selects decisions of these definitions between these instants. */
export interface DecisionWindow {
  readonly definitions: readonly { readonly family: DefinitionFamily; readonly key: string }[]
  readonly from_at: string
  readonly until_at: string
}
const toWindowValues = ({ definitions, from_at, until_at }: DecisionWindow): unknown[] => [
  definitions.map(({ family }) => family),
  definitions.map(({ key }) => key),
  from_at,
  until_at,
]

/** The latest decision about subject `s` by each definition `d`: a single decision or an item of a batch. */
const latest = `select * from (
    (select e.decided_at, e.evaluation_id, null::uuid as batch_id, null::bigint as seq from app.evaluation e
      where e.tenant_id = $1 and e.subject_id = s.subject_id and e.family = d.family and e.definition_key = d.key
        and e.decided_at >= $4 and e.decided_at <= $5
      order by e.decided_at desc, e.evaluation_id desc limit 1)
    union all
    (select b.known_at, null, i.batch_id, i.seq from app.batch_item i
       join app.batch_evaluation b on b.tenant_id = $1 and b.batch_id = i.batch_id
      where i.tenant_id = $1 and i.subject_id = s.subject_id and i.state = 'done' and b.family = d.family
        and b.definition_key = d.key and b.known_at >= $4 and b.known_at <= $5
      order by b.known_at desc, i.batch_id desc, i.seq desc limit 1)) any_of
  order by decided_at desc limit 1`
const wanted = 'unnest($2::text[], $3::text[]) as d (family, key)'
const decidedOn = `app.subject s where s.tenant_id = $1 and s.state = 'active'
  and exists (select 1 from ${wanted} cross join lateral (${latest}) l)`

export const countDecidedSubjects = async (tx: Tx, window: DecisionWindow): Promise<number> => {
  const row = await tx.find<{ subjects: number }>(`select count(*) as subjects from ${decidedOn}`, [
    tx.tenant_id,
    ...toWindowValues(window),
  ])
  return row?.subjects ?? 0
}

/** The sample consists of the subjects whose hash of the id is at most this value. As text, because it may be any bigint. */
export const findSampleThreshold = async (
  tx: Tx,
  window: DecisionWindow,
  seed: number,
  most: number,
): Promise<string> => {
  const row = await tx.find<{ threshold: string }>(
    `select hashtextextended(s.subject_id::text, $6)::text as threshold from ${decidedOn}
      order by hashtextextended(s.subject_id::text, $6) offset $7 limit 1`,
    [tx.tenant_id, ...toWindowValues(window), seed, most - 1],
  )
  return (row as { threshold: string }).threshold
}

interface SampleFilter {
  readonly seed: number
  /** Null: all subjects. */
  readonly threshold: string | null
}

/** A subject with one of its decisions; without any, the members of the decision are null. */
export interface PastDecisionRow {
  readonly subject_id: string
  readonly segment: string | null
  readonly attributes: Record<string, unknown>
  /** The band of the override in force at the end of the window. */
  readonly known_band: string | null
  readonly past_family: DefinitionFamily | null
  readonly past_key: string | null
  readonly batch_id: string | null
  readonly seq: number | null
  readonly batch_inputs: Record<string, unknown> | null
  /** The item, encrypted; null where its inputs are plain. */
  readonly batch_content: Buffer | null
  readonly evaluation: (EvaluationRow & decisionDocuments.StoredDocument) | null
}

/**
 * The next subjects in order of their ids, with or without decisions; the last id is the position to continue after. What each decided is
 * looked up one by one: a join may read all evaluations and items of the tenant for each portion.
 */
export const listPastDecisions = async (
  tx: Tx,
  window: DecisionWindow,
  { seed, threshold }: SampleFilter,
  { after, count }: { readonly after: string | null; readonly count: number },
): Promise<PastDecisionRow[]> => {
  const rows = await tx.query<Record<string, unknown>>(
    `with s as materialized (
       select s.subject_id, s.segment, s.attributes from app.subject s
        where s.tenant_id = $1 and s.state = 'active' and ($6::uuid is null or s.subject_id > $6)
          and ($7::bigint is null or hashtextextended(s.subject_id::text, $8) <= $7)
        order by s.subject_id limit $9)
     select s.subject_id as of_subject, s.segment, s.attributes, o.known_band, p.family as past_family, p.key as past_key, p.batch_id, p.seq,
            i.inputs as batch_inputs, i.content as batch_content, e.*
       from s
       left join lateral (select d.family, d.key, l.* from ${wanted} cross join lateral (${latest}) l) p on true
       left join lateral (
         select case when r.cause = 'override' and r.expires_at > $5 then r.band end as known_band from app.rating r
          where r.tenant_id = $1 and r.subject_id = s.subject_id and r.cause in ('override', 'override-ended')
            and r.recorded_at <= $5
          order by r.recorded_at desc, r.rating_id desc limit 1) o on true
       left join lateral (select e.* from app.evaluation e
          where e.tenant_id = $1 and e.evaluation_id = p.evaluation_id limit 1) e on true
       left join lateral (select i.inputs, i.content from app.batch_item i
          where i.tenant_id = $1 and i.batch_id = p.batch_id and i.seq = p.seq limit 1) i on true
      order by s.subject_id, p.family, p.key`,
    [tx.tenant_id, ...toWindowValues(window), after, threshold, seed, count],
  )
  return rows.map(
    ({
      of_subject,
      segment,
      attributes,
      known_band,
      past_family,
      past_key,
      batch_id,
      seq,
      batch_inputs,
      batch_content,
      ...evaluation
    }) =>
      ({
        subject_id: of_subject,
        segment,
        attributes,
        known_band,
        past_family,
        past_key,
        batch_id,
        seq,
        batch_inputs,
        batch_content,
        evaluation: evaluation['evaluation_id'] === null ? null : evaluation,
      }) as unknown as PastDecisionRow,
  )
}

export const findSubjectNames = async (
  tx: Tx,
  subject_ids: readonly string[],
): Promise<ReadonlyMap<string, { readonly name: string; readonly external_id: string }>> => {
  if (subject_ids.length === 0) return new Map()
  const rows = await tx.query<{ subject_id: string; name: string; external_id: string }>(
    'select subject_id, name, external_id from app.subject where tenant_id = $1 and subject_id = any($2::uuid[])',
    [tx.tenant_id, subject_ids],
  )
  return new Map(rows.map(({ subject_id, name, external_id }) => [subject_id, { name, external_id }]))
}

export type DocumentRow = decisionDocuments.StoredDocument &
  Pick<EvaluationRow, 'evaluation_id' | 'subject_id' | 'decided_at' | 'document_hash'>

/** Single decisions of one version, newest first. The receipt holds its owner: two owners may have the same version number. */
export const listDocuments = (
  tx: Tx,
  of: {
    readonly family: DefinitionFamily
    readonly key: string
    readonly version: number
    readonly dataset_id: string
    readonly from_at?: string | undefined
    readonly until_at?: string | undefined
  },
  after: PagePosition,
  count: number,
) =>
  tx.query<DocumentRow>(
    `select e.evaluation_id, e.subject_id, e.decided_at, e.document, e.document_encrypted, e.document_hash from app.evaluation e
       left join app.resolution_receipt r on r.tenant_id = e.tenant_id and r.receipt_id = e.receipt_id
      where e.tenant_id = $1 and e.definition_key = $2 and e.family = $3 and e.definition_version = $4
        and ($5::timestamptz is null or e.decided_at >= $5) and ($6::timestamptz is null or e.decided_at <= $6)
        and ($7::timestamptz is null or (e.decided_at, e.evaluation_id) < ($7, $8::uuid))
        and (r.manifest is null or strpos(r.manifest, '"dataset_id":"' || $10 || '"') > 0)
      order by e.decided_at desc, e.evaluation_id desc limit $9`,
    [
      tx.tenant_id,
      of.key,
      of.family,
      of.version,
      of.from_at ?? null,
      of.until_at ?? null,
      after?.[0] ?? null,
      after?.[1] ?? null,
      count,
      of.dataset_id,
    ],
  )

/** Messages may quote inputs; ids, bands and scores of examples stay. */
export const impactErasure = createErasureClass('impact-runs', 'Messages in results of impact runs', [
  {
    table: 'impact_run',
    id: 'r.run_id',
    owner: null,
    text: 'app.json_texts(r.result)',
    match: 'app.match_erasure(null, app.json_texts(r.result), null, null, m.sure, m.own, m.marks)',
    where: 'r.result is not null',
    set: 'result = app.erase_texts(r.result, null, m.own, m.marks)',
  },
])
