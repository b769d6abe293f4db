/** The consolidated list of the United Nations Security Council, in XML. */
import { closed, type Static } from '#kernel/schema.ts'
import type { Adapter, Batch, Source } from '../adapter.ts'
import { reject } from '../formats/fault.ts'
import { getChildren, getChildText, readXml, type XmlElement } from '../formats/xml.ts'
import { BatchBuilder } from './batch-builder.ts'
import { parseDate } from './dates.ts'
import { addParty } from './parties.ts'
import { birthDate, PartyDraft, type SanctionedParty } from './sanctioned-party.ts'
import { noteEncoding, textOptions } from './source-text.ts'

const Options = closed(textOptions)

const INDIVIDUAL = 'CONSOLIDATED_LIST/INDIVIDUALS/INDIVIDUAL'
const ENTITY = 'CONSOLIDATED_LIST/ENTITIES/ENTITY'

async function* read(source: Source, options: Static<typeof Options>): AsyncGenerator<Batch, void, undefined> {
  const out = new BatchBuilder()
  let row = 0
  for await (const records of readXml(source, [INDIVIDUAL, ENTITY], { ...options, onEncoding: noteEncoding(out) })) {
    for (const { path, element, line } of records) {
      const at = { row: ++row, line, path }
      const draft = readParty(element, path === INDIVIDUAL)
      if (draft) addParty(out, draft, at)
      else out.reject(reject('value_missing', 'The entry has no DATAID.', at, null, '/source_id'))
      if (out.isFull) yield out.take()
    }
  }
  yield* out.takeRest()
}

function readParty(entry: XmlElement, isPerson: boolean): PartyDraft | undefined {
  const id = getChildText(entry, 'DATAID')
  if (id === undefined) return undefined
  const prefix = isPerson ? 'INDIVIDUAL' : 'ENTITY'
  const draft = new PartyDraft('un-sc', id, isPerson ? 'person' : 'organisation')
    .addName(joinName(entry), 'primary')
    .addName(getChildText(entry, 'NAME_ORIGINAL_SCRIPT'), 'original-script')
    .set({ gender: getChildText(entry, 'GENDER'), listed_on: toDate(getChildText(entry, 'LISTED_ON')) })
    .addValue('programmes', getChildText(entry, 'UN_LIST_TYPE'))
    .addValue('references', getChildText(entry, 'REFERENCE_NUMBER'))
    .addRemark(getChildText(entry, 'COMMENTS1'))
  for (const title of getValues(entry, 'TITLE')) draft.addValue('titles', title)
  for (const designation of getValues(entry, 'DESIGNATION')) draft.addValue('positions', designation)
  for (const nationality of getValues(entry, 'NATIONALITY')) draft.addValue('nationalities', nationality)
  for (const alias of getChildren(entry, `${prefix}_ALIAS`))
    draft.addName(getChildText(alias, 'ALIAS_NAME'), toNameKind(alias))
  for (const address of getChildren(entry, `${prefix}_ADDRESS`)) readAddress(address, draft)
  for (const birth of getChildren(entry, 'INDIVIDUAL_DATE_OF_BIRTH')) draft.addBirthDate(readBirth(birth))
  for (const place of getChildren(entry, 'INDIVIDUAL_PLACE_OF_BIRTH')) {
    draft.addValue('birth_places', joinTexts(place, ['CITY', 'STATE_PROVINCE', 'COUNTRY']))
  }
  for (const document of getChildren(entry, 'INDIVIDUAL_DOCUMENT')) readDocument(document, draft)
  const updates = getValues(entry, 'LAST_DAY_UPDATED').flatMap((value) => toDate(value) ?? [])
  return draft.set({ updated_on: updates.sort().at(-1) })
}

const toDate = (given: string | undefined): string | undefined =>
  given === undefined ? undefined : parseDate(given.slice(0, 10), ['YYYY-MM-DD'])

const joinName = (entry: XmlElement): string =>
  ['FIRST_NAME', 'SECOND_NAME', 'THIRD_NAME', 'FOURTH_NAME'].map((part) => getChildText(entry, part) ?? '').join(' ')

