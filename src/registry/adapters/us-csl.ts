/**
 * The Consolidated Screening List of the US government: the lists of Commerce, State and Treasury in one, in CSV and in JSON. Only the
 * lists of the Treasury have ids; on the others a party is identified by its name and the day it was listed, and rows that share
 * both (for example one for each address) are joined.
 */
import { closed, listOf, oneOf, type Static, Type } from '#kernel/schema.ts'
import type { Adapter, Batch, Source, SourceLocation } from '../adapter.ts'
import { quoteNames } from '../formats/archive-files.ts'
import { refuseSource, reject } from '../formats/fault.ts'
import { readJsonItems } from '../formats/json.ts'
import { RecordFault } from '../formats/json-record.ts'
import { BatchBuilder } from './batch-builder.ts'
import { parseDate } from './dates.ts'
import { PartyCollector } from './parties.ts'
import { birthDate, collapseSpaces, PartyDraft } from './sanctioned-party.ts'
import { detectedEncodingOption, encodingOption, readDetected, readPrescribed, textOptions } from './source-text.ts'
import { Columns, readTable } from './table.ts'

const columns = [
  'source',
  'entity_number',
  'type',
  'programs',
  'name',
  'title',
  'addresses',
  'federal_register_notice',
  'start_date',
  'end_date',
  'standard_order',
  'license_requirement',
  'license_policy',
  'call_sign',
  'vessel_type',
  'gross_tonnage',
  'gross_registered_tonnage',
  'vessel_flag',
  'vessel_owner',
  'remarks',
  'source_list_url',
  'alt_names',
  'citizenships',
  'dates_of_birth',
  'nationalities',
  'places_of_birth',
  'source_information_url',
  'ids',
] as const
type Column = (typeof columns)[number]
/** Ids that every download assigns again. */
const LEFT_OUT = new Set(['_id', 'id'])
const WITHOUT_THEM_NO_PARTY: readonly Column[] = ['source', 'name']

const optionalColumn = oneOf(columns.filter((name) => !WITHOUT_THEM_NO_PARTY.includes(name)))
const CsvOptions = closed({
  absent_columns: Type.Optional(
    listOf(optionalColumn, columns.length, {
      default: [],
      description: 'Columns the file deliberately does not have; what they hold is then missing in every entry.',
    }),
  ),
  ...detectedEncodingOption,
  ...textOptions,
})
const JsonOptions = closed({
  absent_members: Type.Optional(
    listOf(optionalColumn, columns.length, {
      default: [],
      description: 'Members that deliberately no record has; what they hold is then missing in every entry.',
    }),
  ),
  ...encodingOption('utf-8'),
  ...textOptions,
})

interface Address {
  readonly parts: readonly (string | undefined)[]
  readonly city?: string | undefined
  readonly postal_code?: string | undefined
  readonly country?: string | undefined
}
interface Identifier {
  readonly type: string | undefined
  readonly value: string | undefined
  readonly country?: string | undefined
  readonly note?: string | undefined
}

/** One record, whichever format it came in. */
interface Listing {
  one(name: Column): string | undefined
  many(name: Column): readonly string[]
  readonly addresses: readonly Address[]
  readonly ids: readonly Identifier[]
  /** Only in JSON. */
  readonly country?: string | undefined
}

class Parties {
  private readonly gathering = new PartyCollector()
  private readonly out: BatchBuilder
  private joined = 0
  private first_joined: SourceLocation | undefined

  constructor(out: BatchBuilder) {
    this.out = out
  }

  add(record: Listing, at: SourceLocation): void {
    const [source, name] = [collapseSpaces(record.one('source')), collapseSpaces(record.one('name'))]
    for (const [column, value] of Object.entries({ source, name })) {
      if (value !== '') continue
      this.out.reject(reject('value_missing', `"${column}" is empty.`, { ...at, column }, null, `/${column}`))
      return
    }
    const list = toListCode(source)
    const number = record.one('entity_number')
    const id = number ? `${list} ${number}` : [list, name, record.one('start_date') ?? ''].join(' | ')
    if (this.gathering.has(id)) {
      this.joined++
      this.first_joined ??= at
    }
    const kind = toPartyKind(record.one('type'))
    addRecord(
      record,
      this.gathering.party(id, at, () => new PartyDraft('us-csl', id, kind)),
    )
  }

