/**
 * Building blocks of the wire contract. Schemas are JSON Schema: what is written here is what the validator enforces and
 * what the OpenAPI document says. Every input object is closed, every string has a maximum and no NUL, every integer bounds.
 */
import Type, { type Static, type TObject, type TProperties, type TSchema, type TUnsafe } from 'typebox'

export type { Static, TSchema }
export { Type }

/** A closed object: unknown members are refused, not ignored. */
export const closed = <P extends TProperties>(properties: P, options: Record<string, unknown> = {}): TObject<P> =>
  Type.Object(properties, { additionalProperties: false, ...options })

/** Free text. PostgreSQL cannot store U+0000, so the schema refuses it. */
export const text = (max: number, options: Record<string, unknown> = {}) =>
  Type.String({ minLength: 1, maxLength: max, pattern: '^[^\\u0000]*$', ...options })

export const Id = (options: Record<string, unknown> = {}) =>
  Type.String({
    format: 'uuid',
    pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$',
    minLength: 36,
    maxLength: 36,
    ...options,
  })

export const slugPattern = '^[a-z0-9][a-z0-9_-]{0,99}$'
export const Slug = (options: Record<string, unknown> = {}) =>
  Type.String({ pattern: slugPattern, maxLength: 100, ...options })

/** RFC 3339 in UTC, from the year 1000: PostgreSQL has no year 0. Input must say Z: an offset would be normalised, and what comes back would differ from what was sent. */
export const Timestamp = (options: Record<string, unknown> = {}) =>
  Type.String({
    format: 'date-time',
    pattern: '^[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{1,6})?Z$',
    maxLength: 27,
    ...options,
  })

export const CalendarDate = (options: Record<string, unknown> = {}) =>
  Type.String({ format: 'date', pattern: '^[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}$', maxLength: 10, ...options })

export const integer = (minimum: number, maximum: number, options: Record<string, unknown> = {}) =>
  Type.Integer({ minimum, maximum, ...options })

export const Count = integer(0, Number.MAX_SAFE_INTEGER)
export const Revision = integer(1, Number.MAX_SAFE_INTEGER, {
  description:
    'Rises by one with each change. Send it as expected_revision, or its ETag as If-Match, to change safely.',
})

export const oneOf = <const V extends readonly string[]>(values: V, options: Record<string, unknown> = {}) =>
  Type.Unsafe<V[number]>({ type: 'string', enum: [...values], ...options })

/**
 * `type: [T, 'null']` rather than anyOf: shorter in the document, clearer in error messages. What has a title is a component of
 * the document and stays what it is.
 */
export function nullable<S extends TSchema>(schema: S): TUnsafe<Static<S> | null> {
  const { type, enum: values, ...rest } = schema as unknown as { type?: string; enum?: unknown[]; title?: string }
  if (typeof type !== 'string' || rest.title !== undefined)
    return Type.Unsafe<Static<S> | null>({ anyOf: [schema, { type: 'null' }] })
  return Type.Unsafe<Static<S> | null>({ ...rest, type: [type, 'null'], ...(values && { enum: [...values, null] }) })
}

export const listOf = <S extends TSchema>(items: S, maxItems: number, options: Record<string, unknown> = {}) =>
  Type.Array(items, { maxItems, ...options })

/** Query part of every listing. `limit` out of range is refused, never clamped. */
export const pageQuery = {
  limit: Type.Optional(integer(1, 200, { default: 50, description: 'How many items a page holds.' })),
  cursor: Type.Optional(
    text(1000, { description: 'next_cursor of the previous page, with the same filters.', examples: [] }),
  ),
}

export const pageOf = <S extends TSchema>(item: S) =>
  closed({
    items: Type.Array(item),
    next_cursor: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'Send it as cursor to read on; null on the last page.',
    }),
  })

export const ExpectedRevision = Type.Optional(
  integer(1, Number.MAX_SAFE_INTEGER, { description: 'Refuse the change (409) unless this is the current revision.' }),
)
