/** The files of a zip archive, within limits that hold whatever the archive says of itself. */
import yauzl, { type Entry, type ZipFile } from 'yauzl'
import type { Reason } from './reasons.ts'

const MAX_FILES = 100
/** Ordinary text shrinks to a tenth. */
const MAX_RATIO = 100
const SYMBOLIC_LINK = 0o120000
const FILE_TYPE = 0o170000
const ARCHIVE_SIGNATURES = ['PK\x03\x04', 'PK\x05\x06', '\x1f\x8b', 'Rar!', '7z\xbc\xaf']

export type ArchiveFiles = { readonly files: ReadonlyMap<string, Buffer> }

export const isSafeName = (name: string): boolean =>
  name !== '' && !/[\\\0]|^\/|^[A-Za-z]:/.test(name) && !name.split('/').some((part) => part === '..' || part === '.')

class UnsafeArchive extends Error {}
class LargeArchive extends Error {}

export async function readArchive(bytes: Buffer, max_bytes: number): Promise<ArchiveFiles | Reason> {
  let zip: ZipFile | undefined
  try {
    // Names are checked here, so that a bad one has its own message.
    zip = await yauzl.fromBufferPromise(bytes, { lazyEntries: true, autoClose: false })
    return { files: await readFiles(zip, max_bytes) }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    if (error instanceof LargeArchive) return { code: 'too_large', message }
    if (error instanceof UnsafeArchive) return { code: 'package_unsafe', message }
    if (/^(invalid relative path|absolute path|invalid characters in fileName)/.test(message)) {
      return { code: 'package_unsafe', message: 'A file name of the archive leads out of the package.' }
    }
    // A size that differs from the declared one hides how much a file unpacks to.
    if (/too many bytes in the stream|not enough bytes in the stream/.test(message)) {
      return { code: 'package_unsafe', message: 'A file of the archive has another size than the archive says.' }
    }
    return { code: 'manifest_unreadable', message: `The archive cannot be read: ${message.slice(0, 100)}.` }
  } finally {
    zip?.close()
  }
}

async function readFiles(zip: ZipFile, max_bytes: number): Promise<ReadonlyMap<string, Buffer>> {
  const files = new Map<string, Buffer>()
  let total = 0
  if (zip.entryCount > MAX_FILES) throw new UnsafeArchive(`An archive has at most ${MAX_FILES} files.`)
  for await (const entry of zip.eachEntry()) {
    checkEntry(entry)
    if (entry.fileName.endsWith('/')) continue
    if (files.has(entry.fileName)) throw new UnsafeArchive(`The archive has two files named ${entry.fileName}.`)
    total += entry.uncompressedSize
    if (entry.uncompressedSize > MAX_RATIO * Math.max(entry.compressedSize, MAX_RATIO)) {
      throw new UnsafeArchive(`The file ${entry.fileName} is compressed more than ${MAX_RATIO} times.`)
    }
    if (total > max_bytes) throw new LargeArchive(`A package has at most ${max_bytes / 1024} KiB, also unpacked.`)
    await checkLocalName(zip, entry)
    const content = await readEntryBytes(zip, entry)
    if (ARCHIVE_SIGNATURES.some((signature) => content.subarray(0, 4).toString('latin1').startsWith(signature))) {
      throw new UnsafeArchive(`The file ${entry.fileName} is an archive itself.`)
    }
    files.set(entry.fileName, content)
  }
  return files
}

function checkEntry(entry: Entry): void {
  const { fileName, externalFileAttributes } = entry
  if (!isSafeName(fileName.replace(/\/$/, ''))) {
    throw new UnsafeArchive('A file name of the archive leads out of the package.')
  }
  if (((externalFileAttributes >>> 16) & FILE_TYPE) === SYMBOLIC_LINK) {
    throw new UnsafeArchive(`The file ${fileName} is a symbolic link.`)
  }
  if (entry.isEncrypted()) throw new UnsafeArchive(`The file ${fileName} is encrypted.`)
}

/** Programs that read an archive from its beginning show the name of the local header, and some do not know the field of another name. */
async function checkLocalName(zip: ZipFile, entry: Entry): Promise<void> {
  const { fileName: local } = await zip.readLocalFileHeaderPromise(entry)
  const name = entry.fileNameRaw.toString('latin1').replaceAll('\\', '/')
  const isPlain = /^[\x20-\x7e]*$/.test(name)
  if (!entry.fileNameRaw.equals(local) || (isPlain && name !== entry.fileName))
    throw new UnsafeArchive(`The archive names the file ${entry.fileName} differently in two places.`)
}

async function readEntryBytes(zip: ZipFile, entry: Entry): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of await zip.openReadStreamPromise(entry)) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}
