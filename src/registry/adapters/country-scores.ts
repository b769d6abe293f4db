/** Any CSV with a column of countries and a column of scores. A score that means "no data" is skipped and counted. */
import { closed, listOf, oneOf, type Static, Type, text } from '#kernel/schema.ts'
import type { Adapter, Batch, Entry, Source } from '../adapter.ts'
import { BatchBuilder } from './batch-builder.ts'
import { type Mapping, mapColumns, RejectedRecord } from './mapping.ts'
import type { ColumnMapping } from './mapping-options.ts'
import { detectedEncodingOption, readDetected, textOptions } from './source-text.ts'
import { readTable } from './table.ts'

const Options = closed({
  country_column: Type.Optional(text(200, { default: 'code' })),
  score_column: Type.Optional(text(200, { default: 'score' })),
  name_column: Type.Optional(text(200)),
  no_data: Type.Optional(
    listOf(Type.String({ maxLength: 100 }), 20, {
      description: 'Scores that mean no data, such as 0.0; empty always does.',
    }),
  ),
  source: Type.Optional(text(200, { description: 'Who publishes the index; goes into every entry.' })),
  edition: Type.Optional(text(50, { description: 'Year or issue; goes into every entry.' })),
  delimiter: Type.Optional(oneOf([',', ';', '\t', '|'], { default: ',' })),
  decimal_separator: Type.Optional(oneOf(['.', ','], { default: '.' })),
  ...detectedEncodingOption,
  ...textOptions,
})
type Options = Static<typeof Options>

async function* read(source: Source, options: Options): AsyncGenerator<Batch, void, undefined> {
  const out = new BatchBuilder()
  let mapping: Mapping<readonly string[]> | undefined
  let without = 0
  const begin = (header: readonly string[]) => {
    mapping = mapColumns(header, toColumnMappings(options), {})
  }
  const table = { header: true, delimiter: options.delimiter } as const
  for await (const rows of readTable(readDetected(source, options, out), table, out, begin)) {
    for (const { fields, at } of rows) {
      const mapped = (mapping as Mapping<readonly string[]>).map(fields, at)
      if (mapped instanceof RejectedRecord) out.reject(...mapped.rejects)
      else if (mapped['score'] === undefined) without++
      else out.add(addOrigin(mapped, options), at)
      if (out.isFull) yield out.take()
    }
  }
  if (without > 0) out.warn('rows_without_score', `${without} rows have no score and were passed over.`)
  yield* out.takeRest()
}

function toColumnMappings(options: Options): ColumnMapping[] {
  const {
    country_column = 'code',
    score_column = 'score',
    name_column,
    no_data = [],
    decimal_separator = '.',
  } = options
  return [
    { column: country_column, pointer: '/country', required: true },
    { column: score_column, pointer: '/score', kind: 'decimal', decimal_separator, null_values: no_data },
    ...(name_column === undefined ? [] : [{ column: name_column, pointer: '/name' }]),
  ]
}

function addOrigin(entry: Entry, { source, edition }: Options): Entry {
  if (source !== undefined) entry['source'] = source
  if (edition !== undefined) entry['edition'] = edition
  return entry
}

export const countryScores: Adapter = {
  key: 'country-scores',
  version: 1,
  title: 'Country scores (CSV)',
  description: 'An index with one score for each country: name the columns of country and score.',
  publisher: null,
  media_types: ['text/csv', 'application/zip', 'application/gzip'],
  file_extensions: ['csv', 'zip'],
  options: Options,
  target_type: 'country-score',
  sample: { encoding: 'utf8', text: 'code,name,score\nDK,Denmark,92\nNA,Namibia,49\n' },
  read: (source, options) => read(source, options as Options),
}
