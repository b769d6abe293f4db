/**
 * Rules of a type over a whole list: how many entries, which members no two entries share, bands without gap or overlap.
 * Entries are added one by one; only the members a rule needs are kept, up to a million.
 */

import { canonicalJson } from '#kernel/canonical-json.ts'
import { formatCount } from '#kernel/count-words.ts'
import type { Entry } from '../adapter.ts'
import { entryHash } from '../content/hashes.ts'
import { parsePointer, valueAt } from '../content/json-pointer.ts'
import { fault, getFieldTitle, MAX_FAULTS } from './entry-fault-messages.ts'
import type { Fault } from './schema-limits.ts'
import type { TypeDefinition } from './type-definition.ts'

export const MAX_KEPT_ENTRIES = 1_000_000

/** A violated rule. `key` is the entry where it was found; null for the whole list. */
export interface ListFault extends Fault {
  readonly key: string | null
}

export interface ListCheck {
  add(key: string, entry: Entry): void
  /** The violated rules, at most 100 faults. `entries`: the number of entries, when no rule compares them. */
  finish(entries?: number): ListFault[]
}

interface Rule {
  add(key: string, entry: Entry): void
  finish(): ListFault[]
}

export function createListCheck(definition: TypeDefinition, max_kept = MAX_KEPT_ENTRIES): ListCheck {
  const { min_items, max_items, unique = [], contiguous } = definition.list_rules
  const keeping: Rule[] = unique.map((pointers) => createUniqueRule(pointers, definition))
  if (contiguous) keeping.push(createContiguousRule(contiguous, definition))
  let count = 0

  return {
    add(key, entry) {
      count++
      if (count <= max_kept) for (const rule of keeping) rule.add(key, entry)
    },
    finish(entries) {
      count = entries ?? count
      const faults: ListFault[] = []
      const refuse = (code: string, message: string) => faults.push(createListFault(code, '', null, message))
      if (min_items !== undefined && count < min_items) {
        refuse(
          'too_few_entries',
          `The list must have at least ${formatCount(min_items, 'entry', 'entries')}; it has ${count}.`,
        )
      }
      if (max_items !== undefined && count > max_items) {
        refuse(
          'too_many_entries',
          `The list may have at most ${formatCount(max_items, 'entry', 'entries')}; it has ${count}.`,
        )
      }
      if (keeping.length > 0 && count > max_kept) {
        refuse('rule_not_checkable', `Rules that compare entries hold for up to ${max_kept}; there are ${count}.`)
        return faults
      }
      return [...faults, ...keeping.flatMap((rule) => rule.finish())].slice(0, MAX_FAULTS)
    },
  }
}

const createListFault = (code: string, pointer: string, key: string | null, message: string): ListFault => ({
  ...fault(code, pointer, message),
  key,
})

/** Only hashes of the members are kept, with the key that had them first. An entry that lacks all of them is not compared. */
function createUniqueRule(pointers: readonly string[], definition: TypeDefinition): Rule {
  const paths = pointers.map(parsePointer)
  const titles = pointers.map((pointer) => getFieldTitle(pointer, definition.fields)).join(' and ')
  const pointer = pointers.length === 1 ? (pointers[0] as string) : ''
  const owners = new Map<string, string>()
  const faults: ListFault[] = []
  return {
    add(key, entry) {
      const values = paths.map((path) => valueAt(entry, path) ?? null)
      if (values.every((value) => value === null)) return
      const identity = entryHash(canonicalJson(values))
      const owner = owners.get(identity)
      if (owner === undefined) owners.set(identity, key)
      else if (faults.length < MAX_FAULTS) {
        const message = `${titles} must be different in every entry; entries "${owner}" and "${key}" have the same.`
        faults.push(createListFault('not_unique', pointer, key, message))
      }
    },
    finish: () => faults,
  }
}

interface Band {
  readonly key: string
  readonly from: number
  readonly to: number
}

/** A missing end is infinite. */
function createContiguousRule(
  { from, to, start, end, step = 0 }: NonNullable<TypeDefinition['list_rules']['contiguous']>,
  definition: TypeDefinition,
): Rule {
  const fromPath = parsePointer(from)
  const toPath = parsePointer(to)
  const fromText = (band: Band) => `${getFieldTitle(from, definition.fields)} ${formatEnd(band.from)}`
  const toText = (band: Band) => `${getFieldTitle(to, definition.fields)} ${formatEnd(band.to)}`
  const bands: Band[] = []

  const reversed = (band: Band): ListFault =>
    createListFault(
      'band_reversed',
      to,
      band.key,
      `"${band.key}" ends before it begins (${fromText(band)}, ${toText(band)}).`,
    )
  const meeting = (before: Band, band: Band): ListFault[] => {
    const distance = band.from - (before.to + step)
    if (isNegligible(distance, band.from)) return []
    const [code, what] = distance > 0 ? ['band_gap', 'a gap'] : ['band_overlap', 'an overlap']
    const message = `There is ${what} between "${before.key}" (${toText(before)}) and "${band.key}" (${fromText(band)}).`
    return [createListFault(code, from, band.key, message)]
  }
  const ends = (first: Band, last: Band): ListFault[] => {
    const begins = `The first band must begin at ${start}; "${first.key}" has ${fromText(first)}.`
    const stops = `The last band must end at ${end}; "${last.key}" has ${toText(last)}.`
    return [
      ...(start === undefined || first.from === start ? [] : [createListFault('band_start', from, first.key, begins)]),
      ...(end === undefined || last.to === end ? [] : [createListFault('band_end', to, last.key, stops)]),
    ]
  }

  return {
    add(key, entry) {
      const lower = numberOr(valueAt(entry, fromPath), Number.NEGATIVE_INFINITY)
      bands.push({ key, from: lower, to: numberOr(valueAt(entry, toPath), Number.POSITIVE_INFINITY) })
    },
    finish() {
      const faults = bands.filter((band) => band.to < band.from).map(reversed)
      const ordered = bands.filter((band) => band.to >= band.from).sort((a, b) => a.from - b.from || a.to - b.to || 0)
      ordered.forEach((band, index) => {
        const before = ordered[index - 1]
        if (before && faults.length < MAX_FAULTS) faults.push(...meeting(before, band))
      })
      const [first] = ordered
      const last = ordered.at(-1)
      return first && last ? [...faults, ...ends(first, last)] : faults
    },
  }
}

const numberOr = (value: unknown, open: number): number => (typeof value === 'number' ? value : open)
const formatEnd = (end: number): string => (Number.isFinite(end) ? String(end) : 'open')

/** Decimal ends are not exact: a band that ends at 0.1 + 0.2 meets one that begins at 0.3. */
const isNegligible = (distance: number, at: number): boolean =>
  Number.isFinite(distance) && Math.abs(distance) <= Number.EPSILON * Math.max(1, Math.abs(at))