const getValues = (entry: XmlElement, name: string): string[] =>
  getChildren(entry, name).flatMap((list) => getChildren(list, 'VALUE').map(({ text }) => text))

const joinTexts = (element: XmlElement, names: readonly string[]): string =>
  names.flatMap((name) => getChildText(element, name) ?? []).join(', ')

function toNameKind(alias: XmlElement) {
  const quality = getChildText(alias, 'QUALITY')
  if (quality === 'f.k.a.') return 'former'
  return quality === 'Low' ? 'weak-alias' : 'alias'
}

function readAddress(address: XmlElement, draft: PartyDraft): void {
  const [city, postal_code, country] = [
    getChildText(address, 'CITY'),
    getChildText(address, 'ZIP_CODE'),
    getChildText(address, 'COUNTRY'),
  ]
  const parts = [getChildText(address, 'STREET'), city, getChildText(address, 'STATE_PROVINCE'), postal_code, country]
  draft.addAddress([...parts, getChildText(address, 'NOTE')], { city, postal_code, country })
}

/** EXACT has a date or a year, BETWEEN two years, APPROXIMATELY an inexact date or year. */
function readBirth(birth: XmlElement): SanctionedParty['birth_dates'][number] | undefined {
  const kind = getChildText(birth, 'TYPE_OF_DATE')
  const [from, to] = [getChildText(birth, 'FROM_YEAR'), getChildText(birth, 'TO_YEAR')]
  const given = getChildText(birth, 'DATE')?.slice(0, 10) ?? getChildText(birth, 'YEAR')
  if (kind === 'BETWEEN' && from && to) return birthDate(`${from} to ${to}`, [])
  if (given === undefined) return birthDate(getChildText(birth, 'NOTE'), [])
  return birthDate(kind === 'APPROXIMATELY' ? `circa ${given}` : given, ['YYYY-MM-DD', 'YYYY'])
}

function readDocument(document: XmlElement, draft: PartyDraft): void {
  const type = getChildText(document, 'TYPE_OF_DOCUMENT') ?? getChildText(document, 'TYPE_OF_DOCUMENT2')
  const note = joinTexts(document, ['DATE_OF_ISSUE', 'CITY_OF_ISSUE', 'NOTE'])
  const country = getChildText(document, 'ISSUING_COUNTRY') ?? getChildText(document, 'COUNTRY_OF_ISSUE')
  draft.addIdentifier(type, getChildText(document, 'NUMBER'), { country, note })
}

export const unXml: Adapter = {
  key: 'un-consolidated-xml',
  version: 2,
  title: 'UN Security Council consolidated list (XML)',
  description: 'Individuals and entities under sanctions of the Security Council, as published in XML.',
  publisher: 'United Nations Security Council',
  media_types: ['application/xml', 'text/xml', 'application/zip', 'application/gzip'],
  file_extensions: ['xml', 'zip'],
  options: Options,
  target_type: 'sanctioned-party',
  sample: {
    encoding: 'utf8',
    text: `<?xml version="1.0" encoding="UTF-8"?><CONSOLIDATED_LIST dateGenerated="2018-06-07T19:03:43.97-04:00">
<INDIVIDUALS><INDIVIDUAL><DATAID>6908555</DATAID><FIRST_NAME> RI </FIRST_NAME><SECOND_NAME>WON HO</SECOND_NAME>
<UN_LIST_TYPE>DPRK</UN_LIST_TYPE><REFERENCE_NUMBER>KPi.033</REFERENCE_NUMBER><LISTED_ON>2016-11-30</LISTED_ON>
<INDIVIDUAL_DATE_OF_BIRTH><TYPE_OF_DATE>EXACT</TYPE_OF_DATE><DATE>1964-07-17</DATE></INDIVIDUAL_DATE_OF_BIRTH></INDIVIDUAL></INDIVIDUALS>
<ENTITIES><ENTITY><DATAID>110403</DATAID><FIRST_NAME>7TH OF TIR</FIRST_NAME><UN_LIST_TYPE>Iran</UN_LIST_TYPE></ENTITY></ENTITIES>
</CONSOLIDATED_LIST>
`,
  },
  read: (source, options) => read(source, options as Static<typeof Options>),
}
