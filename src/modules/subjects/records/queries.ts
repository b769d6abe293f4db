/** SQL of subjects, their search words and their earlier versions. */
import { shownActor } from '#kernel/database/actor-column.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { PagePosition } from '#kernel/page.ts'
import { type SubjectContent, toSearchWords } from './subject-content.ts'

export interface SubjectRow {
  readonly subject_id: string
  readonly subject_type: 'person' | 'company' | 'other'
  readonly external_id: string | null
  readonly name: string
  readonly segment: string | null
  readonly attributes: Record<string, unknown>
  readonly state: 'active' | 'offboarded'
  readonly offboarded_at: string | null
  readonly offboard_reason: string | null
  readonly erased_at: string | null
  readonly revision: number
  readonly created_at: string
  readonly created_by: string
  readonly updated_at: string
  readonly updated_by: string
}
export type RatedSubjectRow = SubjectRow & {
  readonly band: string | null
  readonly rating_source: 'override' | 'rating' | 'none'
}

const columns = `s.subject_id, s.subject_type, s.external_id, s.name, s.segment, s.attributes, s.state, s.offboarded_at,
  s.offboard_reason, s.erased_at, s.revision, s.created_at, s.created_by, s.updated_at, s.updated_by`

export const findSubject = (tx: Tx, subject_id: string) =>
  tx.find<SubjectRow>(`select ${columns} from app.subject s where s.tenant_id = $1 and s.subject_id = $2`, [
    tx.tenant_id,
    subject_id,
  ])

export const lockSubject = (tx: Tx, subject_id: string) =>
  tx.find<SubjectRow>(`select ${columns} from app.subject s where s.tenant_id = $1 and s.subject_id = $2 for update`, [
    tx.tenant_id,
    subject_id,
  ])

/** Locks rows in a fixed order, so that two transactions do not deadlock. */
export const lockByExternalId = (tx: Tx, external_ids: readonly string[]) =>
  tx.query<SubjectRow>(
    `select ${columns} from app.subject s where s.tenant_id = $1 and s.external_id = any($2::text[])
      order by s.external_id for update`,
    [tx.tenant_id, external_ids],
  )

export interface SubjectFilter {
  /** Each word of it must be a prefix of a word of the name. */
  readonly name?: string | undefined
  readonly external_id?: string | undefined
  readonly subject_type?: string | undefined
  readonly segment?: string | undefined
  readonly state?: string | undefined
  /** The band of the rating in force. */
  readonly band?: string | undefined
  /** Only subjects under an override that expires before this instant. */
  readonly override_expires_before?: string | undefined
}

/** Sorts after every letter and digit: words with a prefix are those from `prefix` up to `prefix + END`. */
const END = '\u{10ffff}'

/**
 * Contains only the conditions that are set, so that every combination gets its own plan. The plan does not depend on
 * statistics, which are wrong for new or skewed tables: pages follow an index, or the hits of the longest word.
 */
interface SubjectPage {
  readonly after: string | null
  /** `<` reads newest first, `>` oldest first. */
  readonly way: '<' | '>'
  readonly count: number
}

function selectMatching(tx: Tx, filter: SubjectFilter, { after, way, count }: SubjectPage) {
  const values: unknown[] = [tx.tenant_id]
  const bind = (value: unknown): string => `$${values.push(value)}`
  // Repeated for every joined table: PostgreSQL derives only equalities.
  const beyond = after === null ? '' : ` ${way} ${bind(after)}::uuid`
  const isAfter = (table: string): string => beyond && ` and ${table}.subject_id${beyond}`
  const hasPrefix = (word: string): string => `w.word >= ${bind(word)} and w.word < ${bind(`${word}${END}`)}`
  const direction = way === '<' ? 'desc' : 'asc'
  const limit = bind(count)

  let where = `s.tenant_id = $1${isAfter('s')}`
  for (const column of ['external_id', 'subject_type', 'segment', 'state'] as const) {
    if (filter[column] !== undefined) where += ` and s.${column} = ${bind(filter[column])}`
  }
  const [longest, ...others] =
    filter.name === undefined ? [] : toSearchWords(filter.name).sort((a, b) => b.length - a.length)
  for (const word of others) {
    where += ` and (select true from app.subject_word w where w.tenant_id = $1 and w.subject_id = s.subject_id and ${hasPrefix(word)} limit 1)`
  }
  const expires = filter.override_expires_before
  if (expires !== undefined && longest !== undefined) {
    where += ` and (select true from app.subject_risk e where e.tenant_id = $1 and e.subject_id = s.subject_id
                       and e.override_until > now() and e.override_until < ${bind(expires)})`
  }
  const hits =
    longest === undefined
      ? expires &&
        `(select e.subject_id from app.subject_risk e where e.tenant_id = $1 and e.override_until > now()
           and e.override_until < ${bind(expires)}${isAfter('e')} order by e.subject_id ${direction} offset 0) h`
      : `(select distinct w.subject_id from app.subject_word w where w.tenant_id = $1 and ${hasPrefix(longest)}${isAfter('w')}
           order by w.subject_id ${direction}) h`
  const buildSelect = (join = ''): string => {
    const subjects = `select ${columns} from app.subject s ${join} where ${where}`
    return hits === undefined
      ? `(${subjects} order by s.subject_id ${direction} limit ${limit})`
      : `(select s.* from ${hits} cross join lateral (${subjects} and s.subject_id = h.subject_id offset 0) s
           order by h.subject_id ${direction} limit ${limit})`
  }
  let found = buildSelect()
  if (filter.band !== undefined) {
    const band = bind(filter.band)
    const risk = `join app.subject_risk r on r.tenant_id = $1 and r.subject_id = s.subject_id${isAfter('r')}`
    // A subject with an override in force is in its band, every other one in the band of its latest rating; the sets are disjoint.
    found = `(select * from ${buildSelect(`${risk} and r.override_band = ${band} and r.override_until > now()`)} o union all
      select * from ${buildSelect(`${risk} and r.rated_band = ${band} and (r.override_until is null or r.override_until <= now())`)} d
      order by subject_id ${direction} limit ${limit})`
  }
  return { found, values, direction }
}

