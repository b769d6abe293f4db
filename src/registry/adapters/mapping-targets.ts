/** Targets in an entry that a mapping writes to, and merging of two entries. */
import type { Entry } from '../adapter.ts'
import { escapeStep, isObject, setMember } from '../content/json-pointer.ts'
import { normaliseComposed } from '../types/text-rules.ts'

export const parseTargetSteps = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))

export interface Target {
  readonly pointer: string
  readonly steps: readonly string[]
  /** The only step, when there is one: the common case is a plain assignment. */
  readonly only: string | undefined
  /** Values are appended to an array. */
  readonly is_appended: boolean
  set(entry: Entry, value: unknown): void
  find(entry: Entry): unknown
}

/** Whether the last step appends, as in RFC 6902. At the top level "-" is the name of a member. */
export const isAppending = (steps: readonly string[]): boolean => steps.length > 1 && steps.at(-1) === '-'

export function parseTarget(pointer: string): Target {
  const given = parseTargetSteps(pointer)
  const is_appended = isAppending(given)
  const steps = is_appended ? given.slice(0, -1) : given
  return {
    pointer: is_appended ? pointer.slice(0, -2) : pointer,
    steps,
    only: steps.length === 1 && !is_appended ? steps[0] : undefined,
    is_appended,
    set: (entry, value) => setAt(entry, steps, value),
    find: (entry) => steps.reduce<unknown>((at, step) => (isObject(at) ? at[step] : undefined), entry),
  }
}

function setAt(entry: Entry, steps: readonly string[], value: unknown): void {
  let inside = entry
  for (const step of steps.slice(0, -1)) {
    if (!Object.hasOwn(inside, step)) inside[step] = {}
    inside = inside[step] as Entry
  }
  inside[steps.at(-1) as string] = value
}

/** Returns false when the target is not an array. */
export function appendTo(entry: Entry, to: Target, values: readonly unknown[]): boolean {
  const found = to.find(entry)
  if (Array.isArray(found)) found.push(...values)
  else if (found === undefined) to.set(entry, [...values])
  else return false
  return true
}

export function cloneValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(cloneValue)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, cloneValue(member)]))
}

export interface Conflict {
  readonly pointer: string
  readonly known: unknown
  readonly found: unknown
}

/** Merges `more` into `entry`. When they contradict each other nothing is changed. */
export function mergeEntries(entry: Entry, more: Entry): Conflict[] {
  const conflicts = findConflicts(entry, more, '')
  if (conflicts.length === 0) merge(entry, more)
  return conflicts
}

function findConflicts(known: Entry, more: Entry, pointer: string): Conflict[] {
  return Object.entries(more).flatMap(([name, found]) => {
    const [before, at] = [getOwnMember(known, name), `${pointer}/${escapeStep(name)}`]
    if (before === undefined || isSame(before, found) || (Array.isArray(before) && Array.isArray(found))) return []
    if (isObject(before) && isObject(found)) return findConflicts(before, found, at)
    return [{ pointer: at, known: before, found }]
  })
}

/** Texts are stored in composed form, so they are compared in that form. */
const isSame = (a: unknown, b: unknown): boolean =>
  a === b || (typeof a === 'string' && typeof b === 'string' && normaliseComposed(a) === normaliseComposed(b))

const getOwnMember = (entry: Entry, name: string): unknown => (Object.hasOwn(entry, name) ? entry[name] : undefined)

/** The elements of an array as JSON, so that a long array is not searched for each new element. */
const known_elements = new WeakMap<unknown[], Set<string>>()

function merge(entry: Entry, more: Entry): void {
  for (const [name, found] of Object.entries(more)) {
    const before = getOwnMember(entry, name)
    if (before === undefined) setMember(entry, name, found)
    else if (Array.isArray(before)) addElements(before, found as unknown[])
    else if (isObject(before)) merge(before, found as Entry)
  }
}

function addElements(array: unknown[], more: readonly unknown[]): void {
  let known = known_elements.get(array)
  if (known === undefined) {
    known = new Set(array.map((element) => JSON.stringify(element)))
    known_elements.set(array, known)
  }
  for (const element of more) {
    const text = JSON.stringify(element)
    if (known.has(text)) continue
    known.add(text)
    array.push(element)
  }
}
