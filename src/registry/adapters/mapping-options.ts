/**
 * Schema of mapping options: columns or members with a target pointer, constants, defaults, elements of arrays, and which records
 * are joined into one entry.
 */
import { closed, integer, listOf, oneOf, type Static, Type, text } from '#kernel/schema.ts'
import { dateFormatPattern } from './dates.ts'
import { kinds, type MappingRules } from './mapping-values.ts'

const Pointer = (description: string) => Type.String({ pattern: '^(/([^~/]|~0|~1)+)+$', maxLength: 500, description })

const MemberPointer = Pointer(
  'JSON pointer of the member of the entry, such as /name or /address/city. /nationalities/- appends to an array.',
)

const words = (description: string) => listOf(Type.String({ maxLength: 100 }), 50, { description })

const anyValue = [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }, { type: 'array' }, { type: 'object' }]

const valueOptions = {
  kind: Type.Optional(oneOf(kinds, { default: 'text', description: 'What the value is.' })),
  formats: Type.Optional(
    listOf(Type.String({ pattern: dateFormatPattern, maxLength: 20 }), 10, {
      description: 'Formats a date may have, tried in this order, such as DD/MM/YYYY. Default: YYYY-MM-DD.',
    }),
  ),
  decimal_separator: Type.Optional(oneOf(['.', ','], { default: '.' })),
  true_values: Type.Optional(words('What a boolean writes for true. Default: true, yes, y, 1, x, in any case.')),
  false_values: Type.Optional(words('What a boolean writes for false. Default: false, no, n, 0, in any case.')),
  null_values: Type.Optional(words('What stands for no value in this column, instead of null_values of the source.')),
  values: Type.Optional(
    Type.Unsafe<Record<string, string>>({
      type: 'object',
      additionalProperties: { type: 'string', maxLength: 1000 },
      maxProperties: 1000,
      description: 'Translates texts, such as {"P": "person"}, before they are read. Others stay as they are.',
    }),
  ),
  required: Type.Optional(Type.Boolean({ default: false, description: 'Reject a record without this value.' })),
  default: Type.Optional(
    Type.Unsafe<unknown>({
      anyOf: anyValue,
      description: 'The value of a record that has none here. An empty text lets one part of a key be empty.',
    }),
  ),
  split: Type.Optional(
    text(10, {
      description: 'Separator of several values in one cell, such as ";". Each is trimmed; together they are an array.',
    }),
  ),
}

export const ColumnMapping = closed({
  column: Type.Union([text(500), integer(1, 16_384)], { description: 'Header of the column, or its number from 1.' }),
  pointer: MemberPointer,
  optional: Type.Optional(Type.Boolean({ default: false, description: 'The source may lack this column.' })),
  ...valueOptions,
})
export type ColumnMapping = Static<typeof ColumnMapping>

export const MemberMapping = closed({
  from: Type.String({ pattern: '^(/([^~/]|~0|~1)*)+$', maxLength: 500, description: 'JSON pointer into the record.' }),
  pointer: MemberPointer,
  ...valueOptions,
  // No default here: without a kind a member keeps its JSON type.
  kind: Type.Optional(oneOf(kinds, { description: 'What the value is. Default: as it is in the record.' })),
})
export type MemberMapping = Static<typeof MemberMapping>

const Constants = (description: string) =>
  Type.Unsafe<Record<string, unknown>>({ type: 'object', maxProperties: 200, description })

const elementOptions = {
  pointer: Pointer('JSON pointer of the array of the entry that the elements are appended to, such as /names.'),
  constants: Type.Optional(Constants('Members every one of these elements has, such as {"kind": "alias"}.')),
}
const ELEMENTS =
  'Elements of arrays, each made of several values. A record gives one, or one for each part where a value is split; none where ' +
  'all its values are empty. Pointers are those of the element.'

/** Elements of arrays, made of columns. */
export const columnElements = Type.Optional(
  listOf(closed({ ...elementOptions, columns: listOf(ColumnMapping, 50, { minItems: 1 }) }), 50, {
    description: ELEMENTS,
  }),
)
/** Elements of arrays, made of members of the record. */
export const memberElements = Type.Optional(
  listOf(closed({ ...elementOptions, members: listOf(MemberMapping, 50, { minItems: 1 }) }), 50, {
    description: ELEMENTS,
  }),
)

/** Options every mapped source shares. */
export const mappingOptions = {
  null_values: Type.Optional(words('What stands for no value. Default: only the empty text. NA is Namibia, not null.')),
  trim: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Drop white space around texts, whatever the type says. By default the type decides.',
    }),
  ),
  constants: Type.Optional(Constants('Members every entry has, such as {"source": "own-list", "titles": []}.')),
  group_rows: Type.Optional(
    closed(
      {
        by: listOf(Pointer('JSON pointer of a member of the entry.'), 5, { minItems: 1, uniqueItems: true }),
        adjacent: Type.Optional(
          Type.Boolean({
            default: false,
            description: 'Rows of one entry follow each other. Needed for sources too large to be held.',
          }),
        ),
      },
      {
        description:
          'Records with equal values in these members become one entry: arrays are collected, equal elements once; other members ' +
          'must be equal or empty. A record that contradicts an earlier one is rejected, and its whole entry is left out.',
      },
    ),
  ),
}

export interface ElementMapping<M> {
  readonly pointer: string
  readonly constants?: Readonly<Record<string, unknown>> | undefined
  readonly columns?: readonly M[]
  readonly members?: readonly M[]
}

export interface EntryRules<M> extends MappingRules {
  readonly constants?: Readonly<Record<string, unknown>> | undefined
  readonly group_rows?: { readonly by: readonly string[]; readonly adjacent?: boolean | undefined } | undefined
  readonly elements?: readonly ElementMapping<M>[] | undefined
}
