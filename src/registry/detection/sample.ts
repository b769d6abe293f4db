/**
 * Reads the beginning of a file and says what it looks like. The result holds small complete files in the same format, which the
 * adapters can read to their end. Time and memory are bounded: 64 KiB of a text, of each file of an archive and of a compressed file,
 * and the first rows of each sheet of a workbook.
 */
import { isUtf8 } from 'node:buffer'
import yazl from 'yazl'
import { type Source, SourceFault } from '../adapter.ts'
import { type Archive, openArchive } from '../formats/archive.ts'
import { baseName, quoteNames } from '../formats/archive-files.ts'
import { isZip, MAX_EXPANDED_BYTES, peek, unwrap } from '../formats/decode.ts'
import { DETECTION_BYTES, type DetectedFormat, detectFormat, detectText } from '../formats/format-detection.ts'
import { findJsonFault } from '../formats/json-record.ts'
import { readFirstRows, type XlsxRow } from '../formats/xlsx.ts'
import { writeXlsx, type XlsxCell } from '../formats/xlsx-writer.ts'
import { guessRecords, type JsonGuess } from './json-guess.ts'
import { delimiterNames, guessTable, readHeader, type TableGuess } from './table-guess.ts'
import { outlineXml, shortenJson, shortenLines, shortenTable } from './text-sample.ts'

export const SAMPLE_BYTES = 64 * 1024
const MAX_MEMBERS = 20
const MAX_SHEETS = 20
const MAX_SHEET_ROWS = 300

interface SheetSample {
  readonly name: string
  readonly bytes: Buffer
  readonly table: TableGuess
}

/** What the adapters are tried on. */
export type SampleContent =
  | {
      readonly family: 'delimited'
      readonly bytes: Buffer
      readonly table: TableGuess
      /** Why the sample could not be read to its end. */
      readonly fault: string | null
      readonly encoding: Utf16 | null
    }
  | { readonly family: 'xml'; readonly bytes: Buffer; readonly root: string | null }
  | {
      readonly family: 'json' | 'ndjson'
      readonly bytes: Buffer
      readonly text: string
      readonly encoding: Utf16 | null
      readonly guess: JsonGuess | null
    }
  | { readonly family: 'workbook'; readonly sheets: readonly SheetSample[] }
  | { readonly family: 'archive'; readonly bytes: Buffer; readonly members: readonly string[] }
  | { readonly family: 'other' }

export interface Sample {
  /** With its article, as in "looks like …". */
  readonly looks_like: string
  readonly advice: string | null
  /** The sample is the whole file. */
  readonly is_whole: boolean
  readonly content: SampleContent
}

type Utf16 = 'utf-16le' | 'utf-16be'

const toOther = (looks_like: string, advice: string | null = null): Sample => ({
  looks_like,
  advice,
  is_whole: true,
  content: { family: 'other' },
})

/** Never fails for a hostile file: what cannot be read is described. */
export async function readSample(source: Source): Promise<Sample> {
  try {
    const { head, bytes, close } = await peek(source, SAMPLE_BYTES)
    try {
      if (isZip(head)) return await sampleArchive(bytes, head)
      if (head[0] === 0x1f && head[1] === 0x8b) {
        const unpacked = unwrap(bytes, MAX_EXPANDED_BYTES)
        return await sampleText(...(await readPrefix(unpacked)), 'gzip')
      }
      return await sampleText(head.subarray(0, SAMPLE_BYTES), head.length < SAMPLE_BYTES)
    } finally {
      await close()
    }
  } catch (error) {
    if (!(error instanceof SourceFault)) throw error
    if (error.code === 'empty_source') return toOther('an empty file', 'Download it again.')
    return toOther('a damaged or truncated archive', error.message)
  }
}

async function readPrefix(source: AsyncIterable<Uint8Array>): Promise<[Buffer, boolean]> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of source) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes >= SAMPLE_BYTES) return [Buffer.concat(chunks).subarray(0, SAMPLE_BYTES), false]
  }
  return [Buffer.concat(chunks), true]
}

interface DecodedText {
  readonly text: string
  /** Null: bytes of another encoding, one character each. */
  readonly utf16: Utf16 | null
  readonly has_mark: boolean
}

