/**
 * Reads one sheet of an Office Open XML workbook row by row. Shared strings and styles are held (within a limit), rows are not.
 * Cells are returned as text: numbers in full, dates in ISO form, booleans as true and false.
 */
import type { Source } from '../adapter.ts'
import { type Archive, type ArchiveMember, openArchive } from './archive.ts'
import { decode, isZip, MAX_EXPANDED_BYTES, peek } from './decode.ts'
import { MAX_RECORD_CHARS, recordTooLong, refuseSource } from './fault.ts'
import { type XmlFault, XmlParser } from './xml-parser.ts'

export interface XlsxOptions {
  /** Name of the sheet; the first one when absent. */
  readonly sheet?: string | undefined
  readonly max_expanded_bytes?: number | undefined
}

export interface XlsxRow {
  /** As spreadsheets show it, from 1. */
  readonly number: number
  readonly cells: readonly string[]
  /** Index of a cell that holds an error such as #N/A. */
  readonly broken?: number
}

export interface XlsxSheet {
  readonly name: string
  /** Names of the other sheets, when the options name none. */
  readonly others: readonly string[]
  readonly rows: AsyncGenerator<XlsxRow[], void, undefined>
}

const MAX_SHARED_CHARS = 64 * 1024 * 1024
/** Memory of a string besides its characters. */
const STRING_CHARS = 16
/** Maximum size of parts that are held in memory. */
const MAX_PART_CHARS = 256 * 1024 * 1024
const MAX_COLUMNS = 16_384
const DAY_MS = 86_400_000

/** Calls `use` with the sheet, and closes the workbook when its result is consumed. */
export async function* readXlsx<T>(
  source: Source,
  options: XlsxOptions,
  use: (sheet: XlsxSheet) => AsyncGenerator<T, void, undefined>,
): AsyncGenerator<T, void, undefined> {
  const { head, bytes, close } = await peek(source)
  try {
    if (!isZip(head)) {
      refuseSource('layout_unknown', 'The file is not an .xlsx workbook. Older .xls files must be saved as .xlsx.')
    }
    const archive = await openArchive(bytes, options.max_expanded_bytes ?? MAX_EXPANDED_BYTES)
    try {
      const { name, others, member, epoch_1904 } = await findSheet(archive, options.sheet)
      const strings = await readSharedStrings(archive)
      const isDate = await readDateStyles(archive)
      yield* use({ name, others, rows: readRows(member, { strings, isDate, epoch_1904 }) })
    } finally {
      await archive.close()
    }
  } finally {
    await close()
  }
}

/** Reads the first rows of the first sheets, to find out what a workbook holds. */
export async function readFirstRows(
  archive: Archive,
  limits: { readonly max_sheets: number; readonly max_rows: number },
): Promise<{ readonly name: string; readonly rows: readonly XlsxRow[] }[]> {
  const first = await findSheet(archive, undefined)
  const [strings, isDate] = [await readSharedStrings(archive), await readDateStyles(archive)]
  const sheets = []
  for (const name of [first.name, ...first.others].slice(0, limits.max_sheets)) {
    const { member, epoch_1904 } = await findSheet(archive, name)
    const rows: XlsxRow[] = []
    for await (const group of readRows(member, { strings, isDate, epoch_1904 })) {
      rows.push(...group.slice(0, limits.max_rows - rows.length))
      if (rows.length >= limits.max_rows) break
    }
    sheets.push({ name, rows })
  }
  return sheets
}

type Attributes = Record<string, string>
interface Handlers {
  open?(name: string, attributes: Attributes): void
  text?(text: string): void
  close?(name: string): void
}

/** Parses one part of the workbook; `takeDone` returns what each chunk of text completed. */
async function* parsePart<T>(
  part: ArchiveMember,
  handlers: Handlers,
  takeDone: (piece: string) => T[],
): AsyncGenerator<T[], void, undefined> {
  // The parser buffers incomplete text; a file without tags must not fill the memory.
  let quiet_chars = 0
  const parser = new XmlParser({
    open: ({ name, attributes }) => handlers.open?.(localName(name), attributes as Attributes),
    text: (text) => handlers.text?.(text),
    close(name) {
      quiet_chars = 0
      handlers.close?.(localName(name))
    },
    fault: (fault) => refusePart(part.name, fault),
  })
  for await (const piece of decode(part.read(), 'xml')) {
    quiet_chars += piece.length
    if (quiet_chars > MAX_RECORD_CHARS) recordTooLong({ row: 0 })
    parser.write(piece)
    const done = takeDone(piece)
    if (done.length > 0) yield done
  }
  parser.close()
}

