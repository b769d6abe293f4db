/**
 * Checks whether the declared type of a list field fits the condition that compares with it. Checks types only, never
 * values.
 */
import type { CompiledDefinition, Finding } from '#decision/model.ts'
import { formatPointer, isObject } from '#registry/content/json-pointer.ts'
import { type Kind, SchemaTree } from '#registry/types/schema-tree.ts'

type Reference = CompiledDefinition['references'][number]
type Compares = NonNullable<Reference['compares']>

/** Undefined when the type declares nothing against it; the value is then checked when it is bound. */
export function findDeclaredTypeFault(reference: Reference, schema: unknown): Finding | undefined {
  const { list_key, pointer, field, compares } = reference
  if (!compares || field === null) return undefined
  const tree = new SchemaTree(schema)
  const declared = tree.findMember(field.startsWith('/') ? field : formatPointer([field]))?.schemas ?? []
  if (declared.length === 0) return undefined
  const wanted = toExpectedType(compares)
  const kinds = [...tree.getCommonKinds(declared)].filter((kind) => kind !== 'null')
  const is_integer = declared.flatMap((each) => tree.getFacets(each)).some(isIntegerSchema)
  if (kinds.every((kind) => kind === wanted.kind) && (is_integer || wanted.kind !== 'number')) return undefined
  const said = is_integer ? 'a whole number' : kinds.map((kind) => WORDS[kind]).join(' or ')
  const hint = compares.type === 'decimal' && is_integer ? '; if it counts the smallest unit, write minor(…)' : ''
  const message = `The type of the list "${list_key}" declares "${field}" as ${said || 'nothing'}, but ${compares.title} is compared with ${wanted.words}${hint}.`
  return { code: 'test_type', pointer, message, severity: 'error' }
}

const WORDS: Readonly<Record<Kind, string>> = {
  string: 'a text',
  number: 'a number',
  boolean: 'true or false',
  null: 'nothing',
  object: 'an object',
  array: 'an array',
}

function toExpectedType({ type, minor }: Compares): { readonly kind: Kind; readonly words: string } {
  if (minor) return { kind: 'number', words: 'a whole number of its smallest unit' }
  switch (type) {
    case 'integer':
      return { kind: 'number', words: 'a whole number' }
    case 'boolean':
      return { kind: 'boolean', words: 'true or false' }
    case 'decimal':
      return { kind: 'string', words: 'a number as text, such as "12.50"' }
    case 'date':
      return { kind: 'string', words: 'a date as text' }
    case 'text':
      return { kind: 'string', words: 'a text' }
  }
}

function isIntegerSchema(schema: unknown): boolean {
  if (!isObject(schema)) return false
  const { type, enum: values, const: only } = schema
  const given = Array.isArray(values) ? values : only === undefined ? [] : [only]
  const types = [type].flat().filter((name) => name !== 'null')
  if (types.length > 0 && types.every((name) => name === 'integer')) return true
  return given.length > 0 && given.every((value) => value === null || Number.isInteger(value))
}
