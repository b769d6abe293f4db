/** Stores and reads uploaded bytes in chunks of 1 MiB, so that memory stays bounded and no transaction waits for a client. */

import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { decodePieces } from '#kernel/database/base64-pieces.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { fail } from '#kernel/problem.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import {
  findUpload,
  findUploadContent,
  insertUpload,
  insertUploadChunk,
  listUploadPieces,
  removeUnstoredUpload,
  type UploadRow,
  updateUploadStored,
  updateUploadUsed,
} from './queries.ts'

const CHUNK_BYTES = 1024 * 1024

/** Regroups the stream into chunks of exactly 1 MiB; the last one may be shorter. */
async function* toChunks(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let parts: Buffer[] = []
  let held = 0
  for await (const part of source) {
    parts.push(part)
    held += part.length
    while (held >= CHUNK_BYTES) {
      const all = Buffer.concat(parts)
      yield all.subarray(0, CHUNK_BYTES)
      const rest = all.subarray(CHUNK_BYTES)
      parts = rest.length > 0 ? [rest] : []
      held = rest.length
    }
  }
  if (held > 0) yield Buffer.concat(parts)
}

interface UploadStore {
  write<T>(body: (tx: Tx) => Promise<T>): Promise<T>
  settle<T>(fingerprint: string, body: (tx: Tx) => Promise<T>): Promise<T>
}

/** Commits chunk by chunk. A broken connection or a repeated request leaves no rows behind. */
export async function storeUpload(
  store: UploadStore,
  stream: Readable,
  options: { file_name: string | null; restriction_id: string | null; max_bytes: number },
): Promise<UploadRow> {
  const upload_id = uuidv7()
  const hash = createHash('sha256')
  let size_bytes = 0
  let chunks = 0
  try {
    await store.write((tx) => insertUpload(tx, upload_id, options.file_name))
    for await (const piece of toChunks(stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>)) {
      size_bytes += piece.length
      if (size_bytes > options.max_bytes) {
        fail('too_large', `An upload may have at most ${options.max_bytes} bytes on this server.`)
      }
      hash.update(piece)
      const seq = chunks++
      await store.write((tx) => insertUploadChunk(tx, upload_id, seq, piece))
    }
    const sha256 = hash.digest('hex')
    const restricted = options.restriction_id === null ? '' : `:${options.restriction_id}`
    const fingerprint = `${options.file_name ?? ''}:${size_bytes}:${sha256}${restricted}`
    const stored = await store.settle(
      fingerprint,
      async (tx) =>
        (await updateUploadStored(tx, upload_id, { size_bytes, sha256, chunks })) ?? fail('upload_incomplete'),
    )
    // An earlier request with this Idempotency-Key stored the same bytes: its reply is repeated, these bytes are discarded.
    if (stored.upload_id !== upload_id) await store.write((tx) => removeUnstoredUpload(tx, upload_id))
    return stored
  } catch (error) {
    // The rest is read and discarded: a client that is still sending would see a closed connection instead of the reply.
    stream.resume()
    await store.write((tx) => removeUnstoredUpload(tx, upload_id)).catch(() => {})
    throw error
  }
}

export interface WrittenBytes {
  readonly upload_id: string
  readonly size_bytes: number
  readonly sha256: string
  readonly chunks: number
}

/**
 * Stores bytes that a job produces, chunk by chunk. They are invisible until `completeBytes` names them in a step of the job;
 * what a dead worker leaves behind expires within an hour.
 */
export async function writeBytes(
  write: <T>(body: (tx: Tx) => Promise<T>) => Promise<T>,
  source: AsyncIterable<Buffer>,
  file_name: string,
): Promise<WrittenBytes> {
  const upload_id = uuidv7()
  const hash = createHash('sha256')
  let size_bytes = 0
  let chunks = 0
  await write((tx) => insertUpload(tx, upload_id, file_name))
  for await (const piece of toChunks(source)) {
    size_bytes += piece.length
    hash.update(piece)
    const seq = chunks++
    await write((tx) => insertUploadChunk(tx, upload_id, seq, piece))
  }
  return { upload_id, size_bytes, sha256: hash.digest('hex'), chunks }
}

export async function completeBytes(tx: Tx, { upload_id, ...facts }: WrittenBytes): Promise<void> {
  if (!(await updateUploadStored(tx, upload_id, facts))) fail('upload_incomplete')
  await updateUploadUsed(tx, upload_id, false)
}

/** For jobs and requests that name an `upload_id`: checks that it exists and extends its lifetime; a private use keeps it from others. */
export async function claimUpload(tx: Tx, upload_id: string, is_private = false): Promise<UploadRow> {
  const used = await updateUploadUsed(tx, upload_id, is_private)
  if (used) return used
  return (await findUpload(tx, upload_id)) ? fail('upload_incomplete') : fail('not_found', 'There is no such upload.')
}

/** One chunk, 1 MiB except for the last one. */
export async function readUploadChunk(tx: Tx, upload_id: string, seq: number): Promise<Buffer> {
  const pieces = decodePieces(await listUploadPieces(tx, upload_id, seq))
  return pieces.length > 0 ? Buffer.concat(pieces) : fail('not_found', 'There is no such part of the upload.')
}

/**
 * Yields the stored bytes in order; each chunk is read in its own transaction. The hash is compared before the last chunk is
 * yielded, so altered bytes are never delivered completely.
 */
export async function* readUpload(
  read: <T>(body: (tx: Tx) => Promise<T>) => Promise<T>,
  upload_id: string,
): AsyncGenerator<Buffer> {
  const content = await read((tx) => findUploadContent(tx, upload_id))
  if (!content) return fail('not_found', 'There is no such upload.')
  const hash = createHash('sha256')
  let last: Buffer[] = []
  for (let seq = 0; seq < content.chunks; seq++) {
    yield* last
    last = decodePieces(await read((tx) => listUploadPieces(tx, upload_id, seq)))
    if (last.length === 0) return fail('not_found', 'The upload was removed while it was being read.')
    for (const piece of last) hash.update(piece)
  }
  if (hash.digest('hex') !== content.sha256) throw new Error(`the stored bytes of upload ${upload_id} have changed`)
  yield* last
}
