/**
 * Type-driven normalisation of an entry: NFC text, trimmed when the type says so, no negative zero, no null when the type only knows
 * "absent"; members of the key without surrounding white space and invisible characters. It is idempotent, and an entry that is
 * already normalised is returned unchanged.
 */
import { isObject, parsePointer, setMember } from '../content/json-pointer.ts'
import { type SchemaObject, SchemaTree } from './schema-tree.ts'
import { normaliseComposed, normaliseKey, normaliseTrimmed } from './text-rules.ts'
import type { TypeDefinition } from './type-definition.ts'

/** Which members of a value lose a null, and the shapes below it. */
interface NullShape {
  readonly members: Map<string, { readonly drops_null: boolean; readonly shape: NullShape }>
  items: NullShape | null
}

type TextRule = (text: string) => string

/** The text rule at and below a pointer, when it differs from the rest of the entry. */
interface TextRuleTree {
  text: TextRule | undefined
  readonly below: Map<string, TextRuleTree>
}

export function compileNormaliser({
  schema,
  key_pointers,
  trim,
}: Pick<TypeDefinition, 'schema' | 'key_pointers' | 'trim'>): (
  entry: Record<string, unknown>,
) => Record<string, unknown> {
  const shape = buildShape(new SchemaTree(schema))
  const rules: TextRuleTree = { text: undefined, below: new Map() }
  if (Array.isArray(trim)) for (const pointer of trim) addRule(rules, pointer, normaliseTrimmed)
  for (const pointer of key_pointers) addRule(rules, pointer, normaliseKey)
  const normaliser = new Normaliser(trim === true ? normaliseTrimmed : normaliseComposed)
  return (entry) => normaliser.object(entry, shape, rules)
}

function addRule(root: TextRuleTree, pointer: string, text: TextRule): void {
  let rules = root
  for (const step of parsePointer(pointer)) {
    const next = rules.below.get(step) ?? { text: undefined, below: new Map<string, TextRuleTree>() }
    rules.below.set(step, next)
    rules = next
  }
  rules.text = text
}

/** Shapes are cached by schema, so that a recursive type gives a cyclic shape and not an endless tree. */
function buildShape(tree: SchemaTree): NullShape {
  const known = new Map<string, NullShape>()
  const build = (schemas: readonly SchemaObject[]): NullShape => {
    const identity = schemas.map((schema) => tree.pointerTo(schema)).join(' ')
    const found = known.get(identity)
    if (found) return found
    const shape: NullShape = { members: new Map(), items: null }
    known.set(identity, shape)
    const facets = schemas.flatMap((schema) => tree.getFacets(schema))
    for (const name of new Set(
      facets.flatMap(({ properties }) => (isObject(properties) ? Object.keys(properties) : [])),
    )) {
      const member = tree.getMember(schemas, name)
      const takesNull = tree.getCommonKinds(member.schemas).has('null')
      shape.members.set(name, { drops_null: !member.required && !takesNull, shape: build(member.schemas) })
    }
    const items = facets.flatMap((facet) => (isObject(facet['items']) && !facet['prefixItems'] ? [facet['items']] : []))
    if (items.length > 0) shape.items = build(items)
    return shape
  }
  return build(isObject(tree.root) ? [tree.root] : [])
}

class Normaliser {
  /** The rule for all other texts. */
  readonly #text: TextRule

  constructor(text: TextRule) {
    this.#text = text
  }

  #value(value: unknown, shape: NullShape | null, rules: TextRuleTree | undefined): unknown {
    switch (typeof value) {
      case 'string':
        return (rules?.text ?? this.#text)(value)
      case 'number':
        return value === 0 ? 0 : value
      case 'object':
        if (value === null) return null
        return Array.isArray(value)
          ? this.#array(value, shape, rules)
          : this.object(value as Record<string, unknown>, shape, rules)
      default:
        return value
    }
  }

  #array(value: readonly unknown[], shape: NullShape | null, rules: TextRuleTree | undefined): readonly unknown[] {
    const below = rules?.below.get('*')
    let copy: unknown[] | null = null
    for (let index = 0; index < value.length; index++) {
      const before = value[index]
      const after = this.#value(before, shape?.items ?? null, below)
      if (Object.is(after, before)) continue
      copy ??= [...value]
      copy[index] = after
    }
    return copy ?? value
  }

  object(
    value: Record<string, unknown>,
    shape: NullShape | null,
    rules: TextRuleTree | undefined,
  ): Record<string, unknown> {
    for (const name in value) {
      const before = value[name]
      const member = shape?.members.get(name)
      const below = rules?.below.get(name)
      if (
        before === null ? member?.drops_null : !Object.is(this.#value(before, member?.shape ?? null, below), before)
      ) {
        return this.#rebuild(value, shape, rules)
      }
    }
    return value
  }

  #rebuild(
    value: Record<string, unknown>,
    shape: NullShape | null,
    rules: TextRuleTree | undefined,
  ): Record<string, unknown> {
    const copy: Record<string, unknown> = {}
    for (const name of Object.keys(value)) {
      const member = shape?.members.get(name)
      if (value[name] === null && member?.drops_null) continue
      setMember(copy, name, this.#value(value[name], member?.shape ?? null, rules?.below.get(name)))
    }
    return copy
  }
}
