/**
 * Differences between two JSON documents: creates and applies JSON Patch (RFC 6902), and lists changed fields for people.
 * Documents are never changed in place.
 */
import { escapeStep, isObject, PointerFault, parsePointer, setMember } from './json-pointer.ts'

/** What a created patch consists of. */
export type CreatedOperation =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
export type PatchOperation =
  | CreatedOperation
  | { readonly op: 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'move' | 'copy'; readonly from: string; readonly path: string }

/** One field that differs. A side that has no such member lacks the property; a null is a null. */
export interface FieldChange {
  readonly pointer: string
  readonly before?: unknown
  readonly after?: unknown
}

/** The patch is invalid, or does not fit the document. */
export class PatchFault extends Error {
  readonly code: 'patch_malformed' | 'patch_conflict' | 'patch_test_failed'
  /** Which operation, from 0. */
  readonly index: number
  constructor(code: PatchFault['code'], index: number, message: string) {
    super(message)
    this.name = 'PatchFault'
    this.code = code
    this.index = index
  }
}

/** Equality of JSON values; the order of members is ignored. */
export function isEqualJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => isEqualJson(item, b[index]))
  }
  if (!isObject(a) || !isObject(b)) return false
  const names = Object.keys(a)
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && isEqualJson(a[name], b[name]))
  )
}

export function createPatch(before: unknown, after: unknown): CreatedOperation[] {
  const operations: CreatedOperation[] = []
  diffValue(before, after, '', operations)
  return operations
}

function diffValue(before: unknown, after: unknown, path: string, out: CreatedOperation[]): void {
  if (isEqualJson(before, after)) return
  if (Array.isArray(before) && Array.isArray(after)) diffArray(before, after, path, out)
  else if (isObject(before) && isObject(after)) diffObject(before, after, path, out)
  else out.push({ op: 'replace', path, value: after })
}

function diffObject(
  before: Record<string, unknown>,
  after: Record<string, unknown>,
  path: string,
  out: CreatedOperation[],
): void {
  for (const name of Object.keys(before).sort()) {
    const at = `${path}/${escapeStep(name)}`
    if (Object.hasOwn(after, name)) diffValue(before[name], after[name], at, out)
    else out.push({ op: 'remove', path: at })
  }
  for (const name of Object.keys(after).sort()) {
    if (!Object.hasOwn(before, name)) out.push({ op: 'add', path: `${path}/${escapeStep(name)}`, value: after[name] })
  }
}

/** Equal ends are kept; between them elements are changed in place, then removed from the back or added in order. */
function diffArray(before: readonly unknown[], after: readonly unknown[], path: string, out: CreatedOperation[]): void {
  const shorter = Math.min(before.length, after.length)
  let head = 0
  while (head < shorter && isEqualJson(before[head], after[head])) head++
  let tail = 0
  while (tail < shorter - head && isEqualJson(before[before.length - 1 - tail], after[after.length - 1 - tail])) tail++

  const changed = shorter - head - tail
  for (let index = head; index < head + changed; index++) {
    diffValue(before[index], after[index], `${path}/${index}`, out)
  }
  for (let index = before.length - tail - 1; index >= head + changed; index--) {
    out.push({ op: 'remove', path: `${path}/${index}` })
  }
  for (let index = head + changed; index < after.length - tail; index++) {
    out.push({ op: 'add', path: `${path}/${index}`, value: after[index] })
  }
}

/** Returns the patched document, or throws PatchFault. */
export function applyPatch(doc: unknown, patch: unknown): unknown {
  if (!Array.isArray(patch)) throw new PatchFault('patch_malformed', 0, 'A JSON Patch is an array of operations')
  return patch.reduce<unknown>((value, operation, index) => {
    try {
      return applyOne(value, operation, index)
    } catch (error) {
      if (error instanceof PointerFault) throw new PatchFault('patch_malformed', index, error.message)
      throw error
    }
  }, doc)
}

