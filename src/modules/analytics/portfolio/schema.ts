/** Wire contract of the portfolio by risk band over time. */
import { CalendarDate, Count, closed, integer, listOf, nullable, Slug, Timestamp, Type, text } from '#kernel/schema.ts'
import { registrySchemas } from '#modules/definitions/index.ts'

/** The longest period of one answer. */
export const MAX_PERIOD_DAYS = 1100

/** The filter by matrix of every figure and list of the portfolio. */
export const MatrixFilter = Type.Optional(
  Slug({
    description: 'Only subjects that this matrix rated, with its rating; without it the rating in force of any matrix.',
    examples: ['customer-risk-person'],
  }),
)

export const DistributionQuery = closed({
  matrix_key: MatrixFilter,
  from_on: Type.Optional(CalendarDate({ description: 'First day; a year before the last one when absent.' })),
  until_on: Type.Optional(CalendarDate({ description: 'Last day; today when absent.' })),
})

const BandCounts = listOf(closed({ band: text(100), subjects: Count }), 1000)

export const Distribution = closed(
  {
    matrix_key: nullable(Slug()),
    matrices: listOf(Slug(), 1000, { description: 'Matrices that have rated active subjects.' }),
    bands: listOf(
      closed({
        band: text(100),
        title: text(200),
        subjects: Count,
        change: Type.Integer({ description: 'Since the first day with counts.' }),
      }),
      1000,
      { description: 'From the lowest to the highest, with the latest count.' },
    ),
    latest: nullable(
      closed({
        on: CalendarDate(),
        counted_at: nullable(Timestamp({ description: 'null: at the end of that day.' })),
      }),
    ),
    from_on: CalendarDate(),
    until_on: CalendarDate(),
    days: listOf(
      closed({ on: CalendarDate(), subjects: Count, bands: BandCounts }, { title: 'PortfolioDay' }),
      MAX_PERIOD_DAYS,
      {
        description:
          'Active subjects by band at the end of each day (UTC), by valid time and as known now; a day that a late decision ' +
          'changes is corrected within about an hour. Today is counted now where at most 10,000 subjects are rated and no matrix_key is given, and absent otherwise.',
      },
    ),
    lists: listOf(
      closed({ list_key: Slug(), version: integer(1, Number.MAX_SAFE_INTEGER), content_hash: registrySchemas.Sha256 }),
      1,
      {
        description: 'The list that names and orders the bands.',
      },
    ),
  },
  { title: 'RiskDistribution' },
)
