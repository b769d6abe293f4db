/** Wire shapes that all kinds of versioned definitions share. */
import { Count, closed, integer, oneOf, reasonText, Slug, Timestamp, Type, text } from '#kernel/schema.ts'

export const ListKey = Slug({ description: 'Name of the list.', examples: ['jurisdiction-risk'] })
export const ListKeyParams = closed({ list_key: ListKey })

/** Replies always have a number; requests may also use a label. */
export const VersionNumber = integer(1, Number.MAX_SAFE_INTEGER)
const label = '(?=.*[^0-9])[A-Za-z0-9][A-Za-z0-9._-]{0,99}'
const versionName = {
  // One form of each number: 01 would be another address of version 1.
  pattern: `^([1-9][0-9]{0,15}|${label})$`,
  maxLength: 100,
  description: 'A version number, or a label.',
  examples: ['1'],
}
/** In a path. */
export const VersionText = (description = versionName.description) => Type.String({ ...versionName, description })
export const VersionParams = closed({ list_key: ListKey, version: VersionText() })
/** For query parameters, where clients may send a number; it is parsed as text in both cases. */
export const VersionName = Type.Unsafe<string>({
  type: ['string', 'integer'],
  ...versionName,
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
})

export const Label = Type.String({
  pattern: `^${label}$`,
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
    description: 'Whose. When absent: the one in force, else that of the tenant, else the shared one.',
  }),
)
export const OriginQuery = closed({ origin: OptionalOrigin })
export const Reason = reasonText(2000, { description: 'Why; stored with the record.' })

/** One entry of a list; its type defines the shape. */
export const EntryValue = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  description: 'Described by the type.',
})

/** Any JSON except U+0000, which PostgreSQL cannot store. */
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

export const Clocks = {
  valid_at: Type.Optional(
    Timestamp({ description: 'Which version is in force for an event at this instant; now when absent.' }),
  ),
  known_at: Type.Optional(Timestamp({ description: 'As it was known at this instant; as known now when absent.' })),
}