  *batches(): Generator<Batch, void, undefined> {
    if (this.joined > 0) {
      const message = `${this.joined} rows are about a party that has a row before; they were joined.`
      this.out.warn('rows_repeated', message, this.first_joined)
    }
    yield* this.gathering.batches(this.out)
  }
}

/** `Entity List (EL) - Bureau of Industry and Security` is EL. */
const toListCode = (source: string): string => /\(([^()]+)\)/.exec(source)?.[1] ?? source

function toPartyKind(type: string | undefined) {
  if (type === 'Individual') return 'person'
  if (type === 'Entity') return 'organisation'
  return type === 'Vessel' ? 'vessel' : type === 'Aircraft' ? 'aircraft' : 'other'
}

const birthFormats = ['YYYY-MM-DD', 'YYYY-MM', 'YYYY', 'DD MMM YYYY', 'D MMM YYYY', 'MMM YYYY']

function addRecord(record: Listing, draft: PartyDraft): void {
  const { one, many } = record
  draft
    .addName(one('name'), 'primary')
    .addValue('programmes', one('source'))
    .addValue('titles', one('title'))
    .addValue('references', one('federal_register_notice'))
    .addRemark(one('remarks'))
    .setVessel({
      call_sign: one('call_sign'),
      type: one('vessel_type'),
      flag: one('vessel_flag'),
      owner: one('vessel_owner'),
      tonnage: one('gross_tonnage'),
      gross_registered_tonnage: one('gross_registered_tonnage'),
    })
  for (const name of many('alt_names')) draft.addName(name, 'alias')
  for (const programme of many('programs')) draft.addValue('programmes', programme)
  for (const date of many('dates_of_birth')) draft.addBirthDate(birthDate(date, birthFormats))
  for (const place of many('places_of_birth')) draft.addValue('birth_places', place)
  for (const country of [...many('nationalities'), ...many('citizenships')]) draft.addValue('nationalities', country)
  for (const { parts, ...more } of record.addresses) draft.addAddress(parts, more)
  for (const { type, value, ...more } of record.ids) draft.addIdentifier(type, value, more)
  addDate(one('start_date'), 'listed_on', 'Start date', draft)
  addDate(one('end_date'), 'expires_on', 'End date', draft)
  if (!one('end_date')) draft.markUnlimited()
  addRemark('Country', record.country, draft)
  addRemark('License requirement', one('license_requirement'), draft)
  addRemark('License policy', one('license_policy'), draft)
  addRemark('Standard order', one('standard_order'), draft)
}

/** A date that is not a valid day is kept in the remarks. */
function addDate(given: string | undefined, member: 'listed_on' | 'expires_on', title: string, draft: PartyDraft) {
  const day = parseDate(given ?? '', ['YYYY-MM-DD', 'MM/DD/YYYY'])
  if (day === undefined) addRemark(title, given, draft)
  else draft.set({ [member]: day })
}

function addRemark(title: string, value: string | undefined, draft: PartyDraft): void {
  if (value) draft.addRemark(`${title}: ${value}`)
}

async function* readCsvList(
  source: Source,
  options: Static<typeof CsvOptions>,
): AsyncGenerator<Batch, void, undefined> {
  const out = new BatchBuilder()
  const parties = new Parties(out)
  let found: Columns | undefined
  const begin = (header: readonly string[]) => {
    found = requireColumns(header, options.absent_columns ?? [], out)
  }
  for await (const rows of readTable(readDetected(source, options, out), { header: true }, out, begin)) {
    for (const { fields, at } of rows) parties.add(toCsvListing(found as Columns, fields), at)
    if (out.isFull) yield out.take()
  }
  yield* parties.batches()
}

