/** The consolidated financial sanctions list of the European Union in XML, version 1.1. */
import { closed, type Static } from '../../kernel/schema.ts'
import type { Adapter, Batch, Source } from '../adapter.ts'
import { reject } from '../formats/fault.ts'
import { attributeOf, childOf, childrenOf, readXml, type XmlElement } from '../formats/xml.ts'
import { parseDate } from './dates.ts'
import { known } from './eu-csv.ts'
import { addParty } from './parties.ts'
import { Pending } from './pending.ts'
import { birthDate, PartyDraft } from './sanctioned-party.ts'
import { noteEncoding, textOptions } from './source-text.ts'

const Options = closed(textOptions)

async function* read(source: Source, options: Static<typeof Options>): AsyncGenerator<Batch, void, undefined> {
  const out = new Pending()
  const path = 'export/sanctionEntity'
  let row = 0
  for await (const records of readXml(source, [path], { ...options, onEncoding: noteEncoding(out) })) {
    for (const { element, line } of records) {
      const at = { row: ++row, line, path }
      const draft = readParty(element)
      if (draft) addParty(out, draft, at)
      else out.reject(reject('value_missing', 'The entity has no logicalId.', at, null, '/source_id'))
      if (out.full) yield out.take()
    }
  }
  yield* out.rest()
}

function readParty(entity: XmlElement): PartyDraft | undefined {
  const id = attributeOf(entity, 'logicalId')
  if (id === undefined) return undefined
  const type = childOf(entity, 'subjectType')
  const draft = new PartyDraft('eu-fsf', id, kindOf(type && attributeOf(type, 'code')))
    .list('references', attributeOf(entity, 'euReferenceNumber'))
    .list('references', attributeOf(entity, 'unitedNationId'))
    .set({ listed_on: parseDate(attributeOf(entity, 'designationDate') ?? '', ['YYYY-MM-DD']) })
    .remark(attributeOf(entity, 'designationDetails'))
  for (const { text } of childrenOf(entity, 'remark')) draft.remark(text)
  for (const regulation of childrenOf(entity, 'regulation')) {
    draft
      .list('programmes', attributeOf(regulation, 'programme'))
      .list('references', attributeOf(regulation, 'numberTitle'))
  }
  for (const alias of childrenOf(entity, 'nameAlias')) readName(alias, draft)
  for (const citizenship of childrenOf(entity, 'citizenship')) {
    draft.list('nationalities', known(attributeOf(citizenship, 'countryIso2Code')))
  }
  for (const birth of childrenOf(entity, 'birthdate')) readBirth(birth, draft)
  for (const address of childrenOf(entity, 'address')) readAddress(address, draft)
  for (const document of childrenOf(entity, 'identification')) readDocument(document, draft)
  return draft
}

/** All names are equal on this list; the first strong one counts as primary. */
function readName(alias: XmlElement, draft: PartyDraft): void {
  const parts = ['firstName', 'middleName', 'lastName'].flatMap((part) => attributeOf(alias, part) ?? [])
  const weak = attributeOf(alias, 'strong') === 'false'
  draft
    .name(attributeOf(alias, 'wholeName') ?? parts.join(' '), weak ? 'weak-alias' : 'primary', {
      language: attributeOf(alias, 'nameLanguage'),
    })
    .list('titles', attributeOf(alias, 'title'))
    .list('positions', attributeOf(alias, 'function'))
    .set({ gender: attributeOf(alias, 'gender') })
}

function readBirth(birth: XmlElement, draft: PartyDraft): void {
  const [from, to] = [attributeOf(birth, 'yearRangeFrom'), attributeOf(birth, 'yearRangeTo')]
  const day = attributeOf(birth, 'birthdate') ?? partial(birth)
  const given = day ?? (from || to ? [from, to].filter(Boolean).join(' to ') : undefined)
  const isCirca = attributeOf(birth, 'circa') === 'true'
  draft.born(birthDate(isCirca && given ? `circa ${given}` : given, ['YYYY-MM-DD', 'YYYY-MM', 'YYYY']))
  const place = [attributeOf(birth, 'place'), attributeOf(birth, 'city'), attributeOf(birth, 'region')]
  draft.list('birth_places', [...place, known(attributeOf(birth, 'countryIso2Code'))].filter(Boolean).join(', '))
}

function partial(birth: XmlElement): string | undefined {
  const [year, month] = [attributeOf(birth, 'year'), attributeOf(birth, 'monthOfYear')]
  return year && month ? `${year}-${month.padStart(2, '0')}` : year
}

function readAddress(address: XmlElement, draft: PartyDraft): void {
  const city = attributeOf(address, 'city')
  const postal_code = attributeOf(address, 'zipCode')
  const country = known(attributeOf(address, 'countryIso2Code'))
  const street = ['street', 'poBox', 'place'].map((part) => attributeOf(address, part))
  draft.address([...street, city, postal_code, attributeOf(address, 'region'), country], { city, postal_code, country })
}

function readDocument(document: XmlElement, draft: PartyDraft): void {
  const type = attributeOf(document, 'identificationTypeDescription') ?? attributeOf(document, 'identificationTypeCode')
  const remark = childOf(document, 'remark')?.text
  const number = attributeOf(document, 'number') ?? attributeOf(document, 'latinNumber')
  draft.identifier(type, number, { country: known(attributeOf(document, 'countryIso2Code')), note: remark })
}

function kindOf(code: string | undefined) {
  return code === 'person' ? 'person' : code === 'enterprise' ? 'organisation' : 'other'
}

export const euXml: Adapter = {
  key: 'eu-consolidated-xml',
  version: 2,
  title: 'EU consolidated financial sanctions list (XML)',
  description: 'The list of the European Commission in XML, version 1.1.',
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