function applyOne(doc: unknown, operation: unknown, index: number): unknown {
  const malformed = (message: string): never => {
    throw new PatchFault('patch_malformed', index, message)
  }
  const conflict = (message: string): never => {
    throw new PatchFault('patch_conflict', index, message)
  }
  if (!isObject(operation)) return malformed('An operation is an object')
  const member = (name: string): unknown => (Object.hasOwn(operation, name) ? operation[name] : undefined)
  const steps = (name: 'path' | 'from'): string[] => {
    const pointer = member(name)
    return typeof pointer === 'string' ? parsePointer(pointer) : malformed(`"${name}" must be a JSON pointer`)
  }
  const value = (): unknown =>
    Object.hasOwn(operation, 'value') ? operation['value'] : malformed('"value" is missing')

  const path = steps('path')
  switch (member('op')) {
    case 'add':
      return edit(doc, path, { kind: 'add', value: value() }, conflict)
    case 'remove':
      return edit(doc, path, { kind: 'remove' }, conflict)
    case 'replace':
      return edit(doc, path, { kind: 'replace', value: value() }, conflict)
    case 'copy':
      return edit(doc, path, { kind: 'add', value: lookUp(doc, steps('from'), conflict) }, conflict)
    case 'move': {
      const from = steps('from')
      const moved = lookUp(doc, from, conflict)
      if (from.length === path.length && from.every((step, at) => step === path[at])) return doc
      if (from.every((step, at) => step === path[at])) return conflict('A value cannot move into itself')
      return edit(edit(doc, from, { kind: 'remove' }, conflict), path, { kind: 'add', value: moved }, conflict)
    }
    case 'test': {
      const expected = value()
      if (isEqualJson(lookUp(doc, path, conflict), expected)) return doc
      throw new PatchFault('patch_test_failed', index, `The value at "${member('path')}" is not the expected one`)
    }
    default:
      return malformed('"op" must be add, remove, replace, move, copy or test')
  }
}

type Edit = { readonly kind: 'add' | 'replace'; readonly value: unknown } | { readonly kind: 'remove' }
type Conflict = (message: string) => never

/** An array index as RFC 6901 writes it, within `limit`. */
function indexOf(step: string, limit: number, conflict: Conflict): number {
  if (!/^(?:0|[1-9][0-9]*)$/.test(step)) return conflict(`"${step}" is not an array index`)
  const index = Number(step)
  return index <= limit ? index : conflict(`The array has no element ${step}`)
}

function lookUp(doc: unknown, path: readonly string[], conflict: Conflict): unknown {
  let found = doc
  for (const step of path) {
    if (Array.isArray(found)) found = found[indexOf(step, found.length - 1, conflict)]
    else if (isObject(found) && Object.hasOwn(found, step)) found = found[step]
    else return conflict(`There is no member "${step}"`)
  }
  return found
}

/** The document with one edit at `path`; only values on the path are copied. */
function edit(doc: unknown, path: readonly string[], change: Edit, conflict: Conflict): unknown {
  const [step, ...rest] = path
  if (step === undefined)
    return change.kind === 'remove' ? conflict('The whole document cannot be removed') : change.value
  const last = rest.length === 0
  if (Array.isArray(doc)) {
    const isAdd = last && change.kind === 'add'
    const index = isAdd && step === '-' ? doc.length : indexOf(step, doc.length - (isAdd ? 0 : 1), conflict)
    if (!last) return doc.with(index, edit(doc[index], rest, change, conflict))
    if (change.kind === 'remove') return doc.toSpliced(index, 1)
    return change.kind === 'add' ? doc.toSpliced(index, 0, change.value) : doc.with(index, change.value)
  }
  if (!isObject(doc)) return conflict(`There is nothing at "${step}": its parent is not an object or an array`)
  if (!(last && change.kind === 'add') && !Object.hasOwn(doc, step)) return conflict(`There is no member "${step}"`)
  const copy = copyObject(doc)
  if (!last) setMember(copy, step, edit(doc[step], rest, change, conflict))
  else if (change.kind === 'remove') delete copy[step]
  else setMember(copy, step, change.value)
  return copy
}

function copyObject(value: Record<string, unknown>): Record<string, unknown> {
  const copy: Record<string, unknown> = {}
  for (const name of Object.keys(value)) setMember(copy, name, value[name])
  return copy
}

/** Field by field: objects deep, arrays of scalars as a whole, arrays of objects by position when their length is equal. */
export function listFieldChanges(before: unknown, after: unknown): FieldChange[] {
  const changes: FieldChange[] = []
  compare(before, after, '', changes)
  return changes
}

function compare(before: unknown, after: unknown, pointer: string, out: FieldChange[]): void {
  if (isEqualJson(before, after)) return
  if (isObject(before) && isObject(after)) {
    const names = new Set([...Object.keys(before), ...Object.keys(after)])
    for (const name of [...names].sort()) {
      const at = `${pointer}/${escapeStep(name)}`
      if (!Object.hasOwn(before, name)) out.push({ pointer: at, after: after[name] })
      else if (!Object.hasOwn(after, name)) out.push({ pointer: at, before: before[name] })
      else compare(before[name], after[name], at, out)
    }
  } else if (isObjectArray(before) && isObjectArray(after) && before.length === after.length) {
    before.forEach((row, index) => {
      compare(row, after[index], `${pointer}/${index}`, out)
    })
  } else {
    out.push({ pointer, before, after })
  }
}

const isObjectArray = (value: unknown): value is Record<string, unknown>[] =>
  Array.isArray(value) && value.every(isObject)
