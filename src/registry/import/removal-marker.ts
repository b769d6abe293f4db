/** Rows of a delta that remove an entry: a member of the row marks them, and only their key is used. */
import type { Entry, Warning } from '../adapter.ts'
import { parsePointer, valueAt } from '../content/json-pointer.ts'
import { type CompiledType, type EntryFault, InvalidKeyError } from '../types/compile-type.ts'
import { fault, UNSTORABLE } from '../types/entry-fault-messages.ts'
import { SchemaTree } from '../types/schema-tree.ts'
import type { TypeDefinition } from '../types/type-definition.ts'

export interface RemovalMarkerOptions {
  /** The member of a row, as the adapter reads it. */
  readonly pointer: string
  /** Values that mark a removal. */
  readonly values: readonly string[]
}

/** Whether a value of the marker means a removal. */
export function createRemovalTest({ values }: Pick<RemovalMarkerOptions, 'values'>): (value: unknown) => boolean {
  const removing = new Set(values.map((value) => value.trim()))
  return (value) => typeof value !== 'object' && removing.has(String(value).trim())
}

export class RemovalMarker {
  readonly #pointer: string
  readonly #steps: readonly string[]
  readonly #isRemoval: (value: unknown) => boolean
  readonly #is_declared: boolean
  #rows = 0
  #is_met = false

  constructor({ pointer, values }: RemovalMarkerOptions, { schema }: Pick<TypeDefinition, 'schema'>) {
    this.#pointer = pointer
    this.#steps = parsePointer(pointer)
    this.#isRemoval = createRemovalTest({ values })
    this.#is_declared = new SchemaTree(schema).findMember(pointer) !== null
  }

  /** Whether the row removes its entry. A marker that the type does not declare is deleted from the entry. */
  take(entry: Entry): boolean {
    this.#rows++
    const value = valueAt(entry, this.#steps)
    if (value === undefined) return false
    this.#is_met = true
    if (!this.#is_declared) {
      const parent = valueAt(entry, this.#steps.slice(0, -1)) as Record<string, unknown>
      delete parent[this.#steps.at(-1) as string]
    }
    return this.#isRemoval(value)
  }

  /** A pointer that matches no row is most likely misspelt, and removals would be read as changes. */
  warnings(): Warning[] {
    if (this.#is_met || this.#rows === 0) return []
    const message = `No row has the member ${this.#pointer} that says which rows remove an entry.`
    return [{ code: 'removal_marker_unmet', message, closes_guard: true }]
  }
}

/** The key of a removing row; its other members need not be valid. */
export function getRemovalKey(type: CompiledType, entry: Entry): string | EntryFault {
  try {
    const key = type.getKey(type.normalise(entry))
    return key.search(UNSTORABLE) === -1
      ? key
      : fault('unstorable_text', '', 'The key holds a character that cannot be stored.')
  } catch (error) {
    if (error instanceof InvalidKeyError) return error.fault
    throw error
  }
}
