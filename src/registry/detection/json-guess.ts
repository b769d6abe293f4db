/** Guesses where a JSON document holds its records: an array, the members of an object, or plain values. */
import { formatPointer, isObject } from '../content/json-pointer.ts'

export interface JsonGuess {
  /** JSON pointer of the array or object that holds the records. */
  readonly pointer: string
  /** Array of objects, array of plain values, or object whose members are the records. */
  readonly shape: 'objects' | 'values' | 'members'
  readonly records: readonly Record<string, unknown>[]
}

const MAX_RECORDS = 200
const MAX_DEPTH = 4
/** The members added for names and plain values. */
export const KEY_MEMBER = 'key'
export const VALUE_MEMBER = 'value'

/** The largest collection of records; a shallower one where two have as many. */
export function guessRecords(document: unknown): JsonGuess | null {
  const found: JsonGuess[] = []
  let level: { steps: string[]; value: unknown }[] = [{ steps: [], value: document }]
  for (let depth = 0; depth < MAX_DEPTH && level.length > 0; depth++) {
    found.push(...level.flatMap(({ steps, value }) => readCollection(formatPointer(steps), value) ?? []))
    level = level.flatMap(({ steps, value }) =>
      isObject(value)
        ? Object.entries(value)
            .slice(0, MAX_RECORDS)
            .map(([name, member]) => ({ steps: [...steps, name], value: member }))
        : [],
    )
  }
  return found.reduce<JsonGuess | null>((best, one) => (best === null || rank(one) > rank(best) ? one : best), null)
}

/** Objects before plain values. */
const rank = ({ shape, records }: JsonGuess): number => records.length * (shape === 'values' ? 1 : 1000)

function readCollection(pointer: string, value: unknown): JsonGuess | null {
  if (Array.isArray(value)) {
    const items = value.slice(0, MAX_RECORDS) as unknown[]
    if (items.length === 0) return null
    const records = items.filter(isObject)
    // The adapter rejects the few others, with their place.
    if (records.length * 2 > items.length) return { pointer, shape: 'objects', records }
    if (items.some((item) => typeof item === 'object')) return null
    return { pointer, shape: 'values', records: items.map((item) => ({ [VALUE_MEMBER]: item })) }
  }
  if (!isObject(value)) return null
  const members = Object.entries(value).slice(0, MAX_RECORDS)
  if (members.length < 2 || !members.every(([, member]) => isObject(member))) return null
  const records = members.map(([name, member]) => ({ [KEY_MEMBER]: name, ...(member as object) }))
  return { pointer, shape: 'members', records }
}
