/**
 * A type's JSON Schema as a tree: its subschemas by pointer, local references resolved, and facts about a member of an entry
 * (declared, required, of which kinds). It does not validate schemas.
 */
import { escapeStep, formatPointer, isObject, parsePointer } from '../content/json-pointer.ts'

export type SchemaObject = Readonly<Record<string, unknown>>

const ONE_SCHEMA = [
  'items',
  'contains',
  'additionalProperties',
  'propertyNames',
  'if',
  'then',
  'else',
  'not',
  'contentSchema',
] as const
const SCHEMA_LIST = ['allOf', 'anyOf', 'oneOf', 'prefixItems'] as const
const SCHEMA_MAP = ['properties', 'patternProperties', 'dependentSchemas', '$defs'] as const

/** The direct subschemas of a schema, each with its pointer from there. */
export function* iterateSubschemas(schema: SchemaObject): Generator<[pointer: string, subschema: unknown]> {
  for (const keyword of ONE_SCHEMA) {
    if (Object.hasOwn(schema, keyword)) yield [`/${keyword}`, schema[keyword]]
  }
  for (const keyword of SCHEMA_LIST) {
    const list = schema[keyword]
    if (Array.isArray(list)) yield* list.map((item, at): [string, unknown] => [`/${keyword}/${at}`, item])
  }
  for (const keyword of SCHEMA_MAP) {
    const map = schema[keyword]
    if (!isObject(map)) continue
    for (const name of Object.keys(map)) yield [`/${keyword}/${escapeStep(name)}`, map[name]]
  }
}

/** Subschemas that may apply to the same value as the schema itself. */
function* iterateBranches(schema: SchemaObject): Generator<unknown> {
  for (const keyword of ['anyOf', 'oneOf'] as const) {
    if (Array.isArray(schema[keyword])) yield* schema[keyword]
  }
  for (const keyword of ['if', 'then', 'else'] as const) {
    if (Object.hasOwn(schema, keyword)) yield schema[keyword]
  }
  if (isObject(schema['dependentSchemas'])) yield* Object.values(schema['dependentSchemas'])
}

export type Kind = 'string' | 'number' | 'boolean' | 'null' | 'object' | 'array'
const ALL_KINDS: readonly Kind[] = ['string', 'number', 'boolean', 'null', 'object', 'array']

export function getKind(value: unknown): Kind {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value as Kind
}

/** Facts about one member. */
export interface SchemaMember {
  /** Every schema that is declared for it. */
  readonly schemas: readonly SchemaObject[]
  /** Required in every parent. */
  readonly required: boolean
}

export class SchemaTree {
  readonly root: unknown
  /** Subschemas by their pointer; the root is ''. */
  readonly nodes = new Map<string, unknown>()
  private readonly pointers = new Map<unknown, string>()
  private readonly anchors = new Map<string, unknown>()

  constructor(root: unknown) {
    this.root = root
    this.collect(root, '')
  }

  private collect(node: unknown, pointer: string): void {
    this.nodes.set(pointer, node)
    if (!isObject(node)) return
    this.pointers.set(node, pointer)
    if (typeof node['$anchor'] === 'string') this.anchors.set(node['$anchor'], node)
    for (const [step, subschema] of iterateSubschemas(node)) this.collect(subschema, pointer + step)
  }

  pointerTo(node: SchemaObject): string {
    return this.pointers.get(node) ?? ''
  }

  /** The target of a local `$ref`; undefined when there is none or the target is not a schema. */
  resolve(ref: string): unknown {
    if (!ref.startsWith('#')) return undefined
    let fragment: string
    try {
      fragment = decodeURIComponent(ref.slice(1))
    } catch {
      return undefined
    }
    return fragment === '' || fragment.startsWith('/') ? this.nodes.get(fragment) : this.anchors.get(fragment)
  }

  /** The schema and those that always apply with it: references and allOf. */
  getFacets(node: unknown, seen = new Set<SchemaObject>()): SchemaObject[] {
    if (!isObject(node) || seen.has(node)) return [...seen]
    seen.add(node)
    if (typeof node['$ref'] === 'string') this.getFacets(this.resolve(node['$ref']), seen)
    if (Array.isArray(node['allOf'])) for (const part of node['allOf']) this.getFacets(part, seen)
    return [...seen]
  }

  /** The facets and every possible alternative. */
  collectReachable(node: unknown, seen = new Set<SchemaObject>()): SchemaObject[] {
    for (const facet of this.getFacets(node)) {
      if (seen.has(facet)) continue
      seen.add(facet)
      for (const branch of iterateBranches(facet)) this.collectReachable(branch, seen)
    }
    return [...seen]
  }

