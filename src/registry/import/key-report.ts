/**
 * Reports on the keys of a source: invisible characters that were removed, and in previews, which stage nothing, duplicate keys.
 * Memory is bounded.
 */
import type { Reject, SourceLocation, Warning } from '../adapter.ts'
import { keyDigest } from '../content/hashes.ts'

/** Counts keys that lost invisible characters. */
export class RemovedCharacters {
  #keys = 0
  #first: { readonly key: string; readonly at: SourceLocation } | undefined
  readonly #characters = new Set<string>()

  add(key: string, removed: readonly string[], at: SourceLocation): void {
    this.#keys++
    this.#first ??= { key, at }
    for (const character of removed) this.#characters.add(character)
  }

  warnings(): Warning[] {
    if (!this.#first) return []
    const keys = this.#keys === 1 ? '1 key holds' : `${this.#keys} keys hold`
    const characters = [...this.#characters].sort().slice(0, 10).join(', ')
    const first = `The first is ${JSON.stringify(this.#first.key.slice(0, 100))}.`
    const message = `${keys} invisible characters (${characters}), which were removed. ${first}`
    return [{ code: 'key_invisible_removed', message, at: this.#first.at }]
  }
}

/** The first half of a SHA-256; a collision among millions of keys is practically impossible. */
const DIGEST_WORDS = 4
const WORDS = DIGEST_WORDS + 2
const FIRST_SLOTS = 1024
export const MAX_COMPARED_KEYS = 1_000_000

/**
 * The first row of each key, up to a maximum number of keys: an open-addressing hash table of digests, 24 bytes per slot, at most
 * half full.
 */
export class SeenKeys {
  readonly #max_keys: number
  #keys = 0
  #passed_over = 0
  #slots = new Uint32Array(FIRST_SLOTS * WORDS)

  constructor(max_keys = MAX_COMPARED_KEYS) {
    this.#max_keys = max_keys
  }

  /** The first row of the key; undefined when this row is the first. */
  add(key: string, row: number): number | undefined {
    const digest = Buffer.from(keyDigest(key), 'latin1')
    const words = Array.from({ length: DIGEST_WORDS }, (_, word) => digest.readUInt32LE(word * 4))
    const at = this.#find(this.#slots, words)
    const seen = rowAt(this.#slots, at)
    if (seen > 0) return seen
    if (this.#keys === this.#max_keys) {
      this.#passed_over++
      return undefined
    }
    this.#put(this.#slots, at, words, row)
    if (++this.#keys * 2 > this.#slots.length / WORDS) this.#grow()
    return undefined
  }

  warnings(): Warning[] {
    if (this.#passed_over === 0) return []
    const message = `Only the first ${this.#max_keys} keys were compared; whether later ones repeat is found when the source is imported.`
    return [{ code: 'keys_not_compared', message }]
  }

  /** Index of the slot with the digest, or of the free slot for it. */
  #find(slots: Uint32Array, words: readonly number[]): number {
    const count = slots.length / WORDS
    for (let slot = (words[0] as number) % count; ; slot = (slot + 1) % count) {
      const at = slot * WORDS
      if (rowAt(slots, at) === 0 || words.every((word, index) => slots[at + index] === word)) return at
    }
  }

  #put(slots: Uint32Array, at: number, words: readonly number[], row: number): void {
    slots.set(words, at)
    slots[at + DIGEST_WORDS] = row % 2 ** 32
    slots[at + DIGEST_WORDS + 1] = Math.floor(row / 2 ** 32)
  }

  #grow(): void {
    const larger = new Uint32Array(this.#slots.length * 2)
    for (let at = 0; at < this.#slots.length; at += WORDS) {
      const row = rowAt(this.#slots, at)
      if (row === 0) continue
      const words = Array.from(this.#slots.subarray(at, at + DIGEST_WORDS))
      this.#put(larger, this.#find(larger, words), words, row)
    }
    this.#slots = larger
  }
}

/** Rows are counted from 1, so that 0 is a free slot. */
const rowAt = (slots: Uint32Array, at: number): number =>
  (slots[at + DIGEST_WORDS] as number) + (slots[at + DIGEST_WORDS + 1] as number) * 2 ** 32

export const duplicateKey = (key: string, first_row: number, at: SourceLocation): Reject => ({
  code: 'duplicate_key',
  pointer: '',
  at,
  message: `The key ${JSON.stringify(key)} was used in row ${first_row} already.`,
  excerpt: key.slice(0, 200),
})

export const CHANGED_AND_REMOVED = 'changed_and_removed'

/** Fault of a delta; `how` names the other place of the key. */
export const changedAndRemoved = (key: string, at: SourceLocation, how: string): Reject => ({
  code: CHANGED_AND_REMOVED,
  pointer: '',
  at,
  message: `The entry ${JSON.stringify(key)} would be both changed and removed: its key ${how}.`,
  excerpt: key.slice(0, 200),
})
