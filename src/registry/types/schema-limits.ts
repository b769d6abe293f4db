/**
 * The subset of JSON Schema 2020-12 a dataset type may use. Keywords that the validator would evaluate wrongly, ignore or never
 * finish are refused with their pointer.
 */
import { escapeStep, isObject } from '../content/json-pointer.ts'
import { findPatternFault } from './pattern.ts'
import { PatternBudget } from './pattern-size.ts'
import { iterateSubschemas, SchemaTree } from './schema-tree.ts'
import { FORMATS } from './schema-validator.ts'

/** A fault at a pointer, with a message for people. */
export interface Fault {
  readonly code: string
  /** JSON pointer. */
  readonly pointer: string
  readonly message: string
}

export const MAX_SCHEMA_BYTES = 64 * 1024
export const MAX_SCHEMA_DEPTH = 20
export const MAX_SUBSCHEMAS = 500
const DIALECT = 'https://json-schema.org/draft/2020-12/schema'

const KNOWN = new Set(
  `$schema $id $ref $anchor $defs $comment
   properties patternProperties additionalProperties propertyNames dependentSchemas dependentRequired required
   minProperties maxProperties prefixItems items contains minContains maxContains minItems maxItems uniqueItems
   allOf anyOf oneOf not if then else type enum const
   multipleOf minimum exclusiveMinimum maximum exclusiveMaximum minLength maxLength pattern format
   contentEncoding contentMediaType contentSchema
   title description default deprecated readOnly writeOnly examples`.split(/\s+/),
)

const REFUSED: Readonly<Record<string, string>> = {
  $dynamicRef: 'use "$ref" with a local reference',
  $dynamicAnchor: 'use "$anchor"',
  $recursiveRef: 'use "$ref" with a local reference',
  $recursiveAnchor: 'use "$anchor"',
  $vocabulary: 'a type does not define vocabularies',
  unevaluatedItems: 'use "items": false after "prefixItems"',
  unevaluatedProperties: 'use "additionalProperties": false and name all members in "properties"',
  definitions: 'use "$defs"',
  dependencies: 'use "dependentRequired" or "dependentSchemas"',
  additionalItems: 'use "items" after "prefixItems"',
}

/** Keywords that Ajv ignores or refuses without another keyword. */
const NEEDS: Readonly<Record<string, readonly string[]>> = {
  then: ['if'],
  else: ['if'],
  if: ['then', 'else'],
  minContains: ['contains'],
  maxContains: ['contains'],
}

/** All faults of the schema, with pointers from its root; without any, the validator conforms to the standard. */
export function findLimitFaults(schema: unknown): Fault[] {
  const size = findSizeFault(schema)
  if (size) return [size]
  const faults: Fault[] = []
  let subschemas = 0

  const walk = (node: unknown, pointer: string, depth: number): void => {
    subschemas++
    if (subschemas > MAX_SUBSCHEMAS) return
    if (depth > MAX_SCHEMA_DEPTH) {
      faults.push({
        code: 'schema_too_deep',
        pointer,
        message: `Schemas may be nested ${MAX_SCHEMA_DEPTH} levels deep; this one lies deeper.`,
      })
      return
    }
    if (typeof node === 'boolean') return
    if (!isObject(node)) {
      faults.push({ code: 'schema_invalid', pointer, message: 'A schema is an object, true or false.' })
      return
    }
    for (const keyword of Object.keys(node)) {
      const found = findKeywordFault(keyword, node, pointer === '')
      if (found) faults.push({ ...found, pointer: `${pointer}/${escapeStep(keyword)}${found.pointer}` })
    }
    for (const [step, subschema] of iterateSubschemas(node)) walk(subschema, pointer + step, depth + 1)
  }
  walk(schema, '', 0)

  if (subschemas > MAX_SUBSCHEMAS) {
    const message = `A type may have ${MAX_SUBSCHEMAS} subschemas; this one has more.`
    return [{ code: 'schema_too_large', pointer: '', message }]
  }
  return faults.length > 0 ? faults : findReferenceFaults(schema)
}

/**
 * The first pattern that would take long to compile, found without compiling any. For schemas that are checked outside of a bounded
 * thread; stored types and contracts are not held to it.
 */
