/** The consolidated financial sanctions list of the European Union in XML, version 1.1: all members of its schema. */
import { closed, type Static } from '#kernel/schema.ts'
import type { Adapter, Batch, Source } from '../adapter.ts'
import { reject } from '../formats/fault.ts'
import { getAttribute, getChild, getChildren, getChildText, readXml, type XmlElement } from '../formats/xml.ts'
import { BatchBuilder } from './batch-builder.ts'
import { parseDate } from './dates.ts'
import { addParty } from './parties.ts'
import { birthDate, PartyDraft } from './sanctioned-party.ts'
import { noteEncoding, textOptions } from './source-text.ts'
import { type KnownMembers, UnreadMembers } from './unread-members.ts'

const Options = closed(textOptions)

const common = '@logicalId remark additionalInformation'
const detail = `${common} @regulationLanguage regulationSummary`
const country = '@countryIso2Code @countryDescription'
const summary = '@regulationType @publicationDate @numberTitle @publicationUrl'
/** As schema 1.1 has them. Left out: numbers of parts, languages and kinds of acts and their days, asAtListingTime. */
const knownMembers: KnownMembers = {
  sanctionEntity: `${common} @delistingDate @designationDate @designationDetails @unitedNationId @euReferenceNumber regulation subjectType nameAlias citizenship birthdate address identification`,
  remark: '#',
  additionalInformation: '@key @value',
  contactInfo: '@key @value',
  regulation: `${common} @regulationType @organisationType @publicationDate @entryIntoForceDate @numberTitle @programme publicationUrl corrigendum`,
  publicationUrl: '#',
  corrigendum: summary,
  regulationSummary: summary,
  subjectType: '@code @classificationCode',
  nameAlias: `${detail} @firstName @middleName @lastName @wholeName @function @gender @title @nameLanguage @strong`,
  citizenship: `${detail} ${country} @acquisitionDate @disenfranchisementDate @region`,
  birthdate: `${detail} ${country} @circa @calendarType @city @zipCode @birthdate @dayOfMonth @monthOfYear @year @yearRangeFrom @yearRangeTo @region @place`,
  address: `${detail} ${country} @city @street @poBox @zipCode @region @place @asAtListingTime contactInfo`,
  identification: `${detail} ${country} @diplomatic @knownExpired @knownFalse @reportedLost @revokedByIssuer @issueDate @issuedBy @latinNumber @nameOnDocument @number @validFrom @validTo @identificationTypeCode @identificationTypeDescription @region`,
}

async function* read(source: Source, options: Static<typeof Options>): AsyncGenerator<Batch, void, undefined> {
  const out = new BatchBuilder()
  const unread = new UnreadMembers(knownMembers)
  const path = 'export/sanctionEntity'
  const onElement = (other: string, line: number, leads_to_records: boolean) => {
    if (!leads_to_records) unread.add(other, line)
  }
  let row = 0
  for await (const records of readXml(source, [path], { ...options, onEncoding: noteEncoding(out), onElement })) {
    for (const { element, line } of records) {
      const at = { row: ++row, line, path }
      unread.check(element, line)
      const draft = readParty(element)
      if (draft) addParty(out, draft, at)
      else out.reject(reject('value_missing', 'The entity has no logicalId.', at, null, '/source_id'))
      if (out.isFull) yield out.take()
    }
  }
  unread.conclude(out)
  yield* out.takeRest()
}

function readParty(entity: XmlElement): PartyDraft | undefined {
  const id = getAttribute(entity, 'logicalId')
  if (id === undefined) return undefined
  const draft = new PartyDraft('eu-fsf', id, toPartyKind(getChild(entity, 'subjectType')))
    .addValue('references', getAttribute(entity, 'euReferenceNumber'))
    .addValue('references', getAttribute(entity, 'unitedNationId'))
    .set({
      listed_on: parseDate(getAttribute(entity, 'designationDate') ?? '', ['YYYY-MM-DD']),
      expires_on: parseDate(getAttribute(entity, 'delistingDate') ?? '', ['YYYY-MM-DD']),
    })
    .addRemark(getAttribute(entity, 'designationDetails'))
  for (const regulation of getChildren(entity, 'regulation')) readRegulation(regulation, draft)
  for (const alias of sortByLogicalId(getChildren(entity, 'nameAlias'))) readName(alias, draft)
  for (const citizenship of getChildren(entity, 'citizenship')) readCitizenship(citizenship, draft)
  for (const birth of getChildren(entity, 'birthdate')) readBirth(birth, draft)
  for (const address of getChildren(entity, 'address')) readAddress(address, draft)
  for (const document of getChildren(entity, 'identification')) readDocument(document, draft)
  readNotes(entity, draft)
  // A remark about a document belongs to the document.
  for (const part of entity.children) if (part.name !== 'identification') readNotes(part, draft)
  return draft
}

