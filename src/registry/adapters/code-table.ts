/**
 * Reads code lists that are published as delimited text or as a workbook with a header. Columns the adapter does not know are
 * reported.
 */
import { integer, Type, text } from '#kernel/schema.ts'
import type { Batch, Source } from '../adapter.ts'
import { MAX_EXPANDED_BYTES, peek, unwrap } from '../formats/decode.ts'
import { refuseSource } from '../formats/fault.ts'
import { DETECTION_BYTES, detectFormat } from '../formats/format-detection.ts'
import { readXlsx } from '../formats/xlsx.ts'
import type { BatchBuilder } from './batch-builder.ts'
import { readSheetTable } from './sheet-table.ts'
import { detectedEncodingOption, readDetected, textOptions } from './source-text.ts'
import { readTable, type TableRow } from './table.ts'

export const codeTableOptions = {
  delimiter: Type.Optional(
    Type.String({
      pattern: '^[^\\r\\n\\u0000"]$',
      description: 'One character between columns. Default: detected in the first line (comma, semicolon, tab, |).',
    }),
  ),
  sheet: Type.Optional(text(100, { description: 'Name of the sheet of a workbook. Default: the first.' })),
  skip_rows: Type.Optional(integer(0, 1000, { default: 0, description: 'Lines or rows before the header.' })),
  ...detectedEncodingOption,
  ...textOptions,
}

export interface CodeTableOptions {
  readonly delimiter?: string | undefined
  readonly sheet?: string | undefined
  readonly skip_rows?: number | undefined
  readonly encoding?: Parameters<typeof readDetected>[1]['encoding']
  readonly max_expanded_bytes?: number | undefined
}

export const codeTableMedia = [
  'text/csv',
  'text/tab-separated-values',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  'application/zip',
  'application/gzip',
]

interface RowHandlers {
  /** Called once, with the header. */
  readonly begin: (header: readonly string[]) => void
  readonly use: (rows: AsyncGenerator<TableRow[]>) => AsyncGenerator<Batch, void, undefined>
}

/** Passes the rows of delimited text or of a workbook to `use`, and closes the source afterwards. */
export async function* readCodeTable(
  source: Source,
  options: CodeTableOptions,
  out: BatchBuilder,
  handlers: RowHandlers,
): AsyncGenerator<Batch, void, undefined> {
  const { head, bytes, close } = await peek(source, DETECTION_BYTES)
  try {
    const seen = detectFormat(head.subarray(0, DETECTION_BYTES))
    if (seen?.family === 'workbook') {
      yield* readXlsx(bytes, options, (sheet) => handlers.use(readSheetTable(sheet, options, out, handlers.begin)))
    } else {
      if (seen?.family === 'other' && seen.certain) refuseOther(seen)
      yield* readText(bytes, options, out, handlers)
    }
  } finally {
    await close()
  }
}

function refuseOther({ name, advice }: { readonly name: string; readonly advice?: string }): never {
  const more = advice === undefined ? '' : ` ${advice}`
  refuseSource('another_format', `The file looks like ${name}; a table in text or an .xlsx workbook is read.${more}`)
}

async function* readText(source: Source, options: CodeTableOptions, out: BatchBuilder, { begin, use }: RowHandlers) {
  const unpacked = await peek(unwrap(source, options.max_expanded_bytes ?? MAX_EXPANDED_BYTES), DETECTION_BYTES)
  try {
    const delimiter = options.delimiter ?? detectDelimiter(unpacked.head.toString('latin1'), options.skip_rows ?? 0)
    const table = { header: true, delimiter, skip_lines: options.skip_rows } as const
    yield* use(readTable(readDetected(unpacked.bytes, options, out), table, out, begin))
  } finally {
    await unpacked.close()
  }
}

/** The most frequent delimiter of the header, outside quotes. */
function detectDelimiter(text: string, skip_lines: number): string {
  const line = text.replaceAll(/"[^"]*"/g, '').split('\n')[skip_lines] ?? ''
  const found = [',', ';', '\t', '|'].map((one) => ({ one, count: line.split(one).length }))
  return found.reduce((best, next) => (next.count > best.count ? next : best)).one
}

/** Reports columns that are neither read nor known to be redundant. */
export function reportUnreadColumns(header: readonly string[], known: readonly string[], out: BatchBuilder): void {
  const names = header.filter((name) => name !== '' && !known.includes(name))
  if (names.length === 0) return
  const listed = names.slice(0, 20).map((name) => `"${name}"`)
  if (names.length > listed.length) listed.push('…')
  const what = names.length === 1 ? 'A column is not read' : `${names.length} columns are not read`
  out.warn('columns_unread', `${what}, since this adapter does not know what it means: ${listed.join(', ')}.`)
}
