/** The portfolio by band over a period, from the stored daily counts and, for small portfolios, from today's ratings. */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { assertReferenced, fail } from '#kernel/problem.ts'
import type { Static } from '#kernel/schema.ts'
import { documentStore } from '#modules/definitions/index.ts'
import { listBands } from './bands.ts'
import { addDays, countDays } from './days.ts'
import { countBandsNow, findClock, findProgress, listDays, listMatrixKeys, type PortfolioDayRow } from './queries.ts'
import { type Distribution, type DistributionQuery, MAX_PERIOD_DAYS } from './schema.ts'

/** Rated subjects that are counted in a request. */
const MAX_COUNTED_NOW = 10_000
const DEFAULT_DAYS = 365

/** The last year where nothing is given. */
export function getPeriod(
  { from_on, until_on }: Pick<Static<typeof DistributionQuery>, 'from_on' | 'until_on'>,
  today: string,
) {
  const last_day = until_on ?? today
  const first_day = from_on ?? addDays(last_day, 1 - DEFAULT_DAYS)
  if (first_day > last_day) {
    const detail = until_on === undefined ? 'must not lie after today' : 'must not lie after the end of the period'
    fail('conflict', {
      detail: 'The period ends before it begins.',
      errors: [{ in: 'query', pointer: '#/from_on', detail }],
    })
  }
  if (countDays(first_day, last_day) > MAX_PERIOD_DAYS) {
    fail('conflict', {
      detail: `A period has at most ${MAX_PERIOD_DAYS} days.`,
      errors: [
        {
          in: 'query',
          pointer: '#/from_on',
          detail: `must lie at most ${MAX_PERIOD_DAYS - 1} days before the end of the period`,
        },
      ],
    })
  }
  return { first_day, last_day }
}

export async function assertMatrix(tx: Tx, matrix_key: string | undefined): Promise<void> {
  if (matrix_key === undefined) return
  const found = await documentStore.findDefinition(tx, 'matrix', matrix_key)
  assertReferenced(found, `risk matrix with the key ${matrix_key}`)
}

/** Null where too many subjects are rated to count them in a request. */
async function countToday(tx: Tx, today: string): Promise<PortfolioDayRow[] | null> {
  const rows = await countBandsNow(tx, MAX_COUNTED_NOW)
  if (rows.some(({ read }) => read > MAX_COUNTED_NOW)) return null
  return rows.map(({ band, subjects }) => ({ day: today, band, subjects }))
}

/** Days of the period that have counts, those with no rated subject included. */
function listCountedDays(first: string, last: string): string[] {
  return Array.from({ length: Math.max(0, countDays(first, last)) }, (_, place) => addDays(first, place))
}

export async function getRiskDistribution(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  query: Static<typeof DistributionQuery>,
): Promise<Static<typeof Distribution>> {
  const { now, today } = await findClock(tx)
  const period = getPeriod(query, today)
  const matrix_key = query.matrix_key ?? null
  await assertMatrix(tx, query.matrix_key)
  const progress = await findProgress(tx)
  const rows = await listDays(tx, matrix_key, period)
  const covered = progress
    ? listCountedDays(
        period.first_day < progress.first_day ? progress.first_day : period.first_day,
        period.last_day < progress.last_day ? period.last_day : progress.last_day,
      )
    : []
  const isTodayAsked = matrix_key === null && period.first_day <= today && today <= period.last_day
  const counted = isTodayAsked ? await countToday(tx, today) : null
  if (counted) covered.push(today)
  const { bands, list } = await listBands(kernel, tx)
  const all = [...rows, ...(counted ?? [])]
  // Days before the first rating say nothing.
  const days = groupByDay(
    all,
    covered,
    bands.map(({ band }) => band),
  )
  return {
    matrix_key,
    matrices: progress ? await listMatrixKeys(tx, progress.last_day) : [],
    bands: addMovement(bands, days),
    latest: days.length === 0 ? null : { on: (days.at(-1) as Day).on, counted_at: counted ? now : null },
    from_on: period.first_day,
    until_on: period.last_day,
    days,
    lists: list ? [list] : [],
  }
}

type Day = Static<typeof Distribution>['days'][number]

function groupByDay(rows: readonly PortfolioDayRow[], covered: readonly string[], order: readonly string[]): Day[] {
  const byDay = new Map<string, { band: string; subjects: number }[]>()
  for (const { day, band, subjects } of rows) byDay.set(day, [...(byDay.get(day) ?? []), { band, subjects }])
  const getPlace = (band: string): number => (order.includes(band) ? order.indexOf(band) : order.length)
  const days = covered.map((on): Day => {
    const bands = (byDay.get(on) ?? []).sort(
      (one, two) => getPlace(one.band) - getPlace(two.band) || (one.band < two.band ? -1 : 1),
    )
    return { on, subjects: bands.reduce((sum, { subjects }) => sum + subjects, 0), bands }
  })
  const first = days.findIndex(({ subjects }) => subjects > 0)
  return first < 0 ? [] : days.slice(first)
}

/** Known bands in their order, then others that were counted. */
function addMovement(known: readonly { band: string; title: string }[], days: readonly Day[]) {
  const [first, last] = [days[0], days.at(-1)]
  const getCount = (day: Day | undefined, band: string): number =>
    day?.bands.find((count) => count.band === band)?.subjects ?? 0
  const others = new Set(days.flatMap((day) => day.bands.map(({ band }) => band)))
  for (const { band } of known) others.delete(band)
  return [...known, ...[...others].sort().map((band) => ({ band, title: band }))].map(({ band, title }) => ({
    band,
    title,
    subjects: getCount(last, band),
    change: getCount(last, band) - getCount(first, band),
  }))
}
