/**
 * A segment of the search index of a list: for each word the entries that contain it. Entries are numbered in key order; words are
 * sorted in blocks, each with its entry numbers as delta-encoded varints.
 */

export interface WordBlock {
  /** The first word of the block. A word with many entries may continue in the next block. */
  readonly first_word: string
  readonly bytes: Buffer
}

const BLOCK_BYTES = 8 * 1024
const MAX_POSTINGS_PER_BLOCK = 4000

/** Collects the words of entries that come in key order. */
export class SegmentBuilder {
  count = 0
  readonly #postings = new Map<string, number[]>()

  add(words: Iterable<string>): void {
    const entry = this.count++
    for (const word of words) {
      const postings = this.#postings.get(word)
      if (postings) postings.push(entry)
      else this.#postings.set(word, [entry])
    }
  }

  /** Yields blocks in ascending UTF-8 order, as the database sorts them. */
  *blocks(): Generator<WordBlock> {
    let pieces: Buffer[] = []
    let size_bytes = 0
    let first_word = ''
    for (const { word, bytes } of this.#sortedWords()) {
      const postings = this.#postings.get(word) as number[]
      for (let at = 0; at < postings.length; at += MAX_POSTINGS_PER_BLOCK) {
        if (pieces.length === 0) first_word = word
        const piece = encodeWord(bytes, postings.slice(at, at + MAX_POSTINGS_PER_BLOCK))
        pieces.push(piece)
        size_bytes += piece.length
        if (size_bytes >= BLOCK_BYTES) {
          yield { first_word, bytes: Buffer.concat(pieces) }
          pieces = []
          size_bytes = 0
        }
      }
    }
    if (pieces.length > 0) yield { first_word, bytes: Buffer.concat(pieces) }
  }

  /** Sorts in groups by the first two characters, so that no long sort blocks the event loop. */
  *#sortedWords(): Generator<{ readonly word: string; readonly bytes: Buffer }> {
    const groups = new Map<string, string[]>()
    for (const word of this.#postings.keys()) {
      const beginning = String.fromCodePoint(
        ...[...word.slice(0, 4)].slice(0, 2).map((one) => one.codePointAt(0) as number),
      )
      const group = groups.get(beginning)
      if (group) group.push(word)
      else groups.set(beginning, [word])
    }
    for (const { word: beginning } of sortByBytes([...groups.keys()]))
      yield* sortByBytes(groups.get(beginning) as string[])
  }
}

const sortByBytes = (words: readonly string[]) =>
  words.map((word) => ({ word, bytes: Buffer.from(word) })).sort((a, b) => Buffer.compare(a.bytes, b.bytes))

function encodeWord(word: Buffer, postings: readonly number[]): Buffer {
  const bytes: number[] = []
  writeVarint(bytes, word.length)
  bytes.push(...word)
  writeVarint(bytes, postings.length)
  let before = 0
  for (const posting of postings) {
    writeVarint(bytes, posting - before)
    before = posting
  }
  return Buffer.from(bytes)
}

function writeVarint(bytes: number[], value: number): void {
  let rest = value
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128)
  bytes.push(rest)
}

/** A set of entry numbers below `size`. */
export class EntrySet {
  readonly #bits: Uint32Array
  constructor(size: number) {
    this.#bits = new Uint32Array(Math.ceil(size / 32))
  }

  add(entry: number): void {
    this.#bits[entry >>> 5] = (this.#bits[entry >>> 5] as number) | (1 << (entry & 31))
  }

  intersect(other: EntrySet): void {
    for (let at = 0; at < this.#bits.length; at++)
      this.#bits[at] = (this.#bits[at] as number) & (other.#bits[at] as number)
  }

  /** In ascending order, from `first` on. */
  *from(first: number): Generator<number> {
    for (let at = first >>> 5; at < this.#bits.length; at++) {
      let bits = this.#bits[at] as number
      if (at === first >>> 5) bits &= -1 << (first & 31)
      for (; bits !== 0; bits &= bits - 1) yield at * 32 + (31 - Math.clz32(bits & -bits))
    }
  }
}

/** Adds the entries of every word in the block that begins with `prefix`. */
export function collectPrefix(block: Buffer, prefix: string, found: EntrySet): void {
  const wanted = Buffer.from(prefix)
  const reader = { bytes: block, at: 0 }
  while (reader.at < block.length) {
    const length = readVarint(reader)
    const word = block.subarray(reader.at, reader.at + length)
    reader.at += length
    const fits = length >= wanted.length && word.compare(wanted, 0, wanted.length, 0, wanted.length) === 0
    let entry = 0
    for (let left = readVarint(reader); left > 0; left--) {
      entry += readVarint(reader)
      if (fits) found.add(entry)
    }
  }
}

function readVarint(reader: { readonly bytes: Buffer; at: number }): number {
  let value = 0
  let factor = 1
  for (;;) {
    const byte = reader.bytes[reader.at++]
    if (byte === undefined) throw new RangeError('A block of the search index ends early')
    if (byte < 128) return value + byte * factor
    value += (byte - 128) * factor
    factor *= 128
  }
}
