/** Wire shapes that several parts of the registry share. */
import {
  Count,
  closed,
  Id,
  integer,
  listOf,
  nullable,
  oneOf,
  reasonText,
  Slug,
  Timestamp,
  Type,
  text,
} from '#kernel/schema.ts'

export const ListKey = Slug({ description: 'Name of the list.', examples: ['jurisdiction-risk'] })
export const ListKeyParams = closed({ list_key: ListKey })

/** Always a number in answers; a request may name a version by its label as well. */
export const VersionNumber = integer(1, Number.MAX_SAFE_INTEGER)
const versionName = {
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$',
  maxLength: 100,
  description: 'A version number, or a label.',
  examples: ['1'],
}
export const VersionParams = closed({ list_key: ListKey, version: Type.String(versionName) })
/** In a query, where a client may well have a number at hand; it arrives as text in either case. */
export const VersionName = Type.Unsafe<string>({
  type: ['string', 'integer'],
  ...versionName,
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
})

export const Label = Type.String({
  pattern: '^(?=.*[^0-9])[A-Za-z0-9][A-Za-z0-9._-]{0,99}$',
  maxLength: 100,
  description: 'A name for the version; it has a non-digit, to distinguish it from a number.',
  examples: ['2026-q1'],
})

export const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$', minLength: 64, maxLength: 64 })
export const Origin = oneOf(['own', 'shared'], {
  description: 'own: of this tenant. shared: published by the operator.',
})
export const OptionalOrigin = Type.Optional(
  oneOf(['own', 'shared'], {
    description:
      'Whose, where this tenant has its own under the key of a shared one. When absent: the one in force, else its own, else the ' +
      'shared one.',
  }),
)
export const OriginQuery = closed({ origin: OptionalOrigin })
export const Reason = reasonText(2000, { description: 'Why; stored with the record.' })

/** One entry of a list, as its type describes it. */
export const EntryValue = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  description: 'Described by the type.',
})

/** JSON text may not hold U+0000 anywhere, since it cannot be stored. */
export const AnyJson = (description: string) => Type.Unsafe<unknown>({ description })

export const Difference = closed(
  {
    added: Count,
    removed: Count,
    changed: Count,
    restated: Type.Optional(
      integer(0, Number.MAX_SAFE_INTEGER, {
        description: 'The same entries, stored in the canonical form of a newer version of the type.',
      }),
    ),
  },
  { title: 'DifferenceCounts', description: 'Against the version before it.' },
)

export const Gate = closed(
  {
    gate: oneOf(['guard', 'overlay-conflict', 'stale-base', 'frozen', 'referenced-by', 'proof', 'impact']),
    detail: text(1000),
    overridable: Type.Boolean({ description: 'Whether an override with a reason is possible.' }),
    facts: Type.Unsafe<Record<string, unknown>>({ type: 'object' }),
  },
  { title: 'Gate' },
)

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

export const Clocks = {
  valid_at: Type.Optional(
    Timestamp({ description: 'Which version is in force for an event at this instant; now when absent.' }),
  ),
  known_at: Type.Optional(Timestamp({ description: 'As it was known at this instant; as known now when absent.' })),
}

export const ResolvedList = closed(
  {
    list_key: ListKey,
    via: oneOf(['tenant-own', 'tenant-pin', 'shared'], { description: 'Why this version.' }),
    origin: Origin,
    shadows_shared: Type.Boolean({ description: 'An own list that existed before the shared one of its name.' }),
    version: VersionNumber,
    label: nullable(Label),
    type_key: Slug(),
    type_version: VersionNumber,
    content_hash: Sha256,
    entry_count: Count,
    data_bytes: Count,
    effective_from: Timestamp(),
    expires_at: nullable(Timestamp()),
    activation_id: Id(),
    overlay: nullable(
      closed({
        version: VersionNumber,
        content_hash: Sha256,
        entry_count: Count,
        base_version: nullable(VersionNumber),
        activation_id: Id(),
      }),
    ),
  },
  { title: 'ResolvedList' },
)

export const resolvedLists = listOf(ResolvedList, 200)
