/**
 * What the schema of a plugin may cost, counted before anything of it is compiled: the process itself checks values by it. The
 * limits hold for new schemas; one that was accepted before they existed is used as it is.
 */
import { formatPointer, isObject } from '../content/json-pointer.ts'
import { estimatePatternSize, PatternBudget } from './pattern-size.ts'

/** What is wrong with a value or a schema, and where. */
export interface ValueFault {
  readonly pointer: string
  readonly message: string
}

export const SCHEMA_LIMITS = {
  nodes: 2000,
  depth: 20,
  /** Entries of all `enum`, `required` and `type` lists together. */
  entries: 10_000,
} as const

type Path = readonly (string | number)[]

/** The schemas within a schema; members that are no schema are not followed. */
function* iterateNodes(value: unknown, path: Path = []): Generator<readonly [node: unknown, path: Path]> {
  yield [value, path]
  // Each level of a schema takes two steps of the path. The node that lies too deep is reported, not followed.
  if (!isObject(value) || path.length > SCHEMA_LIMITS.depth * 2) return
  const { properties, items, additionalProperties } = value
  if (isObject(properties)) {
    for (const [name, member] of Object.entries(properties)) yield* iterateNodes(member, [...path, 'properties', name])
  }
  if (isObject(items)) yield* iterateNodes(items, [...path, 'items'])
  if (isObject(additionalProperties)) yield* iterateNodes(additionalProperties, [...path, 'additionalProperties'])
}

/** The first place where a schema exceeds a limit, or null. */
export function findSchemaLimitFault(schema: unknown): ValueFault | null {
  const used = { nodes: 0, entries: 0 }
  const patterns = new PatternBudget()
  for (const [node, path] of iterateNodes(schema)) {
    const refuse = (message: string, ...place: Path): ValueFault => ({
      ...{ pointer: formatPointer([...path, ...place]), message },
    })
    if (++used.nodes > SCHEMA_LIMITS.nodes) {
      return refuse(`The schema is too large: it may have ${SCHEMA_LIMITS.nodes} schemas within it.`)
    }
    if (path.length > SCHEMA_LIMITS.depth * 2) {
      return refuse(`The schema is nested too deeply: it may have ${SCHEMA_LIMITS.depth} levels.`)
    }
    if (!isObject(node)) continue
    for (const name of ['enum', 'required', 'type'] as const) {
      const list = node[name]
      used.entries += Array.isArray(list) ? list.length : 0
      if (used.entries > SCHEMA_LIMITS.entries) {
        const lists = 'the lists "enum", "required" and "type" of the schema'
        return refuse(`"${name}" is too long: ${lists} may have ${SCHEMA_LIMITS.entries} entries together.`, name)
      }
    }
    const fault = typeof node['pattern'] === 'string' ? patterns.add(node['pattern']) : null
    if (fault !== null) return refuse(`"pattern" ${fault}.`, 'pattern')
  }
  return null
}

/** Steps of all patterns: memory that checking values by the schema may keep. */
export function countPatternSteps(schema: unknown): number {
  let steps = 0
  for (const [node] of iterateNodes(schema)) {
    if (isObject(node) && typeof node['pattern'] === 'string') steps += estimatePatternSize(node['pattern'])
  }
  return steps
}
