/** Which members arrive, which become facts, and what reads them. */
import { escapeStep, isObject } from '#registry/content/json-pointer.ts'
import { SchemaTree } from '#registry/types/schema-tree.ts'
import { listCheckedFacts } from './checks.ts'
import type { Contract, Fact } from './model.ts'
import type { SketchSummary } from './sketch.ts'

export interface FactReader {
  readonly family: string
  readonly key: string
  readonly version: number
  readonly input: string
  readonly fact: string
  readonly is_active: boolean
}

/**
 * `scored`: a definition in force reads it. `enforced`: a list or a check tests it. `kept_only`: it is collected and nothing uses it.
 */
export type LineageVerdict = 'scored' | 'enforced' | 'kept_only' | 'never_seen' | 'undeclared'

export interface LineageRow {
  readonly pointer: string
  readonly declared: boolean
  readonly personal: boolean
  /** Share of records that have it; null while nothing was collected. */
  readonly collected: number | null
  readonly facts: readonly string[]
  readonly read_by: readonly FactReader[]
  readonly verdict: LineageVerdict
}

const MAX_POINTERS = 1000
const MAX_DEPTH = 12

/** Pointers of members that are values or lists of values, in the order of their names. */
export function listDeclaredPointers({ record }: Pick<Contract, 'record'>): string[] {
  const tree = new SchemaTree(record)
  const pointers: string[] = []
  const visit = (schemas: readonly unknown[], pointer: string, depth: number): void => {
    const reach = schemas.flatMap((schema) => tree.collectReachable(schema))
    const names = new Set(reach.flatMap(({ properties }) => (isObject(properties) ? Object.keys(properties) : [])))
    const items = reach.flatMap(({ items: each }) => (isObject(each) ? [each] : []))
    if (pointers.length >= MAX_POINTERS || depth > MAX_DEPTH) return
    if (names.size === 0 && items.length === 0 && pointer !== '') pointers.push(pointer)
    for (const name of [...names].sort()) {
      const members = reach.flatMap(({ properties }) =>
        isObject(properties) && Object.hasOwn(properties, name) ? [properties[name]] : [],
      )
      visit(members, `${pointer}/${escapeStep(name)}`, depth + 1)
    }
    if (items.length > 0) visit(items, `${pointer}/*`, depth + 1)
  }
  visit([record], '', 0)
  return pointers
}

export function buildLineage(
  contract: Contract,
  sketches: readonly SketchSummary[],
  readers: readonly FactReader[],
): LineageRow[] {
  const records = sketches.reduce((sum, sketch) => sum + sketch.records, 0)
  const seen = new Map<string, { records: number; declared: boolean }>()
  for (const { pointers } of sketches) {
    for (const { pointer, records: with_it, kinds, declared } of pointers) {
      // Containers are represented by what is in them.
      if (declared && (kinds.object || (kinds.array && !kinds.string))) continue
      const known = seen.get(pointer)
      if (known) known.records += with_it
      else seen.set(pointer, { records: with_it, declared })
    }
  }
  const declared = new Set(listDeclaredPointers(contract))
  const personal = [
    ...(contract.personal ?? []).map(({ at }) => at),
    ...contract.facts.filter((fact) => fact.personal).map(({ at }) => at),
  ]
  const checked = listCheckedFacts(contract)
  return [...new Set([...declared, ...seen.keys()])].sort().map((pointer) => {
    const facts = contract.facts.filter((fact) => isFactOf(fact, pointer))
    const read_by = readers.filter(({ fact }) => facts.some(({ name }) => name === fact))
    const isEnforced = facts.some(({ name, one_of }) => one_of !== undefined || checked.has(name))
    // A list that sometimes arrives as something else is declared too.
    const isDeclared = declared.has(pointer) || seen.get(pointer)?.declared === true
    return {
      pointer,
      declared: isDeclared,
      personal: personal.some((at) => `${pointer}/`.startsWith(`${at}/`)),
      collected: records === 0 ? null : Math.round(((seen.get(pointer)?.records ?? 0) / records) * 10_000) / 10_000,
      facts: facts.map(({ name }) => name),
      read_by,
      verdict: toVerdict({
        isDeclared,
        isSeen: records === 0 || seen.has(pointer),
        isRead: read_by.some(({ is_active }) => is_active),
        isEnforced,
      }),
    }
  })
}

const isFactOf = ({ at }: Fact, pointer: string): boolean => at === pointer || `${at}/*` === pointer

function toVerdict(of: { isDeclared: boolean; isSeen: boolean; isRead: boolean; isEnforced: boolean }): LineageVerdict {
  if (!of.isDeclared) return 'undeclared'
  if (of.isRead) return 'scored'
  if (!of.isSeen) return 'never_seen'
  return of.isEnforced ? 'enforced' : 'kept_only'
}

/** Personal members that arrive and that no definition in force reads. */
export const listUnreadPersonal = (rows: readonly LineageRow[]): string[] =>
  rows
    .filter(({ personal, verdict, collected }) => personal && verdict !== 'scored' && (collected ?? 0) > 0)
    .map(({ pointer }) => pointer)
