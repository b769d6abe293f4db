/**
 * Brings a definition and lists together once: policy values become plain numbers and texts. What a list lacks is a finding at
 * the place of the definition that reads it.
 */
import { parsePointer, valueAt } from '../../registry/content/pointer.ts'
import type { BoundList, Lists, UsedEntry, Value } from '../model.ts'
import { MAX_SCORE_BPS } from './definition-shape.ts'
import { Findings, shown } from './shape.ts'
import type { Scalar } from './unary.ts'

export interface BoundValue {
  readonly value: Scalar
  /** The entry it was read from; null for one written out. */
  readonly used: UsedEntry | null
}
export interface BoundScore extends BoundValue {
  readonly value: number
}

/** Stands where a finding was made; a definition with findings is never run. */
const NOTHING: BoundScore = { value: 0, used: null }
const NO_LIST: BoundList = {
  list_key: '',
  version: 0,
  content_hash: '',
  overlay_hash: null,
  get: () => undefined,
  all: [],
}

/** How a field of an entry is read: a member by its name, or by a pointer that starts with "/". */
export function fieldReader(field: string): (entry: Readonly<Record<string, unknown>>) => unknown {
  const steps = field.startsWith('/') ? parsePointer(field) : [field]
  return (entry) => valueAt(entry, steps)
}

const isScalar = (value: unknown): value is Scalar =>
  typeof value === 'string' || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))

export const isScore = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MAX_SCORE_BPS

export class Binder {
  readonly findings = new Findings()
  private readonly lists: Lists
  private readonly known = new Map<string, BoundValue>()

  constructor(lists: Lists) {
    this.lists = lists
  }

  list(list_key: string, pointer: string): BoundList {
    const found = this.lists.get(list_key)
    if (!found) this.findings.error('list_missing', pointer, `The list "${list_key}" is not in force.`)
    return found ?? NO_LIST
  }

  value(given: Value, pointer: string): BoundValue {
    if (typeof given !== 'object') return { value: given, used: null }
    const { list_key, key, field } = given
    const place = JSON.stringify([list_key, key, field])
    const known = this.known.get(place)
    if (known) return known
    const list = this.list(list_key, pointer)
    if (list === NO_LIST) return NOTHING
    const entry = list.get(key)
    if (!entry) {
      this.findings.error('list_key_missing', pointer, `The list "${list_key}" has no entry "${key}".`)
      return NOTHING
    }
    const value = fieldReader(field)(entry.entry)
    if (!isScalar(value)) {
      const message = `The entry "${key}" of the list "${list_key}" has no number, text, true or false at "${field}".`
      this.findings.error('field_missing', pointer, message)
      return NOTHING
    }
    const bound = { value, used: { list_key, key, field, value, hash: entry.hash } }
    this.known.set(place, bound)
    return bound
  }

  score(given: Value, pointer: string, what = 'score'): BoundScore {
    const before = this.findings.count
    const bound = this.value(given, pointer)
    if (this.findings.count > before) return NOTHING
    if (isScore(bound.value)) return bound as BoundScore
    const source = bound.used ? `, but the list "${bound.used.list_key}" says ` : ', not '
    const is_number = typeof bound.value === 'number' && Number.isInteger(bound.value)
    const wanted = `A ${what} is a whole number of basis points from 0 to ${MAX_SCORE_BPS}`
    this.findings.error(
      is_number ? 'score_out_of_range' : 'not_a_score',
      pointer,
      `${wanted}${source}${shown(bound.value)}.`,
    )
    return NOTHING
  }
}
