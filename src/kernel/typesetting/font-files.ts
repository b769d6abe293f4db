/** Font files that documents are typeset with: their bytes, hashes and family names. */
import { hash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'

export interface FontFile {
  readonly file: string
  readonly sha256: string
  readonly family: string
}

const FONT_FILE = /\.(ttf|otf)$/i
const NAME_FAMILY = 1
const NAME_TYPOGRAPHIC_FAMILY = 16
const PLATFORM_WINDOWS = 3

/** Files of all folders, in the order of the folders, each folder by name. */
export function listFontFiles(folders: readonly string[]): string[] {
  return folders.flatMap((folder) =>
    fs
      .readdirSync(folder)
      .filter((name) => FONT_FILE.test(name))
      .sort()
      .map((name) => path.join(folder, name)),
  )
}

export function describeFont(file: string): FontFile {
  const bytes = fs.readFileSync(file)
  return { file: path.basename(file), sha256: hash('sha256', bytes, 'hex'), family: readFamily(bytes) }
}

/** The family by the `name` table of an OpenType font; a font that cannot be read is refused. */
export function readFamily(bytes: Buffer): string {
  const table = findTable(bytes, 'name')
  const count = bytes.readUInt16BE(table + 2)
  const texts = table + bytes.readUInt16BE(table + 4)
  const names = new Map<number, string>()
  for (let index = 0; index < count; index++) {
    const record = table + 6 + index * 12
    if (bytes.readUInt16BE(record) !== PLATFORM_WINDOWS) continue
    const start = texts + bytes.readUInt16BE(record + 10)
    const text = Buffer.from(bytes.subarray(start, start + bytes.readUInt16BE(record + 8)))
    const name = bytes.readUInt16BE(record + 6)
    if (!names.has(name)) names.set(name, text.swap16().toString('utf16le'))
  }
  const family = names.get(NAME_TYPOGRAPHIC_FAMILY) ?? names.get(NAME_FAMILY)
  if (!family) throw new TypeError('The font has no family name')
  return family
}

export function findTable(bytes: Buffer, tag: string): number {
  const count = bytes.readUInt16BE(4)
  for (let index = 0; index < count; index++) {
    const record = 12 + index * 16
    if (bytes.toString('latin1', record, record + 4) === tag) return bytes.readUInt32BE(record + 8)
  }
  throw new TypeError(`The font has no table ${tag}`)
}
