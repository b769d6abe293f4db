/**
 * Shared by sources in rows and columns: the header, the width of rows, and the location of faults. A row that is too short or too
 * long is rejected; blank cells beyond the last column are padding and only counted.
 */
import { type Reject, SourceFault, type SourceLocation } from '../adapter.ts'
import { type CsvOptions, readCsv } from '../formats/csv.ts'
import { refuseSource, reject } from '../formats/fault.ts'
import type { BatchBuilder } from './batch-builder.ts'

export interface TableRow {
  /** Exactly as many as the header has. */
  readonly fields: readonly string[]
  readonly at: SourceLocation
}

export interface TableOptions extends CsvOptions {
  /** true: the first record names the columns. A list: these are the names, and every record is data. */
  readonly header: true | readonly string[] | 'numbers'
  /** A row with fewer columns is completed with empty ones. */
  readonly fill_short_rows?: boolean | undefined
  readonly file?: string | undefined
  /** Whether a record comes before the header. */
  readonly isPreamble?: (fields: readonly string[]) => boolean
}

/** Checks rows against a header. */
export class Table {
  readonly header: readonly string[]
  private readonly fill: boolean
  private padded = 0
  private first_padded: SourceLocation | undefined

  constructor(header: readonly string[], fill_short_rows = false) {
    this.header = header
    this.fill = fill_short_rows
  }

  /** The fields at full width, or the reject. */
  fit(fields: readonly string[], at: SourceLocation): readonly string[] | Reject {
    const width = this.header.length
    if (fields.length === width) return fields
    if (fields.length < width) {
      if (this.fill) return [...fields, ...Array<string>(width - fields.length).fill('')]
      const column = this.header[fields.length] as string
      const message = `The row has ${fields.length} columns instead of ${width}: it ends before "${column}".`
      return reject('column_lacking', message, { ...at, column }, fields.join(' | '))
    }
    const extra = fields.findIndex((field, index) => index >= width && field.trim() !== '')
    if (extra < 0) {
      this.padded++
      this.first_padded ??= at
      return fields.slice(0, width)
    }
    const message = `The row has ${fields.length} columns instead of ${width}: there is text in column ${extra + 1}.`
    return reject('column_extra', message, { ...at, column: String(extra + 1) }, fields[extra] as string)
  }

  /** Adds the warnings once the last row is read. */
  conclude(out: BatchBuilder): void {
    if (this.padded === 0) return
    const what = `${this.padded} rows have empty cells after the last column; they were ignored.`
    out.warn('rows_padded', what, this.first_padded)
  }
}

const numberColumns = (width: number): string[] => Array.from({ length: width }, (_, index) => String(index + 1))

/** Rows of delimited text. Rejects go to `out`; `begin` is called once, with the header. */
export async function* readTable(
  text: AsyncIterable<string>,
  options: TableOptions,
  out: BatchBuilder,
  begin: (header: readonly string[]) => void = () => {},
): AsyncGenerator<TableRow[], void, undefined> {
  let table: Table | undefined
  let row = 0
  const start = (header: readonly string[]): Table => {
    begin(header)
    return new Table(header, options.fill_short_rows)
  }
  if (typeof options.header === 'object') table = start(options.header)
  for await (const records of readCsv(text, options)) {
    const rows: TableRow[] = []
    for (const { fields, line, last, misquoted } of records) {
      if (table === undefined && options.isPreamble?.(fields)) continue
      if (table === undefined) {
        table = start(options.header === true ? fields.map((name) => name.trim()) : numberColumns(fields.length))
        if (options.header === true) continue
      }
      const at: SourceLocation =
        options.file === undefined ? { row: ++row, line } : { row: ++row, line, file: options.file }
      if (misquoted !== undefined) {
        const column = table.header[misquoted] ?? String(misquoted + 1)
        const message = `There is text after the closing quote of "${column}".`
        out.reject(reject('quote_misplaced', message, { ...at, column }, fields[misquoted] as string))
        continue
      }
      const fit = table.fit(fields, at)
      if (!('code' in fit)) rows.push({ fields: fit, at })
      else if (last && fit.code === 'column_lacking') {
        const end = line + fields.join('').split('\n').length - 1
        const message = `The file ends in the middle of line ${end}: it was cut off.`
        throw new SourceFault('truncated', message, { ...at, line: end })
      } else out.reject(fit)
    }
    yield rows
  }
  table?.conclude(out)
}

/** Fields of a row by the name of their column; the first of several columns with one name is used. */
export class Columns {
  private readonly indexes = new Map<string, number>()

  /** Refuses the source when one of `needed` is missing: it is another file. */
  constructor(header: readonly string[], needed: readonly string[]) {
    for (const [index, name] of header.entries()) if (!this.indexes.has(name)) this.indexes.set(name, index)
    const missing = needed.filter((name) => !this.indexes.has(name))
    if (missing.length > 0) {
      const names = missing.map((name) => `"${name}"`).join(', ')
      refuseSource('layout_unknown', `The columns ${names} are missing: this is another file, or another layout of it.`)
    }
  }

  /** Trimmed; undefined when it is empty or the layout has no such column. The first name with a value is used. */
  get(fields: readonly string[], ...names: string[]): string | undefined {
    for (const name of names) {
      const index = this.indexes.get(name)
      const value = index === undefined ? undefined : fields[index]?.trim()
      if (value) return value
    }
    return undefined
  }
}