/** Null for a binary file. Other encodings than UTF-16 are kept byte by byte: their structure is ASCII. */
function decodeBytes(bytes: Buffer): DecodedText | null {
  const marked =
    bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : null
  const utf16 = marked ?? findUnmarkedUtf16(bytes)
  if (utf16) {
    const even = Buffer.from(bytes.subarray(marked ? 2 : 0, bytes.length - (bytes.length % 2)))
    return { text: (utf16 === 'utf-16be' ? even.swap16() : even).toString('utf16le'), utf16, has_mark: marked !== null }
  }
  return bytes.includes(0) ? null : { text: bytes.toString('latin1'), utf16: null, has_mark: false }
}

/** By its byte order mark. That of little-endian UTF-16 begins in the same way. */
const isUtf32 = (bytes: Buffer): boolean =>
  ['fffe0000', '0000feff'].includes(bytes.subarray(0, 4).toString('hex')) && bytes.length % 4 === 0

/** In UTF-16 without a mark every other byte of Western text is zero. */
function findUnmarkedUtf16(bytes: Buffer): Utf16 | null {
  const head = bytes.subarray(0, DETECTION_BYTES)
  if (head.length < 4) return null
  const counts = [0, 0]
  for (const [at, byte] of head.entries()) if (byte === 0) counts[at % 2] = (counts[at % 2] as number) + 1
  const [even, odd] = counts as [number, number]
  const half = head.length / 2
  if (odd > half * 0.7 && even < half * 0.05) return 'utf-16le'
  return even > half * 0.7 && odd < half * 0.05 ? 'utf-16be' : null
}

function encodeText(text: string, { utf16, has_mark }: DecodedText): Buffer {
  if (utf16 === null) return Buffer.from(text, 'latin1')
  const bytes = Buffer.from((has_mark ? '\ufeff' : '') + text, 'utf16le')
  return utf16 === 'utf-16be' ? bytes.swap16() : bytes
}

/** The text as people read it, for header names and values; of a part of a file, its whole lines. */
const toReadable = (bytes: Buffer, { text, utf16 }: DecodedText, is_whole: boolean): string => {
  if (utf16 !== null) return text
  const cut = is_whole ? bytes : bytes.subarray(0, Math.max(0, bytes.lastIndexOf(0x0a) + 1) || bytes.length)
  return (isUtf8(cut) ? cut.toString('utf8') : cut.toString('latin1')).replace(/^\ufeff/, '')
}

