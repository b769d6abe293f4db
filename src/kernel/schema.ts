/**
 * Building blocks of the wire contract. Schemas are JSON Schema: the validator enforces them and the OpenAPI document contains
 * them. Every input object is closed, every string has a maximum length and no NUL, every integer has bounds.
 */
import Type, { type Static, type TObject, type TProperties, type TSchema, type TUnsafe } from 'typebox'

export type { Static, TSchema }
export { Type }

/** A closed object: unknown members are refused, not ignored. */
export const closed = <P extends TProperties>(properties: P, options: Record<string, unknown> = {}): TObject<P> =>
  Type.Object(properties, { additionalProperties: false, ...options })

const storablePattern = '^[^\\u0000]*$'

/** Free text. PostgreSQL cannot store U+0000, so the schema refuses it. */
export const text = (max: number, options: Record<string, unknown> = {}) =>
  Type.String({ minLength: 1, maxLength: max, pattern: storablePattern, ...options })

/** Spaces, control and format characters, and everything else that is invisible. */
const invisible = '\\s\\p{Cc}\\p{Cf}\\p{DI}\\u2800'
const visibleTextPattern = `^(?=[${invisible}]*[^${invisible}])[^\\u0000]*$`
const hasVisible = new RegExp(visibleTextPattern, 'u')

export const hasVisibleText = (value: string): boolean => hasVisible.test(value)

/** A reason given by a person must not be blank. */
export const reasonText = (max: number, options: Record<string, unknown> = {}) =>
  text(max, { pattern: visibleTextPattern, ...options })

const titlePattern = `^(?=[${invisible}]*[^${invisible}])[^\\u0000\\u202a-\\u202e\\u2066-\\u2069]*$`

const isTitle = new RegExp(titlePattern, 'u')

export const isTitleText = (value: string): boolean => isTitle.test(value)

/** A name that is shown in lists and questions: it is not blank and cannot change how the text beside it reads. */
export const titleText = (max: number, options: Record<string, unknown> = {}) =>
  text(max, { pattern: titlePattern, ...options })

const uuidPattern = '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$'
export const Id = (options: Record<string, unknown> = {}) =>
  Type.String({
    format: 'uuid',
    pattern: uuidPattern,
    minLength: 36,
    maxLength: 36,
    ...options,
  })

/** Of an answer: the console shows a padlock on every view of what has it. */
export const RestrictionInForce = () =>
  nullable(Id({ description: 'The restriction that hides this from people without access; null: none is in force.' }))

export const slugPattern = '^[a-z0-9][a-z0-9_-]{0,99}$'
export const Slug = (options: Record<string, unknown> = {}) =>
  Type.String({ pattern: slugPattern, maxLength: 100, ...options })

const familyPattern = '^[a-z][a-z0-9-]{0,39}$'
/** A row of app.definition_family: modules declare kinds of definitions, so a contract never lists them. */
export const Family = (options: Record<string, unknown> = {}) =>
  Type.String({ pattern: familyPattern, maxLength: 40, ...options })
/** The API documentation adds the declared families. */
export const DefinitionFamily = Family({ title: 'DefinitionFamily', description: 'Kind of versioned definition.' })

const timestampPattern = '^[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{1,6})?Z$'
/**
 * RFC 3339 in UTC, from the year 1000: PostgreSQL has no year 0. Input must end in Z: an offset would be normalised, and the
 * reply would differ from the request.
 */
export const Timestamp = (options: Record<string, unknown> = {}) =>
  Type.String({
    format: 'date-time',
    pattern: timestampPattern,
    maxLength: 27,
    ...options,
  })

const datePattern = '^[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}$'
export const CalendarDate = (options: Record<string, unknown> = {}) =>
  Type.String({ format: 'date', pattern: datePattern, maxLength: 10, ...options })

const timestampHint = 'must be an instant in UTC such as 2026-01-31T09:30:00Z'
const dateHint = 'must be a date such as 2026-01-31'
const uuidHint = 'must be an identifier such as 0190d7a0-5b1c-7c3e-9f2a-1b2c3d4e5f60, in lower case'

/** What a message says instead of the name of a format or a regular expression. */
export const formatHints: ReadonlyMap<string, string> = new Map([
  ['date-time', timestampHint],
  ['date', dateHint],
  ['uuid', uuidHint],
])
export const patternHints: ReadonlyMap<string, string> = new Map([
  [storablePattern, 'may not hold U+0000'],
  [visibleTextPattern, 'must hold at least one visible character, and no U+0000'],
  [titlePattern, 'must hold at least one visible character, and none that changes the direction of text'],
  [timestampPattern, timestampHint],
  [datePattern, dateHint],
  [uuidPattern, uuidHint],
  ['^[A-Z]{3}$', 'must be three upper-case letters such as EUR'],
  ['^[A-Z][A-Z0-9_]*$', 'must be upper-case letters, digits and _, and begin with a letter'],
  ['^[A-Za-z][A-Za-z0-9_]{0,99}$', 'must be 1 to 100 letters, digits and _, and begin with a letter'],
  [
    '^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$',
    'must be 1 to 100 letters, digits, ., _ and -, and begin with a letter or digit',
  ],
  ['^[0-9]{1,9}(\\.[0-9]{1,2})?$', 'must be an amount as text, such as 2.50'],
  [slugPattern, 'must have 1 to 100 lower-case letters, digits, - and _, and begin with a letter or digit'],
])

export const integer = (minimum: number, maximum: number, options: Record<string, unknown> = {}) =>
  Type.Integer({ minimum, maximum, ...options })

export const Count = integer(0, Number.MAX_SAFE_INTEGER)
export const Revision = integer(1, Number.MAX_SAFE_INTEGER, {
  description:
    'Increases by one with each change. Send it as expected_revision, or its ETag as If-Match, to change safely.',
})

export const oneOf = <const V extends readonly string[]>(values: V, options: Record<string, unknown> = {}) =>
  Type.Unsafe<V[number]>({ type: 'string', enum: [...values], ...options })

/**
 * `type: [T, 'null']` rather than anyOf: shorter in the document, clearer in error messages. A schema with a title is a
 * component and is not changed.
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