export function findPatternLimitFault(schema: unknown): Fault | null {
  const size = findSizeFault(schema)
  if (size) return size
  const budget = new PatternBudget()
  let subschemas = 0
  const walk = (node: unknown, pointer: string, depth: number): Fault | null => {
    if (++subschemas > MAX_SUBSCHEMAS || depth > MAX_SCHEMA_DEPTH || !isObject(node)) return null
    const { pattern, patternProperties } = node
    const places: [pattern: string, pointer: string][] = typeof pattern === 'string' ? [[pattern, '/pattern']] : []
    if (isObject(patternProperties)) {
      for (const name of Object.keys(patternProperties)) places.push([name, `/patternProperties/${escapeStep(name)}`])
    }
    for (const [text, at] of places) {
      const reason = budget.add(text)
      if (reason !== null) {
        return { code: 'pattern_refused', pointer: `${pointer}${at}`, message: `The pattern ${reason}.` }
      }
    }
    for (const [step, subschema] of iterateSubschemas(node)) {
      const fault = walk(subschema, pointer + step, depth + 1)
      if (fault) return fault
    }
    return null
  }
  return walk(schema, '', 0)
}

function findSizeFault(schema: unknown): Fault | null {
  const bytes = Buffer.byteLength(JSON.stringify(schema) ?? '')
  if (bytes <= MAX_SCHEMA_BYTES) return null
  const message = `A type's schema may have ${MAX_SCHEMA_BYTES / 1024} KiB; this one has ${Math.ceil(bytes / 1024)}.`
  return { code: 'schema_too_large', pointer: '', message }
}

/** The fault of one keyword; the pointer is relative to the keyword. */
function findKeywordFault(keyword: string, schema: Record<string, unknown>, isRoot: boolean): Fault | null {
  const value = schema[keyword]
  const refuse = (code: string, message: string, pointer = ''): Fault => ({ code, pointer, message })
  if (Object.hasOwn(REFUSED, keyword)) {
    return refuse('keyword_refused', `"${keyword}" is not supported: ${REFUSED[keyword]}.`)
  }
  if (!KNOWN.has(keyword)) return refuse('keyword_unknown', `"${keyword}" is not a keyword of JSON Schema 2020-12.`)
  const needs = NEEDS[keyword]
  if (needs && !needs.some((other) => Object.hasOwn(schema, other))) {
    return refuse('keyword_ignored', `"${keyword}" says nothing without "${needs.join('" or "')}".`)
  }
  switch (keyword) {
    case '$schema':
      if (isRoot && (value === DIALECT || value === `${DIALECT}#`)) return null
      return refuse('keyword_refused', `"$schema" may only stand at the top and say ${DIALECT}.`)
    case '$id':
      return isRoot ? null : refuse('keyword_refused', 'A nested "$id" is not supported: use "$anchor" or a pointer.')
    case '$ref':
      if (typeof value === 'string' && value.startsWith('#')) return null
      return refuse('ref_not_local', '"$ref" may only point into the same schema: "#/$defs/…".')
    case 'enum':
      return Array.isArray(value) && value.length === 0 ? refuse('enum_empty', 'An empty "enum" allows nothing.') : null
    case 'format':
      if (FORMATS.includes(value as string)) return null
      return refuse('format_unknown', `${JSON.stringify(value)} is not a known format; known: ${FORMATS.join(', ')}.`)
    case 'pattern':
      return typeof value === 'string' ? checkPattern(value, '') : null
    case 'properties':
    case 'patternProperties':
    case 'dependentSchemas':
    case '$defs':
      return isObject(value) ? findMapFault(keyword, value) : null
    default:
      return null
  }
}

function findMapFault(keyword: string, map: Record<string, unknown>): Fault | null {
  for (const name of Object.keys(map)) {
    const pointer = `/${escapeStep(name)}`
    if (name === '__proto__') {
      return { code: 'name_refused', pointer, message: 'A member cannot be called "__proto__".' }
    }
    const fault = keyword === 'patternProperties' ? checkPattern(name, pointer) : null
    if (fault) return fault
  }
  return null
}

function checkPattern(pattern: string, pointer: string): Fault | null {
  const reason = findPatternFault(pattern)
  if (reason === null) return null
  const message = `The pattern cannot be matched in linear time (RE2: no look-around, no back-references): ${reason}.`
  return { code: 'pattern_refused', pointer, message }
}

function findReferenceFaults(schema: unknown): Fault[] {
  const tree = new SchemaTree(schema)
  const faults: Fault[] = []
  for (const [pointer, node] of tree.nodes) {
    if (!isObject(node) || typeof node['$ref'] !== 'string' || tree.resolve(node['$ref']) !== undefined) continue
    const message = `"${node['$ref']}" does not name a schema in this document.`
    faults.push({ code: 'ref_unresolved', pointer: `${pointer}/$ref`, message })
  }
  if (faults.length > 0) return faults
  const endless = tree.findEndlessRef()
  if (endless === null) return []
  return [{ code: 'ref_endless', pointer: endless, message: 'This schema refers to itself without end.' }]
}
