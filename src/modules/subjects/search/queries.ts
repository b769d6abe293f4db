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

/** The band in force of the subject `s`. */
const selectBand = `(select case when k.override_until > now() then k.override_band else k.rated_band end
             from app.subject_risk k where k.tenant_id = $1 and k.subject_id = s.subject_id)`

/** `h` holds subject ids in the order of the result. */
const selectFound = (hits: string): string =>
  `select s.subject_id, s.subject_type, s.external_id, s.name, s.state, ${selectBand} as band
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

interface NameSearch {
  readonly prefixes: readonly string[]
  readonly max_candidates: number
  readonly count: number
}

/** A match, or NULLs in the only row when nothing matches. */
export type NameMatchRow = (FoundSubjectRow | { readonly [C in keyof FoundSubjectRow]: null }) & {
  /** Names with a word that begins with the rarest prefix, counted up to one more than the candidates; 0 for a single prefix. */
  readonly rarest: number
}

const hasPrefix = (table: string, prefix: string): string =>
  `${table}.word >= ${prefix} and ${table}.word < ${prefix} || ${END}`

/**
 * Subjects whose names have words with all prefixes; whole words come first. The rarest prefix chooses the candidates, which are read
 * until there are enough matches. A subject with two words that begin with that prefix may come twice.
 */
export const listSubjectsByWords = (tx: Tx, { prefixes, max_candidates, count }: NameSearch) =>
  tx.query<NameMatchRow>(
    `with term as materialized (
       select p.prefix, n.hits, row_number() over (order by n.hits, p.place) as place
         from unnest($2::text[]) with ordinality as p (prefix, place)
        cross join lateral (
          select count(*) as hits from (select from app.subject_word w
            where cardinality($2::text[]) > 1 and w.tenant_id = $1 and ${hasPrefix('w', 'p.prefix')} limit $3::bigint + 1) c) n)
     select t.hits as rarest, s.subject_id, s.subject_type, s.external_id, s.name, s.state, ${selectBand} as band
       from term t
       left join lateral (
         select c.word, c.subject_id
           from (select w.word, w.subject_id from app.subject_word w
                  where w.tenant_id = $1 and ${hasPrefix('w', 't.prefix')} order by w.word, w.subject_id limit $3) c
          where (select true from term o where o.place > 1 and (
                   select true from app.subject_word w
                    where w.tenant_id = $1 and w.subject_id = c.subject_id and ${hasPrefix('w', 'o.prefix')} limit 1) is null
                  limit 1) is null
          order by c.word, c.subject_id limit $4) m on true
       left join lateral (select * from app.subject x where x.tenant_id = $1 and x.subject_id = m.subject_id offset 0) s on true
      where t.place = 1 order by m.word, m.subject_id`,
    [tx.tenant_id, prefixes, max_candidates, count],
  )
