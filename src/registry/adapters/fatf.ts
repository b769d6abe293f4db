/**
 * The lists of the FATF. It publishes web pages only, so this reads the two formats in common use: a JSON document
 * with `call_for_action` and `increased_monitoring`, or a CSV with the columns country and list.
 */
import { closed, type Static } from '#kernel/schema.ts'
import type { Adapter, Batch, Entry, Source, SourceLocation } from '../adapter.ts'
import { MAX_EXPANDED_BYTES, peek, unwrap } from '../formats/decode.ts'
import { MAX_RECORD_CHARS, refuseSource, reject } from '../formats/fault.ts'
import { parseRecord, RecordFault } from '../formats/json-record.ts'
import { BatchBuilder } from './batch-builder.ts'
import { parseDate } from './dates.ts'
import type { JurisdictionListing } from './jurisdiction-list.ts'
import { readDetected, readPrescribed, textOptions } from './source-text.ts'
import { Columns, readTable } from './table.ts'

const Options = closed(textOptions)
type Options = Static<typeof Options>

const lists = { call_for_action: 'black', increased_monitoring: 'grey', black: 'black', grey: 'grey' } as const

async function* read(source: Source, options: Options): AsyncGenerator<Batch, void, undefined> {
  const opened = await peek(unwrap(source, options.max_expanded_bytes ?? MAX_EXPANDED_BYTES), 64)
  try {
    const isJson = /^\s*\{/.test(opened.head.toString('utf8').replace('\ufeff', ''))
    yield* isJson ? readDocument(opened.bytes) : readRows(opened.bytes)
  } finally {
    await opened.close()
  }
}

async function* readDocument(source: Source): AsyncGenerator<Batch, void, undefined> {
  const out = new BatchBuilder()
  const data = (await parseDocument(source, out))['data']
  let row = 0
  for (const name of ['call_for_action', 'increased_monitoring'] as const) {
    const records = isObject(data) ? data[name] : undefined
    if (!Array.isArray(records)) {
      refuseSource('layout_unknown', `The document has no list "${name}" in "data": this is another layout.`)
    }
    for (const [index, record] of records.entries()) {
      const at = { row: ++row, path: `/data/${name}/${index}` }
      if (isObject(record)) {
        const field = (member: string) => (typeof record[member] === 'string' ? record[member].trim() : undefined)
        addListing(out, at, name, {
          country: field('iso2'),
          name: field('name'),
          measure: field('measure'),
          since: field('since'),
        })
      } else
        out.reject(reject('not_an_object', 'The record is not an object with members.', at, JSON.stringify(record)))
    }
  }
  yield* out.takeRest()
}

/** The lists are short: a longer document is something else. */
async function parseDocument(source: Source, out: BatchBuilder): Promise<Record<string, unknown>> {
  let text = ''
  for await (const piece of readPrescribed(source, {}, out)) {
    text += piece
    if (text.length > MAX_RECORD_CHARS) refuseSource('source_too_large', 'The document is too large to be these lists.')
  }
  try {
    const document = parseRecord(text)
    return isObject(document) ? document : {}
  } catch (fault) {
    if (!(fault instanceof RecordFault)) throw fault
    refuseSource(/ends too early/.test(fault.message) ? 'truncated' : 'not_well_formed', fault.message)
  }
}

async function* readRows(source: Source): AsyncGenerator<Batch, void, undefined> {
  const out = new BatchBuilder()
  let columns: Columns | undefined
  const begin = (header: readonly string[]) => {
    columns = new Columns(header, ['country', 'list'])
  }
  for await (const rows of readTable(readDetected(source, {}, out), { header: true }, out, begin)) {
    for (const { fields, at } of rows) {
      const field = (name: string) => columns?.get(fields, name)
      const record = {
        country: field('country'),
        name: field('name'),
        measure: field('measure'),
        since: field('listed_on'),
      }
      addListing(out, at, field('list'), record)
      if (out.isFull) yield out.take()
    }
  }
  yield* out.takeRest()
}

interface ListedCountry {
  readonly country: string | undefined
  readonly name: string | undefined
  readonly measure: string | undefined
  readonly since: string | undefined
}

function addListing(
  out: BatchBuilder,
  at: SourceLocation,
  list: string | undefined,
  { country, ...more }: ListedCountry,
): void {
  const known = Object.hasOwn(lists, list ?? '') ? lists[list as keyof typeof lists] : undefined
  if (known === undefined) {
    out.reject(reject('value_unreadable', 'The list is neither black nor grey.', at, list ?? '', '/list'))
  } else if (country === undefined || !/^[A-Z]{2}$/.test(country)) {
    out.reject(reject('value_unreadable', 'The country is not a two-letter code.', at, country ?? '', '/country'))
  } else {
    const listing: JurisdictionListing = { source: 'fatf', country, list: known }
    if (more.name) listing.name = more.name
    if (more.measure) listing.measure = more.measure
    const listed_on = parseDate(more.since ?? '', ['YYYY-MM-DD'])
    if (listed_on) listing.listed_on = listed_on
    out.add(listing as Entry, at)
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const fatfLists: Adapter = {
  key: 'fatf-lists',
  version: 1,
  title: 'FATF black and grey lists',
  description: 'Jurisdictions under a call for action (black) or increased monitoring (grey), as JSON or CSV.',
  publisher: 'Financial Action Task Force',
  media_types: ['application/json', 'text/csv'],
  file_extensions: ['json', 'csv'],
  options: Options,
  target_type: 'jurisdiction-list',
  sample: {
    encoding: 'utf8',
    text: '{"data":{"call_for_action":[{"iso2":"IR","name":"Iran","measure":"countermeasures"}],"increased_monitoring":[{"iso2":"NA","name":"Namibia"}]}}\n',
  },
  read: (source, options) => read(source, options as Options),
}
