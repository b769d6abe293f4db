/**
 * Compiles a dataset type: normalise, validate, key, canonical text and hash of one entry. The definition must have passed
 * `checkDefinition`; a tenant's own type is compiled only inside the bounded worker (type-runner.ts).
 */
import type { Entry } from '../adapter.ts'
import { entryHash } from '../content/hashes.ts'
import { escapeStep, isObject, parsePointer, valueAt } from '../content/json-pointer.ts'
import { compileCanonicalForm } from './canonical-form.ts'
import { compileCanonical } from './canonical-text.ts'
import {
  createExcerpt,
  type EntryFault,
  fault,
  getFieldTitle,
  toEntryFaults,
  UNSTORABLE,
} from './entry-fault-messages.ts'
import { compileNormaliser } from './normalise.ts'
import { compileExplainer, compileSchema, type ErrorObject } from './schema-validator.ts'
import { listInvisible } from './text-rules.ts'
import type { TypeDefinition } from './type-definition.ts'

export type { EntryFault }

export const MAX_KEY_BYTES = 500

/** An entry as it is stored. */
export interface KeyedEntry {
  readonly key: string
  /** Canonical text of the normalised entry. */
  readonly text: string
  /** Invisible characters that were removed from its key, such as U+200B; absent when there were none. */
  readonly removed?: readonly string[]
}
export interface NormalisedEntry extends KeyedEntry {
  readonly entry: Entry
}
export interface PreparedEntry extends KeyedEntry {
  /** Hash of the text, hex. */
  readonly hash: string
}

export interface CompiledType {
  /** The faults of a normalised entry, or null. */
  validate(entry: unknown): EntryFault[] | null
  normalise(entry: Entry): Entry
  /** The business key of a valid entry; throws InvalidKeyError when it has none. */
  getKey(entry: Entry): string
  canonical(entry: Entry): string
  /** All steps in one pass: the stored entry, or its faults. */
  prepare(entry: unknown): PreparedEntry | EntryFault[]
  /** The same with the normalised entry instead of the hash, for callers that hash the text where they write it. */
  read(entry: unknown): NormalisedEntry | EntryFault[]
}

export class InvalidKeyError extends Error {
  readonly fault: EntryFault
  constructor(fault: EntryFault) {
    super(fault.message)
    this.name = 'InvalidKeyError'
    this.fault = fault
  }
}

export function compileType(definition: TypeDefinition): CompiledType {
  const { schema, fields } = definition
  const fits = compileSchema(schema)
  // Compiled on first use: most types never see an invalid entry.
  let explain: ((entry: unknown) => readonly ErrorObject[] | null) | undefined
  const getErrors = (entry: unknown): readonly ErrorObject[] => {
    const first = fits.errors ?? []
    explain ??= compileExplainer(schema)
    return explain(entry) ?? first
  }
  const normalise = compileNormalForm(definition)
  const canonical = compileCanonical(schema)
  const toKey = compileKey(definition)

  /** Key and text of a normalised entry, or its faults. */
  const readNormal = (entry: unknown): NormalisedEntry | EntryFault[] => {
    if (!fits(entry)) return toEntryFaults(getErrors(entry), entry, fields)
    try {
      return { key: toKey(entry as Entry), text: canonical(entry as Entry), entry: entry as Entry }
    } catch (error) {
      if (error instanceof InvalidKeyError) return [error.fault]
      if (!(error instanceof TypeError)) throw error
      const faults = findUnstorable(entry, '', definition)
      return faults.length > 0 ? faults : [fault('not_json', '', 'The entry is not plain JSON data.')]
    }
  }
  const keyTexts = compileKeyTexts(definition)
  const read = (given: unknown): NormalisedEntry | EntryFault[] => {
    if (!isObject(given)) return readNormal(given)
    const result = readNormal(normalise(given))
    if (Array.isArray(result)) return result
    const removed = [...new Set(keyTexts(given).flatMap(listInvisible))]
    return removed.length === 0 ? result : { ...result, removed }
  }

  return {
    normalise,
    getKey: toKey,
    canonical,
    validate(entry) {
      const result = readNormal(entry)
      return Array.isArray(result) ? result : null
    },
    prepare(given) {
      const result = read(given)
      if (Array.isArray(result)) return result
      const { entry: _, ...keyed } = result
      return { ...keyed, hash: entryHash(result.text) }
    },
    read,
  }
}

