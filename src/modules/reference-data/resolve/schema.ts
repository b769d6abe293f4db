/** Wire contract of the resolver: the version in force, its entry for a key, and the receipt. */
import { closed, Id, listOf, nullable, oneOf, Timestamp, Type, text } from '#kernel/schema.ts'
import { registrySchemas } from '#modules/definitions/index.ts'

import { ResolvedList, resolvedLists } from '../schema.ts'

export const ResolveQuery = closed(registrySchemas.Clocks)
export const ResolveReply = closed(
  {
    ...ResolvedList.properties,
    valid_at: Timestamp(),
    known_at: nullable(Timestamp({ description: 'Null: as known now.' })),
  },
  { title: 'Resolution' },
)

export const ResolveEntryQuery = closed({
  ...registrySchemas.Clocks,
  key: text(500, { description: 'The business key.' }),
})
export const ResolvedEntry = closed(
  { list: ResolvedList, key: text(500), entry: nullable(registrySchemas.EntryValue) },
  { title: 'ResolvedEntry' },
)

const consumer = Type.Optional(
  text(200, { description: 'The purpose, for the record: a decision, a report.', default: 'api' }),
)
const keys = (max: number) => listOf(registrySchemas.ListKey, max, { minItems: 1, uniqueItems: true })
export const ResolveRequest = closed({ list_keys: keys(50), ...registrySchemas.Clocks, consumer })

export const Receipt = closed(
  {
    receipt_id: Id(),
    consumer: text(200),
    valid_at: Timestamp(),
    known_at: Timestamp(),
    manifest_hash: registrySchemas.Sha256,
    created_at: Timestamp(),
    created_by: text(200),
  },
  { title: 'Receipt' },
)
export const ResolveManyReply = closed({ receipt: Receipt, lists: resolvedLists }, { title: 'ResolutionWithReceipt' })
export const ReceiptReply = closed(
  {
    ...Receipt.properties,
    lists: listOf(
      closed({
        family: Type.Optional(oneOf(['matrix', 'rule'], { description: 'Of a definition; absent for a list.' })),
        list_key: registrySchemas.ListKey,
        via: text(20),
        version: Type.Integer(),
        content_hash: registrySchemas.Sha256,
        type_key: text(100),
        type_version: Type.Integer(),
        overlay_version: nullable(Type.Integer()),
        overlay_hash: nullable(registrySchemas.Sha256),
        overlay_policy: Type.Optional(text(20, { description: 'What the list allowed the overlay to do.' })),
      }),
      1000,
    ),
  },
  { title: 'ReceiptWithLists' },
)
export const ReceiptParams = closed({ receipt_id: Id() })

export const LookupRequest = closed({
  lookups: listOf(
    closed({ list_key: registrySchemas.ListKey, keys: listOf(text(500), 200, { minItems: 1, uniqueItems: true }) }),
    20,
    {
      minItems: 1,
    },
  ),
  ...registrySchemas.Clocks,
  consumer,
})
export const LookupReply = closed(
  {
    receipt: Receipt,
    results: listOf(
      closed({
        list: ResolvedList,
        entries: listOf(closed({ key: text(500), entry: nullable(registrySchemas.EntryValue) }), 200),
      }),
      20,
    ),
  },
  { title: 'LookupResult' },
)
