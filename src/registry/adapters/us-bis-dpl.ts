/**
 * The Denied Persons List of the US Bureau of Industry and Security: tab-separated, one row for each address. The list has no
 * ids, so a party is identified by name, street, city, state and the date of its order; rows published twice are joined.
 */
import { closed, type Static } from '#kernel/schema.ts'
import type { Adapter, Batch, Source } from '../adapter.ts'
import { reject } from '../formats/fault.ts'
import { BatchBuilder } from './batch-builder.ts'
import { parseDate } from './dates.ts'
import { PartyCollector } from './parties.ts'
import { collapseSpaces, PartyDraft } from './sanctioned-party.ts'
import { detectedEncodingOption, readDetected, textOptions } from './source-text.ts'
import { Columns, readTable } from './table.ts'

const Options = closed({ ...detectedEncodingOption, ...textOptions })

const NEEDED = ['Name', 'Street_Address', 'City', 'State', 'Effective_Date', 'FR_Citation']

async function* read(source: Source, options: Static<typeof Options>): AsyncGenerator<Batch, void, undefined> {
  const out = new BatchBuilder()
  const parties = new PartyCollector()
  let repeated = 0
  let columns: Columns | undefined
  const begin = (header: readonly string[]) => {
    columns = new Columns(header, NEEDED)
  }
  for await (const rows of readTable(
    readDetected(source, options, out),
    { delimiter: '\t', header: true },
    out,
    begin,
  )) {
    for (const { fields, at } of rows) {
      const field: Field = (name) => columns?.get(fields, name)
      if (field('Name') === undefined) {
        out.reject(reject('value_missing', '"Name" is empty.', { ...at, column: 'Name' }, null, '/name'))
        continue
      }
      const key = ['Name', 'Street_Address', 'City', 'State', 'Effective_Date'].map((name) =>
        collapseSpaces(field(name)),
      )
      const id = key.join(' | ')
      if (parties.has(id)) repeated++
      readRow(
        field,
        parties.party(id, at, () => new PartyDraft('us-bis-dpl', id, 'other')),
      )
    }
    if (out.isFull) yield out.take()
  }
  if (repeated > 0) out.warn('rows_repeated', `${repeated} rows are on the list more than once; they were joined.`)
  yield* parties.batches(out)
}

type Field = (name: string) => string | undefined

function readRow(field: Field, draft: PartyDraft): void {
  const [city, postal_code, country] = [field('City'), field('Postal_Code'), field('Country')]
  draft
    .addName(field('Name'), 'primary')
    .addAddress([field('Street_Address'), city, field('State'), postal_code, country], { city, postal_code, country })
    .addValue('programmes', 'Denied Persons List')
    .addValue('references', field('FR_Citation'))
    .set({
      listed_on: parseDate(field('Effective_Date') ?? '', ['MM/DD/YYYY']),
      expires_on: parseDate(field('Expiration_Date') ?? '', ['MM/DD/YYYY']),
      updated_on: parseDate(field('Last_Update') ?? '', ['YYYY-MM-DD']),
    })
    .addRemark(field('Action'))
}

export const usBisDpl: Adapter = {
  key: 'us-bis-dpl',
  version: 2,
  title: 'US BIS Denied Persons List',
  description: 'dpl.txt, tab-separated. The list does not say whether a party is a person or an organisation.',
  publisher: 'US Department of Commerce, Bureau of Industry and Security',
  media_types: ['text/tab-separated-values', 'text/plain', 'application/zip', 'application/gzip'],
  file_extensions: ['txt', 'tsv', 'zip'],
  options: Options,
  target_type: 'sanctioned-party',
  sample: {
    encoding: 'utf8',
    text: `"Name"	"Street_Address"	"City"	"State"	"Country"	"Postal_Code"	"Effective_Date"	"Expiration_Date"	"Standard_Order"	"Last_Update"	"Action"	"FR_Citation"
" ADRIAN MANUEL HERNANDEZ"	"3037 S. 69TH DRIVE"	"PHONEIX"	"AZ"	""	"85043"	"10/16/2017"	"10/13/2020"	"Y"	"2017-10-23"	"FR NOTICE ADDED"	"82 F.R. 48792 10/20/2017"
`,
  },
  read: (source, options) => read(source, options as Static<typeof Options>),
}