/** Remarks, other information and the legal act of an entity or of a part of it. */
function readNotes(part: XmlElement, draft: PartyDraft): void {
  for (const { text } of getChildren(part, 'remark')) draft.addRemark(text)
  for (const info of getChildren(part, 'additionalInformation')) {
    draft.addRemark(`${getAttribute(info, 'key')}: ${getAttribute(info, 'value')}`)
  }
  for (const act of getChildren(part, 'regulationSummary')) readAct(act, draft)
}

function readAct(act: XmlElement, draft: PartyDraft): void {
  draft
    .addValue('references', getAttribute(act, 'numberTitle'))
    .addValue('references', getAttribute(act, 'publicationUrl'))
}

function readRegulation(regulation: XmlElement, draft: PartyDraft): void {
  readAct(regulation, draft)
  draft
    .addValue('programmes', getAttribute(regulation, 'programme'))
    .addValue('references', getChildText(regulation, 'publicationUrl'))
  for (const act of getChildren(regulation, 'corrigendum')) readAct(act, draft)
}

/** Ordered by their numbers, so that the order in the file does not matter. */
function sortByLogicalId(elements: readonly XmlElement[]): XmlElement[] {
  const getLogicalId = (element: XmlElement) => Number(getAttribute(element, 'logicalId') ?? Number.MAX_SAFE_INTEGER)
  return [...elements].sort((a, b) => getLogicalId(a) - getLogicalId(b))
}

/** All names are equal on this list; the first strong one counts as primary. */
function readName(alias: XmlElement, draft: PartyDraft): void {
  const parts = ['firstName', 'middleName', 'lastName'].flatMap((part) => getAttribute(alias, part) ?? [])
  const weak = getAttribute(alias, 'strong') === 'false'
  const gender = getAttribute(alias, 'gender')
  draft
    .addName(getAttribute(alias, 'wholeName') ?? parts.join(' '), weak ? 'weak-alias' : 'primary', {
      language: getAttribute(alias, 'nameLanguage'),
    })
    .addValue('titles', getAttribute(alias, 'title'))
    .addValue('positions', getAttribute(alias, 'function'))
    .set({ gender: gender === '?' ? undefined : gender })
}

function readCitizenship(citizenship: XmlElement, draft: PartyDraft): void {
  const place = [getAttribute(citizenship, 'region'), getCountry(citizenship)].filter(Boolean).join(', ')
  draft.addValue('nationalities', getCountry(citizenship) ?? getAttribute(citizenship, 'region'))
  const days = [
    ['acquired', getAttribute(citizenship, 'acquisitionDate')],
    ['lost', getAttribute(citizenship, 'disenfranchisementDate')],
  ].flatMap(([word, day]) => (day ? [`${word} ${day}`] : []))
  const region = getAttribute(citizenship, 'region')
  if (days.length > 0 || (region && getCountry(citizenship))) {
    draft.addRemark(`Citizenship: ${[place, ...days].join(', ')}`)
  }
}

function readBirth(birth: XmlElement, draft: PartyDraft): void {
  const calendar = getAttribute(birth, 'calendarType') ?? 'GREGORIAN'
  const circa = getAttribute(birth, 'circa') === 'true' ? 'circa ' : ''
  const given = getAttribute(birth, 'birthdate') ?? formatPartialDate(birth)
  const [from, to] = [getAttribute(birth, 'yearRangeFrom'), getAttribute(birth, 'yearRangeTo')]
  const range = from && to ? `${from} to ${to}` : from ? `from ${from}` : to && `until ${to}`
  for (const text of [given, range]) {
    if (!text) continue
    // A year of another calendar cannot be compared.
    if (calendar !== 'GREGORIAN') draft.addBirthDate({ text: `${circa}${text} (${calendar})` })
    else if (text === range && !(from && to)) draft.addBirthDate(toOpenRange(`${circa}${text}`, from, to, circa !== ''))
    else draft.addBirthDate(birthDate(`${circa}${text}`, ['YYYY-MM-DD', 'YYYY-MM', 'YYYY']))
  }
  const place = ['place', 'city', 'zipCode', 'region'].map((part) => getAttribute(birth, part))
  draft.addValue('birth_places', [...place, getCountry(birth)].filter(Boolean).join(', '))
}

/** A range with one end keeps that end only; an approximate one is not a bound. */
function toOpenRange(text: string, from: string | undefined, to: string | undefined, is_circa: boolean) {
  const year = Number(from ?? to)
  if (is_circa || !Number.isInteger(year) || year < 1000 || year > 9999) return { text }
  return from ? { text, year_from: year } : { text, year_to: year }
}

