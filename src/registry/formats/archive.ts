/**
 * Opens a zip. Its directory is at the end, so the bytes are buffered first: in memory up to a limit, otherwise in a temporary file
 * that is removed with the archive. Members are streamed and never extracted to disk.
 */
import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { crc32 } from 'node:zlib'
import yauzl, { type Entry as ZipEntry, type ZipFile } from 'yauzl'
import type { Source } from '../adapter.ts'
import { refuseSource } from './fault.ts'

const MAX_BYTES_IN_MEMORY = 64 * 1024 * 1024
const MAX_MEMBERS = 10_000

export interface ArchiveMember {
  readonly name: string
  read(): AsyncGenerator<Buffer, void, undefined>
}

export interface Archive {
  /** Files only: no directories, none of the shadow files macOS adds. */
  readonly members: readonly ArchiveMember[]
  close(): Promise<void>
}

export async function openArchive(source: Source, max_expanded_bytes: number): Promise<Archive> {
  const kept = await bufferArchive(source, max_expanded_bytes)
  try {
    const zip = await kept.open()
    try {
      return { members: await listMembers(zip, max_expanded_bytes), close: () => closeArchive(zip, kept) }
    } catch (error) {
      zip.close()
      throw error
    }
  } catch (error) {
    await kept.remove()
    throw toSourceFault(error)
  }
}

async function closeArchive(zip: ZipFile, kept: BufferedArchive): Promise<void> {
  zip.close()
  await kept.remove()
}

interface BufferedArchive {
  open(): Promise<ZipFile>
  remove(): Promise<void>
}

const zipOptions = { lazyEntries: true, autoClose: false } as const

async function bufferArchive(source: Source, max_bytes: number): Promise<BufferedArchive> {
  const iterator = source[Symbol.asyncIterator]()
  const chunks: Uint8Array[] = []
  let bytes = 0
  for (;;) {
    const next = await iterator.next()
    if (next.done) {
      const all = Buffer.concat(chunks)
      return { open: () => yauzl.fromBufferPromise(all, zipOptions), remove: async () => {} }
    }
    chunks.push(next.value)
    bytes += next.value.length
    if (bytes > MAX_BYTES_IN_MEMORY) return spillToFile(chunks, iterator, max_bytes)
  }
}

async function spillToFile(
  first: Uint8Array[],
  rest: AsyncIterator<Uint8Array>,
  max_bytes: number,
): Promise<BufferedArchive> {
  const folder = await mkdtemp(join(tmpdir(), 'probity-zip-'))
  const file = join(folder, 'source.zip')
  const remove = () => rm(folder, { recursive: true, force: true })
  async function* all(): AsyncGenerator<Uint8Array> {
    let bytes = 0
    for (const chunk of first.splice(0)) {
      bytes += chunk.length
      yield chunk
    }
    for (let next = await rest.next(); !next.done; next = await rest.next()) {
      bytes += next.value.length
      if (bytes > max_bytes) refuseTooLarge(max_bytes)
      yield next.value
    }
  }
  try {
    await pipeline(Readable.from(all()), createWriteStream(file, { mode: 0o600 }))
  } catch (error) {
    await remove()
    throw error
  }
  return { open: () => yauzl.openPromise(file, zipOptions), remove }
}

async function listMembers(zip: ZipFile, max_expanded_bytes: number): Promise<ArchiveMember[]> {
  const members: ArchiveMember[] = []
  let expanded_bytes = 0
  if (zip.entryCount > MAX_MEMBERS) {
    refuseSource('archive_members', `The archive holds ${zip.entryCount} files; at most ${MAX_MEMBERS} are read.`)
  }
  for await (const entry of zip.eachEntry()) {
    if (entry.fileName.endsWith('/') || entry.fileName.startsWith('__MACOSX/')) continue
    if (entry.isEncrypted()) {
      refuseSource('archive_damaged', `"${entry.fileName}" in the archive is encrypted. Send it without a password.`)
    }
    expanded_bytes += entry.uncompressedSize
    if (expanded_bytes > max_expanded_bytes) refuseTooLarge(max_expanded_bytes)
    members.push({ name: entry.fileName, read: () => readMember(zip, entry) })
  }
  return members
}

/** yauzl enforces the declared size while it inflates; it does not compare the checksum, so this does. */
async function* readMember(zip: ZipFile, entry: ZipEntry): AsyncGenerator<Buffer, void, undefined> {
  if (entry.uncompressedSize === 0) {
    const message = `"${entry.fileName}" in the archive is empty: it has no byte at all. Download it again.`
    refuseSource('empty_source', message, { row: 0, file: entry.fileName })
  }
  let sum = 0
  try {
    const stream = await zip.openReadStreamPromise(entry)
    for await (const chunk of stream) {
      sum = crc32(chunk, sum)
      yield chunk
    }
  } catch (error) {
    throw toSourceFault(error)
  }
  if (sum !== entry.crc32) {
    refuseSource(
      'archive_damaged',
      `"${entry.fileName}" in the archive does not match its checksum. Download it again.`,
    )
  }
}

function refuseTooLarge(max_bytes: number): never {
  refuseSource('expansion_limit', `Unpacked, the source is larger than ${max_bytes} bytes, the most that is read.`)
}

/** Converts errors of the zip libraries to faults of the source; other errors, such as a full disk, are passed on. */
function toSourceFault(error: unknown): unknown {
  if (!(error instanceof Error) || error.name === 'SourceFault') return error
  const { code } = error as NodeJS.ErrnoException
  if (code !== undefined && !code.startsWith('Z_')) return error
  try {
    if (/end of central directory/i.test(error.message)) {
      refuseSource('truncated', 'The zip archive has no directory at its end: it was cut off. Download it again.')
    }
    refuseSource('archive_damaged', `The zip archive is damaged: ${error.message}.`)
  } catch (fault) {
    return fault
  }
}
