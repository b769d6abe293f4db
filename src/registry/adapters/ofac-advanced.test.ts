/** OFAC's advanced XML, over a list of invented parties in its documented layout. */
import { describe, expect, test } from 'vitest'
import { readWithAdapter } from '#test/support/adapter-reading.ts'
import { toSource } from '#test/support/byte-sources.ts'
import { createRandom } from '#test/support/random.ts'
import type { SanctionedParty } from './sanctioned-party.ts'

const set = (name: string, values: Readonly<Record<string, string>>, attributes = '') =>
  `<${name}Values>${Object.entries(values)
    .map(([id, text]) => `<${name} ID="${id}"${attributes}>${text}</${name}>`)
    .join('')}</${name}Values>`
const day = (year: number, month: number, of_month: number) =>
  `<Year>${year}</Year><Month>${month}</Month><Day>${of_month}</Day>`
const period = (from: string, to: string, approximate = false) =>
  `<DatePeriod CalendarTypeID="1" YearFixed="false"><Start Approximate="${approximate}"><From>${from}</From><To>${from}</To></Start>
   <End Approximate="${approximate}"><From>${to}</From><To>${to}</To></End></DatePeriod>`
const feature = (type: number, version: string) =>
  `<Feature ID="1" FeatureTypeID="${type}"><FeatureVersion ID="2" ReliabilityID="1">${version}</FeatureVersion><IdentityReference IdentityID="700" IdentityFeatureLinkTypeID="1"/></Feature>`
const detail = (text: string, reference = '') =>
  `<VersionDetail DetailTypeID="1432"${reference}>${text}</VersionDetail>`
const location = (id: number) => `<VersionLocation LocationID="${id}"/>`
const part = (type: number, text: string) =>
  `<LocationPart LocPartTypeID="${type}"><LocationPartValue Primary="true" LocPartValueTypeID="1" LocPartValueStatusID="1"><Comment/><Value>${text}</Value></LocationPartValue></LocationPart>`
const named = (parts: readonly [group: number, text: string][], script = 215) =>
  `<DocumentedName ID="1" FixedRef="7" DocNameStatusID="1">${parts
    .map(
      ([group, text]) =>
        `<DocumentedNamePart><NamePartValue NamePartGroupID="${group}" ScriptID="${script}" ScriptStatusID="1" Acronym="false">${text}</NamePartValue></DocumentedNamePart>`,
    )
    .join('')}</DocumentedName>`
const alias = (type: number, names: string, more = 'Primary="false" LowQuality="false"') =>
  `<Alias FixedRef="7" AliasTypeID="${type}" ${more}>${names}</Alias>`

const values = `<ReferenceValueSets>
  ${set('AliasType', { 1400: 'A.K.A.', 1401: 'F.K.A.', 1403: 'Name' })}
  ${set('CalendarType', { 1: 'Gregorian' })}
  ${set('Country', { 11001: 'Examplia', 11002: 'Samplia' })}
  ${set('DetailReference', { 500: 'Male' })}
  ${set('FeatureType', { 8: 'Birthdate', 9: 'Place of Birth', 10: 'Nationality Country', 25: 'Location', 26: 'Title', 224: 'Gender', 344: 'Digital Currency Address - XBT', 1: 'VESSEL TYPE', 2: 'Vessel Call Sign' }, ' FeatureTypeGroupID="1"')}
  ${set('IDRegDocDateType', { 1480: 'Issue Date', 1481: 'Expiration Date' })}
  ${set('IDRegDocType', { 1571: 'Passport' })}
  ${set('LegalBasis', { 1: 'Executive Order 1' })}
  ${set('List', { 1550: 'SDN List' })}
  ${set('LocPartType', { 1451: 'ADDRESS1', 1454: 'CITY', 1456: 'POSTAL CODE', 1455: 'STATE/PROVINCE' })}
  ${set('NamePartType', { 1520: 'Last Name', 1521: 'First Name', 1525: 'Entity Name', 1526: 'Vessel Name' })}
  <PartySubTypeValues><PartySubType ID="1" PartyTypeID="4">Vessel</PartySubType><PartySubType ID="3" PartyTypeID="2">Unknown</PartySubType><PartySubType ID="4" PartyTypeID="1">Unknown</PartySubType></PartySubTypeValues>
  ${set('PartyType', { 1: 'Individual', 2: 'Entity', 4: 'Transport' })}
  ${set('RelationType', { 1555: 'Owned or Controlled By' })}
  ${set('SanctionsType', { 1: 'Program', 2: 'Block' })}
  ${set('Script', { 215: 'Latin', 220: 'Cyrillic' })}
  ${set('Validity', { 1: 'Valid', 2: 'Fraudulent' })}
</ReferenceValueSets>`

