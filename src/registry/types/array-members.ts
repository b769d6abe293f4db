/**
 * Array members of a type (aliases, addresses, identifiers …), and how many values the entries of a list have in them. Required
 * values are not counted, since entries cannot lose them.
 */
import type { Entry } from '../adapter.ts'
import { formatPointer, isObject, valueAt } from '../content/json-pointer.ts'
import { type SchemaObject, SchemaTree } from './schema-tree.ts'
import type { TypeDefinition } from './type-definition.ts'

export interface ArrayMember {
  readonly pointer: string
  readonly path: readonly string[]
  /** Number of values every entry must have. */
  readonly required: number
}

export interface MemberCount {
  /** Values of all entries beyond the required ones. */
  readonly values: number
  /** Entries that have any. */
  readonly entries: number
}
export type MemberCounts = Readonly<Record<string, MemberCount>>

const MAX_MEMBERS = 50
const MAX_DEPTH = 5

/** Arrays of an entry, in objects at any depth, but not inside other arrays. */
export function findArrayMembers({ schema }: Pick<TypeDefinition, 'schema'>): ArrayMember[] {
  const tree = new SchemaTree(schema)
  const found: ArrayMember[] = []
  const visit = (schemas: readonly SchemaObject[], path: readonly string[]): void => {
    if (path.length > MAX_DEPTH || found.length >= MAX_MEMBERS) return
    const facets = schemas.flatMap((one) => tree.getFacets(one))
    const kinds = tree.getCommonKinds(schemas)
    const is_declared = facets.some(({ type }) => [type].flat().includes('array'))
    if (path.length > 0 && kinds.has('array') && is_declared) {
      const least = facets.map(({ minItems }) => (typeof minItems === 'number' ? minItems : 0))
      found.push({ pointer: formatPointer(path), path, required: Math.max(0, ...least) })
      return
    }
    const names = new Set(facets.flatMap(({ properties }) => (isObject(properties) ? Object.keys(properties) : [])))
    for (const name of names) visit(tree.getMember(schemas, name).schemas, [...path, name])
  }
  visit(isObject(tree.root) ? [tree.root] : [], [])
  return found
}

export class MemberTally {
  readonly counts: Record<string, { values: number; entries: number }> = {}
  readonly #members: readonly ArrayMember[]

  constructor(members: readonly ArrayMember[]) {
    this.#members = members
    for (const { pointer } of members) this.counts[pointer] = { values: 0, entries: 0 }
  }

  get isEmpty(): boolean {
    return this.#members.length === 0
  }

  /** Takes an entry as it is stored. */
  feed(entry: Entry): void {
    for (const { pointer, path, required } of this.#members) {
      const value = valueAt(entry, path)
      const values = Array.isArray(value) ? value.length - required : 0
      if (values <= 0) continue
      const count = this.counts[pointer] as { values: number; entries: number }
      count.values += values
      count.entries++
    }
  }
}
