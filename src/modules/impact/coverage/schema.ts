/** Wire contract of coverage: which parts of a definition past decisions used. */
import { Count, closed, integer, listOf, nullable, oneOf, Slug, Timestamp, Type, text } from '#kernel/schema.ts'
import { registrySchemas } from '#modules/definitions/index.ts'

export const MAX_DECISIONS = 10_000

export const CoverageQuery = closed({
  origin: registrySchemas.OptionalOrigin,
  version: Type.Optional(
    integer(1, Number.MAX_SAFE_INTEGER, { description: 'Of the definition; the one in force when absent.' }),
  ),
  from_at: Type.Optional(Timestamp({ description: 'Decisions made from here on.' })),
  until_at: Type.Optional(Timestamp({ description: 'Decisions made up to here.' })),
})

export const CoverageView = closed(
  {
    key: Slug(),
    origin: registrySchemas.Origin,
    version: integer(1, Number.MAX_SAFE_INTEGER),
    decisions: integer(0, MAX_DECISIONS, { description: 'Number of evaluated single decisions, the latest first.' }),
    complete: Type.Boolean({ description: `All of the period; otherwise the latest ${MAX_DECISIONS}.` }),
    unusable: integer(0, MAX_DECISIONS, {
      description: 'Stored decisions that were altered; not evaluated.',
    }),
    idle: integer(0, 100_000, { description: 'Parts that no decision used.' }),
    parts: listOf(
      closed({
        part: oneOf(['factor', 'row', 'value', 'trigger'], {
          description: 'A row of a table, or a value of a score map, belongs to its factor; rows of a rule to none.',
        }),
        factor: nullable(text(100)),
        key: Type.String(),
        title: nullable(Type.String()),
        fired: integer(0, MAX_DECISIONS, {
          description: 'Decisions in which it fired; of a factor, in which it scored above zero.',
        }),
      }),
      100_000,
      { description: 'Every part of the definition, in its order.' },
    ),
    defaults: listOf(closed({ of: oneOf(['input', 'factor']), key: text(100), defaulted: Count }), 10_000, {
      description: 'Inputs and factors with a default, and how often the default was used.',
    }),
  },
  { title: 'Coverage' },
)
