/** SQL of the daily counts by band, and of the histories they are counted from. */
import type { Tx } from '#kernel/database/tx.ts'
import { ALL_MATRICES, type DayCount, type RatingEvent, type SubjectHistory } from './count-days.ts'

export interface ProgressRow {
  readonly first_day: string
  readonly last_day: string
  readonly next_rating: string
  readonly revision: number
}

export const findProgress = (tx: Tx) =>
  tx.find<ProgressRow>(
    'select first_day, last_day, next_rating, revision from app.portfolio_progress where tenant_id = $1',
    [tx.tenant_id],
  )

export interface Clock {
  readonly now: string
  readonly today: string
}

/** By the clock of the database, in UTC. */
export const findClock = async (tx: Tx): Promise<Clock> =>
  (await tx.find<Clock>(
    `select clock_timestamp() as now, (clock_timestamp() at time zone 'UTC')::date as today`,
  )) as Clock

/** The earliest valid day among ratings with this id or a later one. */
export const findEarliestDay = async (tx: Tx, next_rating: string): Promise<string | null> =>
  (
    await tx.find<{ day: string | null }>(
      `select (min(valid_at) at time zone 'UTC')::date as day from app.rating where tenant_id = $1 and rating_id >= $2`,
      [tx.tenant_id, next_rating],
    )
  )?.day ?? null

export interface DayRange {
  readonly first_day: string
  readonly last_day: string
}

export interface HistoryChunk {
  readonly histories: readonly SubjectHistory[]
  /** Continue after this subject; null: there are no more. */
  readonly after: string | null
}

const day = (column: string): string => `(${column} at time zone 'UTC')::date - $4::date`

/**
 * The histories of the next subjects. Of each matrix and day only the last rating is read, and the same of overrides, so that a
 * subject with many ratings costs no more than the days that are counted.
 */
export async function readHistories(
  tx: Tx,
  range: DayRange,
  after: string | null,
  count: number,
): Promise<HistoryChunk> {
  const rows = await tx.query<RatingEvent & { subject_id: string; offboarded_day: number | null; is_rated: boolean }>(
    `with s as materialized (
       select s.subject_id, ${day('s.offboarded_at')} as offboarded_day from app.subject s
        where s.tenant_id = $1 and ($2::uuid is null or s.subject_id > $2) order by s.subject_id limit $3)
     select s.subject_id, s.offboarded_day, e.day is not null as is_rated, e.day, e.matrix_key, e.band, e.until_day
       from s left join lateral (
         (select distinct on (r.matrix_key, day) greatest(${day('r.valid_at')}, 0) as day, r.matrix_key, r.band,
                 null::integer as until_day, r.valid_at, r.recorded_at, r.rating_id
            from app.rating r
           where r.tenant_id = $1 and r.subject_id = s.subject_id and r.matrix_key is not null
             and r.valid_at < ($5::date + 1)::timestamp at time zone 'UTC'
           order by r.matrix_key, day, r.valid_at desc, r.recorded_at desc, r.rating_id desc)
         union all
         (select distinct on (day) greatest(${day('r.valid_at')}, 0) as day, null, case when r.cause = 'override' then r.band end,
                 ${day('r.expires_at')}, r.valid_at, r.recorded_at, r.rating_id
            from app.rating r
           where r.tenant_id = $1 and r.subject_id = s.subject_id and r.matrix_key is null
             and r.valid_at < ($5::date + 1)::timestamp at time zone 'UTC'
           order by day, r.valid_at desc, r.recorded_at desc, r.rating_id desc)) e on true
      order by s.subject_id, e.valid_at, e.recorded_at, e.rating_id`,
    [tx.tenant_id, after, count, range.first_day, range.last_day],
  )
  const histories: SubjectHistory[] = []
  let last: string | null = null
  let events: RatingEvent[] = []
  let subjects = 0
  for (const { subject_id, offboarded_day, is_rated, ...event } of rows) {
    if (subject_id !== last) {
      subjects++
      last = subject_id
      events = []
      histories.push({ offboarded_day, events })
    }
    if (is_rated) events.push(event)
  }
  return { histories, after: subjects < count ? null : last }
}

/** False when another run has written since `read` was read. */
export async function saveProgress(
  tx: Tx,
  read: ProgressRow | undefined,
  next: Omit<ProgressRow, 'revision'>,
): Promise<boolean> {
  const values = [tx.tenant_id, next.first_day, next.last_day, next.next_rating]
  const saved = read
    ? await tx.run(
        `update app.portfolio_progress set first_day = $2, last_day = $3, next_rating = $4, revision = revision + 1,
                computed_at = now() where tenant_id = $1 and revision = $5`,
        [...values, read.revision],
      )
    : await tx.run(
        `insert into app.portfolio_progress (tenant_id, first_day, last_day, next_rating) values ($1, $2, $3, $4)
         on conflict on constraint portfolio_progress_pkey do nothing`,
        values,
      )
  return saved === 1
}

export const removeDays = (tx: Tx, { first_day, last_day }: DayRange) =>
  tx.run('delete from app.portfolio_day where tenant_id = $1 and day between $2 and $3', [
    tx.tenant_id,
    first_day,
    last_day,
  ])

/** Days are numbers from `first_day`. */
export const insertDays = (tx: Tx, first_day: string, counts: readonly DayCount[]) =>
  tx.run(
    `insert into app.portfolio_day (tenant_id, day, matrix_key, band, subjects)
     select $1, $2::date + c.day, c.matrix_key, c.band, c.subjects
       from unnest($3::integer[], $4::text[], $5::text[], $6::bigint[]) as c (day, matrix_key, band, subjects)`,
    [
      tx.tenant_id,
      first_day,
      counts.map((count) => count.day),
      counts.map(({ matrix_key }) => matrix_key),
      counts.map(({ band }) => band),
      counts.map(({ subjects }) => subjects),
    ],
  )

export interface PortfolioDayRow {
  readonly day: string
  readonly band: string
  readonly subjects: number
}

/** In order of days. */
export const listDays = (tx: Tx, matrix_key: string | null, { first_day, last_day }: DayRange) =>
  tx.query<PortfolioDayRow>(
    `select day, band, subjects from app.portfolio_day
      where tenant_id = $1 and day between $2 and $3 and matrix_key = $4 order by day, band`,
    [tx.tenant_id, first_day, last_day, matrix_key ?? ALL_MATRICES],
  )

/** Matrices that had rated an active subject by the end of a day. */
export const listMatrixKeys = async (tx: Tx, on: string): Promise<string[]> =>
  (
    await tx.query<{ matrix_key: string }>(
      `select distinct matrix_key from app.portfolio_day where tenant_id = $1 and day = $2 and matrix_key <> $3 order by matrix_key`,
      [tx.tenant_id, on, ALL_MATRICES],
    )
  ).map(({ matrix_key }) => matrix_key)

export interface BandCountRow {
  readonly band: string
  readonly subjects: number
  /** Rated subjects that were read, up to the limit plus one. */
  readonly read: number
}

/** Active subjects by the band in force now. Reads at most `most` + 1 rated subjects. */
export const countBandsNow = (tx: Tx, most: number) =>
  tx.query<BandCountRow>(
    `with k as materialized (
       select subject_id, case when override_until > now() then override_band else rated_band end as band
         from app.subject_risk where tenant_id = $1 order by subject_id limit $2)
     select k.band, count(*) as subjects, (select count(*) from k) as read
       from k join app.subject s on s.tenant_id = $1 and s.subject_id = k.subject_id
      where k.band is not null and s.state = 'active' group by k.band`,
    [tx.tenant_id, most + 1],
  )
