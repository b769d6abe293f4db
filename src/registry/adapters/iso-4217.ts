/**
 * ISO 4217 as published in XML (list one and list three) and as the CSV table made of both. Rows state which entity uses or used
 * which currency and are joined by code. Entities without a currency are skipped and reported.
 */
import { closed, type Static } from '#kernel/schema.ts'
import type { Adapter, Batch, Entry, Source, SourceLocation } from '../adapter.ts'
import { MAX_EXPANDED_BYTES, peek, unwrap } from '../formats/decode.ts'
import { refuseSource } from '../formats/fault.ts'
import { getChildText, readXml } from '../formats/xml.ts'
import { BatchBuilder } from './batch-builder.ts'
import type { Currency } from './currency.ts'
import { collapseSpaces } from './sanctioned-party.ts'
import { detectedEncodingOption, noteEncoding, readDetected, textOptions } from './source-text.ts'
import { Columns, readTable } from './table.ts'

const Options = closed({ ...detectedEncodingOption, ...textOptions })
type Options = Static<typeof Options>

interface Row {
  readonly entity: string | undefined
  readonly name: string | undefined
  readonly code: string | undefined
  readonly numeric: string | undefined
  readonly minor_unit: string | undefined
  readonly withdrawn: string | undefined
  readonly at: SourceLocation
}

async function* read(source: Source, options: Options): AsyncGenerator<Batch, void, undefined> {
  const out = new BatchBuilder()
  const opened = await peek(unwrap(source, options.max_expanded_bytes ?? MAX_EXPANDED_BYTES), 64)
  try {
    const isXml = /^[\s\ufeff]*</.test(opened.head.toString('utf8'))
    const currencies = new Map<string, { currency: Currency; at: SourceLocation }>()
    for await (const row of isXml ? readXmlRows(opened.bytes, out) : readCsvRows(opened.bytes, options, out)) {
      joinRows(row, currencies, out)
    }
    for (const { currency, at } of currencies.values()) {
      out.add(currency as Entry, at)
      if (out.isFull) yield out.take()
    }
  } finally {
    await opened.close()
  }
  yield* out.takeRest()
}

async function* readCsvRows(source: Source, options: Options, out: BatchBuilder): AsyncGenerator<Row, void, undefined> {
  let columns: Columns | undefined
  const begin = (header: readonly string[]) => {
    columns = new Columns(header, ['Entity', 'Currency', 'AlphabeticCode'])
  }
  for await (const rows of readTable(readDetected(source, options, out), { header: true }, out, begin)) {
    for (const { fields, at } of rows) {
      const field = (name: string) => columns?.get(fields, name)
      yield {
        entity: field('Entity'),
        name: field('Currency'),
        code: field('AlphabeticCode'),
        numeric: field('NumericCode'),
        minor_unit: field('MinorUnit'),
        withdrawn: field('WithdrawalDate'),
        at,
      }
    }
  }
}

async function* readXmlRows(source: Source, out: BatchBuilder): AsyncGenerator<Row, void, undefined> {
  let row = 0
  for await (const records of readXml(source, ['ISO_4217/CcyTbl/CcyNtry', 'ISO_4217/HstrcCcyTbl/HstrcCcyNtry'], {
    onEncoding: noteEncoding(out),
  })) {
    for (const { path, element, line } of records) {
      yield {
        entity: getChildText(element, 'CtryNm'),
        name: getChildText(element, 'CcyNm'),
        code: getChildText(element, 'Ccy'),
        numeric: getChildText(element, 'CcyNbr'),
        minor_unit: getChildText(element, 'CcyMnrUnts'),
        withdrawn: getChildText(element, 'WthdrwlDt'),
        at: { row: ++row, line, path },
      }
    }
  }
}

/** Ten times the number of codes in use. */
const MAX_CURRENCIES = 20_000

function joinRows(
  row: Row,
  currencies: Map<string, { currency: Currency; at: SourceLocation }>,
  out: BatchBuilder,
): void {
  const [entity, name] = [collapseSpaces(row.entity) || 'unspecified', collapseSpaces(row.name) || 'unspecified']
  if (row.code === undefined) {
    out.warn('row_without_code', `"${entity}" has no currency (${name}) and was passed over.`, row.at)
    return
  }
  let known = currencies.get(row.code)
  if (known === undefined) {
    if (currencies.size === MAX_CURRENCIES)
      refuseSource('source_too_large', 'There are more currencies than can be.', row.at)
    known = { currency: { code: row.code, name, active: false, entities: [], withdrawals: [] }, at: row.at }
    currencies.set(row.code, known)
  }
  const { currency } = known
  if (row.numeric !== undefined) currency.numeric ??= row.numeric.padStart(3, '0')
  if (/^\d+$/.test(row.minor_unit ?? '')) currency.minor_unit ??= Number(row.minor_unit)
  if (row.withdrawn !== undefined) {
    currency.withdrawals.push({ entity, name, withdrawn: collapseSpaces(row.withdrawn) })
    return
  }
  // The current name replaces that of a withdrawn row.
  if (!currency.active) currency.name = name
  currency.active = true
  if (!currency.entities.includes(entity)) currency.entities.push(entity)
}

export const iso4217: Adapter = {
  key: 'iso-4217',
  version: 1,
  title: 'ISO 4217 currencies',
  description:
    'Currencies in use and withdrawn: the XML lists of the maintenance agency or the CSV table made of them.',
  publisher: 'SIX, ISO 4217 Maintenance Agency',
  media_types: ['application/xml', 'text/xml', 'text/csv', 'application/zip', 'application/gzip'],
  file_extensions: ['xml', 'csv', 'zip'],
  options: Options,
  target_type: 'currency',
  sample: {
    encoding: 'utf8',
    text: 'Entity,Currency,AlphabeticCode,NumericCode,MinorUnit,WithdrawalDate\nALBANIA,Lek,ALL,008,2,\nFRANCE,French Franc,FRF,250,,2002-03\n',
  },
  read: (source, options) => read(source, options as Options),
}
