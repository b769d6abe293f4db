/** Finds everything that is wrong with a dataset type. It may be compiled only when nothing is. */
import { findSchemaErrors } from '#kernel/http/validation.ts'
import { compileType } from './compile-type.ts'
import { type Fault, findLimitFaults } from './schema-limits.ts'
import { type Kind, SchemaTree } from './schema-tree.ts'
import { findMetaSchemaErrors } from './schema-validator.ts'
import { type FieldDefinition, type TypeDefinition, TypeDefinitionSchema } from './type-definition.ts'

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
