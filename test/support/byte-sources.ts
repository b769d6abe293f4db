/** Sources for tests: bytes cut at awkward places, and a witness that says whether they were closed. */
import type { Source } from '#registry/adapter.ts'

/** The text or bytes in pieces of `piece_bytes`, so that every boundary is met. */
export async function* toSource(content: string | Uint8Array, piece_bytes = 7): AsyncGenerator<Uint8Array> {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  for (let at = 0; at < bytes.length; at += piece_bytes) yield bytes.subarray(at, at + piece_bytes)
}

/** Never ends by itself; `closed` tells that the reader let it go. */
export class EndlessSource implements Source {
  closed = false
  private readonly first: Uint8Array
  private readonly piece: Uint8Array

  constructor(first: string | Uint8Array, piece: string | Uint8Array) {
    this.first = Buffer.from(first as string)
    this.piece = Buffer.from(piece as string)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      yield this.first
      for (;;) yield this.piece
    } finally {
      this.closed = true
    }
  }
}

export async function collectItems<T>(groups: AsyncIterable<readonly T[]>): Promise<T[]> {
  const items: T[] = []
  for await (const group of groups) items.push(...group)
  return items
}

export async function collectText(pieces: AsyncIterable<string>): Promise<string> {
  let text = ''
  for await (const piece of pieces) text += piece
  return text
}

export async function collectBytes(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const piece of pieces) chunks.push(piece)
  return Buffer.concat(chunks)
}