async function sampleText(bytes: Buffer, is_whole: boolean, packed?: 'gzip' | 'zip'): Promise<Sample> {
  const wrap = (sample: Sample): Sample =>
    packed === undefined ? sample : { ...sample, looks_like: `a ${packed} file that holds ${sample.looks_like}` }
  if (bytes.length === 0) return wrap(toOther('an empty file', 'Download it again.'))
  if (isUtf32(bytes)) return wrap(toOther('text in UTF-32', 'Save it in UTF-8.'))
  const signed = detectFormat(bytes.subarray(0, DETECTION_BYTES))
  const decoded = decodeBytes(bytes)
  if (signed?.family === 'other' && signed.certain) return wrap(describeOther(signed))
  if (decoded === null) return wrap(describeBinary(bytes))
  const seen = decoded.utf16 && !decoded.has_mark ? detectText(decoded.text.slice(0, DETECTION_BYTES)) : signed
  const readable = toReadable(bytes, decoded, is_whole)
  if (readable === '') return wrap(toOther('a file with a byte order mark and nothing else', 'Download it again.'))
  if (readable.trim() === '') return wrap(toOther('a file of white space only', 'Download it again.'))
  if (seen?.family === 'xml') return wrap(sampleXml(decoded, is_whole))
  if (seen?.family === 'json' || /^\s*[{[]/.test(readable)) return wrap(sampleJson(decoded, readable, is_whole))
  if (seen?.family === 'other') return wrap(describeOther(seen))
  return wrap(await sampleTable(decoded, readable, is_whole))
}

/** Tab, line ends and the mark at the end of a file. */
const CONTROLS_OF_TEXT: ReadonlySet<number> = new Set([0x09, 0x0a, 0x0d, 0x1a])

function describeBinary(bytes: Buffer): Sample {
  const zeros = bytes.filter((byte) => byte === 0).length
  const isText = bytes.every((byte) => byte === 0 || byte >= 0x20 || CONTROLS_OF_TEXT.has(byte))
  if (!isText || zeros * 20 > bytes.length) {
    return toOther('a binary file', 'Upload a table, JSON, XML or an .xlsx workbook.')
  }
  const line = bytes.toString('latin1', 0, bytes.indexOf(0)).split('\n').length
  return toOther(`text with a byte of zero at line ${line}`, 'Download it again, or remove the byte.')
}

const describeOther = ({ name, advice }: DetectedFormat): Sample => toOther(name, advice ?? null)

function sampleXml(decoded: DecodedText, is_whole: boolean): Sample {
  const { root, text } = outlineXml(decoded.text, is_whole)
  return {
    looks_like: root === null ? 'XML' : `XML with the root element ${root}`,
    advice: null,
    is_whole,
    content: { family: 'xml', root, bytes: encodeText(text, decoded) },
  }
}

function sampleJson(decoded: DecodedText, readable: string, is_whole: boolean): Sample {
  if (isRecordOnEachLine(readable, is_whole)) {
    const text = is_whole ? decoded.text : shortenLines(decoded.text)
    const records = readable
      .split('\n')
      .slice(0, 200)
      .map(parseJson)
      .filter((one) => one !== undefined)
    const guess = guessRecords(records)
    const encoding = decoded.has_mark ? null : decoded.utf16
    const content = { family: 'ndjson', guess, encoding, text: readable, bytes: encodeText(text, decoded) } as const
    return { looks_like: 'JSON with one record on each line', advice: null, is_whole, content }
  }
  const encoding = decoded.has_mark ? null : decoded.utf16
  const text = is_whole ? decoded.text : shortenJson(decoded.text)
  const document = parseJson(is_whole ? readable : shortenJson(readable))
  const isBroken = is_whole && document === undefined && !/[:,[]\s*NaN\b/.test(readable)
  return {
    looks_like: isBroken ? 'JSON that is truncated or not well-formed' : `JSON with ${describeRoot(readable)}`,
    advice: isBroken ? adviseOnBrokenJson(readable) : null,
    is_whole,
    content: {
      family: 'json',
      encoding,
      text: readable,
      guess: document === undefined ? null : guessRecords(document),
      bytes: encodeText(text, decoded),
    },
  }
}

/** Blank lines between records are allowed. A single record of plain values is one too. */
function isRecordOnEachLine(text: string, is_whole: boolean): boolean {
  const [first = '', second] = text.split('\n').filter((line) => line.trim() !== '')
  const record = /^\s*\{/.test(first) ? parseJson(first) : undefined
  if (second !== undefined) return parseJson(first) !== undefined && /^\s*\{/.test(second)
  const values = Object.values((record ?? {}) as object)
  return is_whole && values.length > 0 && values.every((value) => typeof value !== 'object')
}

function adviseOnBrokenJson(text: string): string {
  const found = findJsonFault(text)
  return found === undefined || found.cut ? 'Download it again.' : `${found.fault.message} Otherwise download it again.`
}

const describeRoot = (text: string): string => (/^\s*\[/.test(text) ? 'an array' : 'an object')

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

async function sampleTable(decoded: DecodedText, readable: string, is_whole: boolean): Promise<Sample> {
  const text = is_whole ? decoded.text : shortenTable(decoded.text)
  const { table, fault } = await guessTable(is_whole ? readable : shortenTable(readable))
  // The readers of tables do not end a row at a carriage return alone.
  if (/\r[^\n]/.test(readable) && !readable.includes('\n')) {
    const advice = 'Its lines end in a carriage return alone. Save it with the line ends of Windows or Unix.'
    return toOther('a text whose lines end in CR', advice)
  }
  if (table === null) return toOther('text without rows', fault ?? 'Upload a file with at least one entry.')
  if (table.header.length < 2 && hasMarkupBelow(readable)) return copiedXml
  const encoding = decoded.has_mark ? null : decoded.utf16
  return {
    looks_like: describeTable(table),
    advice: null,
    is_whole,
    content: { family: 'delimited', table, fault, encoding, bytes: encodeText(text, decoded) },
  }
}

/** XML as browsers show it, copied with their remark above it. */
const copiedXml = toOther(
  'XML below a line of other text, as a browser shows it',
  'Save the file itself, for example with "Save link as", or remove what is above the first "<". Text copied from a browser has lost its XML declaration and may be incomplete.',
)

/** A first line without a bracket, and an element or a comment at the begin of a later one. */
const hasMarkupBelow = (text: string): boolean =>
  /^[^<]{1,1000}\n\s*<(?:\?xml\s|!--|!DOCTYPE\s|[A-Za-z_][\w.:-]*(?:\s+[\w.:-]+\s*=|\s*\/?>))/.test(text)

function describeTable({ header, delimiter }: TableGuess): string {
  if (header.length < 2) return 'text in one column'
  return `a table with ${header.length} columns separated by ${delimiterNames[delimiter ?? ','] ?? 'a character'}`
}

async function sampleArchive(bytes: Source, head: Buffer): Promise<Sample> {
  const seen = detectFormat(head.subarray(0, DETECTION_BYTES))
  if (seen?.family === 'other' && seen.certain) return describeOther(seen)
  const archive = await openArchive(bytes, MAX_EXPANDED_BYTES)
  try {
    const { members } = archive
    if (members.some(({ name }) => name.toLowerCase() === 'xl/workbook.xml')) return await sampleWorkbook(archive)
    const [only, ...others] = members
    if (only === undefined) return toOther('a zip archive without files', 'Upload the file that holds the list.')
    if (others.length === 0) return await sampleText(...(await readPrefix(only.read())), 'zip')
    return await sampleMembers(archive)
  } finally {
    await archive.close()
  }
}

/** A zip of the same files, each shortened. */
async function sampleMembers({ members }: Archive): Promise<Sample> {
  const names = members.map(({ name }) => name)
  const zip = new yazl.ZipFile()
  let is_whole = members.length <= MAX_MEMBERS
  for (const member of members.slice(0, MAX_MEMBERS)) {
    const [prefix, isAll] = await readPrefix(member.read())
    const { content } = await sampleText(prefix, isAll)
    if (!isAll) is_whole = false
    if ('bytes' in content) zip.addBuffer(content.bytes, member.name)
  }
  zip.end()
  const [bytes] = await collect(zip.outputStream as unknown as AsyncIterable<Uint8Array>)
  return {
    looks_like: `a zip archive with ${members.length} files: ${quoteNames(names.map(baseName))}`,
    advice: null,
    is_whole,
    content: { family: 'archive', bytes, members: names },
  }
}

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<[Buffer]> {
  const all: Uint8Array[] = []
  for await (const chunk of chunks) all.push(chunk)
  return [Buffer.concat(all)]
}

async function sampleWorkbook(archive: Archive): Promise<Sample> {
  const found = await readFirstRows(archive, { max_sheets: MAX_SHEETS, max_rows: MAX_SHEET_ROWS })
  const sheets: SheetSample[] = []
  for (const { name, rows } of found) {
    if (rows.length === 0) continue
    const table = readHeader(
      rows.map(({ cells, number }) => ({ cells: cells.map((cell) => cell.trim()), line: number })),
      null,
    )
    const [bytes] = await collect(writeXlsx(placeRows(rows), name))
    sheets.push({ name, bytes, table })
  }
  const names = quoteNames(found.map(({ name }) => name))
  if (sheets.length === 0)
    return toOther('an .xlsx workbook without rows', 'Upload a workbook with at least one entry.')
  return {
    looks_like: `an .xlsx workbook with ${found.length === 1 ? 'the sheet' : `${found.length === MAX_SHEETS ? 'at least ' : ''}${found.length} sheets:`} ${names}`,
    advice: null,
    is_whole: found.every(({ rows }) => rows.length < MAX_SHEET_ROWS),
    content: { family: 'workbook', sheets },
  }
}

/** Rows at their numbers, so that options which count rows mean the same in the sample. */
function* placeRows(rows: readonly XlsxRow[]): Generator<readonly XlsxCell[]> {
  let number = 0
  for (const row of rows) {
    // A sheet may number its rows up to a million; far ones follow without a gap.
    while (++number < Math.min(row.number, MAX_SHEET_ROWS)) yield []
    yield row.broken === undefined
      ? row.cells
      : row.cells.map((cell, column) => (column === row.broken ? { broken: cell } : cell))
  }
}
