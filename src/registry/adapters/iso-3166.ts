/**
 * ISO 3166-1 as the CSV tables in common use have it: the country-codes table with UN M49, or a plain one with alpha-2 and name.
 * A row without a code is a territory outside the standard: it is skipped and reported, not rejected.
 */
import { closed, type Static } from '#kernel/schema.ts'
import type { Adapter, Batch, Entry, Source } from '../adapter.ts'
import { refuseSource, reject } from '../formats/fault.ts'
import { BatchBuilder } from './batch-builder.ts'
import type { Country } from './country.ts'
import { detectedEncodingOption, readDetected, textOptions } from './source-text.ts'
import { Columns, readTable, type TableRow } from './table.ts'

const Options = closed({ ...detectedEncodingOption, ...textOptions })

/** For each member, the columns it is found under. */
const found = {
  alpha_2: ['ISO3166-1-Alpha-2', 'alpha-2', 'Alpha-2 code', 'alpha_2', 'Code'],
  alpha_3: ['ISO3166-1-Alpha-3', 'alpha-3', 'Alpha-3 code', 'alpha_3'],
  numeric: ['ISO3166-1-numeric', 'country-code', 'Numeric', 'numeric'],
  name: ['CLDR display name', 'name', 'Name', 'English short name', 'official_name_en'],
  official_name: ['official_name_en', 'UNTERM English Formal'],
  region: ['Region Name', 'region'],
  sub_region: ['Sub-region Name', 'sub-region'],
  currency: ['ISO4217-currency_alphabetic_code', 'currency'],
  capital: ['Capital', 'capital'],
} as const

async function* read(source: Source, options: Static<typeof Options>): AsyncGenerator<Batch, void, undefined> {
  const out = new BatchBuilder()
  let columns: Columns | undefined
  const begin = (header: readonly string[]) => {
    if (!found.alpha_2.some((name) => header.includes(name))) {
      refuseSource('layout_unknown', `There is no column with two-letter codes (${found.alpha_2.join(', ')}).`)
    }
    columns = new Columns(header, [])
  }
  for await (const rows of readTable(readDetected(source, options, out), { header: true }, out, begin)) {
    for (const row of rows) {
      readCountry(row, columns as Columns, out)
      if (out.isFull) yield out.take()
    }
  }
  yield* out.takeRest()
}

function readCountry({ fields, at }: TableRow, columns: Columns, out: BatchBuilder): void {
  const entry: Partial<Record<keyof Country, string>> = {}
  for (const [member, names] of Object.entries(found)) {
    const value = columns.get(fields, ...names)
    if (value !== undefined) entry[member as keyof Country] = value
  }
  if (entry.numeric) entry.numeric = entry.numeric.padStart(3, '0')
  if (entry.alpha_2 === undefined) {
    const message = `"${entry.name ?? 'A row'}" has no two-letter code and was passed over.`
    out.warn('row_without_code', message, at)
  } else if (entry.name === undefined) {
    out.reject(reject('value_missing', 'The country has no name.', at, entry.alpha_2, '/name'))
  } else out.add(entry as Entry, at)
}

export const iso3166: Adapter = {
  key: 'iso-3166',
  version: 1,
  title: 'ISO 3166-1 countries (CSV)',
  description: 'Country codes and names from a CSV table with a column of two-letter codes.',
  publisher: 'ISO 3166 Maintenance Agency',
  media_types: ['text/csv', 'application/zip', 'application/gzip'],
  file_extensions: ['csv', 'zip'],
  options: Options,
  target_type: 'country',
  sample: {
    encoding: 'utf8',
    text: 'name,alpha-2,alpha-3,country-code,region,sub-region\nAfghanistan,AF,AFG,004,Asia,Southern Asia\nNamibia,NA,NAM,516,Africa,Sub-Saharan Africa\n',
  },
  read: (source, options) => read(source, options as Static<typeof Options>),
}
