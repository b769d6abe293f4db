/** OFAC's XML (sdnList), which the SDN list and the consolidated list share. */
import { closed, type Static } from '#kernel/schema.ts'
import type { Adapter, Batch, Source } from '../adapter.ts'
import { reject } from '../formats/fault.ts'
import { getChild, getChildren, getChildText, readXml, type XmlElement } from '../formats/xml.ts'
import { BatchBuilder } from './batch-builder.ts'
import { assertFileName, ListIdentity, type OfacList } from './ofac-list.ts'
import { ofacDates } from './ofac-remarks.ts'
import { addParty } from './parties.ts'
import { birthDate, PartyDraft } from './sanctioned-party.ts'
import { noteEncoding, textOptions } from './source-text.ts'

const Options = closed(textOptions)
type Options = Static<typeof Options>

async function* read(
  source: Source,
  options: Options,
  list: OfacList,
  file_name?: string | null,
): AsyncGenerator<Batch, void, undefined> {
  assertFileName(file_name, list)
  const out = new BatchBuilder()
  const identity = new ListIdentity(list)
  const paths = ['sdnList/sdnEntry', 'sdnList/publshInformation']
  let row = 0
  let announced: number | undefined
  for await (const records of readXml(source, paths, { ...options, onEncoding: noteEncoding(out) })) {
    for (const { path, element, line } of records) {
      if (path === 'sdnList/publshInformation') {
        announced = Number(getChildText(element, 'Record_Count'))
        continue
      }
      const at = { row: ++row, line, path }
      const draft = readParty(element, list)
      identity.add(getItems(element, 'programList', 'program').map(({ text }) => text))
      if (draft) addParty(out, draft, at)
      else out.reject(reject('value_missing', 'The entry has no uid.', at, null, '/source_id'))
      if (out.isFull) yield out.take()
    }
  }
  identity.assertList()
  if (announced !== undefined && announced !== row) {
    const message = `The file announces ${announced} entries, but holds ${row}.`
    out.warnIncomplete('count_differs', message, Math.abs(announced - row))
  }
  yield* out.takeRest()
}

function readParty(entry: XmlElement, list: OfacList): PartyDraft | undefined {
  const uid = getChildText(entry, 'uid')
  if (uid === undefined) return undefined
  const draft = new PartyDraft(list, uid, toPartyKind(getChildText(entry, 'sdnType')))
    .addName(formatName(entry), 'primary')
    .addValue('titles', getChildText(entry, 'title'))
    .addRemark(getChildText(entry, 'remarks'))
  for (const { text } of getItems(entry, 'programList', 'program')) draft.addValue('programmes', text)
  for (const aka of getItems(entry, 'akaList', 'aka')) draft.addName(formatName(aka), toNameKind(aka))
  for (const id of getItems(entry, 'idList', 'id')) readIdentifier(id, draft)
  for (const address of getItems(entry, 'addressList', 'address')) readAddress(address, draft)
  for (const item of getItems(entry, 'dateOfBirthList', 'dateOfBirthItem')) {
    draft.addBirthDate(birthDate(getChildText(item, 'dateOfBirth'), ofacDates))
  }
  for (const item of getItems(entry, 'placeOfBirthList', 'placeOfBirthItem')) {
    draft.addValue('birth_places', getChildText(item, 'placeOfBirth'))
  }
  for (const item of getItems(entry, 'nationalityList', 'nationality'))
    draft.addValue('nationalities', getChildText(item, 'country'))
  for (const item of getItems(entry, 'citizenshipList', 'citizenship'))
    draft.addValue('nationalities', getChildText(item, 'country'))
  const vessel = getChild(entry, 'vesselInfo')
  if (vessel) readVessel(vessel, draft)
  return draft
}

const getItems = (entry: XmlElement, list: string, item: string): readonly XmlElement[] => {
  const found = getChild(entry, list)
  return found ? getChildren(found, item) : []
}

/** `LAST, First`, as in the text files, so that both give the same name. */
const formatName = (element: XmlElement): string =>
  [getChildText(element, 'lastName'), getChildText(element, 'firstName')]
    .filter((part) => part !== undefined)
    .join(', ')

