/**
 * The definition of a dataset type: the schema of one entry, its business key, rules over the whole list and the meaning of fields.
 * `checkDefinition` returns all faults; a definition may be compiled only when there are none.
 */
import { findSchemaErrors } from '#kernel/http/validation.ts'
import { closed, integer, listOf, oneOf, Slug, type Static, Type, text } from '#kernel/schema.ts'
import { compileType } from './compile-type.ts'
import { type Fault, findLimitFaults } from './schema-limits.ts'
import { type Kind, SchemaTree } from './schema-tree.ts'
import { findMetaSchemaErrors } from './schema-validator.ts'

export type { Fault }

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

/** All faults of a definition with their pointers; empty when it is valid. */
export function checkDefinition(definition: unknown): Fault[] {
  const shape = findSchemaErrors('body', TypeDefinitionSchema, definition)
  if (shape.length > 0) {
    return shape.map(({ pointer, detail }) => ({
      code: 'definition_invalid',
      pointer: pointer?.slice(1) ?? '',
      message: `${detail}.`,
    }))
  }
  const def = definition as TypeDefinition
  const schema = findSchemaFaults(def.schema)
  if (schema.length > 0) return schema

  const tree = new SchemaTree(def.schema)
  const members = [
    ...findKeyFaults(def, tree),
    ...findTrimFaults(def, tree),
    ...findFieldFaults(def, tree),
    ...findRuleFaults(def, tree),
  ]
  return members.length > 0 ? members : findExampleFaults(def)
}

function findSchemaFaults(schema: Record<string, unknown>): Fault[] {
  const limits = findLimitFaults(schema).map((fault) => ({ ...fault, pointer: `/schema${fault.pointer}` }))
  if (limits.length > 0) return limits
  const meta = findMetaSchemaErrors(schema).map(({ instancePath, message }) => ({
    code: 'schema_invalid',
    pointer: `/schema${instancePath}`,
    message: `This is not valid JSON Schema 2020-12: ${message ?? 'it breaks the meta-schema'}.`,
  }))
  if (meta.length > 0) return meta
  if (hasOnlyKinds(new SchemaTree(schema).getKinds(schema), ['object'])) return []
  const message = 'An entry is an object: the schema must say "type": "object".'
  return [{ code: 'schema_not_object', pointer: '/schema/type', message }]
}

const hasOnlyKinds = (kinds: ReadonlySet<Kind>, allowed: readonly Kind[]): boolean =>
  kinds.size > 0 && [...kinds].every((kind) => allowed.includes(kind))

function findKeyFaults(def: TypeDefinition, tree: SchemaTree): Fault[] {
  return def.key_pointers.flatMap((key, index) => {
    const refuse = (code: string, message: string): Fault[] => [{ code, pointer: `/key_pointers/${index}`, message }]
    const member = tree.findMember(key)
    if (!member) return refuse('key_missing', `The schema declares no member ${key} in every entry.`)
    if (!member.required) return refuse('key_not_required', `${key} is part of the key, so it must be required.`)
    if (hasOnlyKinds(tree.getCommonKinds(member.schemas), ['string', 'number', 'boolean'])) return []
    return refuse('key_not_scalar', `${key} is part of the key: its type must be string, number, integer or boolean.`)
  })
}

function findTrimFaults({ trim }: TypeDefinition, tree: SchemaTree): Fault[] {
  if (!Array.isArray(trim)) return []
  return trim.flatMap((pointer, index) => {
    const schemas = tree.findFieldSchemas(pointer)
    const refuse = (message: string): Fault[] => [{ code: 'trim_invalid', pointer: `/trim/${index}`, message }]
    if (schemas.length === 0) return refuse(`The schema declares no member ${pointer}.`)
    return schemas.some((schema) => tree.getKinds(schema).has('string')) ? [] : refuse(`${pointer} is never a text.`)
  })
}

