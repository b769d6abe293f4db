/**
 * The members that a record's schema declares, by pointer, with everything that a record holds beside them. Nodes are made when a
 * record first has them; their number is bounded.
 */
import { escapeStep, isObject, parsePointer } from '#registry/content/json-pointer.ts'
import { compilePattern, type Matcher } from '#registry/types/pattern.ts'
import { SchemaTree } from '#registry/types/schema-tree.ts'
import type { Contract } from './model.ts'
import { type NamePolicy, toPlace } from './places.ts'

export const MAX_NODES = 2000
/** Further members that the schema does not declare are ignored. */
export const MAX_UNDECLARED = 200

/** Positions beyond are looked up by name. */
const MAX_ORDER = 200

export interface MemberNode {
  readonly slot: number
  /** With `*` for any element of an array. */
  readonly pointer: string
  readonly declared: boolean
  readonly personal: boolean
  /** An object whose member names are data: they are neither unknown nor followed. */
  readonly is_open: boolean
  readonly schemas: readonly unknown[]
  readonly children: Map<string, MemberNode | null>
  /** Members in the order in which the last record had them: most records have the same order. */
  readonly order: MemberNode[]
  /** The last step of the pointer, unescaped. */
  readonly name: string
  items: MemberNode | null | undefined
}

export class MemberTree {
  readonly root: MemberNode
  readonly nodes: MemberNode[] = []
  readonly #tree: SchemaTree
  readonly #personal: readonly string[]
  /** As many as the schema has patterns. */
  readonly #matchers = new Map<string, Matcher>()
  #undeclared = 0

  constructor({ record, facts, personal = [] }: Pick<Contract, 'record' | 'facts' | 'personal'>) {
    this.#tree = new SchemaTree(record)
    const marked = [...personal.map(({ at }) => at), ...facts.filter((fact) => fact.personal).map(({ at }) => at)]
    this.#personal = marked
    this.root = this.#create({ pointer: '', name: '' }, [record], true) as MemberNode
  }

  /** The node of a member, or null when it is not tracked. */
  getMember(node: MemberNode, name: string): MemberNode | null {
    const known = node.children.get(name)
    if (known !== undefined) return known
    const found = this.#createMember(node, name)
    // A member that is not tracked gets no entry: there may be any number of them.
    if (found !== null) node.children.set(name, found)
    return found
  }

  /** The same for the member at a position; cheap where the last record had it there too. */
  getMemberAt(node: MemberNode, name: string, position: number): MemberNode | null {
    const last = node.order[position]
    if (last?.name === name) return last
    const found = this.getMember(node, name)
    if (found !== null && position < MAX_ORDER) node.order[position] = found
    return found
  }

  getItems(node: MemberNode): MemberNode | null {
    if (node.items !== undefined) return node.items
    const schemas = this.#reach(node).flatMap(({ items, prefixItems }) => [
      ...(isObject(items) ? [items] : []),
      ...(Array.isArray(prefixItems) ? prefixItems : []),
    ])
    node.items =
      node.declared && schemas.length > 0
        ? this.#create({ pointer: `${node.pointer}/*`, name: '*' }, schemas, true)
        : null
    return node.items
  }

  #createMember(node: MemberNode, name: string): MemberNode | null {
    if (node.is_open || !node.declared) return null
    const reach = this.#reach(node)
    const place = { pointer: toPlace(`${node.pointer}/${escapeStep(name)}`), name }
    const declared = reach.flatMap((schema) => findMemberSchemas(schema, name, this.#matches))
    if (declared.length > 0) return this.#create(place, declared, true)
    if (this.#undeclared >= MAX_UNDECLARED) return null
    this.#undeclared++
    return this.#create(place, [], false)
  }

  readonly #matches = (pattern: string, name: string): boolean => {
    const matcher = this.#matchers.get(pattern) ?? compilePattern(pattern)
    this.#matchers.set(pattern, matcher)
    return matcher.test(name)
  }

  #reach(node: MemberNode): Readonly<Record<string, unknown>>[] {
    return node.schemas.flatMap((schema) => this.#tree.collectReachable(schema))
  }

  #create(
    { pointer, name }: Pick<MemberNode, 'pointer' | 'name'>,
    schemas: readonly unknown[],
    declared: boolean,
  ): MemberNode | null {
    if (this.nodes.length >= MAX_NODES) return null
    const reach = schemas.flatMap((schema) => this.#tree.collectReachable(schema))
    const node: MemberNode = {
      slot: this.nodes.length,
      pointer,
      name,
      order: [],
      declared,
      personal: this.#personal.some((at) => `${pointer}/`.startsWith(`${at}/`)),
      is_open: declared && isFreeForm(reach),
      schemas,
      children: new Map(),
      items: undefined,
    }
    this.nodes.push(node)
    return node
  }
}

/** What may be stored in clear of the names in payloads of a contract. */
export function getNamePolicy({ record, facts, personal = [], records_at, provenance }: Contract): NamePolicy {
  const declared = new Set<string>()
  collectNames(record, declared)
  for (const pointer of [records_at, provenance?.source ?? '', provenance?.as_of ?? '']) {
    for (const name of parsePointer(pointer)) declared.add(name)
  }
  return {
    declared,
    personal: [...personal.map(({ at }) => at), ...facts.filter((fact) => fact.personal).map(({ at }) => at)],
  }
}

function collectNames(schema: unknown, names: Set<string>): void {
  if (Array.isArray(schema)) for (const part of schema) collectNames(part, names)
  if (!isObject(schema)) return
  for (const [keyword, part] of Object.entries(schema)) {
    if (keyword === 'properties' && isObject(part)) for (const name of Object.keys(part)) names.add(name)
    collectNames(part, names)
  }
}

/** An object without declared members, or one whose other members the schema describes as well. */
function isFreeForm(reach: readonly Readonly<Record<string, unknown>>[]): boolean {
  if (reach.some(({ additionalProperties }) => additionalProperties === true || isObject(additionalProperties))) {
    return true
  }
  return !reach.some(({ properties, patternProperties }) => isObject(properties) || isObject(patternProperties))
}

function findMemberSchemas(
  schema: Readonly<Record<string, unknown>>,
  name: string,
  matches: (pattern: string, name: string) => boolean,
): unknown[] {
  const { properties, patternProperties } = schema
  const named = isObject(properties) && Object.hasOwn(properties, name) ? [properties[name]] : []
  const matched = isObject(patternProperties)
    ? Object.keys(patternProperties).flatMap((pattern) => (matches(pattern, name) ? [patternProperties[pattern]] : []))
    : []
  // `true` declares the member without constraints.
  return [...named, ...matched].map((member) => (member === true ? {} : member)).filter(isObject)
}
