/** Writes small archives: the same files give the same bytes. */
import yazl from 'yazl'

export interface PackFile {
  readonly name: string
  readonly bytes: Buffer
}

const MTIME = new Date(1980, 0, 1)

export const toTextFile = (name: string, content: string): PackFile => ({ name, bytes: Buffer.from(content) })
export const toJsonFile = (name: string, value: unknown): PackFile =>
  toTextFile(name, `${JSON.stringify(value, null, 2)}\n`)

export async function zipFiles(files: readonly PackFile[]): Promise<Buffer> {
  const zip = new yazl.ZipFile()
  for (const { name, bytes } of files)
    zip.addBuffer(bytes, name, { mtime: MTIME, forceDosTimestamp: true, mode: 0o100644 })
  zip.end()
  const pieces: Buffer[] = []
  for await (const piece of zip.outputStream) pieces.push(piece as Buffer)
  return Buffer.concat(pieces)
}