const person = `<DistinctParty FixedRef="7"><Comment>Known in Sampleton.</Comment><Profile ID="70" PartySubTypeID="4">
  <Identity ID="700" FixedRef="7" Primary="true" False="false">
    ${alias(
      1403,
      named([
        [2, 'Alex'],
        [1, 'SAMPLE'],
      ]) + named([[1, 'САМПЛ']], 220),
      'Primary="true" LowQuality="false"',
    )}
    ${alias(1400, named([[1, 'SHORT']]), 'Primary="false" LowQuality="true"')}
    ${alias(1401, named([[1, 'OLD']]))}
    <NamePartGroups><MasterNamePartGroup><NamePartGroup ID="1" NamePartTypeID="1520"/></MasterNamePartGroup>
      <MasterNamePartGroup><NamePartGroup ID="2" NamePartTypeID="1521"/></MasterNamePartGroup></NamePartGroups>
  </Identity>
  ${feature(8, period(day(1962, 5, 3), day(1962, 5, 3)))}${feature(8, period(day(1964, 1, 1), day(1966, 12, 31)))}
  ${feature(8, period(day(1970, 1, 1), day(1970, 12, 31), true))}${feature(8, period(day(1971, 2, 1), day(1971, 2, 28)))}
  ${feature(9, detail('Sampleton'))}${feature(10, location(91))}${feature(25, location(90))}${feature(26, detail('Director'))}
  ${feature(224, detail('', ' DetailReferenceID="500"'))}${feature(344, `<Comment>since 2020</Comment>${detail('bc1qsample')}`)}
  <SanctionsEntryReference SanctionsEntryID="1"/></Profile></DistinctParty>`
const vessel = `<DistinctParty FixedRef="8"><Profile ID="80" PartySubTypeID="1"><Identity ID="800" FixedRef="8" Primary="true" False="false">
    ${alias(1403, named([[3, 'SEA SAMPLE']]), 'Primary="true" LowQuality="false"')}
    <NamePartGroups><MasterNamePartGroup><NamePartGroup ID="3" NamePartTypeID="1526"/></MasterNamePartGroup></NamePartGroups></Identity>
  ${feature(1, detail('Tug'))}${feature(1, detail('Tanker'))}${feature(2, detail('XYZ1'))}</Profile></DistinctParty>`
const documents = `<IDRegDocument ID="1" IDRegDocTypeID="1571" IdentityID="700" IssuedBy-CountryID="11002" ValidityID="2"><Comment/>
    <IDRegistrationNo>X1</IDRegistrationNo><IssuingAuthority/>
    <DocumentDate IDRegDocDateTypeID="1480">${period(day(2003, 5, 2), day(2003, 5, 2))}</DocumentDate></IDRegDocument>`
const locations = `<Location ID="90"><LocationCountry CountryID="11001" CountryRelevanceID="1"/>${part(1456, '1000')}${part(1454, 'Sampleton')}${part(1451, '1 Main St')}</Location>
  <Location ID="91"><LocationCountry CountryID="11002"/></Location>`
