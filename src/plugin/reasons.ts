/** Why a version of a plugin cannot run, for its author. */

export const REASON_CODES = [
  'manifest_unreadable',
  'manifest_invalid',
  'kind_unknown',
  'version_conflict',
  'entry_missing',
  'package_unsafe',
  'too_large',
  'syntax',
  'imports',
  'export_missing',
  'load_failed',
  'fuel',
  'memory',
  'schema_invalid',
  'examples_missing',
  'example_mismatch',
  'example_failed',
  'output_invalid',
  'keeps_state',
  'not_available',
  'list_unknown',
  'permission_missing',
  'contract_violated',
  'signature_invalid',
  'output_not_json',
  'native_loop',
] as const
export type ReasonCode = (typeof REASON_CODES)[number]

export interface Difference {
  readonly pointer: string
  /** Left out where the expected output has no such member. */
  readonly expected?: unknown
  readonly actual?: unknown
}

export interface Reason {
  readonly code: ReasonCode
  readonly message: string
  /** JSON pointer into the manifest. */
  readonly pointer?: string
  /** Line of the source. */
  readonly line?: number
  readonly differences?: readonly Difference[]
}

const MAX_DIFFERENCES = 20

/** What differs between two JSON values, in the order of the expected one. */
export function findDifferences(expected: unknown, actual: unknown, pointer = ''): Difference[] {
  if (Object.is(expected, actual)) return []
  if (Array.isArray(expected) && Array.isArray(actual)) {
    const found: Difference[] = []
    for (let index = 0; index < Math.max(expected.length, actual.length) && found.length < MAX_DIFFERENCES; index++) {
      found.push(...compareMember([expected, actual], index, pointer))
    }
    return found.slice(0, MAX_DIFFERENCES)
  }
  if (isPlainObject(expected) && isPlainObject(actual)) {
    const names = new Set([...Object.keys(expected), ...Object.keys(actual)])
    return [...names].flatMap((name) => compareMember([expected, actual], name, pointer)).slice(0, MAX_DIFFERENCES)
  }
  // Both zeros are written as 0.
  if (expected === 0 && actual === 0) return []
  return [{ pointer, expected, actual }]
}

function compareMember(
  [expected, actual]: readonly [object, object],
  name: string | number,
  pointer: string,
): Difference[] {
  const at = `${pointer}/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`
  if (!Object.hasOwn(expected, name)) return [{ pointer: at, actual: (actual as Record<string, unknown>)[name] }]
  if (!Object.hasOwn(actual, name)) return [{ pointer: at, expected: (expected as Record<string, unknown>)[name] }]
  return findDifferences((expected as Record<string, unknown>)[name], (actual as Record<string, unknown>)[name], at)
}

const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