function refusePart(name: string, { kind, line, column, what }: XmlFault): never {
  const part = `"${name}" in the workbook`
  if (kind === 'doctype') refuseSource('doctype_refused', `${part} declares a document type.`)
  const place = `line ${line}, column ${column}`
  const fault = kind === 'truncated' ? `ends too early, at ${place}` : `is not well-formed at ${place}: ${what}`
  refuseSource('archive_damaged', `${part} ${fault}.`)
}

const localName = (name: string): string => name.slice(name.indexOf(':') + 1)

async function parseWhole(part: ArchiveMember, handlers: Handlers): Promise<void> {
  let chars = 0
  const within = (piece: string): never[] => {
    chars += piece.length
    return chars > MAX_PART_CHARS
      ? refuseSource('source_too_large', `"${part.name}" in the workbook is too large.`)
      : []
  }
  for await (const _ of parsePart(part, handlers, within));
}

const findPart = (archive: Archive, name: string): ArchiveMember | undefined =>
  archive.members.find((member) => member.name.toLowerCase() === name.toLowerCase())

async function findSheet(archive: Archive, wanted: string | undefined) {
  const workbook = findPart(archive, 'xl/workbook.xml')
  if (!workbook) refuseSource('layout_unknown', 'The file is a zip archive, but not an .xlsx workbook.')
  const sheets: { name: string; id: string }[] = []
  let epoch_1904 = false
  await parseWhole(workbook, {
    open(name, attributes) {
      if (name === 'sheet') sheets.push({ name: attributes['name'] ?? '', id: attributes['r:id'] ?? '' })
      if (name === 'workbookPr') epoch_1904 = ['1', 'true'].includes(attributes['date1904'] ?? '')
    },
  })
  const targets = new Map<string, string>()
  const relations = findPart(archive, 'xl/_rels/workbook.xml.rels')
  if (relations) {
    await parseWhole(relations, {
      open(_, attributes) {
        if (attributes['Id']) targets.set(attributes['Id'], attributes['Target'] ?? '')
      },
    })
  }
  const sheet = wanted === undefined ? sheets[0] : sheets.find(({ name }) => name === wanted)
  const target = targets.get(sheet?.id ?? '')
  const member = target && findPart(archive, target.startsWith('/') ? target.slice(1) : `xl/${target}`)
  if (!sheet || !member) {
    const names = sheets.map(({ name }) => `"${name}"`).join(', ')
    const which = wanted === undefined ? 'no sheet' : `no sheet "${wanted}"`
    refuseSource('sheet_missing', `The workbook has ${which}. Its sheets are: ${names || 'none'}.`)
  }
  const others = wanted === undefined ? sheets.slice(1).map(({ name }) => name) : []
  return { name: sheet.name, others, member, epoch_1904 }
}

/** Rich text is the concatenation of its runs, without phonetic guides. */
async function readSharedStrings(archive: Archive): Promise<readonly string[]> {
  const part = findPart(archive, 'xl/sharedStrings.xml')
  const strings: string[] = []
  if (!part) return strings
  const run = new TextRun()
  let chars = 0
  await parseWhole(part, {
    open(name) {
      if (name === 'si') run.reset()
      run.open(name)
    },
    text: (text) => run.text(text),
    close(name) {
      run.close(name)
      if (name !== 'si') return
      chars += run.value.length + STRING_CHARS
      if (chars > MAX_SHARED_CHARS) {
        refuseSource('source_too_large', `The workbook has more than ${MAX_SHARED_CHARS} characters of shared text.`)
      }
      strings.push(run.value)
    },
  })
  return strings
}

class TextRun {
  value = ''
  private inText = false
  private inGuide = false

  reset(): void {
    this.value = ''
  }

  open(name: string): void {
    if (name === 't') this.inText = true
    if (name === 'rPh') this.inGuide = true
  }

  text(text: string): void {
    if (this.inText && !this.inGuide) this.value += text
    if (this.value.length > MAX_RECORD_CHARS) recordTooLong({ row: 0 })
  }

  close(name: string): void {
    if (name === 't') this.inText = false
    if (name === 'rPh') this.inGuide = false
  }
}

/** For each cell style, whether its numbers are dates: by a built-in format, or by d, m, y, h, s in a format of its own. */
async function readDateStyles(archive: Archive): Promise<readonly boolean[]> {
  const part = findPart(archive, 'xl/styles.xml')
  const styles: boolean[] = []
  if (!part) return styles
  const own = new Map<number, boolean>()
  let inCellStyles = false
  await parseWhole(part, {
    open(name, attributes) {
      const id = Number(attributes['numFmtId'])
      if (name === 'numFmt') own.set(id, isDateFormat(attributes['formatCode'] ?? ''))
      if (name === 'cellXfs') inCellStyles = true
      if (name === 'xf' && inCellStyles) styles.push(own.get(id) ?? ((id >= 14 && id <= 22) || (id >= 45 && id <= 47)))
    },
    close(name) {
      if (name === 'cellXfs') inCellStyles = false
    },
  })
  return styles
}

