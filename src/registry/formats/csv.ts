/**
 * Delimited text, record by record: RFC 4180 with any one-character delimiter and quote. It knows records and lines;
 * the caller handles the header and the number of columns.
 */
import { END_MARK } from './end-mark.ts'
import { MAX_RECORD_CHARS, onLine, recordTooLong, refuseSource } from './fault.ts'

export interface CsvOptions {
  /** One character; default comma. */
  readonly delimiter?: string | undefined
  /** One character; null when the source has no quoting at all. Default double quote. */
  readonly quote?: string | null | undefined
  /** Lines dropped before the first record. */
  readonly skip_lines?: number | undefined
}

export interface CsvRecord {
  readonly fields: readonly string[]
  /** Where it begins. */
  readonly line: number
  /** The source ends with this record and without a line end: if it is short, it is truncated. */
  readonly last?: true
  /** Index of a field with text after its closing quote. */
  readonly misquoted?: number
}

const NEWLINE = 0x0a
const RETURN = 0x0d
const SPACE = 0x20

/** Yields records in groups, one group per chunk of text. Blank lines are not records. */
export async function* readCsv(
  text: AsyncIterable<string>,
  options: CsvOptions = {},
): AsyncGenerator<CsvRecord[], void, undefined> {
  const scan = new CsvScanner(options)
  for await (const piece of text) {
    const records = scan.push(piece)
    if (records.length > 0) yield records
  }
  const records = scan.end()
  if (records.length > 0) yield records
}

class CsvScanner {
  private readonly delimiter: string
  private readonly delimiterCode: number
  private readonly quote: string | null
  private skip_lines: number
  /** Text of an incomplete record; scanned again from its start with the next chunk. */
  private rest = ''
  private line = 1
  private ended = false
  private first = true

  constructor({ delimiter = ',', quote = '"', skip_lines = 0 }: CsvOptions) {
    this.delimiter = delimiter
    this.delimiterCode = delimiter.charCodeAt(0)
    this.quote = quote
    this.skip_lines = skip_lines
  }

  push(piece: string): CsvRecord[] {
    const text = this.rest + piece
    const records: CsvRecord[] = []
    const at = this.scan(text, this.skip(text), records)
    this.rest = text.slice(at)
    if (this.rest.length > MAX_RECORD_CHARS) recordTooLong(onLine(this.line))
    return records
  }

  end(): CsvRecord[] {
    this.ended = true
    const text = this.rest.endsWith(END_MARK) ? this.rest.slice(0, -1) : this.rest
    const records: CsvRecord[] = []
    this.scan(text, this.skip(text), records)
    return records
  }

  private skip(text: string): number {
    let at = 0
    while (this.skip_lines > 0) {
      const end = text.indexOf('\n', at)
      if (end < 0) return this.ended ? text.length : at
      at = end + 1
      this.line++
      this.skip_lines--
    }
    return at
  }

  /** Reads complete records from `start`; returns the start of the first incomplete one. */
  private scan(text: string, start: number, records: CsvRecord[]): number {
    if (this.skip_lines > 0) return start
    let at = start
    let quoteAt = -1
    while (at < text.length) {
      let end = text.indexOf('\n', at)
      if (end < 0) {
        if (!this.ended) return at
        end = text.length
      }
      if (this.quote !== null && quoteAt < at) quoteAt = indexOrEnd(text, this.quote, at)
      if (this.quote === null || quoteAt > end) {
        const stop = trimReturns(text, at, end)
        if (stop > at) this.add(records, this.plain(text.slice(at, stop)), end === text.length)
        this.line++
        at = end + 1
      } else {
        const next = this.quoted(text, at, records)
        if (next < 0) return at
        at = next
      }
    }
    return text.length
  }

  private plain(record: string): string[] {
    if (this.first && record.includes('\r')) {
      const advice = 'Save it with line feeds, or with carriage return and line feed.'
      refuseSource('layout_unknown', `The lines end in a bare carriage return. ${advice}`, onLine(this.line))
    }
    this.first = false
    return record.split(this.delimiter)
  }

  private add(records: CsvRecord[], fields: string[], last: boolean, misquoted = -1): void {
    const record: { -readonly [K in keyof CsvRecord]: CsvRecord[K] } = { fields, line: this.line }
    if (last) record.last = true
    if (misquoted >= 0) record.misquoted = misquoted
    records.push(record)
  }

  /** Reads a record with quotes. Returns the start of the next, or -1 when this one is incomplete. */
  private quoted(text: string, start: number, records: CsvRecord[]): number {
    const quoteCode = (this.quote as string).charCodeAt(0)
    const fields: string[] = []
    let misquoted = -1
    let at = start
    for (;;) {
      let value = ''
      const isQuoted = text.charCodeAt(at) === quoteCode
      if (isQuoted) {
        const field = this.quotedField(text, at, start)
        if (field === undefined) return -1
        value = field.value
        at = field.end
        while (text.charCodeAt(at) === SPACE && this.delimiterCode !== SPACE) at++
      }
      const stop = this.fieldEnd(text, at)
      if (stop === text.length && !this.ended) return -1
      const atLineEnd = stop === text.length || text.charCodeAt(stop) === NEWLINE
      const bare = text.slice(at, atLineEnd ? trimReturns(text, at, stop) : stop)
      if (isQuoted && bare !== '' && misquoted < 0) misquoted = fields.length
      fields.push(value + bare)
      if (atLineEnd) {
        this.add(records, fields, stop === text.length, misquoted)
        this.line += 1 + countNewlines(text, start, stop)
        return stop + 1
      }
      at = stop + 1
    }
  }

  /** undefined when the closing quote has not arrived. `record` is the start of the record, at the current line. */
  private quotedField(text: string, start: number, record: number): { value: string; end: number } | undefined {
    const quote = this.quote as string
    let value = ''
    let from = start + 1
    for (;;) {
      const close = text.indexOf(quote, from)
      if (close < 0) {
        if (!this.ended) return undefined
        const line = this.line + countNewlines(text, record, start)
        refuseSource(
          'truncated',
          `The quote opened at line ${line} is never closed: the file was cut off.`,
          onLine(line),
        )
      }
      if (text.charAt(close + 1) !== quote) return { value: value + text.slice(from, close), end: close + 1 }
      value += text.slice(from, close + 1)
      from = close + 2
    }
  }

  private fieldEnd(text: string, start: number): number {
    for (let at = start; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (code === this.delimiterCode || code === NEWLINE) return at
    }
    return text.length
  }
}

/** The end of a line without carriage returns; a file that was converted twice has two. */
function trimReturns(text: string, start: number, end: number): number {
  let stop = end
  while (stop > start && text.charCodeAt(stop - 1) === RETURN) stop--
  return stop
}

function indexOrEnd(text: string, what: string, from: number): number {
  const at = text.indexOf(what, from)
  return at < 0 ? text.length + 1 : at
}

function countNewlines(text: string, start: number, end: number): number {
  let count = 0
  for (let at = text.indexOf('\n', start); at >= 0 && at < end; at = text.indexOf('\n', at + 1)) count++
  return count
}
