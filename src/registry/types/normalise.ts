/**
 * Type-driven normalisation of an entry: NFC and trimmed text, no negative zero, no null where the type knows only "absent".
 * Nothing else changes, doing it twice changes nothing more, and an entry that is already normal is returned as it is.
 */
import { isObject, setMember } from '../content/pointer.ts'
import { type SchemaObject, SchemaTree } from './schema-tree.ts'

/** What normalisation must know of a value: which members lose a null, and the shapes below. */
interface Shape {
  readonly members: Map<string, { readonly drops_null: boolean; readonly shape: Shape }>
  items: Shape | null
}

export function compileNormaliser(schema: unknown): (entry: Record<string, unknown>) => Record<string, unknown> {
  const shape = shapeOf(new SchemaTree(schema))
  return (entry) => normaliseObject(entry, shape)
}

/** Shapes are shared by the schemas they come from, so a recursive type makes a ring and not an endless tree. */
function shapeOf(tree: SchemaTree): Shape {
  const known = new Map<string, Shape>()
  const build = (schemas: readonly SchemaObject[]): Shape => {
    const identity = schemas.map((schema) => tree.pointerTo(schema)).join(' ')
    const found = known.get(identity)
    if (found) return found
    const shape: Shape = { members: new Map(), items: null }
    known.set(identity, shape)
    const facets = schemas.flatMap((schema) => tree.facetsOf(schema))
    for (const name of new Set(
      facets.flatMap(({ properties }) => (isObject(properties) ? Object.keys(properties) : [])),
    )) {
      const member = tree.memberOf(schemas, name)
      const takesNull = tree.kindsOfAll(member.schemas).has('null')
      shape.members.set(name, { drops_null: !member.required && !takesNull, shape: build(member.schemas) })
    }
    const items = facets.flatMap((facet) => (isObject(facet['items']) && !facet['prefixItems'] ? [facet['items']] : []))
    if (items.length > 0) shape.items = build(items)
    return shape
  }
  return build(isObject(tree.root) ? [tree.root] : [])
}

function normaliseValue(value: unknown, shape: Shape | null): unknown {
  switch (typeof value) {
    case 'string':
      return normaliseText(value)
    case 'number':
      return value === 0 ? 0 : value
    case 'object':
      if (value === null) return null
      return Array.isArray(value)
        ? normaliseArray(value, shape)
        : normaliseObject(value as Record<string, unknown>, shape)
    default:
      return value
  }
}

/** Below U+0300 nothing composes, and a first and last character between ! and ~ leave nothing to trim. */
const MAY_COMPOSE = /[^\0-\u02ff]/

/** A text as entries hold it. Whoever asks for a key asks in this form, or would miss what is there. */
export function normaliseText(text: string): string {
  const composed = MAY_COMPOSE.test(text) ? text.normalize('NFC') : text
  return isVisible(composed.charCodeAt(0)) && isVisible(composed.charCodeAt(composed.length - 1))
    ? composed
    : composed.trim()
}

const isVisible = (code: number): boolean => code > 0x20 && code < 0x7f

function normaliseArray(value: readonly unknown[], shape: Shape | null): readonly unknown[] {
  let copy: unknown[] | null = null
  for (let index = 0; index < value.length; index++) {
    const before = value[index]
    const after = normaliseValue(before, shape?.items ?? null)
    if (Object.is(after, before)) continue
    copy ??= [...value]
    copy[index] = after
  }
  return copy ?? value
}

function normaliseObject(value: Record<string, unknown>, shape: Shape | null): Record<string, unknown> {
  for (const name in value) {
    const before = value[name]
    const member = shape?.members.get(name)
    if (before === null ? member?.drops_null : !Object.is(normaliseValue(before, member?.shape ?? null), before)) {
      return rebuild(value, shape)
    }
  }
  return value
}

function rebuild(value: Record<string, unknown>, shape: Shape | null): Record<string, unknown> {
  const copy: Record<string, unknown> = {}
  for (const name of Object.keys(value)) {
    const member = shape?.members.get(name)
    if (value[name] === null && member?.drops_null) continue
    setMember(copy, name, normaliseValue(value[name], member?.shape ?? null))
  }
  return copy
}