/** As much of year, month and day as there is. */
function formatPartialDate(birth: XmlElement): string | undefined {
  const [year, month, day] = ['year', 'monthOfYear', 'dayOfMonth'].map((part) => getAttribute(birth, part))
  if (!year && !month && !day) return undefined
  const padTwo = (value: string | undefined) => value?.padStart(2, '0')
  if (!year || (day && !month)) {
    return [year && `year ${year}`, month && `month ${month}`, day && `day ${day}`].filter(Boolean).join(', ')
  }
  return [year, padTwo(month), padTwo(day)].filter(Boolean).join('-')
}

function readAddress(address: XmlElement, draft: PartyDraft): void {
  const city = getAttribute(address, 'city')
  const postal_code = getAttribute(address, 'zipCode')
  const country = getCountry(address)
  const street = ['street', 'poBox', 'place'].map((part) => getAttribute(address, part))
  draft.addAddress([...street, city, postal_code, getAttribute(address, 'region'), country], {
    city,
    postal_code,
    country,
  })
  for (const contact of getChildren(address, 'contactInfo')) {
    draft.addIdentifier(getAttribute(contact, 'key'), getAttribute(contact, 'value'))
  }
}

const states = {
  diplomatic: 'diplomatic',
  knownExpired: 'known to be expired',
  knownFalse: 'known to be false',
  reportedLost: 'reported lost',
  revokedByIssuer: 'revoked by its issuer',
}
const details = {
  issueDate: 'issued on',
  issuedBy: 'issued by',
  validFrom: 'valid from',
  validTo: 'valid to',
  nameOnDocument: 'name on the document',
  region: 'region',
}

/** A document without a number is identified by its note. */
function readDocument(document: XmlElement, draft: PartyDraft): void {
  const type =
    getAttribute(document, 'identificationTypeDescription') ?? getAttribute(document, 'identificationTypeCode')
  const [number, latin] = [getAttribute(document, 'number'), getAttribute(document, 'latinNumber')]
  const note = [
    ...getChildren(document, 'remark').map(({ text }) => text),
    ...getChildren(document, 'additionalInformation').map(
      (info) => `${getAttribute(info, 'key')} ${getAttribute(info, 'value')}`,
    ),
    number && latin && latin !== number && `in Latin script ${latin}`,
    ...Object.entries(states).map(([name, words]) => getAttribute(document, name) === 'true' && words),
    ...Object.entries(details).map(
      ([name, words]) => getAttribute(document, name) && `${words} ${getAttribute(document, name)}`,
    ),
  ]
    .filter(Boolean)
    .join(', ')
  const value = number ?? latin
  draft.addIdentifier(type, value ?? note, { country: getCountry(document), note: value ? note : undefined })
  for (const act of getChildren(document, 'regulationSummary')) readAct(act, draft)
}

/** The list writes 00 and UNKNOWN for an unknown country. */
function getCountry(element: XmlElement): string | undefined {
  const code = getAttribute(element, 'countryIso2Code')
  if (code !== undefined && code !== '00') return code
  const description = getAttribute(element, 'countryDescription')
  return description === 'UNKNOWN' ? undefined : description
}

function toPartyKind(type: XmlElement | undefined) {
  const code = type && getAttribute(type, 'code')
  if (code === 'person') return 'person'
  if (code === 'enterprise') return 'organisation'
  const class_code = type && getAttribute(type, 'classificationCode')
  return class_code === 'P' ? 'person' : class_code === 'E' ? 'organisation' : 'other'
}

export const euXml: Adapter = {
  key: 'eu-consolidated-xml',
  version: 3,
  title: 'EU consolidated financial sanctions list (XML)',
  description: 'The full list of the European Commission in XML, version 1.1, with all members of its schema.',
  publisher: 'European Commission',
  media_types: ['application/xml', 'text/xml', 'application/zip', 'application/gzip'],
  file_extensions: ['xml', 'zip'],
  options: Options,
  target_type: 'sanctioned-party',
  sample: {
    encoding: 'utf8',
    text: `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<export xmlns="http://eu.europa.ec/fpi/fsd/export" generationDate="2020-04-15T15:29:22.497+02:00" globalFileId="123465">
  <sanctionEntity designationDetails="" unitedNationId="" euReferenceNumber="EU.27.28" logicalId="13">
    <remark>UNSC RESOLUTION 1483</remark>
    <regulation numberTitle="1210/2003 (OJ L169)" programme="IRQ"/>
    <subjectType code="person" classificationCode="P"/>
    <nameAlias wholeName="Abu Ali" nameLanguage="" strong="true"/>
    <birthdate circa="false" city="Tikrit" birthdate="1937-04-28" countryIso2Code="IQ"/>
  </sanctionEntity>
</export>
`,
  },
  read: (source, options) => read(source, options as Static<typeof Options>),
}
