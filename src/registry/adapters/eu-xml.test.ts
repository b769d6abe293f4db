/** Every member of the EU's XML schema 1.1 is read, shown with an invented party. */
import { describe, expect, test } from 'vitest'
import { readWithAdapter } from '#test/support/adapter-reading.ts'
import { toSource } from '#test/support/byte-sources.ts'
import type { SanctionedParty } from './sanctioned-party.ts'

const act =
  '<regulationSummary regulationType="amendment" publicationDate="2020-01-02" numberTitle="2020/9 (OJ L9)" publicationUrl="https://example.org/9"/>'
const unknown = 'countryIso2Code="00" countryDescription="UNKNOWN" regulationLanguage="en"'
const text = `<export generationDate="2020-04-15T15:29:22.497+02:00" globalFileId="1">
<sanctionEntity logicalId="5" designationDate="2014-03-17" delistingDate="2030-01-02" designationDetails="By order" unitedNationId="XX.1" euReferenceNumber="EU.1.1">
  <remark>First</remark><remark>Second</remark><additionalInformation key="Case" value="77"/>
  <regulation regulationType="regulation" organisationType="council" publicationDate="2014-03-17" entryIntoForceDate="2014-03-17" numberTitle="269/2014 (OJ L78)" programme="UKR" logicalId="1">
    <remark>Annex I</remark><publicationUrl>https://example.org/269</publicationUrl><corrigendum regulationType="corrigendum" publicationDate="2014-04-01" numberTitle="C1 (OJ L80)"/></regulation>
  <subjectType code="ship" classificationCode="P"/>
  <nameAlias wholeName="Second Name" strong="true" gender="?" regulationLanguage="en" logicalId="20">${act}</nameAlias>
  <nameAlias firstName="Alex" middleName="B." lastName="Sample" function="Minister" gender="M" title="Dr" nameLanguage="EN" strong="true" logicalId="10"><remark>Good quality</remark></nameAlias>
  <nameAlias wholeName="Lex" strong="false" logicalId="30"/>
  <citizenship region="North" countryIso2Code="XA" countryDescription="EXAMPLIA" acquisitionDate="1990-01-01" disenfranchisementDate="2000-01-01" logicalId="1"/>
  <citizenship region="" countryIso2Code="" countryDescription="SAMPLIA" logicalId="2"/>
  <birthdate circa="false" calendarType="GREGORIAN" year="1962" monthOfYear="5" dayOfMonth="3" city="Sampleton" zipCode="100" place="Hospital" region="North" countryIso2Code="XA" logicalId="1"/>
  <birthdate circa="false" calendarType="ISLAMIC" year="1357" monthOfYear="5" ${unknown} logicalId="2"/>
  <birthdate circa="true" calendarType="GREGORIAN" yearRangeFrom="1960" yearRangeTo="1964" ${unknown} logicalId="3"/>
  <birthdate circa="false" calendarType="GREGORIAN" yearRangeFrom="1961" ${unknown} logicalId="4"/>
  <birthdate circa="false" calendarType="GREGORIAN" year="1963" yearRangeTo="1965" ${unknown} logicalId="5"/>
  <birthdate circa="false" calendarType="GREGORIAN" monthOfYear="7" ${unknown} logicalId="6"/>
  <address city="Sampleton" street="1 Main St" poBox="PO 1" zipCode="100" region="North" place="Centre" asAtListingTime="true" countryIso2Code="XA" logicalId="1"><remark>Office</remark><contactInfo key="EMAIL" value="a@example.org"/>${act}</address>
  <identification diplomatic="true" knownExpired="true" knownFalse="false" reportedLost="true" revokedByIssuer="true" issueDate="2001-02-03" issuedBy="Ministry" latinNumber="A-1" nameOnDocument="A. Sample" number="А-1" validFrom="2001-02-04" validTo="2011-02-03" identificationTypeCode="passport" identificationTypeDescription="Passport" region="North" countryIso2Code="XA" logicalId="1"><remark>Copy seen</remark></identification>
  <identification identificationTypeCode="other" identificationTypeDescription="" number="" ${unknown} logicalId="2"><remark>Number unknown</remark></identification>
</sanctionEntity></export>`

const read = async (content: string) => {
  const reading = await readWithAdapter('eu-consolidated-xml', toSource(content, 61))
  return { ...reading, party: reading.entries[0] as unknown as SanctionedParty }
}

describe('EU in XML', () => {
  test('reads all members of the schema', async () => {
    const { party, warnings } = await read(text)
    expect(warnings).toEqual([])
    expect(party).toEqual({
      source: 'eu-fsf',
      source_id: '5',
      kind: 'person',
      name: 'Alex B. Sample',
      names: [
        { name: 'Alex B. Sample', kind: 'primary', language: 'EN' },
        { name: 'Second Name', kind: 'primary' },
        { name: 'Lex', kind: 'weak-alias' },
      ],
      gender: 'M',
      titles: ['Dr'],
      positions: ['Minister'],
      birth_dates: [
        { text: '1962-05-03', date: '1962-05-03', year_from: 1962, year_to: 1962 },
        { text: '1357-05 (ISLAMIC)' },
        { text: 'circa 1960 to 1964' },
        { text: 'from 1961', year_from: 1961 },
        { text: '1963', year_from: 1963, year_to: 1963 },
        { text: 'until 1965', year_to: 1965 },
        { text: 'month 7' },
      ],
      birth_places: ['Hospital, Sampleton, 100, North, XA'],
      nationalities: ['XA', 'SAMPLIA'],
      addresses: [
        {
          text: '1 Main St, PO 1, Centre, Sampleton, 100, North, XA',
          city: 'Sampleton',
          postal_code: '100',
          country: 'XA',
        },
      ],
      identifiers: [
        { type: 'EMAIL', value: 'a@example.org' },
        {
          type: 'Passport',
          value: 'А-1',
          country: 'XA',
          note: 'Copy seen, in Latin script A-1, diplomatic, known to be expired, reported lost, revoked by its issuer, issued on 2001-02-03, issued by Ministry, valid from 2001-02-04, valid to 2011-02-03, name on the document A. Sample, region North',
        },
        { type: 'other', value: 'Number unknown' },
      ],
      programmes: ['UKR'],
      references: [
        'EU.1.1',
        'XX.1',
        '269/2014 (OJ L78)',
        'https://example.org/269',
        'C1 (OJ L80)',
        '2020/9 (OJ L9)',
        'https://example.org/9',
      ],
      listed_on: '2014-03-17',
      expires_on: '2030-01-02',
      remarks: [
        'Annex I',
        'By order',
        'Case: 77',
        'Citizenship: North, XA, acquired 1990-01-01, lost 2000-01-01',
        'First',
        'Good quality',
        'Office',
        'Second',
      ].join('\n'),
    })
  })

  test('reports members that the schema does not have, with their place', async () => {
    const more = text
      .replace('<remark>Office', '<mood>good</mood><remark>Office')
      .replace('title="Dr"', 'title="Dr" rank="1"')
      .replace('</export>', '<footer/></export>')
    const { warnings } = await read(more)
    expect(warnings).toEqual([
      {
        code: 'members_unread',
        message: 'The file holds members that are not read: address/mood (1), nameAlias/@rank (1), export/footer (1).',
        at: { row: 0, line: 2 },
      },
    ])
  })
})
