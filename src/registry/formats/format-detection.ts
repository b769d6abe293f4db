/**
 * Detects the format of a file by its first bytes, so that a file of another format is reported as such and not as a malformed file
 * of the expected format. Most files are not recognised.
 */
import { gunzipSync, inflateRawSync, constants as zlib } from 'node:zlib'

export type FormatFamily = 'delimited' | 'json' | 'xml' | 'workbook' | 'other'

export interface DetectedFormat {
  readonly family: FormatFamily
  /** With its article, as in "looks like …". */
  readonly name: string
  /** Nothing else begins like this. Otherwise it is reported only when the file could not be read. */
  readonly certain: boolean
  readonly advice?: string
}

/** Number of bytes to inspect. */
export const DETECTION_BYTES = 4096

const otherFormat = (name: string, advice?: string): DetectedFormat => ({
  family: 'other',
  name,
  certain: true,
  ...(advice !== undefined && { advice }),
})

const html = otherFormat('an HTML page', 'Perhaps a login or error page was saved instead of the file.')
const workbook: DetectedFormat = {
  family: 'workbook',
  name: 'an Excel workbook (.xlsx)',
  certain: true,
  advice: 'Choose the adapter for .xlsx, or save the sheet as CSV.',
}
const oldOffice = otherFormat('an old Office document (.xls, .doc)', 'Save it as .xlsx or as CSV.')

/** By their first bytes, as Latin-1. */
const signatures: readonly (readonly [string, DetectedFormat])[] = [
  ['%PDF-', otherFormat('a PDF document')],
  ['\x89PNG\r\n\x1a\n', otherFormat('a PNG image')],
  ['\xff\xd8\xff', otherFormat('a JPEG image')],
  ['GIF8', otherFormat('a GIF image')],
  ['II*\0', otherFormat('a TIFF image')],
  ['MM\0*', otherFormat('a TIFF image')],
  ['\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', oldOffice],
  ['{\\rtf', otherFormat('an RTF document')],
  ['%!PS', otherFormat('a PostScript document')],
  ['SQLite format 3\0', otherFormat('an SQLite database')],
  ['PAR1', otherFormat('a Parquet file')],
  ['7z\xbc\xaf\x27\x1c', otherFormat('a 7-Zip archive', 'Unpack it first.')],
  ['Rar!\x1a\x07', otherFormat('a RAR archive', 'Unpack it first.')],
  ['BZh', otherFormat('a bzip2 file', 'Unpack it first.')],
  ['\xfd7zXZ\0', otherFormat('an xz file', 'Unpack it first.')],
  ['\x28\xb5\x2f\xfd', otherFormat('a Zstandard file', 'Unpack it first.')],
]

export function detectFormat(head: Buffer): DetectedFormat | null {
  const start = head.toString('latin1', 0, 32)
  for (const [signature, appearance] of signatures) if (start.startsWith(signature)) return appearance
  if (start.startsWith('RIFF') && start.slice(8, 12) === 'WEBP') return otherFormat('a WebP image')
  if (start.startsWith('\x1f\x8b')) return detectPacked(() => gunzipSync(head, { finishFlush: zlib.Z_SYNC_FLUSH }))
  if (start.startsWith('PK\x03\x04')) return detectArchive(head)
  return detectText(decodeHead(head))
}

/** Detects the format of compressed content by its first bytes. */
function detectPacked(unpack: () => Buffer): DetectedFormat | null {
  try {
    return detectFormat(unpack())
  } catch {
    return null
  }
}

const LOCAL_HEADER_BYTES = 30
const DEFLATED = 8

/** The first member identifies an Office document. For other archives it is only a hint. */
function detectArchive(head: Buffer): DetectedFormat | null {
  if (head.length < LOCAL_HEADER_BYTES) return null
  const [name_bytes, extra_bytes] = [head.readUInt16LE(26), head.readUInt16LE(28)]
  const content_at = LOCAL_HEADER_BYTES + name_bytes + extra_bytes
  const name = head.toString('latin1', LOCAL_HEADER_BYTES, LOCAL_HEADER_BYTES + name_bytes)
  const content = head.subarray(content_at)
  if (name === 'mimetype') return otherFormat('an OpenDocument file (.ods, .odt)', 'Save it as .xlsx or as CSV.')
  if (name === '[Content_Types].xml' || /^(?:_rels|docProps|xl|word|ppt)\//.test(name)) {
    const listing = head.toString('latin1')
    if (listing.includes('word/')) return otherFormat('a Word document (.docx)')
    return listing.includes('ppt/') ? otherFormat('a PowerPoint document (.pptx)') : workbook
  }
  const unpack = () => inflateRawSync(content, { finishFlush: zlib.Z_SYNC_FLUSH })
  const inside = detectPacked(head.readUInt16LE(8) === DEFLATED ? unpack : () => content)
  return inside && { ...inside, certain: false }
}

