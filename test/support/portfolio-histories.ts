/** Random histories of ratings, which no client can write for the past, and what follows from them, computed in the plainest way. */
import type pg from 'pg'
import { uuidv7 } from '#kernel/uuid.ts'
import { SeededRandom } from './seeded-random.ts'

const DAY_MS = 86_400_000

export const daysAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString()
export const startOfDay = (days_ago: number): string => `${daysAgo(days_ago).slice(0, 10)}T00:00:00Z`

interface RatingRow {
  readonly subject_id: string
  readonly cause: string
  readonly matrix_key: string | null
  readonly band: string | null
  readonly valid_at: Date
  readonly expires_at: Date | null
  readonly offboarded_at: Date | null
}

export interface SubjectDay {
  readonly day: string
  readonly matrix_key: string
  readonly subject_id: string
  readonly band: string
}

/** The band of each subject at the end of each day, from all ratings: no running sums, no chunks. The matrix '' is any of them. */
export async function findSubjectDays(superuser: pg.Client, tenant_id: string, days: number): Promise<SubjectDay[]> {
  const { rows } = await superuser.query<RatingRow>(
    `select r.subject_id, r.cause, r.matrix_key, r.band, r.valid_at, r.expires_at, s.offboarded_at
       from app.rating r join app.subject s using (tenant_id, subject_id)
      where tenant_id = $1 order by r.valid_at desc, r.recorded_at desc`,
    [tenant_id],
  )
  const subjects = new Map<string, RatingRow[]>()
  for (const row of rows) subjects.set(row.subject_id, [...(subjects.get(row.subject_id) ?? []), row])
  const matrices = new Set(rows.map(({ matrix_key }) => matrix_key ?? ''))
  const found: SubjectDay[] = []
  for (let ago = days; ago > 0; ago--) {
    const day = startOfDay(ago).slice(0, 10)
    const ends_at = new Date(startOfDay(ago - 1))
    for (const matrix_key of new Set(['', ...matrices])) {
      for (const [subject_id, all] of subjects) {
        const before = all.filter(({ valid_at }) => valid_at < ends_at)
        const rated = before.find((row) => row.matrix_key !== null && ['', row.matrix_key].includes(matrix_key))
        const last = before.find(({ cause }) => cause.startsWith('override'))
        const override = last?.expires_at && last.expires_at >= ends_at ? last : undefined
        const isActive = all.every(({ offboarded_at }) => offboarded_at === null || offboarded_at >= ends_at)
        const band = (matrix_key === '' || rated ? (override ?? rated) : rated)?.band
        if (isActive && band) found.push({ day, matrix_key, subject_id, band })
      }
    }
  }
  return found
}

/** Subjects with ratings, overrides and offboardings at random times. */
export async function insertHistories(
  superuser: pg.Client,
  tenant_id: string,
  seed: number,
  subjects: number,
): Promise<void> {
  const random = new SeededRandom(seed)
  const bands = ['low', 'medium', 'high', 'prohibited']
  // Midnight is a boundary of days, so it must come up often.
  const pickTime = (from_days: number, until_days: number) => {
    const days = random.between(until_days, from_days)
    return random.chance(0.2) ? startOfDay(days) : daysAgo(days + random.share())
  }
  await superuser.query('begin; set local session_replication_role = replica')
  for (let i = 0; i < subjects; i++) {
    const subject_id = uuidv7()
    const offboarded_at = random.chance(0.2) ? pickTime(60, 0) : null
    await superuser.query(
      `insert into app.subject (tenant_id, subject_id, subject_type, name, state, offboarded_at, created_by, updated_by)
       values ($1, $2, 'person', 'Ada', $3, $4, 'seed:test', 'seed:test')`,
      [tenant_id, subject_id, offboarded_at ? 'offboarded' : 'active', offboarded_at],
    )
    for (let n = random.below(8); n > 0; n--) {
      const valid_at = random.chance(0.1) ? pickTime(600, 380) : pickTime(70, 0)
      await superuser.query(
        `insert into app.rating (tenant_id, rating_id, subject_id, cause, matrix_key, matrix_version, band, score_bps, valid_at,
           recorded_at, actor) values ($1, $2, $3, 'batch', $4, 1, $5, 1, $6, $6::timestamptz + $7 * interval '1 hour', 'seed:test')`,
        [tenant_id, uuidv7(), subject_id, random.pick(['one', 'two']), random.pick(bands), valid_at, random.below(100)],
      )
    }
    for (let n = random.chance(0.5) ? random.below(4) : 0; n > 0; n--) {
      const at = pickTime(60, 1)
      const ends = random.chance(0.3)
      const expires_at = ends ? null : new Date(Date.parse(at) + random.between(1, 40) * DAY_MS).toISOString()
      await superuser.query(
        `insert into app.rating (tenant_id, rating_id, subject_id, cause, band, valid_at, recorded_at, actor, reason, expires_at)
         values ($1, $2, $3, $4, $5, $6, $6, 'seed:test', 'test', $7)`,
        [tenant_id, uuidv7(), subject_id, ends ? 'override-ended' : 'override', random.pick(bands), at, expires_at],
      )
    }
  }
  await superuser.query('commit')
}
