/**
 * SQL of the band that each subject had when a day ended. Computed from the ratings themselves, by the rules of the daily counts, so
 * that the rows of a list add up to the figure that opened it.
 */
import type { Tx } from '#kernel/database/tx.ts'
import type { PagePosition } from '#kernel/page.ts'
import type { bandCauses } from './schema.ts'

type BandCause = (typeof bandCauses)[number]

/** When a day ends; of today it is now. */
export interface DayEnd {
  /** What is valid before this instant counts. */
  readonly valid_before: string
  /** Overrides that expire at this instant or later are in force. */
  readonly in_force_at: string
}

export interface SubjectBand {
  readonly subject_id: string
  readonly subject_type: 'person' | 'company' | 'other'
  readonly external_id: string | null
  readonly name: string
  readonly erased_at: string | null
  /** Null: not rated, or no longer active. */
  readonly band: string | null
  /** What set it, and when. */
  readonly cause: BandCause | null
  readonly set_at: string | null
}

/**
 * The next subjects with their bands at the given ends, one row for each. With a matrix the text names it, so that the index of the
 * latest rating is used.
 */
const toQuery = (of_matrix: boolean): string => `
  with s as materialized (
    select s.subject_id, s.subject_type, s.external_id, s.name, s.erased_at, s.offboarded_at
      from app.subject s where s.tenant_id = $1 and ($2::uuid is null or s.subject_id > $2) order by s.subject_id limit $3)
  select s.subject_id, s.subject_type, s.external_id, s.name, s.erased_at, b.*
    from s
    cross join unnest($4::timestamptz[], $5::timestamptz[]) with ordinality as e (valid_before, in_force_at, place)
    left join lateral (
      select r.band, r.cause, r.valid_at from app.rating r
       where r.tenant_id = $1 and r.subject_id = s.subject_id and r.valid_at < e.valid_before
         and r.matrix_key ${of_matrix ? '= $6' : 'is not null'}
       order by r.valid_at desc, r.recorded_at desc, r.rating_id desc limit 1) r on true
    left join lateral (
      select o.band, o.cause, o.valid_at, o.cause = 'override' and o.expires_at >= e.in_force_at as is_in_force,
             case o.cause when 'override' then o.expires_at else o.valid_at end as ended_at
        from app.rating o
       where o.tenant_id = $1 and o.subject_id = s.subject_id and o.valid_at < e.valid_before and o.matrix_key is null
       order by o.valid_at desc, o.recorded_at desc, o.rating_id desc limit 1) o on true
    cross join lateral (
      select case when s.offboarded_at < e.valid_before${of_matrix ? ' or r.band is null' : ''} then null
                  when o.is_in_force then o.band else r.band end as band,
             case when s.offboarded_at < e.valid_before then 'offboarded' when o.is_in_force then 'override'
                  when o.ended_at > coalesce(r.valid_at, '-infinity') and o.cause = 'override' then 'override-expired'
                  when o.ended_at > coalesce(r.valid_at, '-infinity') then 'override-ended' else r.cause end as cause,
             case when s.offboarded_at < e.valid_before then s.offboarded_at when o.is_in_force then o.valid_at
                  else greatest(r.valid_at, o.ended_at) end as set_at) b
   order by s.subject_id, e.place`

const queries = { any: toQuery(false), one: toQuery(true) }

export interface BandsToRead {
  readonly matrix_key: string | undefined
  readonly ends: readonly DayEnd[]
}

interface BandChunk {
  /** Of each subject a row for each end, in their order. */
  readonly subjects: readonly (readonly SubjectBand[])[]
  readonly examined: PagePosition
}

export async function readBands(
  tx: Tx,
  { matrix_key, ends }: BandsToRead,
  after: PagePosition,
  count: number,
): Promise<BandChunk> {
  const rows = await tx.query<SubjectBand>(queries[matrix_key === undefined ? 'any' : 'one'], [
    tx.tenant_id,
    after?.[0] ?? null,
    count,
    ends.map(({ valid_before }) => valid_before),
    ends.map(({ in_force_at }) => in_force_at),
    ...(matrix_key === undefined ? [] : [matrix_key]),
  ])
  const subjects = Array.from({ length: rows.length / ends.length }, (_, place) =>
    rows.slice(place * ends.length, (place + 1) * ends.length),
  )
  const last = rows.at(-1)
  return { subjects, examined: last && subjects.length === count ? [last.subject_id] : null }
}