function decodeHead(head: Buffer): string {
  if (head[0] === 0xff && head[1] === 0xfe) return head.toString('utf16le', 2)
  if (head[0] === 0xfe && head[1] === 0xff) {
    return Buffer.from(head.subarray(2, head.length - (head.length % 2)))
      .swap16()
      .toString('utf16le')
  }
  return head.toString('utf8').replace(/^\ufeff/, '')
}

const COMMENTS = /^(?:\s*<!--[\s\S]*?-->)*\s*/
const HTML = /^(?:<\?xml[^>]*>\s*)?(?:<!doctype\s+html|<(?:html|head|body|title|script|meta|div)[\s/>])/i
const XML = /^(?:<\?xml\s|<!DOCTYPE\s|<[A-Za-z_][\w.:-]*(?:\s+[\w.:-]+\s*=\s*(?:"[^"]*"|'[^']*'))*\s*\/?>)/
const STRING = '"(?:[^"\\\\\\r\\n]|\\\\.)*"'
const JSON_OBJECT = new RegExp(`^\\{\\s*(?:${STRING}\\s*:|\\}\\s*$)`)
const JSON_ARRAY = new RegExp(
  `^\\[\\s*(?:\\{\\s*(?:"|\\})|\\[|${STRING}\\s*[,\\]]|(?:-?\\d[\\d.eE+-]*|true|false|null)\\s*[,\\]]|\\]\\s*$)`,
)
const YAML_START = /^(?:%YAML\s|---[ \t]*(?:#.*)?\r?\n)/
const YAML_LINE = /^\s*(?:#.*|(?:- +)*(?:[\w.-]+|"[^"]*"|'[^']*') *:(?: .*)?|- +\S.*|- *)$/
const YAML_MEMBER = /^\s*(?:- +)*(?:[\w.-]+|"[^"]*"|'[^']*') *:(?:\s|$)/

export function detectText(text: string): DetectedFormat | null {
  const visible = text.replace(COMMENTS, '')
  if (HTML.test(visible)) return html
  if (XML.test(visible)) return { family: 'xml', name: 'XML', certain: true }
  if (JSON_OBJECT.test(visible) || JSON_ARRAY.test(visible)) return { family: 'json', name: 'JSON', certain: true }
  // Almost one of the above: its own faults are more helpful than this guess.
  if (/^[<{[]/.test(visible)) return null
  // The last line may be truncated.
  const lines = visible
    .split(/\r?\n/)
    .slice(0, -1)
    .filter((line) => line.trim() !== '')
  if (YAML_START.test(visible)) return { ...otherFormat('YAML'), certain: false }
  if (lines.length > 1 && lines.every((line) => YAML_LINE.test(line)) && lines.some((line) => YAML_MEMBER.test(line))) {
    return { ...otherFormat('YAML'), certain: false }
  }
  return detectDelimited(lines.slice(0, 20))
}

const delimiters = { commas: ',', semicolons: ';', tabs: '\t', 'vertical bars': '|' }

function detectDelimited(lines: readonly string[]): DetectedFormat | null {
  if (lines.length < 2) return null
  const bare = lines.map((line) => line.replaceAll(/"[^"]*"/g, '""'))
  for (const [name, delimiter] of Object.entries(delimiters)) {
    const [first, ...more] = bare.map((line) => line.split(delimiter).length)
    if (first !== undefined && first > 1 && more.every((count) => count === first)) {
      return { family: 'delimited', name: `a table with columns separated by ${name}`, certain: false }
    }
  }
  return null
}

const FAMILIES: readonly (readonly [RegExp, FormatFamily, string])[] = [
  [/csv|tab-separated|text\/plain/, 'delimited', 'a table in text (CSV)'],
  [/json/, 'json', 'JSON'],
  [/xml$/, 'xml', 'XML'],
  [/spreadsheetml/, 'workbook', 'an .xlsx workbook'],
]

/** A sentence when the file has none of the expected formats, and whether that is certain; otherwise null. */
export function findFormatMismatch(
  head: Buffer,
  media_types: readonly string[],
): { sentence: string; certain: boolean } | null {
  const seen = detectFormat(head)
  const wanted = FAMILIES.filter(([pattern]) => media_types.some((type) => pattern.test(type)))
  if (!seen || wanted.length === 0 || wanted.some(([, family]) => family === seen.family)) return null
  const names = wanted.map(([, , name]) => name).join(' or ')
  const advice = seen.advice === undefined ? '' : ` ${seen.advice}`
  return {
    sentence: `The file looks like ${seen.name}; this adapter reads ${names}.${advice}`,
    // Delimited text can begin with anything; every other format has a typical start.
    certain: seen.certain || !wanted.some(([, family]) => family === 'delimited'),
  }
}