function searchSubjects(tx: Tx, filter: SubjectFilter, page: SubjectPage) {
  const { found, values, direction } = selectMatching(tx, filter, page)
  return tx.query<RatedSubjectRow>(
    `select p.*, case when k.override_until > now() then k.override_band else k.rated_band end as band,
            case when k.override_until > now() then 'override' when k.rated_band is not null then 'rating' else 'none' end as rating_source
       from ${found} p
       left join lateral (select r.rated_band, r.override_band, r.override_until from app.subject_risk r
                           where r.tenant_id = $1 and r.subject_id = p.subject_id offset 0) k on true
      order by p.subject_id ${direction}`,
    values,
  )
}

/** The different values of a column, each found by one step along its index: the cost does not grow with the rows. */
const listDistinct = (tx: Tx, table: 'subject' | 'subject_risk', column: string, most: number) =>
  tx.query<{ readonly value: string }>(
    `with recursive found (value) as (
       (select ${column} from app.${table} where tenant_id = $1 and ${column} is not null order by ${column} limit 1)
       union all
       select (select t.${column} from app.${table} t where t.tenant_id = $1 and t.${column} > f.value order by t.${column} limit 1)
         from found f where f.value is not null)
     select value from found where value is not null limit $2`,
    [tx.tenant_id, most],
  )

/** Segments and bands that occur, in alphabetical order. */
export async function listFilterValues(tx: Tx, most: number): Promise<{ segments: string[]; bands: string[] }> {
  const segments = await listDistinct(tx, 'subject', 'segment', most)
  const rated = await listDistinct(tx, 'subject_risk', 'rated_band', most)
  const overridden = await listDistinct(tx, 'subject_risk', 'override_band', most)
  const bands = new Set([...rated, ...overridden].map(({ value }) => value))
  return { segments: segments.map(({ value }) => value), bands: [...bands].sort() }
}

/** Counts up to `most`. */
export async function countSubjects(tx: Tx, filter: SubjectFilter, most: number): Promise<number> {
  const { found, values } = selectMatching(tx, filter, { after: null, way: '>', count: most })
  return (await tx.find<{ n: number }>(`select count(*) as n from ${found} p`, values))?.n ?? 0
}

/** Newest first. */
export const listSubjects = (tx: Tx, filter: SubjectFilter, after: PagePosition, count: number) =>
  searchSubjects(tx, filter, { after: (after?.[0] as string | undefined) ?? null, way: '<', count })

/** Subjects by either id, in no order; one that is named by both ids is returned twice. */
export const listSubjectsByIds = (
  tx: Tx,
  { subject_ids, external_ids }: { subject_ids: readonly string[]; external_ids: readonly string[] },
): Promise<SubjectRow[]> =>
  subject_ids.length + external_ids.length === 0
    ? Promise.resolve([])
    : tx.query<SubjectRow>(
        `select ${columns} from app.subject s where s.tenant_id = $1 and s.subject_id = any($2::uuid[])
          union all select ${columns} from app.subject s where s.tenant_id = $1 and s.external_id = any($3::text[])`,
        [tx.tenant_id, subject_ids, external_ids],
      )

