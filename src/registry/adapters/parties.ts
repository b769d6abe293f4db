/**
 * Shared by the adapters of sanctions lists: builds parties from records, and joins parties whose rows are far apart in the source,
 * within a limit.
 */
import type { Batch, SourceLocation } from '../adapter.ts'
import { refuseSource, reject } from '../formats/fault.ts'
import type { BatchBuilder } from './batch-builder.ts'
import type { PartyDraft } from './sanctioned-party.ts'

/** Ten times the size of the largest known list; bounds memory. */
const MAX_GATHERED_ROWS = 1_000_000

/** Adds the party to the batch, or rejects it when it has no name. */
export function addParty(out: BatchBuilder, draft: PartyDraft, at: SourceLocation): void {
  const party = draft.build()
  if (party) out.add(party, at)
  else out.reject(reject('value_missing', 'The party has no name.', at, null, '/name'))
}

/** Maximum number of buffered bytes; they are outside the heap of the thread. */
const MAX_HELD_BYTES = 512 * 1024 * 1024
const BLOCK_BYTES = 1024 * 1024
/** Upper bound of offsets in a block: a record has at most 1 MiB of characters. */
const PLACES = 2 ** 24

/**
 * Buffers values until the end of a source, within a limit. There may be hundreds of thousands: stored as text in large blocks,
 * each takes one number of heap.
 */
export class HeldValues {
  private readonly blocks: Buffer[] = []
  private used = 0
  private bytes = 0
  private readonly max_bytes: number

  constructor(max_bytes = MAX_HELD_BYTES) {
    this.max_bytes = max_bytes
  }

  /** Returns the id of the value. */
  hold(value: unknown, at: SourceLocation): number {
    const text = JSON.stringify(value)
    const length = Buffer.byteLength(text)
    this.bytes += length
    if (this.bytes > this.max_bytes) {
      const message = `The source has more than ${this.max_bytes} bytes that must be held until its end.`
      refuseSource('source_too_large', `${message} Import a smaller part of the list.`, at)
    }
    let block = this.blocks.at(-1)
    if (block === undefined || this.used + 4 + length > block.length) {
      block = Buffer.allocUnsafeSlow(Math.max(BLOCK_BYTES, 4 + length))
      this.blocks.push(block)
      this.used = 0
    }
    const place = this.used
    block.writeUInt32LE(length, place)
    block.write(text, place + 4)
    this.used += 4 + length
    return (this.blocks.length - 1) * PLACES + place
  }

  get<T>(held: number): T {
    const block = this.blocks[Math.floor(held / PLACES)] as Buffer
    const place = held % PLACES
    return JSON.parse(block.toString('utf8', place + 4, place + 4 + block.readUInt32LE(place))) as T
  }
}

/** Collects parties by their number on the list, in the order of their first record. */
export class PartyCollector {
  private readonly parties = new Map<string, { readonly draft: PartyDraft; readonly at: SourceLocation }>()
  private rows = 0

  party(source_id: string, at: SourceLocation, begin: () => PartyDraft): PartyDraft {
    if (++this.rows > MAX_GATHERED_ROWS) {
      refuseSource(
        'source_too_large',
        `The list has more than ${MAX_GATHERED_ROWS} rows, which is more than it can be.`,
        at,
      )
    }
    let known = this.parties.get(source_id)
    if (known === undefined) {
      known = { draft: begin(), at }
      this.parties.set(source_id, known)
    }
    return known.draft
  }

  has(source_id: string): boolean {
    return this.parties.has(source_id)
  }

  *batches(out: BatchBuilder): Generator<Batch, void, undefined> {
    for (const { draft, at } of this.parties.values()) {
      addParty(out, draft, at)
      if (out.isFull) yield out.take()
    }
    yield* out.takeRest()
  }
}
