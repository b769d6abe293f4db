/** Wire shapes shared by several routes of lists. */
import { Count, closed, Id, listOf, nullable, oneOf, Slug, Timestamp, Type, text } from '#kernel/schema.ts'
import { registrySchemas } from '#modules/definitions/index.ts'

export const LocationView = closed({
  row: Count,
  line: Type.Optional(Count),
  column: Type.Optional(Type.String()),
  sheet: Type.Optional(Type.String()),
  file: Type.Optional(Type.String()),
  path: Type.Optional(Type.String()),
})

export const Reject = closed(
  {
    code: text(100),
    pointer: Type.String({ description: 'The member of the entry concerned; empty for the whole row.' }),
    at: LocationView,
    excerpt: nullable(Type.String({ maxLength: 500 })),
    message: text(2000),
  },
  { title: 'Reject' },
)

export const Warning = closed(
  {
    code: text(100),
    message: text(2000),
    at: Type.Optional(LocationView),
    count: Type.Optional(Count),
    closes_guard: Type.Optional(
      Type.Literal(true, {
        description: 'The source looks incomplete: the import is blocked unless this is overridden.',
      }),
    ),
  },
  { title: 'ImportWarning' },
)

export const ResolvedList = closed(
  {
    list_key: registrySchemas.ListKey,
    via: oneOf(['tenant-own', 'tenant-pin', 'shared'], { description: 'Why this version.' }),
    origin: registrySchemas.Origin,
    shadows_shared: Type.Boolean({ description: 'An own list that existed before the shared one of its name.' }),
    version: registrySchemas.VersionNumber,
    label: nullable(registrySchemas.Label),
    type_key: Slug(),
    type_version: registrySchemas.VersionNumber,
    content_hash: registrySchemas.Sha256,
    entry_count: Count,
    data_bytes: Count,
    effective_from: Timestamp(),
    expires_at: nullable(Timestamp()),
    activation_id: Id(),
    overlay: nullable(
      closed({
        version: registrySchemas.VersionNumber,
        content_hash: registrySchemas.Sha256,
        entry_count: Count,
        base_version: nullable(registrySchemas.VersionNumber),
        activation_id: Id(),
      }),
    ),
  },
  { title: 'ResolvedList' },
)

export const resolvedLists = listOf(ResolvedList, 200)
