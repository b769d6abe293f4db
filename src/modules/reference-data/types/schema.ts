/** Wire contract of dataset types. */
import {
  closed,
  integer,
  listOf,
  nullable,
  oneOf,
  pageOf,
  pageQuery,
  Slug,
  Timestamp,
  Type,
  text,
} from '#kernel/schema.ts'
import { registrySchemas } from '#modules/definitions/index.ts'

import { TypeDefinitionSchema } from '#registry/types/type-definition.ts'

const { type_key: _key, type_version: _version, ...content } = TypeDefinitionSchema.properties

export const TypeParams = closed({ type_key: Slug() })
export const TypeQuery = closed({ ...pageQuery, origin: Type.Optional(registrySchemas.Origin) })

export const DatasetType = closed(
  {
    type_key: Slug(),
    type_version: registrySchemas.VersionNumber,
    origin: registrySchemas.Origin,
    ...content,
    definition_hash: registrySchemas.Sha256,
    compatibility: oneOf(['backward', 'none']),
    created_at: Timestamp(),
    created_by: text(200),
  },
  { title: 'DatasetType' },
)
export const TypePage = pageOf(DatasetType)

const optional = {
  list_rules: Type.Optional(content.list_rules),
  fields: Type.Optional(content.fields),
}
export const NewType = closed({ type_key: Slug(), ...content, ...optional })
export const NewTypeVersion = closed({
  ...content,
  ...optional,
  compatibility: Type.Optional(
    oneOf(['backward', 'none'], {
      default: 'backward',
      description: 'backward: refused when data in force would no longer fit. none: published all the same.',
    }),
  ),
})

export const ValidationRequest = closed({
  type_version: Type.Optional(registrySchemas.VersionNumber),
  data: listOf(registrySchemas.EntryValue, 10_000, { description: 'Entries to try. Nothing is stored.' }),
})
export const ValidationReport = closed(
  {
    type_key: Slug(),
    type_version: registrySchemas.VersionNumber,
    valid: Type.Boolean(),
    entries: integer(0, 10_000),
    content_hash: nullable(registrySchemas.Sha256),
    faults_total: integer(0, Number.MAX_SAFE_INTEGER),
    faults: listOf(
      closed({ index: nullable(integer(0, 10_000)), code: text(100), pointer: Type.String(), message: text(2000) }),
      1000,
      { description: 'The first thousand; index is null for rules over the whole list.' },
    ),
  },
  { title: 'ValidationReport' },
)

export const TypeBreakView = closed({
  list_key: nullable(registrySchemas.ListKey),
  version: nullable(registrySchemas.VersionNumber),
  pointer: Type.String(),
  what: text(100),
  detail: text(2000),
})