const entry = (profile: number, more = '') =>
  `<SanctionsEntry ID="${profile}" ProfileID="${profile}" ListID="1550"><EntryEvent ID="1" EntryEventTypeID="1" LegalBasisID="1"><Comment/><Date CalendarTypeID="1">${day(2019, 3, 4)}</Date></EntryEvent>
   <SanctionsMeasure ID="2" SanctionsTypeID="1"><Comment>SDGT</Comment></SanctionsMeasure>${more}</SanctionsEntry>`
const relationship =
  '<ProfileRelationship ID="1" From-ProfileID="80" To-ProfileID="70" RelationTypeID="1555" RelationQualityID="1" Former="true" SanctionsEntryID="1"><Comment/></ProfileRelationship>'

interface Parts {
  readonly documents: string
  readonly locations: string
  readonly parties: string
  readonly relationships: string
  readonly entries: string
  readonly other: string
}
const whole: Parts = {
  documents,
  locations,
  parties: person + vessel,
  relationships: relationship,
  entries: entry(70) + entry(80, '<SanctionsMeasure ID="3" SanctionsTypeID="2"><Comment/></SanctionsMeasure>'),
  other: '',
}
const listOf = (changed: Partial<Parts> = {}) => {
  const parts = { ...whole, ...changed }
  return `<?xml version="1.0" encoding="utf-8"?>
<Sanctions Version="1"><DateOfIssue CalendarTypeID="1">${day(2026, 5, 21)}</DateOfIssue>
${values}
<Locations>${parts.locations}</Locations>
<IDRegDocuments>${parts.documents}</IDRegDocuments>
<DistinctParties>${parts.parties}</DistinctParties>
<ProfileRelationships>${parts.relationships}</ProfileRelationships>
<SanctionsEntries>${parts.entries}</SanctionsEntries>
${parts.other}</Sanctions>
`
}
async function read(text: string) {
  const reading = await readWithAdapter('ofac-sdn-advanced-xml', toSource(text, 97))
  return { ...reading, parties: reading.entries as unknown as SanctionedParty[] }
}

