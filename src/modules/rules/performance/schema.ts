/** Wire contract of rule performance. An unknown figure is null with a reason, never zero. */
import { Count, closed, integer, listOf, nullable, oneOf, Slug, Timestamp, Type, text } from '#kernel/schema.ts'
import { registrySchemas } from '#modules/definitions/index.ts'

/** Maximum number of single decisions, hits and batches that are counted, latest first. */
export const MAX_DECISIONS = 100_000
export const MAX_BATCHES = 1000

export const PerformanceQuery = closed({
  days: Type.Optional(integer(1, 400, { default: 90, description: 'Length of the period.' })),
  positive_band: Type.Optional(
    listOf(text(100), 20, {
      uniqueItems: true,
      description:
        'Bands that confirm a hit where a person has put one in place by an override. May be given several times; without any, ' +
        'it is unknown which hits were right.',
      examples: [['high']],
    }),
  ),
  cost_per_hit: Type.Optional(
    integer(1, 1_000_000_000_000, {
      description: 'Cost of reviewing one hit, in the smallest unit of your currency.',
    }),
  ),
})

export const unknownReasons = [
  'no_decisions',
  'bands_not_named',
  'nothing_judged',
  'cost_not_named',
  'no_true_positives',
] as const

const figure = (description: string) =>
  closed({
    value: nullable(Type.Integer({ minimum: 0, description })),
    unknown: nullable(oneOf(unknownReasons, { description: 'Why there is no value.' })),
  })

const figures = {
  decisions: Type.Integer({ minimum: 0, description: 'Single decisions and items of batches.' }),
  hits: Count,
  hit_rate_bps: figure('Hits among decisions.'),
  subjects_hit: Type.Integer({ minimum: 0, description: 'Known subjects with at least one hit.' }),
  subjects_judged: Type.Integer({
    minimum: 0,
    description: 'Subjects whose current rating is an override.',
  }),
  outcomes: listOf(closed({ band: text(100), subjects: Count }), 1000, {
    description: 'Bands of overrides of subjects with a hit.',
  }),
  true_positives: figure('Judged subjects whose band confirms the hit.'),
  true_positive_rate_bps: figure('True positives among judged subjects.'),
  cost_per_true_positive: figure(
    'What is spent on hits for each that is right, at the rate of those that were judged.',
  ),
}

export const PerformanceView = closed(
  {
    rule_key: Slug(),
    from_at: Timestamp(),
    until_at: Timestamp(),
    complete: Type.Boolean({
      description: `All of the period; otherwise the latest ${MAX_DECISIONS} single decisions or hits, or ${MAX_BATCHES} batches.`,
    }),
    total: closed(figures),
    versions: listOf(
      closed({ version: integer(1, Number.MAX_SAFE_INTEGER), origin: registrySchemas.Origin, ...figures }),
      10_000,
      {
        description:
          'By the version that decided, the newest first; this tenant’s own before a shared one of the same number.',
      },
    ),
  },
  { title: 'RulePerformance' },
)
