/**
 * Compares two versions of a type: which changes may invalidate lists that use the old one. Only the definitions are compared;
 * whether stored entries are still valid is found by validating them.
 */

import { isEqualJson } from '../content/json-patch.ts'
import { isObject } from '../content/json-pointer.ts'
import { type SchemaObject, SchemaTree } from './schema-tree.ts'
import type { FieldDefinition, TypeDefinition } from './type-definition.ts'

export type ChangeKind =
  | 'key_changed'
  | 'member_removed'
  | 'member_added_required'
  | 'member_now_required'
  | 'members_closed'
  | 'type_narrowed'
  | 'values_removed'
  | 'bound_tightened'
  | 'form_changed'
  | 'rule_changed'
  | 'order_changed'
  | 'unit_changed'
  | 'personal_changed'
  | 'canonical_form_changed'
  | 'list_rule_changed'

export interface TypeChange {
  /** Member of an entry; '' for the type as a whole. */
  readonly pointer: string
  readonly what: ChangeKind
  readonly detail: string
}

export interface TypeComparison {
  /**
   * `compatible`: valid entries stay valid with the same meaning. `check_entries`: stored entries must be validated again.
   * `review`: they stay valid, but their meaning changes. `incompatible`: not allowed, since versions are compared by the key.
   */
  readonly verdict: 'compatible' | 'check_entries' | 'review' | 'incompatible'
  readonly changes: readonly TypeChange[]
}

const MEANING_CHANGES: ReadonlySet<ChangeKind> = new Set(['order_changed', 'unit_changed', 'personal_changed'])

export function compareTypes(old: TypeDefinition, next: TypeDefinition): TypeComparison {
  const changes: TypeChange[] = []
  if (!isEqualJson(old.key_pointers, next.key_pointers)) {
    const detail = `The key was ${old.key_pointers.join(', ')} and would be ${next.key_pointers.join(', ')}.`
    changes.push({ pointer: '', what: 'key_changed', detail })
  }
  const before = new SchemaTree(old.schema)
  const after = new SchemaTree(next.schema)
  compareValues([old.schema], [next.schema], '', { before, after, changes, seen: new Set() })
  compareFields(old, next, changes)
  if (!isEqualJson(old.list_rules, next.list_rules)) {
    const detail = 'The rules over the whole list differ; the active list must be checked against them.'
    changes.push({ pointer: '', what: 'list_rule_changed', detail })
  }
  return { verdict: decideVerdict(changes), changes }
}

function decideVerdict(changes: readonly TypeChange[]): TypeComparison['verdict'] {
  if (changes.some(({ what }) => what === 'key_changed')) return 'incompatible'
  if (changes.some(({ what }) => !MEANING_CHANGES.has(what))) return 'check_entries'
  return changes.length > 0 ? 'review' : 'compatible'
}

interface ComparisonContext {
  readonly before: SchemaTree
  readonly after: SchemaTree
  readonly changes: TypeChange[]
  /** Compared pairs, so that recursive types end. */
  readonly seen: Set<string>
}

type Schemas = readonly SchemaObject[]

function compareValues(old: Schemas, next: Schemas, pointer: string, walk: ComparisonContext): void {
  const { before, after, seen } = walk
  const pair = `${old.map((schema) => before.pointerTo(schema))} ${next.map((schema) => after.pointerTo(schema))}`
  if (seen.has(pair)) return
  seen.add(pair)
  const oldFacets = old.flatMap((schema) => before.getFacets(schema))
  const newFacets = next.flatMap((schema) => after.getFacets(schema))

  const lost = [...before.getCommonKinds(old)].filter((kind) => !after.getCommonKinds(next).has(kind))
  if (lost.length > 0) report(walk, pointer, 'type_narrowed', `It may no longer be ${lost.join(' or ')}.`)
  else if (!hasInteger(oldFacets) && hasInteger(newFacets)) {
    report(walk, pointer, 'type_narrowed', 'It may no longer be a fraction.')
  }
  compareAllowed(oldFacets, newFacets, pointer, walk)
  compareBounds(oldFacets, newFacets, pointer, walk)
  compareOther(oldFacets, newFacets, pointer, walk)
  compareMembers({ schemas: old, facets: oldFacets }, { schemas: next, facets: newFacets }, pointer, walk)
  const items = (facets: Schemas) => facets.flatMap(({ items: schema }) => (isObject(schema) ? [schema] : []))
  if (items(newFacets).length > 0) compareValues(items(oldFacets), items(newFacets), `${pointer}/*`, walk)
}