  /** Facts about member `name` of a value that is valid for all of `nodes`. */
  getMember(nodes: readonly unknown[], name: string): SchemaMember {
    const facets = nodes.flatMap((node) => this.getFacets(node))
    return {
      schemas: facets.flatMap((facet) => getDeclared(facet, name)),
      required: facets.some(({ required }) => Array.isArray(required) && required.includes(name)),
    }
  }

  /** The member at a pointer, following only unconditional schemas; null when the schema does not declare it. */
  findMember(pointer: string): SchemaMember | null {
    let member: SchemaMember = { schemas: isObject(this.root) ? [this.root] : [], required: true }
    for (const step of parsePointer(pointer)) {
      const next = this.getMember(member.schemas, step)
      if (next.schemas.length === 0) return null
      member = { schemas: next.schemas, required: member.required && next.required }
    }
    return member
  }

  /** Schemas at a field pointer, including alternatives; `*` is any element of an array. */
  findFieldSchemas(pointer: string): readonly SchemaObject[] {
    let schemas: readonly unknown[] = [this.root]
    for (const step of parsePointer(pointer)) {
      const reach = schemas.flatMap((schema) => this.collectReachable(schema))
      const named = reach.flatMap((schema) => getDeclared(schema, step))
      schemas = named.length === 0 && step === '*' ? reach.flatMap(listElementSchemas) : named
    }
    return schemas.filter(isObject)
  }

  /** Kinds of value that may be valid for the schema; in doubt a kind is included. */
  getKinds(node: unknown): Set<Kind> {
    if (node === false) return new Set()
    let kinds = new Set(ALL_KINDS)
    const only = (allowed: Set<Kind>): void => {
      kinds = new Set([...kinds].filter((kind) => allowed.has(kind)))
    }
    for (const facet of this.getFacets(node)) {
      const { type, enum: values } = facet
      if (type !== undefined) only(new Set([type].flat().map((name) => (name === 'integer' ? 'number' : name) as Kind)))
      if (Array.isArray(values)) only(new Set(values.map(getKind)))
      if (Object.hasOwn(facet, 'const')) only(new Set([getKind(facet['const'])]))
      for (const keyword of ['anyOf', 'oneOf'] as const) {
        const branches = facet[keyword]
        if (Array.isArray(branches)) only(new Set(branches.flatMap((branch) => [...this.getKinds(branch)])))
      }
    }
    return kinds
  }

  /** Kinds of value that may be valid for all of the schemas. */
  getCommonKinds(schemas: readonly unknown[]): Set<Kind> {
    const each = schemas.map((schema) => this.getKinds(schema))
    return new Set(ALL_KINDS.filter((kind) => each.every((kinds) => kinds.has(kind))))
  }

  /** A `$ref` cycle that does not descend into the value, or null: its validation would never end. */
  findEndlessRef(): string | null {
    const state = new Map<unknown, 'open' | 'done'>()
    const visit = (node: unknown): string | null => {
      if (!isObject(node) || state.get(node) === 'done') return null
      if (state.get(node) === 'open') return this.pointerTo(node)
      state.set(node, 'open')
      const inPlace = [...iterateBranches(node), ...(Array.isArray(node['allOf']) ? node['allOf'] : []), node['not']]
      if (typeof node['$ref'] === 'string') inPlace.push(this.resolve(node['$ref']))
      for (const next of inPlace) {
        const found = visit(next)
        if (found !== null) return found
      }
      state.set(node, 'done')
      return null
    }
    for (const node of this.nodes.values()) {
      const found = visit(node)
      if (found !== null) return found
    }
    return null
  }
}

function getDeclared(schema: SchemaObject, name: string): SchemaObject[] {
  const properties = schema['properties']
  if (!isObject(properties) || !Object.hasOwn(properties, name)) return []
  const member = properties[name]
  // `true` declares the member without constraints.
  return isObject(member) ? [member] : member === true ? [{}] : []
}

function listElementSchemas(schema: SchemaObject): unknown[] {
  const { items, prefixItems } = schema
  return [...(isObject(items) ? [items] : []), ...(Array.isArray(prefixItems) ? prefixItems : [])]
}

// `/aliases/3/name` as field pointers are written, with `*` for the position.
export const toFieldPointer = (steps: readonly string[]): string =>
  formatPointer(steps.map((step) => (/^(?:0|[1-9][0-9]*)$/.test(step) ? '*' : step)))