function toNameKind(aka: XmlElement) {
  if (getChildText(aka, 'type') === 'f.k.a.') return 'former'
  return getChildText(aka, 'category') === 'weak' ? 'weak-alias' : 'alias'
}

function readIdentifier(id: XmlElement, draft: PartyDraft): void {
  const type = getChildText(id, 'idType')
  if (type === 'Gender') draft.set({ gender: getChildText(id, 'idNumber') })
  const dates = [
    ['issued', getChildText(id, 'issueDate')],
    ['expires', getChildText(id, 'expirationDate')],
  ].flatMap(([word, date]) => (date === undefined ? [] : [`${word} ${date}`]))
  draft.addIdentifier(type, getChildText(id, 'idNumber'), {
    country: getChildText(id, 'idCountry'),
    note: dates.join(', '),
  })
}

function readAddress(address: XmlElement, draft: PartyDraft): void {
  const [city, postal_code, country] = [
    getChildText(address, 'city'),
    getChildText(address, 'postalCode'),
    getChildText(address, 'country'),
  ]
  const lines = ['address1', 'address2', 'address3'].map((name) => getChildText(address, name))
  draft.addAddress([...lines, city, getChildText(address, 'stateOrProvince'), postal_code, country], {
    city,
    postal_code,
    country,
  })
}

function readVessel(vessel: XmlElement, draft: PartyDraft): void {
  draft.setVessel({
    call_sign: getChildText(vessel, 'callSign'),
    type: getChildText(vessel, 'vesselType'),
    flag: getChildText(vessel, 'vesselFlag'),
    owner: getChildText(vessel, 'vesselOwner'),
    tonnage: getChildText(vessel, 'tonnage'),
    gross_registered_tonnage: getChildText(vessel, 'grossRegisteredTonnage'),
  })
}

function toPartyKind(type: string | undefined) {
  if (type === 'Individual') return 'person'
  if (type === 'Entity') return 'organisation'
  return type === 'Vessel' ? 'vessel' : type === 'Aircraft' ? 'aircraft' : 'other'
}

const createSample = (programme: string) => `<?xml version="1.0" standalone="yes"?>
<sdnList xmlns="http://tempuri.org/sdnList.xsd">
  <publshInformation><Publish_Date>04/22/2020</Publish_Date><Record_Count>1</Record_Count></publshInformation>
  <sdnEntry><uid>10689</uid><firstName>Muhammad</firstName><lastName>SAEED</lastName><sdnType>Individual</sdnType>
    <programList><program>${programme}</program></programList>
    <akaList><aka><uid>1</uid><type>a.k.a.</type><category>weak</category><lastName>TATA JI</lastName></aka></akaList>
    <dateOfBirthList><dateOfBirthItem><uid>2</uid><dateOfBirth>05 Jun 1950</dateOfBirth></dateOfBirthItem></dateOfBirthList>
  </sdnEntry>
</sdnList>
`

const shared = {
  version: 2,
  publisher: 'US Department of the Treasury, Office of Foreign Assets Control',
  media_types: ['application/xml', 'text/xml', 'application/zip', 'application/gzip'],
  file_extensions: ['xml', 'zip'],
  options: Options,
  target_type: 'sanctioned-party',
} as const

export const ofacSdnXml: Adapter = {
  ...shared,
  key: 'ofac-sdn-xml',
  title: 'OFAC SDN list (XML)',
  description: 'sdn.xml, plain or zipped.',
  sample: { encoding: 'utf8', text: createSample('SDGT') },
  read: (source, options, file_name) => read(source, options as Options, 'ofac-sdn', file_name),
}

export const ofacConsolidatedXml: Adapter = {
  ...shared,
  key: 'ofac-consolidated-xml',
  title: 'OFAC consolidated list (XML)',
  description: 'consolidated.xml, plain or zipped.',
  sample: { encoding: 'utf8', text: createSample('NS-PLC') },
  read: (source, options, file_name) => read(source, options as Options, 'ofac-consolidated', file_name),
}