/** Oldest first, for reading all subjects: continue after the last `subject_id`. */
export const listSubjectsAfter = (tx: Tx, filter: SubjectFilter, after: string | null, count: number) =>
  searchSubjects(tx, filter, { after, way: '>', count })

export type NewSubject = SubjectContent & { readonly subject_id: string }

const given = `given as (select * from jsonb_to_recordset($2::jsonb)
  as r (subject_id uuid, subject_type text, external_id text, name text, segment text, attributes jsonb, words text[]))`
const withWords = (subjects: readonly NewSubject[]): string =>
  JSON.stringify(
    subjects.map(({ subject_id, subject_type, external_id, name, segment, attributes }) => ({
      subject_id,
      subject_type,
      external_id,
      name,
      segment,
      attributes,
      words: toSearchWords(name),
    })),
  )

/** Returns the inserted rows; a subject whose external id exists, or is being inserted concurrently, is not among them. */
export const insertSubjects = (tx: Tx, subjects: readonly NewSubject[]) =>
  tx.query<SubjectRow>(
    `with ${given}, made as (
       insert into app.subject as s (tenant_id, subject_id, subject_type, external_id, name, segment, attributes, created_by, updated_by)
       select $1, subject_id, subject_type, external_id, name, segment, attributes, $3, $3 from given order by external_id
       on conflict on constraint subject_external_id_key do nothing returning ${columns}
     ), worded as (
       insert into app.subject_word (tenant_id, word, subject_id)
       select $1, w.word, made.subject_id from made join given using (subject_id) cross join lateral unnest(given.words) as w (word)
     )
     select * from made`,
    [tx.tenant_id, withWords(subjects), tx.actor],
  )

export type ChangedSubject = NewSubject & {
  /** The version that ends, encrypted. Absent: the trigger keeps it plain, and a job encrypts it. */
  readonly earlier_content?: Buffer
}

/** A trigger keeps the earlier version. The ids are a parameter of their own, because their number decides the plan. */
export const updateSubjects = (tx: Tx, subjects: readonly ChangedSubject[]) =>
  tx.query<SubjectRow>(
    `with ${given}, altered as (
       update app.subject s set subject_type = g.subject_type, external_id = g.external_id, name = g.name, segment = g.segment,
              attributes = g.attributes, earlier_content = e.content
         from given g join unnest($3::uuid[], $4::bytea[]) as e (subject_id, content) on e.subject_id = g.subject_id
        where s.tenant_id = $1 and s.subject_id = any($3::uuid[]) and s.subject_id = g.subject_id returning ${columns}
     ), unworded as (
       delete from app.subject_word w using given g
        where w.tenant_id = $1 and w.subject_id = any($3::uuid[]) and w.subject_id = g.subject_id and w.word <> all (g.words)
     ), worded as (
       insert into app.subject_word (tenant_id, word, subject_id)
       select $1, w.word, g.subject_id from given g cross join lateral unnest(g.words) as w (word)
       on conflict on constraint subject_word_pkey do nothing
     )
     select * from altered`,
    [
      tx.tenant_id,
      withWords(subjects),
      subjects.map(({ subject_id }) => subject_id),
      subjects.map(({ earlier_content }) => earlier_content ?? null),
    ],
  )

export const updateOffboarded = (
  tx: Tx,
  subject_id: string,
  { reason, earlier_content }: { readonly reason: string; readonly earlier_content: Buffer },
) =>
  tx.find<SubjectRow>(
    `update app.subject s set state = 'offboarded', offboarded_at = clock_timestamp(), offboard_reason = $3, earlier_content = $4
      where s.tenant_id = $1 and s.subject_id = $2 returning ${columns}`,
    [tx.tenant_id, subject_id, reason, earlier_content],
  )

export type SubjectVersionRow = Omit<
  SubjectRow,
  'subject_id' | 'name' | 'erased_at' | 'created_at' | 'created_by' | 'updated_at' | 'updated_by'
> & {
  /** Null: erased. */
  readonly name: string | null
  readonly recorded_from: string
  readonly recorded_until: string | null
  readonly changed_by: string
  /** External id, name, segment, attributes and reason are gone. */
  readonly is_erased: boolean
}

/** Either `content` is set or its members, which are NULL otherwise. */
export type StoredVersionRow = Omit<SubjectVersionRow, 'is_erased'> & { readonly content: Buffer | null }

const content = 'revision, subject_type, external_id, name, segment, attributes, state, offboarded_at, offboard_reason'
/** All versions of a subject, including the current one. */
const states = `(
  select ${content}, recorded_from, recorded_until, changed_by, content from app.subject_version
   where tenant_id = $1 and subject_id = $2
  union all
  select ${content}, updated_at, null, updated_by, null from app.subject where tenant_id = $1 and subject_id = $2)`