/** The normal form of an entry, which may be invalid. It runs no code of the schema, so any process may use it. */
export function compileNormalForm(
  definition: Pick<TypeDefinition, 'schema' | 'fields' | 'key_pointers' | 'trim'>,
): (entry: Entry) => Entry {
  const normalise = compileNormaliser(definition)
  const toForm = compileCanonicalForm(definition.fields)
  return toForm === null ? normalise : (entry) => toForm(normalise(entry))
}

type KeyPart = (entry: Entry) => unknown

function compileKey(definition: TypeDefinition): (entry: Entry) => string {
  const pointers = definition.key_pointers
  const parts = pointers.map((pointer): KeyPart => {
    const steps = parsePointer(pointer)
    const [name] = steps
    return steps.length === 1 ? (entry) => entry[name as string] : (entry) => valueAt(entry, steps)
  })
  const whole = pointers.length === 1 ? (pointers[0] as string) : ''
  const refuse = (code: string, message: string, pointer = whole): never => {
    throw new InvalidKeyError({ code, pointer, message })
  }
  const titles = pointers.map((pointer) => getFieldTitle(pointer, definition.fields))
  const toText = (value: unknown, part: number): string => {
    if (typeof value === 'string') return value
    if (typeof value === 'number' || typeof value === 'boolean') return String(value)
    const message = `${titles[part]} belongs to the key and must be text, a number, true or false.`
    return refuse('key_missing', message, pointers[part] as string)
  }
  const bounded = (key: string): string => {
    // A UTF-16 unit takes three bytes at most, so short keys need no counting.
    if (key.length * 3 > MAX_KEY_BYTES && Buffer.byteLength(key) > MAX_KEY_BYTES) {
      refuse(
        'key_too_long',
        `The key of an entry may have ${MAX_KEY_BYTES} bytes; this one has ${Buffer.byteLength(key)}.`,
      )
    }
    return key
  }
  const roles = pointers.length === 1 ? 'is the key' : 'are the key'
  const refuseEmpty = () => refuse('key_empty', `${titles.join(' and ')} ${roles} and must not be empty.`)
  // A preview may have no type, and so no key.
  if (parts.length === 0) return () => ''
  const [only] = parts
  if (parts.length === 1 && only) {
    return (entry) => {
      const key = toText(only(entry), 0)
      return key === '' ? refuseEmpty() : bounded(key)
    }
  }
  return (entry) => {
    const texts = parts.map((part, index) => toText(part(entry), index))
    // Publishers intentionally leave one of several parts empty; an entry without any part has no key.
    return texts.every((text) => text === '') ? refuseEmpty() : bounded(texts.map(escapePart).join('|'))
  }
}

/** The key texts of an entry before normalisation. */
function compileKeyTexts({ key_pointers }: TypeDefinition): (entry: Entry) => string[] {
  const paths = key_pointers.map(parsePointer)
  return (entry) => paths.flatMap((path) => valueAt(entry, path)).filter((value) => typeof value === 'string')
}

/** The separator is escaped, so that different parts never give the same key. */
const escapePart = (part: string): string => (/[\\|]/.test(part) ? part.replaceAll(/[\\|]/g, '\\$&') : part)

/** Finds text that is valid for JSON Schema but cannot be stored. */
function findUnstorable(value: unknown, pointer: string, definition: TypeDefinition): EntryFault[] {
  if (typeof value === 'string' && value.search(UNSTORABLE) !== -1) {
    const found = createExcerpt(value, pointer, definition.fields)
    const ending = found === null ? '.' : `; found ${found}.`
    const message = `${getFieldTitle(pointer, definition.fields)} holds a character that cannot be stored${ending}`
    return [fault('unstorable_text', pointer, message)]
  }
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) => {
    const at = `${pointer}/${escapeStep(name)}`
    if (name.search(UNSTORABLE) === -1) return findUnstorable(member, at, definition)
    return [fault('unstorable_text', at, 'A member name holds a character that cannot be stored.')]
  })
}
