/**
 * Streams rows as an .xlsx workbook of one sheet. Text is written inline, without shared strings, so memory is bounded. The same
 * rows always give the same bytes.
 */
import { Readable } from 'node:stream'
import yazl from 'yazl'

/** An error as `#DIV/0!`, or a formula as `=A1` without its result. */
interface BrokenCell {
  readonly broken: string
}
export type XlsxCell = string | number | boolean | null | undefined | BrokenCell

const MAX_ROWS = 1_048_576
/** A fixed local time, as the zip format stores it, so that the bytes depend on neither clock nor time zone. */
const MTIME = new Date(1980, 0, 1)
const FLUSH_CHARS = 64 * 1024

const head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const packages = 'http://schemas.openxmlformats.org/package/2006'
const types = 'application/vnd.openxmlformats-officedocument.spreadsheetml'

const contentTypes = `${head}<Types xmlns="${packages}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${types}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${types}.worksheet+xml"/></Types>`
const packageRelations = `${head}<Relationships xmlns="${packages}/relationships"><Relationship Id="rId1" Type="${office}/officeDocument" Target="xl/workbook.xml"/></Relationships>`
const bookRelations = `${head}<Relationships xmlns="${packages}/relationships"><Relationship Id="rId1" Type="${office}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`
const workbook = (sheet: string): string =>
  `${head}<workbook xmlns="${main}" xmlns:r="${office}"><sheets><sheet name="${xmlText(sheet)}" sheetId="1" r:id="rId1"/></sheets></workbook>`

export async function* writeXlsx(
  rows: AsyncIterable<readonly XlsxCell[]> | Iterable<readonly XlsxCell[]>,
  sheet = 'Sheet1',
): AsyncGenerator<Buffer, void, undefined> {
  const options = { mtime: MTIME, forceDosTimestamp: true, mode: 0o100644 }
  const zip = new yazl.ZipFile()
  zip.addBuffer(Buffer.from(contentTypes), '[Content_Types].xml', options)
  zip.addBuffer(Buffer.from(packageRelations), '_rels/.rels', options)
  zip.addBuffer(Buffer.from(workbook(sheet)), 'xl/workbook.xml', options)
  zip.addBuffer(Buffer.from(bookRelations), 'xl/_rels/workbook.xml.rels', options)
  const content = Readable.from(sheetXml(rows))
  const output = zip.outputStream as Readable
  content.on('error', (error) => output.destroy(error))
  zip.addReadStream(content, 'xl/worksheets/sheet1.xml', options)
  zip.end()
  try {
    for await (const chunk of output) yield chunk
  } finally {
    content.destroy()
    output.destroy()
  }
}

async function* sheetXml(rows: AsyncIterable<readonly XlsxCell[]> | Iterable<readonly XlsxCell[]>) {
  let text = `${head}<worksheet xmlns="${main}"><sheetData>`
  let number = 0
  for await (const cells of rows) {
    if (++number > MAX_ROWS) throw new RangeError(`An .xlsx sheet holds at most ${MAX_ROWS} rows.`)
    text += `<row r="${number}">${cells.map((cell, index) => cellXml(cell, `${columnName(index)}${number}`)).join('')}</row>`
    if (text.length < FLUSH_CHARS) continue
    yield Buffer.from(text)
    text = ''
  }
  yield Buffer.from(`${text}</sheetData></worksheet>`)
}

function cellXml(cell: XlsxCell, at: string): string {
  if (cell === null || cell === undefined || cell === '') return ''
  if (typeof cell === 'object') {
    const { broken } = cell
    return broken.startsWith('=')
      ? `<c r="${at}"><f>${xmlText(broken.slice(1))}</f></c>`
      : `<c r="${at}" t="e"><v>${xmlText(broken)}</v></c>`
  }
  if (typeof cell === 'boolean') return `<c r="${at}" t="b"><v>${cell ? 1 : 0}</v></c>`
  if (typeof cell === 'number' && Number.isFinite(cell)) return `<c r="${at}"><v>${cell}</v></c>`
  return `<c r="${at}" t="inlineStr"><is><t xml:space="preserve">${xmlText(String(cell))}</t></is></c>`
}

function columnName(index: number): string {
  let name = ''
  for (let left = index + 1; left > 0; left = Math.floor((left - 1) / 26)) {
    name = String.fromCharCode(65 + ((left - 1) % 26)) + name
  }
  return name
}

/** Characters that XML cannot represent are written as `_xHHHH_`; text that already looks like this is escaped too. */
function xmlText(text: string): string {
  return text
    .replace(/_x[0-9A-Fa-f]{4}_/g, (found) => `_x005F${found}`)
    .replace(/[\p{Cc}\p{Cs}\ufffe\uffff]/gu, (char) => {
      const code = char.charCodeAt(0)
      const isLegal = char === '\t' || char === '\n' || (code >= 0x7f && code <= 0x9f)
      return isLegal ? char : `_x${code.toString(16).toUpperCase().padStart(4, '0')}_`
    })
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
