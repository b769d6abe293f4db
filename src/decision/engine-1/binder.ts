/**
 * Binds a definition to lists: resolves policy values to plain numbers and texts. A missing value is a finding at the place of the
 * definition that reads it.
 */
import { parsePointer, valueAt } from '#registry/content/json-pointer.ts'
import type { BoundList, BoundLists, PolicyValue, UsedEntry } from '../model.ts'
import { MAX_SCORE_BPS } from './definition-shape.ts'
import { FindingCollector, formatForMessage } from './shape.ts'
import type { Scalar } from './unary.ts'

export interface BoundValue {
  readonly value: Scalar
  /** The entry it was read from; null for a literal. */
  readonly used: UsedEntry | null
}
export interface BoundScore extends BoundValue {
  readonly value: number
}

/** Placeholder after a finding; a definition with findings is never run. */
const UNBOUND_SCORE: BoundScore = { value: 0, used: null }
const EMPTY_LIST: BoundList = {
  list_key: '',
  version: 0,
  content_hash: '',
  overlay_hash: null,
  get: () => undefined,
  all: [],
}

/** How a field of an entry is read: a member by its name, or by a pointer that starts with "/". */
export function createFieldReader(field: string): (entry: Readonly<Record<string, unknown>>) => unknown {
  const steps = field.startsWith('/') ? parsePointer(field) : [field]
  return (entry) => valueAt(entry, steps)
}

const isScalar = (value: unknown): value is Scalar =>
  typeof value === 'string' || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))

export const isScore = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MAX_SCORE_BPS

export class Binder {
  readonly findings = new FindingCollector()
  private readonly lists: BoundLists
  private readonly cached = new Map<string, BoundValue>()

  constructor(lists: BoundLists) {
    this.lists = lists
  }

  bindList(list_key: string, pointer: string): BoundList {
    const found = this.lists.get(list_key)
    if (!found) this.findings.error('list_missing', pointer, `The list "${list_key}" is not in force.`)
    return found ?? EMPTY_LIST
  }

  bindValue(given: PolicyValue, pointer: string): BoundValue {
    if (typeof given !== 'object') return { value: given, used: null }
    const { list_key, key, field } = given
    const place = JSON.stringify([list_key, key, field])
    const known = this.cached.get(place)
    if (known) return known
    const list = this.bindList(list_key, pointer)
    if (list === EMPTY_LIST) return UNBOUND_SCORE
    const entry = list.get(key)
    if (!entry) {
      this.findings.error('list_key_missing', pointer, `The list "${list_key}" has no entry "${key}".`)
      return UNBOUND_SCORE
    }
    const value = createFieldReader(field)(entry.entry)
    if (!isScalar(value)) {
      const message = `The entry "${key}" of the list "${list_key}" has no number, text, true or false at "${field}".`
      this.findings.error('field_missing', pointer, message)
      return UNBOUND_SCORE
    }
    const bound = { value, used: { list_key, key, field, value, hash: entry.hash } }
    this.cached.set(place, bound)
    return bound
  }

  bindScore(given: PolicyValue, pointer: string, what = 'score'): BoundScore {
    const before = this.findings.count
    const bound = this.bindValue(given, pointer)
    if (this.findings.count > before) return UNBOUND_SCORE
    if (isScore(bound.value)) return bound as BoundScore
    const source = bound.used ? `, but the list "${bound.used.list_key}" says ` : ', not '
    const is_number = typeof bound.value === 'number' && Number.isInteger(bound.value)
    const wanted = `A ${what} is a whole number of basis points from 0 to ${MAX_SCORE_BPS}`
    this.findings.error(
      is_number ? 'score_out_of_range' : 'not_a_score',
      pointer,
      `${wanted}${source}${formatForMessage(bound.value)}.`,
    )
    return UNBOUND_SCORE
  }
}
