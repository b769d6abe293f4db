/** SQL of ratings, which are append-only. A trigger maintains the current risk of each subject. */
import { shownActor } from '#kernel/database/actor-column.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { PagePosition } from '#kernel/page.ts'

export interface RatingRow {
  readonly rating_id: string
  readonly subject_id: string
  readonly cause: 'evaluation' | 'batch' | 'override' | 'override-ended'
  readonly band: string | null
  readonly score_bps: number | null
  readonly matrix_key: string | null
  readonly matrix_version: number | null
  readonly evaluation_id: string | null
  readonly batch_id: string | null
  readonly valid_at: string
  readonly recorded_at: string
  readonly actor: string
  readonly reason: string | null
  /** Of an override: shown to roles that may not read the reason. */
  readonly reason_code: string | null
  readonly expires_at: string | null
  /** The change request that set it; the actor is then who approved last. */
  readonly cr_id: string | null
  readonly proposed_by: string | null
}

const columns = `rating_id, subject_id, cause, band, score_bps, matrix_key, matrix_version, evaluation_id, batch_id, valid_at,
  recorded_at, ${shownActor('r', 'actor')} as actor, reason, reason_code, expires_at, cr_id,
  (select c.created_by from app.change_request c where c.tenant_id = r.tenant_id and c.cr_id = r.cr_id) as proposed_by`

/** A rating by a matrix. `valid_at` is now when null; a rating older than the latest one is stored, but not in force. */
export interface NewRating {
  readonly rating_id: string
  readonly subject_id: string
  readonly cause: 'evaluation' | 'batch'
  readonly matrix_key: string
  readonly matrix_version: number
  readonly band: string
  readonly score_bps: number
  readonly evaluation_id?: string | null
  readonly batch_id?: string | null
  readonly valid_at?: string | null
  readonly reason?: string | null
}

const insertRatingsSql = `insert into app.rating (tenant_id, rating_id, subject_id, cause, matrix_key, matrix_version, band, score_bps,
    evaluation_id, batch_id, valid_at, reason)
  select $1, * from unnest($2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::bigint[], $7::text[], $8::bigint[], $9::uuid[],
    $10::uuid[], $11::timestamptz[], $12::text[])`
const toValues = (tx: Tx, rows: readonly NewRating[]): unknown[] => [
  tx.tenant_id,
  rows.map((row) => row.rating_id),
  rows.map((row) => row.subject_id),
  rows.map((row) => row.cause),
  rows.map((row) => row.matrix_key),
  rows.map((row) => row.matrix_version),
  rows.map((row) => row.band),
  rows.map((row) => row.score_bps),
  rows.map((row) => row.evaluation_id ?? null),
  rows.map((row) => row.batch_id ?? null),
  rows.map((row) => row.valid_at ?? null),
  rows.map((row) => row.reason ?? null),
]

/** Inserts all ratings in one statement and returns their number. */
export const insertRatings = (tx: Tx, rows: readonly NewRating[]) => tx.run(insertRatingsSql, toValues(tx, rows))

/** Sent together with COMMIT, because nothing in this transaction reads it. */
export const deferRating = (tx: Tx, row: NewRating): void => tx.defer(insertRatingsSql, toValues(tx, [row]))

/** Returns no row when `expires_at` is in the past or more than 400 days ahead, by the clock of the database. */
export const insertOverride = (
  tx: Tx,
  row: {
    rating_id: string
    subject_id: string
    band: string
    reason: string
    reason_code?: string | undefined
    expires_at: string
    cr_id?: string | null | undefined
  },
) =>
  tx.find<RatingRow>(
    `insert into app.rating as r (tenant_id, rating_id, subject_id, cause, band, reason, expires_at, reason_code, cr_id)
     select $1, $2, $3, 'override', $4, $5, $6::timestamptz, $7, $8::uuid
      where $6::timestamptz > clock_timestamp() and $6::timestamptz <= clock_timestamp() + interval '9600 hours'
     returning ${columns}`,
    [
      tx.tenant_id,
      row.rating_id,
      row.subject_id,
      row.band,
      row.reason,
      row.expires_at,
      row.reason_code ?? null,
      row.cr_id ?? null,
    ],
  )

/** Ends the override in force; returns no row when there is none. */
export const insertOverrideEnd = (
  tx: Tx,
  rating_id: string,
  subject_id: string,
  why: { reason: string; reason_code?: string | undefined; cr_id?: string | null | undefined },
) =>
  tx.find<RatingRow>(
    `insert into app.rating as r (tenant_id, rating_id, subject_id, cause, band, reason, reason_code, cr_id)
     select $1, $2, $3, 'override-ended', k.rated_band, $4, $5, $6::uuid from app.subject_risk k
      where k.tenant_id = $1 and k.subject_id = $3 and k.override_until > now()
     returning ${columns}`,
    [tx.tenant_id, rating_id, subject_id, why.reason, why.reason_code ?? null, why.cr_id ?? null],
  )

export interface SubjectRiskRow {
  readonly rating_id: string | null
  readonly rated_band: string | null
  /** The override in force, or null. */
  readonly override_id: string | null
  readonly override_band: string | null
}

/** Undefined when the subject was never rated. */
export const findSubjectRisk = (tx: Tx, subject_id: string) =>
  tx.find<SubjectRiskRow>(
    `select rating_id, rated_band, case when override_until > now() then override_id end as override_id,
            case when override_until > now() then override_band end as override_band
       from app.subject_risk where tenant_id = $1 and subject_id = $2`,
    [tx.tenant_id, subject_id],
  )

export const listRatingsById = (tx: Tx, rating_ids: readonly string[]) =>
  tx.query<RatingRow>(`select ${columns} from app.rating r where tenant_id = $1 and rating_id = any($2::uuid[])`, [
    tx.tenant_id,
    rating_ids,
  ])

/** Newest first. */
export const listRatings = (tx: Tx, subject_id: string, after: PagePosition, count: number) =>
  tx.query<RatingRow>(
    `select ${columns} from app.rating r
      where tenant_id = $1 and subject_id = $2 and ($3::timestamptz is null or (recorded_at, rating_id) < ($3, $4::uuid))
      order by recorded_at desc, rating_id desc limit $5`,
    [tx.tenant_id, subject_id, after?.[0] ?? null, after?.[1] ?? null, count],
  )

/** Of these subjects, those about which nothing is stored any more: they are erased, or being erased. */
export const listErased = (tx: Tx, subject_ids: readonly string[]) =>
  tx.query<{ subject_id: string }>(
    `select s.subject_id from app.subject s
      where s.tenant_id = $1 and s.subject_id = any ($2::uuid[]) and (s.erased_at is not null or exists (
        select 1 from app.erasure e where e.tenant_id = $1 and e.subject_id = s.subject_id and e.state = 'executing'))`,
    [tx.tenant_id, subject_ids],
  )
