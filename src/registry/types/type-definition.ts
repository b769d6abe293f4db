/** The definition of a dataset type: the schema of one entry, its business key, rules over the whole list and the meaning of fields. */
import { closed, integer, listOf, oneOf, Slug, type Static, Type, text } from '#kernel/schema.ts'

const Pointer = (options: Record<string, unknown> = {}) =>
  Type.String({ pattern: '^(?:/(?:[^~/\\u0000]|~[01])*)+$', minLength: 2, maxLength: 500, ...options })

const FieldSchema = closed({
  title: text(120, { description: 'What people call it; error messages use it.' }),
  unit: Type.Optional(text(40)),
  description: Type.Optional(text(2000)),
  order: Type.Optional(
    Type.Unsafe<string[] | 'higher_is_stricter' | 'lower_is_stricter'>({
      description: 'Which value is stricter: all values, least severe first, or the direction of a number.',
      anyOf: [
        {
          type: 'array',
          items: { type: 'string', maxLength: 200, pattern: '^[^\\u0000]*$' },
          minItems: 2,
          maxItems: 100,
          uniqueItems: true,
        },
        { type: 'string', enum: ['higher_is_stricter', 'lower_is_stricter'] },
      ],
    }),
  ),
  personal: Type.Optional(
    Type.Literal(true, { description: 'Personal data: its values are never repeated in messages.' }),
  ),
  set: Type.Optional(
    Type.Literal(true, {
      description:
        'An array whose order means nothing: its elements are kept sorted by their canonical text, equal ones once.',
    }),
  ),
  whitespace: Type.Optional(
    oneOf(['collapse'], {
      description: 'collapse: line breaks and runs of white space inside the text become one space.',
    }),
  ),
})

const bounds = { minimum: -1e15, maximum: 1e15 }

const ListRulesSchema = closed({
  min_items: Type.Optional(integer(0, 10_000_000)),
  max_items: Type.Optional(integer(0, 10_000_000)),
  unique: Type.Optional(
    listOf(listOf(Pointer(), 5, { minItems: 1 }), 10, {
      description: 'Sets of members that no two entries may have alike.',
    }),
  ),
  contiguous: Type.Optional(
    closed(
      {
        from: Pointer(),
        to: Pointer(),
        start: Type.Optional(Type.Number({ ...bounds, description: 'Where the first band begins.' })),
        end: Type.Optional(Type.Number({ ...bounds, description: 'Where the last band ends.' })),
        step: Type.Optional(
          Type.Number({
            minimum: 0,
            maximum: 1e15,
            description:
              'How far the next band begins after the end of the one before; 1 for whole numbers with both ends included. Default 0.',
          }),
        ),
      },
      { description: 'The entries are bands without gap or overlap.' },
    ),
  ),
})

export const TypeDefinitionSchema = closed({
  type_key: Slug(),
  type_version: integer(1, 1_000_000),
  title: text(200),
  description: text(4000),
  schema: Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    description: 'JSON Schema 2020-12 of one entry.',
  }),
  key_pointers: listOf(Pointer(), 5, {
    minItems: 1,
    uniqueItems: true,
    description: 'JSON pointers of the required scalar members that make the business key.',
  }),
  trim: Type.Optional(
    Type.Unsafe<true | string[]>({
      description:
        'Texts that lose the white space around them before an entry is checked, keyed and hashed: `true` for all, or their JSON ' +
        'pointers with `*` for any element of an array. Default: none. Members of the key always do.',
      anyOf: [{ type: 'boolean', const: true }, listOf(Pointer(), 500, { uniqueItems: true })],
    }),
  ),
  list_rules: ListRulesSchema,
  fields: Type.Unsafe<Record<string, Static<typeof FieldSchema>>>({
    type: 'object',
    description: 'By JSON pointer; `*` stands for any element of an array.',
    propertyNames: Pointer(),
    additionalProperties: FieldSchema,
    maxProperties: 500,
  }),
  examples: Type.Unsafe<Record<string, unknown>[]>({
    type: 'array',
    items: { type: 'object' },
    minItems: 1,
    maxItems: 50,
  }),
})

export type TypeDefinition = Static<typeof TypeDefinitionSchema>
export type FieldDefinition = Static<typeof FieldSchema>
export type ListRules = Static<typeof ListRulesSchema>
