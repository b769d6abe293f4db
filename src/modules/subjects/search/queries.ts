/** SQL of searching subjects. Every statement reads a bounded number of rows, whatever the number of subjects. */
import type { Tx } from '#kernel/database/tx.ts'
import type { IdRange } from '#kernel/search/source.ts'

export interface FoundSubjectRow {
  readonly subject_id: string
  readonly subject_type: 'person' | 'company' | 'other'
  readonly external_id: string | null
  readonly name: string
  readonly state: 'active' | 'offboarded'
  readonly band: string | null
}

/** Sorts after every character that a word or an id has. */
const END = `U&'\\+10FFFF'`

/** `h` holds subject ids in the order of the result. */
const selectFound = (hits: string): string =>
  `select s.subject_id, s.subject_type, s.external_id, s.name, s.state,
          (select case when k.override_until > now() then k.override_band else k.rated_band end
             from app.subject_risk k where k.tenant_id = $1 and k.subject_id = s.subject_id) as band
     from (${hits}) h
    cross join lateral (select * from app.subject x where x.tenant_id = $1 and x.subject_id = h.subject_id offset 0) s
    order by h.place`

export const listSubjectsInRange = (tx: Tx, { from, to }: IdRange, count: number) =>
  tx.query<FoundSubjectRow>(
    selectFound(`select subject_id, row_number() over (order by subject_id) as place from app.subject
      where tenant_id = $1 and subject_id >= $2::uuid and subject_id <= $3::uuid order by subject_id limit $4`),
    [tx.tenant_id, from, to, count],
  )

/** Subjects whose external id begins with one of the prefixes; a prefix that is a whole id comes first. */
export const listSubjectsByExternalId = (tx: Tx, prefixes: readonly string[], count: number) =>
  tx.query<FoundSubjectRow>(
    selectFound(`select x.subject_id, row_number() over (order by x.is_exact desc, x.external_id) as place
      from unnest($2::text[]) as p (prefix) cross join lateral (
        select subject_id, external_id, external_id = p.prefix as is_exact from app.subject
         where tenant_id = $1 and external_id >= p.prefix and external_id < p.prefix || ${END}
         order by external_id limit $3) x`),
    [tx.tenant_id, prefixes, count],
  )

/** How many names have a word with each prefix, counted up to `most`, in the order of the prefixes. */
export const countNamesByPrefix = (tx: Tx, prefixes: readonly string[], most: number) =>
  tx.query<{ hits: number }>(
    `select (select count(*) from (select 1 from app.subject_word w
               where w.tenant_id = $1 and w.word >= p.prefix and w.word < p.prefix || ${END} limit $3) c) as hits
       from unnest($2::text[]) with ordinality as p (prefix, place) order by p.place`,
    [tx.tenant_id, prefixes, most],
  )

interface NameSearch {
  /** The first of them chooses the candidates. */
  readonly prefixes: readonly string[]
  readonly max_candidates: number
  readonly count: number
}

/**
 * Subjects whose names have words with all prefixes, among the first candidates; whole words come first. A subject with two such words
 * may come twice. Candidates are read until there are enough subjects.
 */
export function listSubjectsByWords(tx: Tx, { prefixes, max_candidates, count }: NameSearch) {
  const values: unknown[] = [tx.tenant_id, max_candidates, count]
  const hasPrefix = (table: string, prefix: string): string => {
    const at = `$${values.push(prefix)}::text`
    return `${table}.word >= ${at} and ${table}.word < ${at} || ${END}`
  }
  const [first = '', ...others] = prefixes
  const candidates = `select w.subject_id, w.word from app.subject_word w
     where w.tenant_id = $1 and ${hasPrefix('w', first)} order by w.word, w.subject_id limit $2`
  const hasOthers = others
    .map(
      (prefix) => `(select true from app.subject_word o where o.tenant_id = $1 and o.subject_id = c.subject_id
        and ${hasPrefix('o', prefix)} limit 1)`,
    )
    .join(' and ')
  return tx.query<FoundSubjectRow>(
    selectFound(`select m.subject_id, row_number() over (order by m.word, m.subject_id) as place
      from (select c.subject_id, c.word from (${candidates}) c ${hasOthers && `where ${hasOthers}`}
             order by c.word, c.subject_id limit $3) m`),
    values,
  )
}