function report({ changes }: ComparisonContext, pointer: string, what: ChangeKind, detail: string): void {
  changes.push({ pointer, what, detail })
}

const hasInteger = (facets: Schemas): boolean =>
  facets.some(({ type }) => [type].flat().includes('integer') && ![type].flat().includes('number'))

/** Values that enum and const allow, or null for all. */
function allowedValues(facets: Schemas): unknown[] | null {
  const lists = facets.flatMap((facet) => [
    ...(Array.isArray(facet['enum']) ? [facet['enum'] as unknown[]] : []),
    ...(Object.hasOwn(facet, 'const') ? [[facet['const']]] : []),
  ])
  const [first, ...others] = lists
  return first?.filter((value) => others.every((list) => list.some((other) => isEqualJson(value, other)))) ?? null
}

function compareAllowed(old: Schemas, next: Schemas, pointer: string, walk: ComparisonContext): void {
  const before = allowedValues(old)
  const after = allowedValues(next)
  if (!after) return
  const removed = before?.filter((value) => !after.some((other) => isEqualJson(value, other)))
  if (!removed) report(walk, pointer, 'values_removed', `It may only be ${formatValues(after)} from now on.`)
  else if (removed.length > 0) report(walk, pointer, 'values_removed', `It may no longer be ${formatValues(removed)}.`)
}

const formatValues = (values: readonly unknown[]): string => values.map((value) => JSON.stringify(value)).join(', ')

const LOWER_BOUNDS = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties', 'minContains'] as const
const UPPER_BOUNDS = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties', 'maxContains'] as const

function compareBounds(old: Schemas, next: Schemas, pointer: string, walk: ComparisonContext): void {
  const tightest = (facets: Schemas, keyword: string, pick: (...values: number[]) => number): number =>
    pick(...facets.flatMap(({ [keyword]: value }) => (typeof value === 'number' ? [value] : [])))
  const compare = (
    keyword: string,
    pick: (...values: number[]) => number,
    isTighter: (a: number, b: number) => boolean,
  ) => {
    const before = tightest(old, keyword, pick)
    const after = tightest(next, keyword, pick)
    if (!isTighter(after, before)) return
    const was = Number.isFinite(before) ? String(before) : 'not limited'
    report(walk, pointer, 'bound_tightened', `${keyword} was ${was} and would be ${after}.`)
  }
  for (const keyword of LOWER_BOUNDS) compare(keyword, Math.max, (after, before) => after > before)
  for (const keyword of UPPER_BOUNDS) compare(keyword, Math.min, (after, before) => after < before)
}

const FORM_KEYWORDS = ['pattern', 'format', 'multipleOf', 'contentEncoding', 'contentMediaType'] as const
const RULE_KEYWORDS = [
  'anyOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'dependentSchemas',
  'dependentRequired',
  'patternProperties',
  'propertyNames',
  'contains',
  'uniqueItems',
  'prefixItems',
  'additionalProperties',
] as const

/** Keywords whose strictness cannot be compared: a new or different value is reported. */
function compareOther(old: Schemas, next: Schemas, pointer: string, walk: ComparisonContext): void {
  const values = (facets: Schemas, keyword: string): unknown[] =>
    facets.flatMap(({ [keyword]: value }) => {
      const saysNothing = value === undefined || value === false || (value === true && keyword !== 'uniqueItems')
      return saysNothing ? [] : [value]
    })
  const sharedChanged = !isEqualJson(sharedSchemas(walk.before), sharedSchemas(walk.after))
  /** Equal keywords differ when a definition they refer to changed. */
  const isSame = (a: unknown, b: unknown): boolean =>
    isEqualJson(a, b) && !(sharedChanged && JSON.stringify(a).includes('"$ref"'))
  const compare = (keyword: string, what: ChangeKind): void => {
    const before = values(old, keyword)
    const added = values(next, keyword).filter((value) => !before.some((other) => isSame(value, other)))
    if (added.length === 0) return
    const was = before.length > 0 ? formatValues(before) : 'absent'
    const detail =
      what === 'form_changed'
        ? `${keyword} was ${was} and would be ${formatValues(added)}.`
        : `"${keyword}" is new or different.`
    report(walk, pointer, what, detail)
  }
  for (const keyword of FORM_KEYWORDS) compare(keyword, 'form_changed')
  for (const keyword of RULE_KEYWORDS) compare(keyword, 'rule_changed')
  if (next.some(({ items }) => items === false) && !old.some(({ items }) => items === false)) {
    report(walk, pointer, 'rule_changed', 'Further items are no longer allowed.')
  }
}

