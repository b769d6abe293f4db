/** Wire contract of delta imports. */
import { Count, closed, listOf, nullable, Type, text } from '#kernel/schema.ts'
import { registrySchemas } from '#modules/definitions/index.ts'

/** Maximum number of keys and marker values; more removals belong in the file. */
const MAX_STATED_KEYS = 10_000

const Marker = closed(
  {
    pointer: text(200, {
      pattern: '^(/[^/\\u0000]+)+$',
      description:
        'The member of a row that marks a removal. A marker that the type does not declare is removed from the entry before validation.',
      examples: ['/action'],
    }),
    values: listOf(text(200), 50, { minItems: 1, uniqueItems: true, description: 'Values that mark a removal.' }),
  },
  { description: 'Rows that remove an entry: only their key is used, and other members need not be valid.' },
)
const Keys = listOf(text(500), MAX_STATED_KEYS, {
  uniqueItems: true,
  description:
    'Business keys, as entries of the list show them; composed (NFC), trimmed and without invisible characters, as those are.',
})

export const DeltaBody = closed(
  {
    base_version: registrySchemas.VersionNumber,
    removed: Type.Optional(closed({ marker: Type.Optional(Marker), keys: Type.Optional(Keys) })),
  },
  {
    description:
      'The file holds added and changed entries only, each of them whole; others stay as in base_version, which must be the newest ' +
      'version (409 base_not_newest with head_version).',
  },
)
/** The request with defaults filled in. */
export const DeltaView = closed(
  { base_version: registrySchemas.VersionNumber, removed: closed({ marker: nullable(Marker), keys: Keys }) },
  { title: 'DeltaOrder' },
)

const counts = {
  base_version: registrySchemas.VersionNumber,
  added: Count,
  changed: Count,
  removed: Count,
  unchanged_rows: Type.Integer({ minimum: 0, description: 'Rows that are equal to the base.' }),
  unmatched_removals: Type.Integer({
    minimum: 0,
    description: 'Removals of keys that the base does not have; any of them is a breach of the guards.',
  }),
}
export const DeltaCountsView = closed(
  { ...counts, untouched: Type.Integer({ minimum: 0, description: 'Entries of the base that stay as they are.' }) },
  { title: 'DeltaCounts' },
)

export const DeltaPreviewBody = closed(
  { list_key: registrySchemas.ListKey, ...DeltaBody.properties },
  { description: 'Read the file as changes to this list, and count what they would change.' },
)
export const DeltaPreviewView = closed(
  {
    ...counts,
    untouched: nullable(Type.Integer({ minimum: 0, description: 'Null when the file was not read completely.' })),
  },
  { title: 'DeltaPreview' },
)
