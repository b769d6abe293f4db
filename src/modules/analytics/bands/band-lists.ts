/** The two lists behind the counts by band: who is in a band, and who moved between bands over a period. */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { paginateExamined } from '#kernel/page.ts'
import { fail } from '#kernel/problem.ts'
import type { Actor } from '#kernel/route.ts'
import type { Static } from '#kernel/schema.ts'
import { addDays } from '../portfolio/days.ts'
import { type Clock, findClock } from '../portfolio/queries.ts'
import { assertMatrix, getPeriod } from '../portfolio/risk-distribution.ts'
import { type DayEnd, readBands, type SubjectBand } from './queries.ts'
import type { BandSubjectPage, BandSubjectQuery, MovementPage, MovementQuery } from './schema.ts'

/** Subjects that are examined at once, and chunks of one request. */
const defaultSizes = { chunk_subjects: 500, most_chunks: 10 }

interface ListInput<Query> {
  readonly tx: Tx
  readonly kernel: Capabilities<'cursors'>
  readonly actor: Actor
  readonly query: Query
}
type BandItem = Static<typeof BandSubjectPage>['items'][number]
type Movement = Static<typeof MovementPage>['items'][number]

/** Refuses a day to come, whose bands nobody knows. `name` is the parameter that gave it. */
function toDayEnd(on: string, name: string, { now, today }: Clock): DayEnd {
  if (on > today) {
    fail('conflict', {
      detail: `Nobody knows the bands of ${on} yet.`,
      errors: [{ in: 'query', pointer: `#/${name}`, detail: 'must not lie after today' }],
    })
  }
  if (on === today) return { valid_before: 'infinity', in_force_at: now }
  const end = `${addDays(on, 1)}T00:00:00Z`
  return { valid_before: end, in_force_at: end }
}

export async function listSubjectsInBand(input: ListInput<Static<typeof BandSubjectQuery>>, sizes = defaultSizes) {
  const { tx, query } = input
  await assertMatrix(tx, query.matrix_key)
  const clock = await findClock(tx)
  const end = toDayEnd(query.on ?? clock.today, 'on', clock)
  return examine<BandItem>(input, { route: 'listSubjectsInBand', ends: [end], sizes }, ([one]) => {
    const { band, ...rest } = one as SubjectBand
    const isAsked = query.band === undefined ? band !== null : band === query.band
    return isAsked ? ({ ...rest, band } as BandItem) : null
  })
}

export async function listRiskMovements(input: ListInput<Static<typeof MovementQuery>>, sizes = defaultSizes) {
  const { tx, query } = input
  await assertMatrix(tx, query.matrix_key)
  const clock = await findClock(tx)
  const { first_day, last_day } = getPeriod(query, clock.today)
  const ends = [toDayEnd(first_day, 'from_on', clock), toDayEnd(last_day, 'until_on', clock)]
  return examine<Movement>(input, { route: 'listRiskMovements', ends, sizes }, ([from, to]) => {
    const { band: to_band, ...rest } = to as SubjectBand
    const from_band = (from as SubjectBand).band
    const isAsked = query.band === undefined || [from_band, to_band].includes(query.band)
    return from_band !== to_band && isAsked ? ({ ...rest, from_band, to_band } as Movement) : null
  })
}

interface Examination {
  readonly route: string
  readonly ends: readonly DayEnd[]
  readonly sizes: typeof defaultSizes
}

/** `toItem` gives null for a subject that the list does not hold. */
function examine<Item extends { readonly subject_id: string }>(
  input: ListInput<Pick<Static<typeof BandSubjectQuery>, 'limit' | 'cursor' | 'matrix_key'>>,
  { route, ends, sizes }: Examination,
  toItem: (bands: readonly SubjectBand[]) => Item | null,
) {
  const bands = { matrix_key: input.query.matrix_key, ends }
  const options = { route, order: ['subject_id'], most_chunks: sizes.most_chunks } as const
  return paginateExamined<Item>(input, options, async (after) => {
    const { subjects, examined } = await readBands(input.tx, bands, after, sizes.chunk_subjects)
    return { rows: subjects.map(toItem).filter((item) => item !== null), examined }
  })
}
