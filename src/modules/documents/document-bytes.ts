/** Writes and reads the bytes of documents in chunks of 1 MiB, each encrypted under the key of the subject or of the document. */

import { createHash } from 'node:crypto'
import { decodePieces } from '#kernel/database/base64-pieces.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { DecryptionFailed } from '#kernel/encryption/failures.ts'
import type { KeyOwner } from '#kernel/encryption/value-encryption.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { insertChunk, listChunkPieces } from './queries.ts'

export const CHUNK_BYTES = 1024 * 1024
export const MAX_DOCUMENT_BYTES = 100 * CHUNK_BYTES

type RunInTx = <T>(body: (tx: Tx) => Promise<T>) => Promise<T>

export interface DocumentKey {
  readonly document_id: string
  readonly subject_id: string | null
}

export interface DocumentHashes {
  readonly sha256: string
  readonly encrypted_sha256: string
}

export const getOwner = ({ document_id, subject_id }: DocumentKey): KeyOwner =>
  subject_id === null ? { kind: 'object', id: document_id } : { kind: 'subject', id: subject_id }

const locateChunk = (document_id: string, seq: number) => ({
  table: 'document_chunk',
  row_id: `${document_id}/${seq}`,
  column: 'content',
})

export const countChunks = (size_bytes: number): number => Math.ceil(size_bytes / CHUNK_BYTES)

/** Hashes of plain and of stored bytes, chunk after chunk. */
export class DocumentDigest {
  readonly #plain = createHash('sha256')
  readonly #stored = createHash('sha256')

  add(plain: Buffer, stored: Buffer): void {
    this.#plain.update(plain)
    this.#stored.update(stored)
  }

  end(): DocumentHashes {
    return { sha256: this.#plain.digest('hex'), encrypted_sha256: this.#stored.digest('hex') }
  }
}

/** Returns what was stored. */
export async function storeChunk(
  kernel: Capabilities<'encryption'>,
  tx: Tx,
  document: DocumentKey,
  { seq, plain }: { readonly seq: number; readonly plain: Buffer },
): Promise<Buffer> {
  const { document_id } = document
  const stored = await kernel.encryption.encrypt(tx, getOwner(document), locateChunk(document_id, seq), plain)
  await insertChunk(tx, document_id, seq, stored)
  return stored
}

/** Undefined where a chunk is missing. */
async function readStored(tx: Tx, document_id: string, seq: number): Promise<Buffer | undefined> {
  const rows = await listChunkPieces(tx, document_id, seq)
  if (rows.length === 0) return undefined
  return Buffer.concat(decodePieces(rows))
}

interface ReadDocument extends DocumentKey {
  readonly size_bytes: number
  readonly sha256: string | null
}

/**
 * Yields the plain bytes; each chunk is read in its own transaction. The hash is compared before the last chunk is yielded, so
 * altered bytes are never delivered completely.
 */
export async function* readDocument(
  kernel: Capabilities<'encryption'>,
  read: RunInTx,
  document: ReadDocument,
): AsyncGenerator<Buffer> {
  const { document_id } = document
  const chunks = countChunks(document.size_bytes)
  const hash = createHash('sha256')
  for (let seq = 0; seq < chunks; seq++) {
    const plain = await read(async (tx) => {
      const stored = await readStored(tx, document_id, seq)
      if (!stored) throw new DecryptionFailed('a part of the document is missing')
      return kernel.encryption.decrypt(tx, getOwner(document), locateChunk(document_id, seq), stored)
    })
    hash.update(plain)
    if (seq === chunks - 1 && hash.digest('hex') !== document.sha256)
      throw new DecryptionFailed('the document does not have its hash')
    yield plain
  }
}

/** Of the stored bytes; no key is needed. Null where a chunk is missing. */
export async function hashStoredBytes(
  read: RunInTx,
  { document_id, size_bytes }: { readonly document_id: string; readonly size_bytes: number },
): Promise<string | null> {
  const hash = createHash('sha256')
  for (let seq = 0; seq < countChunks(size_bytes); seq++) {
    const stored = await read((tx) => readStored(tx, document_id, seq))
    if (!stored) return null
    hash.update(stored)
  }
  return hash.digest('hex')
}
