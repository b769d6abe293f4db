/** Wire contract of the resolver: which version is in force, what it says of a key, and the receipt of having asked. */
import { closed, Id, listOf, nullable, oneOf, Timestamp, Type, text } from '#kernel/schema.ts'
import { Clocks, EntryValue, ListKey, ResolvedList, resolvedLists, Sha256 } from '../schema.ts'

export const ResolveQuery = closed(Clocks)
export const ResolveReply = closed(
  {
    ...ResolvedList.properties,
    valid_at: Timestamp(),
    known_at: nullable(Timestamp({ description: 'Null: as known now.' })),
  },
  { title: 'Resolution' },
)

export const ResolveEntryQuery = closed({ ...Clocks, key: text(500, { description: 'The business key.' }) })
export const ResolvedEntry = closed(
  { list: ResolvedList, key: text(500), entry: nullable(EntryValue) },
  { title: 'ResolvedEntry' },
)

const consumer = Type.Optional(
  text(200, { description: 'The purpose, for the record: a decision, a report.', default: 'api' }),
)
const keys = (max: number) => listOf(ListKey, max, { minItems: 1, uniqueItems: true })
export const ResolveRequest = closed({ list_keys: keys(50), ...Clocks, consumer })

export const Receipt = closed(
  {
    receipt_id: Id(),
    consumer: text(200),
    valid_at: Timestamp(),
    known_at: Timestamp(),
    manifest_hash: Sha256,
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
        list_key: ListKey,
        via: text(20),
        version: Type.Integer(),
        content_hash: Sha256,
        type_key: text(100),
        type_version: Type.Integer(),
        overlay_version: nullable(Type.Integer()),
        overlay_hash: nullable(Sha256),
        overlay_policy: Type.Optional(text(20, { description: 'What the list allowed the overlay to do.' })),
      }),
      1000,
    ),
  },
  { title: 'ReceiptWithLists' },
)
export const ReceiptParams = closed({ receipt_id: Id() })

export const LookupRequest = closed({
  lookups: listOf(closed({ list_key: ListKey, keys: listOf(text(500), 200, { minItems: 1, uniqueItems: true }) }), 20, {
    minItems: 1,
  }),
  ...Clocks,
  consumer,
})
export const LookupReply = closed(
  {
    receipt: Receipt,
    results: listOf(
      closed({
        list: ResolvedList,
        entries: listOf(closed({ key: text(500), entry: nullable(EntryValue) }), 200),
      }),
      20,
    ),
  },
  { title: 'LookupResult' },
)