function findFieldFaults(def: TypeDefinition, tree: SchemaTree): Fault[] {
  return Object.entries(def.fields).flatMap(([pointer, field]) => {
    const at = `/fields/${pointer.replaceAll('~', '~0').replaceAll('/', '~1')}`
    const schemas = tree.findFieldSchemas(pointer)
    if (schemas.length === 0) {
      return [{ code: 'field_unknown', pointer: at, message: `The schema declares no member ${pointer}.` }]
    }
    const message = findOrderFault(field, schemas, tree)
    return [
      ...(message === null ? [] : [{ code: 'order_invalid', pointer: `${at}/order`, message }]),
      ...findFormFaults(field, schemas, tree).map((fault) => ({ ...fault, pointer: `${at}${fault.pointer}` })),
    ]
  })
}

/** A form that does not fit the kind of value would have no effect. */
function findFormFaults(field: FieldDefinition, schemas: readonly unknown[], tree: SchemaTree): Fault[] {
  const isAlways = (kind: Kind) => schemas.every((schema) => hasOnlyKinds(tree.getKinds(schema), [kind, 'null']))
  const code = 'form_invalid'
  const faults: Fault[] = []
  if (field.set && !isAlways('array')) faults.push({ code, pointer: '/set', message: '"set" is for arrays.' })
  if (field.whitespace !== undefined && !isAlways('string')) {
    faults.push({ code, pointer: '/whitespace', message: '"whitespace" is for texts.' })
  }
  return faults
}

function findOrderFault(
  field: FieldDefinition,
  schemas: readonly Readonly<Record<string, unknown>>[],
  tree: SchemaTree,
) {
  const { order } = field
  if (order === undefined) return null
  if (!Array.isArray(order)) {
    const numeric = schemas.every((schema) => hasOnlyKinds(tree.getKinds(schema), ['number', 'null']))
    return numeric ? null : `"${order}" is for numbers.`
  }
  const lists = schemas
    .flatMap((schema) => tree.getFacets(schema))
    .flatMap(({ enum: values }) => (values ? [values] : []))
  const values = new Set(lists.flat().filter((value) => value !== null))
  if (values.size === 0) return 'An order by values needs an "enum" in the schema.'
  const missing = [...values].filter((value) => !order.includes(value as string))
  const extra = order.filter((value) => !values.has(value))
  if (missing.length > 0) return `The order leaves out ${missing.map((value) => JSON.stringify(value)).join(', ')}.`
  return extra.length > 0
    ? `The schema does not allow ${extra.map((value) => JSON.stringify(value)).join(', ')}.`
    : null
}

function findRuleFaults(def: TypeDefinition, tree: SchemaTree): Fault[] {
  const { min_items, max_items, unique = [], contiguous } = def.list_rules
  const faults: Fault[] = []
  const refuse = (pointer: string, message: string): void => {
    faults.push({ code: 'list_rule_invalid', pointer: `/list_rules${pointer}`, message })
  }
  if (min_items !== undefined && max_items !== undefined && min_items > max_items) {
    refuse('/max_items', 'max_items is less than min_items.')
  }
  unique.forEach((pointers, set) => {
    pointers.forEach((pointer, index) => {
      if (tree.findFieldSchemas(pointer).length > 0 && !pointer.split('/').includes('*')) return
      refuse(`/unique/${set}/${index}`, `The schema declares no member ${pointer}.`)
    })
  })
  if (!contiguous) return faults
  for (const side of ['from', 'to'] as const) {
    const schemas = tree.findFieldSchemas(contiguous[side])
    const numeric =
      schemas.length > 0 && schemas.every((schema) => hasOnlyKinds(tree.getKinds(schema), ['number', 'null']))
    if (!numeric) refuse(`/contiguous/${side}`, `${contiguous[side]} must be declared as a number.`)
  }
  return faults
}

function findExampleFaults(def: TypeDefinition): Fault[] {
  let compiled: ReturnType<typeof compileType>
  try {
    compiled = compileType(def)
  } catch (error) {
    const message = `The validator refuses the schema: ${error instanceof Error ? error.message : String(error)}.`
    return [{ code: 'schema_refused', pointer: '/schema', message }]
  }
  return def.examples.flatMap((example, index) =>
    (compiled.validate(compiled.normalise(example)) ?? []).map(({ pointer, message }) => ({
      code: 'example_invalid',
      pointer: `/examples/${index}${pointer}`,
      message,
    })),
  )
}
