/** Wire contract of lists: settings, owner and the version in force. */
import {
  closed,
  ExpectedRevision,
  Family,
  integer,
  listOf,
  nullable,
  oneOf,
  pageOf,
  pageQuery,
  Slug,
  Type,
  text,
} from '#kernel/schema.ts'
import { registrySchemas } from '#modules/definitions/index.ts'

export const DatasetPage = pageOf(registrySchemas.Dataset)

export const DatasetQuery = closed({
  ...pageQuery,
  origin: Type.Optional(registrySchemas.Origin),
  state: Type.Optional(oneOf(['live', 'archived'])),
  type_key: Type.Optional(Slug()),
  key_prefix: Type.Optional(Slug({ description: 'Only lists whose key has this prefix.' })),
})

const changeable = {
  title: text(200),
  description: nullable(text(4000)),
  owner: nullable(text(200, { description: 'Who is responsible for the list.' })),
  review_every_days: nullable(integer(1, 3660)),
  stale_after_days: nullable(integer(1, 3660)),
  guards: registrySchemas.Guards,
}
export const NewDataset = closed({
  list_key: registrySchemas.ListKey,
  type_key: Slug(),
  title: changeable.title,
  description: Type.Optional(changeable.description),
  owner: Type.Optional(changeable.owner),
  review_every_days: Type.Optional(changeable.review_every_days),
  stale_after_days: Type.Optional(changeable.stale_after_days),
  guards: Type.Optional(changeable.guards),
})
export const DatasetChange = closed({
  title: Type.Optional(changeable.title),
  description: Type.Optional(changeable.description),
  owner: Type.Optional(changeable.owner),
  review_every_days: Type.Optional(changeable.review_every_days),
  stale_after_days: Type.Optional(changeable.stale_after_days),
  guards: Type.Optional(changeable.guards),
  expected_revision: ExpectedRevision,
})

export const Dependents = closed(
  {
    items: listOf(
      closed({
        kind: Family({
          description:
            'overlay and pin: of this list. Otherwise the kind of definition whose version in force reads the list.',
          examples: ['overlay', 'pin', 'matrix'],
        }),
        key: text(200),
        version: nullable(registrySchemas.VersionNumber),
        detail: text(500),
      }),
      1000,
    ),
  },
  { title: 'Dependents' },
)