/** All columns are required: a missing or renamed one would lose its values in every entry. */
function requireColumns(header: readonly string[], absent: readonly string[], out: BatchBuilder): Columns {
  const said = absent.filter((name) => header.includes(name))
  if (said.length > 0) {
    refuseSource('layout_unknown', `The file has ${quoteNames(said)}, although absent_columns says that it has not.`)
  }
  const unread = header.filter((name) => !(columns as readonly string[]).includes(name) && !LEFT_OUT.has(name))
  if (unread.length > 0) out.warn('columns_unread', `These columns are not read: ${quoteNames(unread)}.`)
  return new Columns(
    header,
    columns.filter((name) => !absent.includes(name)),
  )
}

function toCsvListing(found: Columns, fields: readonly string[]): Listing {
  const one = (name: Column) => found.get(fields, name)
  const many = (name: Column) => splitList(one(name))
  return { one, many, addresses: many('addresses').map(parseCsvAddress), ids: many('ids').map(parseCsvIdentifier) }
}

/** Lists are joined with `; ` in one cell. */
const splitList = (cell: string | undefined): string[] =>
  (cell ?? '')
    .split(/;\s+|;$/)
    .map((part) => part.trim())
    .filter((part) => part !== '')

/** The country is an optional code at the end; other parts are not marked. */
function parseCsvAddress(text: string): Address {
  const country = /, ([A-Z]{2})$/.exec(text)?.[1]
  return { parts: [text], country }
}

/** `CO, 1978075, NIT #` is a country, a number and a type; numbers may hold commas, and the country may be missing. */
function parseCsvIdentifier(text: string): Identifier {
  const [first = '', ...rest] = text.split(', ')
  if (rest.length === 0) return { type: undefined, value: first }
  const type = rest.pop()
  const has_country = /^[A-Z]{2}$/.test(first) && rest.length > 0
  return { type, value: (has_country ? rest : [first, ...rest]).join(', '), country: has_country ? first : undefined }
}

