/** How two JSON values differ, member by member. Pure. */

export interface ValueChange {
  readonly pointer: string
  readonly before?: unknown
  readonly after?: unknown
}

/** How an output differs from the expected one. */
export function findValueChanges(expected: unknown, actual: unknown, pointer = ''): readonly ValueChange[] {
  if (Object.is(expected, actual)) return []
  const bothLists = Array.isArray(expected) && Array.isArray(actual)
  const bothObjects = isRecord(expected) && isRecord(actual)
  if (!bothLists && !bothObjects) return [{ pointer, before: expected, after: actual }]
  const [one, two] = [Object(expected) as Record<string, unknown>, Object(actual) as Record<string, unknown>]
  const names = [...new Set([...Object.keys(one), ...Object.keys(two)])]
  return names.flatMap((name) => {
    const at = `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
    if (!Object.hasOwn(one, name)) return [{ pointer: at, after: two[name] }]
    if (!Object.hasOwn(two, name)) return [{ pointer: at, before: one[name] }]
    return findValueChanges(one[name], two[name], at)
  })
}

const isRecord = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)
