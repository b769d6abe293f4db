/** Any delimited text with a mapping of its columns: the adapters `csv` and `tsv`, which differ in one default. */
import { closed, integer, listOf, type Static, Type } from '#kernel/schema.ts'
import type { Adapter, Batch, EntryContext, Source } from '../adapter.ts'
import { BatchBuilder } from './batch-builder.ts'
import { describeUnreadColumns, mapColumns } from './mapping.ts'
import { findMappingFaults } from './mapping-check.ts'
import { ColumnMapping, columnElements, mappingOptions } from './mapping-options.ts'
import { MappedRecords } from './row-groups.ts'
import { detectedEncodingOption, readDetected, textOptions } from './source-text.ts'
import { readTable } from './table.ts'

const Char = (options: Record<string, unknown>) => Type.String({ pattern: '^[^\\r\\n\\u0000]$', ...options })

const buildOptions = (delimiter: string) =>
  closed({
    delimiter: Type.Optional(Char({ default: delimiter, description: 'One character: comma, semicolon, tab, pipe …' })),
    quote: Type.Optional(
      Type.Unsafe<string | null>({
        anyOf: [Char({}), { type: 'null' }],
        default: '"',
        description: 'One character, doubled inside a quoted value; null when the source has no quoting.',
      }),
    ),
    ...detectedEncodingOption,
    header: Type.Optional(
      Type.Boolean({ default: true, description: 'The first record names the columns; otherwise they are 1, 2, 3 …' }),
    ),
    skip_lines: Type.Optional(integer(0, 1000, { default: 0, description: 'Lines before the header.' })),
    fill_short_rows: Type.Optional(
      Type.Boolean({ default: false, description: 'Read missing columns at the end of a row as empty.' }),
    ),
    columns: Type.Optional(
      listOf(ColumnMapping, 1000, { minItems: 1, description: 'Default: every column, as text, under its own name.' }),
    ),
    elements: columnElements,
    ...mappingOptions,
    ...textOptions,
  })

type Options = Static<ReturnType<typeof buildOptions>>

async function* read(
  source: Source,
  options: Options,
  delimiter: string,
  context?: EntryContext,
): AsyncGenerator<Batch, void, undefined> {
  const out = new BatchBuilder()
  let records: MappedRecords<readonly string[]> | undefined
  const rows = readTable(
    readDetected(source, options, out),
    {
      delimiter: options.delimiter ?? delimiter,
      quote: options.quote,
      skip_lines: options.skip_lines,
      fill_short_rows: options.fill_short_rows,
      header: (options.header ?? true) || 'numbers',
    },
    out,
    (header) => {
      records = new MappedRecords(mapColumns(header, options.columns, options), options, out, context)
      const unread = describeUnreadColumns(header, options.columns, options.elements)
      if (unread) out.warn('columns_unread', `${unread}${suggestDelimiter(header)}`)
    },
  )
  for await (const group of rows) {
    for (const { fields, at } of group) {
      records?.add(fields, at)
      if (out.isFull) yield out.take()
    }
    if (records?.isHolding) yield out.take()
  }
  if (records) yield* records.finish()
  yield* out.takeRest()
}

const delimiters = { ';': 'a semicolon', '\t': 'a tab', '|': 'a vertical bar', ',': 'a comma' }

/** Another delimiter that occurs in a header with a single column: most likely the option is wrong. */
function suggestDelimiter(header: readonly string[]): string {
  const found = header.length === 1 && Object.entries(delimiters).find(([one]) => header[0]?.includes(one))
  return found ? ` Perhaps the delimiter is ${found[1]}.` : ''
}

export const csv: Adapter = {
  key: 'csv',
  version: 2,
  title: 'CSV',
  description: 'Comma-separated text, or any other delimiter, with a mapping from columns to members of an entry.',
  publisher: null,
  media_types: ['text/csv', 'application/gzip', 'application/zip'],
  file_extensions: ['csv', 'txt', 'csv.gz', 'zip'],
  options: buildOptions(','),
  checkOptions: findMappingFaults,
  target_type: null,
  sample: { encoding: 'utf8', text: 'code,name\nNA,Namibia\nNO,"Norway"\n' },
  read: (source, options, _, context) => read(source, options as Options, ',', context),
}

export const tsv: Adapter = {
  ...csv,
  key: 'tsv',
  title: 'TSV',
  description: 'Tab-separated text with a mapping from columns to members of an entry.',
  media_types: ['text/tab-separated-values', 'application/gzip', 'application/zip'],
  file_extensions: ['tsv', 'tab', 'txt', 'tsv.gz', 'zip'],
  options: buildOptions('\t'),
  sample: { encoding: 'utf8', text: 'code\tname\nNA\tNamibia\nNO\tNorway\n' },
  read: (source, options, _, context) => read(source, options as Options, '\t', context),
}