/** Newest first. */
export const listSubjectVersions = (
  tx: Tx,
  { subject_id, at }: { readonly subject_id: string; readonly at: string | null },
  after: PagePosition,
  count: number,
) =>
  tx.query<StoredVersionRow>(
    `select v.* from ${states} v
      where ($3::timestamptz is null or (v.recorded_from <= $3 and (v.recorded_until is null or v.recorded_until > $3)))
        and ($4::bigint is null or v.revision < $4)
      order by v.revision desc limit $5`,
    [tx.tenant_id, subject_id, at, after?.[0] ?? null, count],
  )

export const listRevisions = (tx: Tx, subject_id: string, revisions: readonly number[]) =>
  tx.query<StoredVersionRow>(`select v.* from ${states} v where v.revision = any($3::bigint[])`, [
    tx.tenant_id,
    subject_id,
    revisions,
  ])

export interface SubjectEventRow {
  readonly event_id: string
  readonly kind: 'created' | 'changed' | 'offboarded' | 'rated' | 'overridden' | 'override-ended'
  readonly at: string
  readonly actor: string
  readonly revision: number | null
  readonly members: string[]
  readonly rating_id: string | null
  readonly band: string | null
  readonly reason: string | null
}

/** `members` is NULL where the version before does not say what this one changed. */
export type StoredEventRow = Omit<SubjectEventRow, 'members'> & { readonly members: string[] | null }

/** Newest first: changes of the record, ratings and overrides. */
export const listSubjectEvents = (tx: Tx, subject_id: string, after: PagePosition, count: number) =>
  tx.query<StoredEventRow>(
    `with change as (
       select v.*, lag(state) over w as earlier_state, lag(changed_members) over w as members from (
         select revision, state, recorded_from, changed_by, offboard_reason, changed_members from app.subject_version
          where tenant_id = $1 and subject_id = $2
         union all
         select revision, state, updated_at, updated_by, offboard_reason, null from app.subject
          where tenant_id = $1 and subject_id = $2) v
       window w as (order by revision)
     ), event as (
       select 'revision:' || lpad(revision::text, 16, '0') as event_id,
              case when revision = 1 then 'created' when state <> earlier_state then 'offboarded' else 'changed' end as kind,
              recorded_from as at, changed_by as actor, revision, case when revision = 1 then '{}' else members end as members,
              null::uuid as rating_id, null as band, offboard_reason as reason
         from change
       union all
       select 'rating:' || rating_id, case cause when 'override' then 'overridden' when 'override-ended' then cause else 'rated' end,
              recorded_at, ${shownActor('r', 'actor')}, null, '{}', rating_id, band, reason
         from app.rating r where tenant_id = $1 and subject_id = $2
     )
     select * from event e
      where $3::timestamptz is null or (e.at, e.event_id collate "C") < ($3, $4)
      order by e.at desc, e.event_id collate "C" desc limit $5`,
    [tx.tenant_id, subject_id, after?.[0] ?? null, after?.[1] ?? null, count],
  )

export type PlainVersionRow = Pick<
  SubjectRow,
  'subject_id' | 'revision' | 'external_id' | 'segment' | 'attributes' | 'offboard_reason'
> & {
  readonly name: string
}

/** Plain versions of earlier releases, of one subject or of all. Locked rows are left to whoever works on them. */
export const lockPlainVersions = (tx: Tx, subject_id: string | null, count: number) =>
  tx.query<PlainVersionRow>(
    `select subject_id, revision, external_id, name, segment, attributes, offboard_reason from app.subject_version
      where tenant_id = $1 and name is not null ${subject_id === null ? '' : 'and subject_id = $3'}
      order by subject_id, revision limit $2 for update skip locked`,
    [tx.tenant_id, count, ...(subject_id === null ? [] : [subject_id])],
  )

export const updateVersionsEncrypted = (
  tx: Tx,
  versions: readonly { readonly subject_id: string; readonly revision: number; readonly content: Buffer }[],
) =>
  tx.run(
    `update app.subject_version v set external_id = null, name = null, segment = null, attributes = null, offboard_reason = null,
            content = g.content
       from unnest($2::uuid[], $3::bigint[], $4::bytea[]) as g (subject_id, revision, content)
      where v.tenant_id = $1 and v.subject_id = g.subject_id and v.revision = g.revision`,
    [
      tx.tenant_id,
      versions.map(({ subject_id }) => subject_id),
      versions.map(({ revision }) => revision),
      versions.map(({ content }) => content),
    ],
  )