describe('OFAC in advanced XML', () => {
  test('reads names, features, documents and programmes of a person', async () => {
    const { parties, warnings, rejects, read: placed } = await read(listOf())
    expect([warnings, rejects]).toEqual([[], []])
    expect(parties[0]).toEqual({
      source: 'ofac-sdn',
      source_id: '7',
      kind: 'person',
      name: 'SAMPLE, Alex',
      names: [
        { name: 'SAMPLE, Alex', kind: 'primary' },
        { name: 'САМПЛ', kind: 'original-script', script: 'Cyrillic' },
        { name: 'SHORT', kind: 'weak-alias' },
        { name: 'OLD', kind: 'former' },
      ],
      gender: 'Male',
      titles: ['Director'],
      positions: [],
      birth_dates: [
        { text: '03 May 1962', date: '1962-05-03', year_from: 1962, year_to: 1962 },
        { text: '1964 to 1966', year_from: 1964, year_to: 1966 },
        { text: 'Feb 1971', year_from: 1971, year_to: 1971 },
        { text: 'circa 1970' },
      ],
      birth_places: ['Sampleton'],
      nationalities: ['Samplia'],
      addresses: [
        {
          text: '1 Main St, Sampleton, 1000, Examplia',
          city: 'Sampleton',
          postal_code: '1000',
          country: 'Examplia',
        },
      ],
      identifiers: [
        { type: 'Digital Currency Address - XBT', value: 'bc1qsample', note: 'since 2020' },
        { type: 'Passport', value: 'X1', country: 'Samplia', note: 'issued 02 May 2003, Fraudulent' },
      ],
      programmes: ['SDGT'],
      references: ['SDN List', 'Executive Order 1'],
      listed_on: '2019-03-04',
      remarks: 'Known in Sampleton.',
    })
    const text = listOf()
    const line = text.slice(0, text.indexOf('<DistinctParty ')).split('\n').length
    expect(placed[0]?.at).toEqual({ row: 1, line, path: 'Sanctions/DistinctParties/DistinctParty' })
  })

  test('keeps further values of single-value members, measures and relationships of a vessel', async () => {
    const { parties } = await read(listOf())
    expect(parties[1]).toMatchObject({
      kind: 'vessel',
      name: 'SEA SAMPLE',
      vessel: { type: 'Tanker', call_sign: 'XYZ1' },
      identifiers: [{ type: 'VESSEL TYPE', value: 'Tug' }],
      remarks: 'Measure: Block\nformerly Owned or Controlled By: SAMPLE, Alex (7)',
    })
  })

  test.each([
    ['a document of nobody', { documents: documents.replace('"700"', '"999"') }, 'Identity', 1],
    [
      'an address that is not there',
      { parties: (person + vessel).replace('LocationID="90"', 'LocationID="99"') },
      'Location',
      1,
    ],
    ['an entry of nobody', { entries: whole.entries + entry(99) }, 'Profile', 1],
    ['a relationship to nobody', { relationships: relationship.replace('"70"', '"99"') }, 'Profile', 1],
    [
      'a value that no set has',
      { parties: (person + vessel).replaceAll('FeatureTypeID="26"', 'FeatureTypeID="99"') },
      'FeatureType',
      1,
    ],
  ] as const)('marks the source as incomplete for %s', async (_, changed, what, count) => {
    const { warnings, parties } = await read(listOf(changed))
    expect(parties).toHaveLength(2)
    expect(warnings).toMatchObject([
      {
        code: 'rows_orphaned',
        count,
        closes_guard: true,
        message: `${count} references lead to no ${what} in the file.`,
      },
    ])
    expect(warnings[0]?.at?.line).toBeGreaterThan(1)
  })

  test('marks the source as incomplete when parties have no programme', async () => {
    const { warnings } = await read(listOf({ entries: entry(70) }))
    expect(warnings).toMatchObject([{ code: 'programmes_missing', count: 1, closes_guard: true }])
  })

  test('reports unknown sections, sets and members', async () => {
    const { warnings } = await read(
      listOf({
        other: '<Notices><Notice>x</Notice></Notices>',
        parties: (person + vessel).replace('<Profile ID="80"', '<Profile ID="80" Colour="red"'),
        locations: locations.replace('<LocationCountry', '<Depth>3</Depth><LocationCountry'),
      }).replace('<CountryValues>', '<ColourValues><Colour ID="1">red</Colour></ColourValues><CountryValues>'),
    )
    expect(warnings).toMatchObject([{ code: 'members_unread' }])
    expect(warnings[0]?.message).toBe(
      'The file holds members that are not read: Sanctions/ReferenceValueSets/ColourValues (1), Location/Depth (1), Profile/@Colour (1), Sanctions/Notices (1).',
    )
  })

  test('reports the exact line of a fault anywhere in the file', async () => {
    const text = listOf()
    const random = createRandom(35)
    for (let each = 0; each < 20; each++) {
      const at = text.indexOf('</', random(text.length - 20))
      const fault = await read(`${text.slice(0, at)} A & B${text.slice(at)}`).catch((error: unknown) => error)
      const line = text.slice(0, at).split('\n').length
      expect(fault).toMatchObject({ code: 'not_well_formed', at: { line } })
    }
  })

  test('rejects a party without a number or a name with its line', async () => {
    const { rejects } = await read(
      listOf({
        parties: `${person + vessel}\n<DistinctParty><Profile ID="1"/></DistinctParty>\n<DistinctParty FixedRef="9"/>`,
      }),
    )
    expect(rejects.map(({ code, pointer }) => [code, pointer])).toEqual([
      ['value_missing', '/source_id'],
      ['value_missing', '/name'],
    ])
    expect((rejects[1]?.at.line ?? 0) - (rejects[0]?.at.line ?? 0)).toBe(1)
  })
})