/** Quoted text, escaped characters, colours and locales are not part of the pattern; [h] and the like are durations. */
const isDateFormat = (code: string): boolean =>
  /[dmyhs]/i.test(code.replace(/"[^"]*"|\\.|_.|\*.|\[[^\]]*\]/g, '').replace(/general/gi, '')) &&
  !/\[[hms]+\]/i.test(code)

interface WorkbookContext {
  readonly strings: readonly string[]
  readonly isDate: readonly boolean[]
  readonly epoch_1904: boolean
}

function readRows(part: ArchiveMember, book: WorkbookContext): AsyncGenerator<XlsxRow[], void, undefined> {
  let rows: XlsxRow[] = []
  let number = 0
  let cells: string[] = []
  let broken = -1
  let cell = { column: -1, type: 'n', style: 0 }
  let value = ''
  let inValue = false
  // The parts of a formula: its text, and whether its result is stored.
  let formula: string | null = null
  let inFormula = false
  let has_value = false
  let chars = 0
  const run = new TextRun()
  return parsePart(
    part,
    {
      open(name, attributes) {
        if (name === 'row') {
          number = attributes['r'] === undefined ? number + 1 : Number(attributes['r'])
          cells = []
          broken = -1
          chars = 0
          cell = { column: -1, type: 'n', style: 0 }
        } else if (name === 'c') {
          const column = attributes['r'] === undefined ? cell.column + 1 : columnIndex(attributes['r'])
          cell = { column, type: attributes['t'] ?? 'n', style: Number(attributes['s'] ?? 0) }
          value = ''
          formula = null
          has_value = false
          run.reset()
        } else if (name === 'f') {
          formula = ''
          inFormula = true
        } else if (name === 'v') {
          inValue = true
          has_value = true
        } else run.open(name)
      },
      text(text) {
        if (inValue) value += text
        else if (inFormula) formula += text
        else run.text(text)
      },
      close(name) {
        run.close(name)
        if (name === 'v') inValue = false
        if (name === 'f') inFormula = false
        if (name === 'c') {
          const isUncomputed = formula !== null && !has_value
          const text = isUncomputed
            ? `=${formula}`
            : cell.type === 'inlineStr'
              ? decodeEscapes(run.value)
              : formatCell(value, cell.type, cell.style, book)
          chars += text.length
          if (chars > MAX_RECORD_CHARS) recordTooLong({ row: number })
          while (cells.length < cell.column) cells.push('')
          cells[cell.column] = text
          if ((cell.type === 'e' || isUncomputed) && broken < 0) broken = cell.column
        }
        if (name === 'row' && cells.some((text) => text !== '')) {
          rows.push(broken < 0 ? { number, cells } : { number, cells, broken })
        }
      },
    },
    () => {
      const done = rows
      rows = []
      return done
    },
  )
}

function formatCell(value: string, type: string, style: number, book: WorkbookContext): string {
  if (value === '') return ''
  if (type === 's') return decodeEscapes(book.strings[Number(value)] ?? '')
  if (type === 'b') return value === '1' ? 'true' : 'false'
  if (type !== 'n') return decodeEscapes(value)
  const number = Number(value)
  if (Number.isNaN(number)) return value
  return book.isDate[style] ? formatDate(number, book.epoch_1904) : formatDecimal(number)
}

/** `AB12` is column 27, counted from 0. */
function columnIndex(reference: string): number {
  let index = 0
  for (const letter of reference) {
    const code = letter.charCodeAt(0) - 64
    if (code < 1 || code > 26) break
    index = index * 26 + code
  }
  if (index < 1 || index > MAX_COLUMNS) {
    refuseSource('archive_damaged', `The workbook has a cell "${reference}", which cannot be.`)
  }
  return index - 1
}

/** Days since the epoch of the workbook; counts the nonexistent 29 February 1900 as spreadsheets do. */
function formatDate(serial: number, epoch_1904: boolean): string {
  const epoch_ms = epoch_1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, serial < 60 ? 31 : 30)
  const ms = epoch_ms + Math.round(serial * 86_400) * 1000
  if (!(Math.abs(ms) < 8.64e15)) return formatDecimal(serial)
  const iso = new Date(ms).toISOString()
  return ms % DAY_MS === 0 ? iso.slice(0, 10) : iso.slice(0, 19)
}

/** Without an exponent, as a person would write it. */
function formatDecimal(number: number): string {
  const text = String(number)
  return text.includes('e') && Number.isInteger(number) ? BigInt(number).toString() : text
}

/** `_x000D_` is how the format writes characters XML cannot hold. */
const decodeEscapes = (text: string): string =>
  text.includes('_x')
    ? text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
    : text