const sharedSchemas = ({ root }: SchemaTree): unknown => (isObject(root) ? root['$defs'] : undefined)

interface ComparedSchemas {
  readonly schemas: Schemas
  readonly facets: Schemas
}

function compareMembers(old: ComparedSchemas, next: ComparedSchemas, pointer: string, walk: ComparisonContext) {
  const { facets: oldFacets } = old
  const { facets: newFacets } = next
  const listNames = (facets: Schemas) =>
    new Set(facets.flatMap(({ properties }) => (isObject(properties) ? Object.keys(properties) : [])))
  const isClosed = (facets: Schemas) => facets.some((facet) => facet['additionalProperties'] === false)
  const oldNames = listNames(oldFacets)
  const newNames = listNames(newFacets)
  if (isClosed(newFacets) && !isClosed(oldFacets)) {
    report(walk, pointer, 'members_closed', 'Members that are not declared are no longer allowed.')
  }
  for (const name of new Set([...oldNames, ...newNames, ...listRequired(newFacets)])) {
    const at = `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
    const was = walk.before.getMember(old.schemas, name)
    const is = walk.after.getMember(next.schemas, name)
    if (is.required && !was.required) {
      const isNew = !oldNames.has(name)
      const detail = isNew
        ? 'It is new, and every entry must have it.'
        : 'It was optional, and every entry must have it.'
      report(walk, at, isNew ? 'member_added_required' : 'member_now_required', detail)
    }
    if (oldNames.has(name) && !newNames.has(name)) {
      const kept = isClosed(newFacets) ? 'entries that have it would be refused' : 'it would no longer be checked'
      report(walk, at, 'member_removed', `It is no longer declared: ${kept}.`)
    }
    if (!oldNames.has(name) && newNames.has(name) && !isClosed(oldFacets)) {
      report(walk, at, 'rule_changed', 'It was allowed without being declared, and would now be checked.')
    }
    if (oldNames.has(name) && newNames.has(name)) compareValues(was.schemas, is.schemas, at, walk)
  }
}

const listRequired = (facets: Schemas): string[] =>
  facets.flatMap(({ required }) => (Array.isArray(required) ? (required as string[]) : []))

function compareFields(old: TypeDefinition, next: TypeDefinition, changes: TypeChange[]): void {
  for (const pointer of new Set([...Object.keys(old.fields), ...Object.keys(next.fields)])) {
    const before: Partial<FieldDefinition> = old.fields[pointer] ?? {}
    const after: Partial<FieldDefinition> = next.fields[pointer] ?? {}
    if (!isEqualJson(before.order, after.order) && !isExtendedOrder(before.order, after.order)) {
      const detail = `The order of severity was ${formatOrder(before.order)} and would be ${formatOrder(after.order)}.`
      changes.push({ pointer, what: 'order_changed', detail })
    }
    if (before.unit !== after.unit) {
      const detail = `The unit was ${before.unit ?? 'not given'} and would be ${after.unit ?? 'not given'}.`
      changes.push({ pointer, what: 'unit_changed', detail })
    }
    if (before.personal !== after.personal) {
      const detail = after.personal ? 'It would be personal data.' : 'It would no longer be personal data.'
      changes.push({ pointer, what: 'personal_changed', detail })
    }
    // Not in MEANING: a set may lose duplicate elements, and then have too few.
    if (before.set !== after.set || before.whitespace !== after.whitespace) {
      const detail = 'Its canonical form differs: the next version of a list stores it in another order or spacing.'
      changes.push({ pointer, what: 'canonical_form_changed', detail })
    }
  }
}

/** New values may be inserted anywhere as long as the old ones keep their relative order. */
function isExtendedOrder(before: FieldDefinition['order'], after: FieldDefinition['order']): boolean {
  if (!Array.isArray(before) || !Array.isArray(after)) return false
  return isEqualJson(
    after.filter((value) => before.includes(value)),
    before,
  )
}

const formatOrder = (order: FieldDefinition['order']): string =>
  order === undefined ? 'not declared' : Array.isArray(order) ? order.join(' < ') : order.replaceAll('_', ' ')