async function* readJsonList(
  source: Source,
  options: Static<typeof JsonOptions>,
): AsyncGenerator<Batch, void, undefined> {
  const out = new BatchBuilder()
  const parties = new Parties(out)
  const unread = new Map<string, SourceLocation>()
  const absent = new Set<string>(columns)
  let row = 0
  for await (const items of readJsonItems(readPrescribed(source, options, out), '/results')) {
    for (const { name, line, text, value } of items) {
      const at = { row: ++row, line, path: `/results/${name}` }
      if (value instanceof RecordFault) out.reject(reject(value.code, value.messageAt(line), at, text))
      else if (!isObject(value)) {
        out.reject(reject('not_an_object', 'The record is not an object with members.', at, text))
      } else {
        collectUnread(value, at, unread)
        for (const member of Object.keys(value)) absent.delete(member)
        parties.add(toJsonListing(value), at)
      }
    }
    if (out.isFull) yield out.take()
  }
  const missing = [...absent].filter((name) => !options.absent_members?.includes(name as Column))
  if (missing.length > 0 && row > 0) {
    const advice = `If that is meant, say {"absent_members": ${JSON.stringify(missing)}}.`
    out.warnIncomplete('members_missing', `No record has the members ${quoteNames(missing)}. ${advice}`, row)
  }
  const [first] = unread.values()
  if (first) out.warn('members_unread', `These members are not read: ${quoteNames([...unread.keys()])}.`, first)
  yield* parties.batches()
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const toText = (value: unknown): string | undefined =>
  value === null || value === undefined || typeof value === 'object' ? undefined : String(value).trim() || undefined

const addressMembers = ['address', 'city', 'state', 'postal_code', 'country']
const idMembers = ['type', 'number', 'country', 'issue_date', 'expiration_date']

function collectUnread(record: Record<string, unknown>, at: SourceLocation, unread: Map<string, SourceLocation>): void {
  const note = (value: Record<string, unknown>, known: readonly string[], prefix = '') => {
    for (const name of Object.keys(value)) {
      if (!known.includes(name) && !unread.has(prefix + name)) unread.set(prefix + name, at)
    }
  }
  note(record, [...columns, ...LEFT_OUT, 'country'])
  for (const address of toObjects(record['addresses'])) note(address, addressMembers, 'addresses/')
  for (const id of toObjects(record['ids'])) note(id, idMembers, 'ids/')
}

const toItems = (value: unknown): unknown[] => (Array.isArray(value) ? value : value == null ? [] : [value])
const toObjects = (value: unknown) => toItems(value).filter(isObject)

function toJsonListing(record: Record<string, unknown>): Listing {
  return {
    one: (name) => toText(record[name]),
    many: (name) => toItems(record[name]).flatMap((item) => toText(item) ?? []),
    country: toText(record['country']),
    addresses: [
      ...toObjects(record['addresses']).map((address) => {
        const [line, city, state, postal_code, country] = addressMembers.map((name) => toText(address[name]))
        return { parts: [line, city, state, postal_code, country], city, postal_code, country }
      }),
      ...toItems(record['addresses']).flatMap((item) => (toText(item) ? parseCsvAddress(toText(item) as string) : [])),
    ],
    ids: [
      ...toObjects(record['ids']).map((id) => {
        const [type, value, country, issued, expires] = idMembers.map((name) => toText(id[name]))
        const note = [issued && `issued ${issued}`, expires && `expires ${expires}`].filter(Boolean).join(', ')
        return { type, value, country, note }
      }),
      ...toItems(record['ids']).flatMap((item) => (toText(item) ? parseCsvIdentifier(toText(item) as string) : [])),
    ],
  }
}

const shared = {
  version: 1,
  publisher: 'US Department of Commerce, International Trade Administration',
  target_type: 'sanctioned-party',
} as const
const identity =
  'Parties of lists without numbers are known by list, name and start date. Links to the lists (source_list_url, source_information_url) are left out.'

export const usCslCsv: Adapter = {
  ...shared,
  key: 'us-csl-csv',
  title: 'US Consolidated Screening List (CSV)',
  description: `consolidated.csv of trade.gov. ${identity}`,
  media_types: ['text/csv', 'application/zip', 'application/gzip'],
  file_extensions: ['csv', 'zip'],
  options: CsvOptions,
  sample: {
    encoding: 'utf8',
    text: `${columns.join(',')}
Entity List (EL) - Bureau of Industry and Security,,,,Sample Trading Ltd.,,"1 Example Road, Sampleton, XA",81 FR 1,2016-03-21,,,For all items,Presumption of denial,,,,,,,,https://example.org,Sample Trade; Sample Tr.,,,,,https://example.org,"XA, 12-3, Tax ID No."
`,
  },
  read: (source, options) => readCsvList(source, options as Static<typeof CsvOptions>),
}

export const usCslJson: Adapter = {
  ...shared,
  key: 'us-csl-json',
  title: 'US Consolidated Screening List (JSON)',
  description: `consolidated.json of trade.gov. ${identity} Written from the publisher's documented layout and not yet tried on a published file.`,
  media_types: ['application/json', 'application/zip', 'application/gzip'],
  file_extensions: ['json', 'json.gz', 'zip'],
  options: JsonOptions,
  sample: {
    encoding: 'utf8',
    text: `{ "total": 1, "results": [
  { "id": "0a1b", "source": "Entity List (EL) - Bureau of Industry and Security", "entity_number": null, "type": null, "programs": [],
    "name": "Sample Trading Ltd.", "title": null, "federal_register_notice": "81 FR 1", "start_date": "2016-03-21", "end_date": null,
    "addresses": [{ "address": "1 Example Road", "city": "Sampleton", "state": null, "postal_code": null, "country": "XA" }],
    "standard_order": null, "license_requirement": "For all items", "license_policy": "Presumption of denial", "call_sign": null,
    "vessel_type": null, "gross_tonnage": null, "gross_registered_tonnage": null, "vessel_flag": null, "vessel_owner": null,
    "remarks": null, "source_list_url": "https://example.org", "source_information_url": "https://example.org",
    "alt_names": ["Sample Trade"], "citizenships": [], "dates_of_birth": [], "nationalities": [], "places_of_birth": [],
    "ids": [{ "type": "Tax ID No.", "number": "12-3", "country": "XA", "issue_date": null, "expiration_date": null }] }
] }
`,
  },
  read: (source, options) => readJsonList(source, options as Static<typeof JsonOptions>),
}
