/** Reads a sheet of a workbook as rows and columns, like delimited text. */
import { reject } from '../formats/fault.ts'
import type { XlsxSheet } from '../formats/xlsx.ts'
import type { BatchBuilder } from './batch-builder.ts'
import { Table, type TableRow } from './table.ts'

export interface SheetTableOptions {
  /** The first row names the columns; otherwise they are 1, 2, 3 … Default: true. */
  readonly header?: boolean | undefined
  readonly skip_rows?: number | undefined
}

/** Rejects go to `out`; `begin` is called once, with the header. */
export async function* readSheetTable(
  sheet: XlsxSheet,
  { header: has_header = true, skip_rows = 0 }: SheetTableOptions,
  out: BatchBuilder,
  begin: (header: readonly string[]) => void,
): AsyncGenerator<TableRow[], void, undefined> {
  if (sheet.others.length > 0) {
    const names = sheet.others.slice(0, 20).map((name) => `"${name}"`)
    out.warn('sheets_unread', `Only the first sheet, "${sheet.name}", is read. There are also: ${names.join(', ')}.`)
  }
  let table: Table | undefined
  let row = 0
  for await (const found of sheet.rows) {
    const rows: TableRow[] = []
    for (const { number, cells, broken } of found) {
      if (number <= skip_rows) continue
      if (table === undefined) {
        const header = has_header ? toHeader(cells) : cells.map((_, index) => String(index + 1))
        begin(header)
        // Workbooks omit blank cells at the end of a row, so a short row is complete.
        table = new Table(header, true)
        if (has_header) continue
      }
      const at = { row: ++row, line: number, sheet: sheet.name }
      if (broken !== undefined) {
        const column = table.header[broken] ?? String(broken + 1)
        const found = cells[broken] ?? ''
        const message = found.startsWith('=')
          ? `"${column}" holds a formula without its result. Open the workbook in a spreadsheet program and save it again.`
          : `"${column}" holds an error, not a value.`
        out.reject(reject('cell_error', message, { ...at, column }, found))
        continue
      }
      const fit = table.fit(cells, at)
      if ('code' in fit) out.reject(fit)
      else rows.push({ fields: fit, at })
    }
    yield rows
  }
  table?.conclude(out)
}

/** Without the blank cells at its end. */
function toHeader(cells: readonly string[]): string[] {
  const names = cells.map((name) => name.trim())
  return names.slice(0, names.findLastIndex((name) => name !== '') + 1)
}
