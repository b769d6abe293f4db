/** The US Consolidated Screening List, in CSV and in JSON, over invented parties. */
import { describe, expect, test } from 'vitest'
import { getAdapter, readWithAdapter } from '#test/support/adapter-reading.ts'
import { toSource } from '#test/support/byte-sources.ts'
import type { SanctionedParty } from './sanctioned-party.ts'

const header = getAdapter('us-csl-csv').sample.text.split('\n')[0] as string
const columns = header.split(',')
type Row = Readonly<Record<string, string>>
const csvOf = (rows: readonly Row[]) =>
  `${header}\n${rows.map((row) => columns.map((name) => `"${(row[name] ?? '').replaceAll('"', '""')}"`).join(',')).join('\n')}\n`

async function read(rows: readonly Row[]) {
  const reading = await readWithAdapter('us-csl-csv', toSource(csvOf(rows), 31))
  return { ...reading, parties: reading.entries as unknown as SanctionedParty[] }
}

const person: Row = {
  source: 'Specially Designated Nationals (SDN) - Treasury Department',
  entity_number: '17',
  type: 'Individual',
  programs: 'SDGT; IRAN',
  name: 'SAMPLE, Alex',
  title: 'Minister of Samples',
  addresses: '1 Main St, Sampleton, XA; Elsewhere',
  remarks: '(Linked To: ACME)',
  alt_names: 'SAMPLE, A.; ALEX',
  citizenships: 'XA',
  nationalities: 'XB; XA',
  dates_of_birth: '1965; 1966-02-03; circa 1970',
  places_of_birth: 'Sampleton',
  ids: 'XA, 12-3, Tax ID No.; A1, Passport; Rules, sections 1 and 2, Secondary sanctions risk:; loose',
}
const listed: Row = {
  source: 'Entity List (EL) - Bureau of Industry and Security',
  name: 'Acme Samples',
  addresses: '1 Main St, XA',
  federal_register_notice: '75 FR 1',
  start_date: '2010-06-28',
  license_requirement: 'For all items',
}

describe('in CSV', () => {
  test('splits lists in a cell, and identifiers into country, number and type', async () => {
    const { parties, rejects, warnings } = await read([person])
    expect([rejects, warnings]).toEqual([[], []])
    expect(parties).toEqual([
      {
        source: 'us-csl',
        source_id: 'SDN 17',
        kind: 'person',
        name: 'SAMPLE, Alex',
        names: [
          { name: 'SAMPLE, Alex', kind: 'primary' },
          { name: 'SAMPLE, A.', kind: 'alias' },
          { name: 'ALEX', kind: 'alias' },
        ],
        titles: ['Minister of Samples'],
        positions: [],
        birth_dates: [
          { text: '1965', year_from: 1965, year_to: 1965 },
          { text: '1966-02-03', date: '1966-02-03', year_from: 1966, year_to: 1966 },
          { text: 'circa 1970' },
        ],
        birth_places: ['Sampleton'],
        nationalities: ['XB', 'XA'],
        addresses: [{ text: '1 Main St, Sampleton, XA', country: 'XA' }, { text: 'Elsewhere' }],
        identifiers: [
          { type: 'Tax ID No.', value: '12-3', country: 'XA' },
          { type: 'Passport', value: 'A1' },
          { type: 'Secondary sanctions risk:', value: 'Rules, sections 1 and 2' },
          { type: 'unspecified', value: 'loose' },
        ],
        programmes: ['Specially Designated Nationals (SDN) - Treasury Department', 'SDGT', 'IRAN'],
        references: [],
        remarks: '(Linked To: ACME)',
      },
    ])
  })

  test('joins rows of one name and day into a party that ends only when all of them do', async () => {
    const limited = { ...listed, addresses: '2 Main St, XA', end_date: '2030-01-01' }
    const other = { ...listed, start_date: '2011-01-01', end_date: '2031-01-01', standard_order: 'Y' }
    for (const rows of [
      [listed, limited, other],
      [limited, listed, other],
    ]) {
      const { parties, warnings } = await read(rows)
      expect(parties.map(({ source_id, expires_on }) => [source_id, expires_on])).toEqual([
        ['EL | Acme Samples | 2010-06-28', undefined],
        ['EL | Acme Samples | 2011-01-01', '2031-01-01'],
      ])
      expect(parties[0]?.addresses).toHaveLength(2)
      expect(parties[0]).toMatchObject({
        listed_on: '2010-06-28',
        remarks: 'In part until 2030-01-01.\nLicense requirement: For all items',
      })
      expect(warnings).toMatchObject([{ code: 'rows_repeated', at: { row: 2, line: 3 } }])
    }
  })

  test('rejects a row without a name or a list with its line', async () => {
    const { rejects } = await read([listed, { ...listed, name: '' }, { ...listed, source: '' }])
    expect(rejects).toMatchObject([
      { code: 'value_missing', pointer: '/name', at: { row: 2, line: 3, column: 'name' } },
      { code: 'value_missing', pointer: '/source', at: { row: 3, line: 4, column: 'source' } },
    ])
  })
})

describe('in JSON', () => {
  test('gives the same entries as CSV', async () => {
    const split = (cell: string | undefined) => (cell ? cell.split('; ') : [])
    const lists = ['programs', 'alt_names', 'citizenships', 'nationalities', 'dates_of_birth', 'places_of_birth']
    const results = [person, listed].map((row) => ({
      ...Object.fromEntries(columns.map((name) => [name, row[name] ?? null])),
      ...Object.fromEntries(lists.map((name) => [name, split(row[name])])),
      addresses: split(row['addresses']).map((address) => ({ address, city: null, state: '', postal_code: null })),
      ids: row['ids'] ? [{ type: 'Tax ID No.', number: '12-3', country: 'XA', issue_date: '2001-02-03' }] : [],
    }))
    const json = await readWithAdapter('us-csl-json', toSource(JSON.stringify({ total: 2, results }), 31))
    expect([json.rejects, json.warnings]).toEqual([[], []])
    const { parties } = await read([person, listed])
    const brief = ({ addresses: _, identifiers: __, ...rest }: SanctionedParty) => rest
    expect((json.entries as unknown as SanctionedParty[]).map(brief)).toEqual(parties.map(brief))
    expect(json.entries[0]).toMatchObject({
      addresses: [{ text: '1 Main St, Sampleton, XA' }, { text: 'Elsewhere' }],
      identifiers: [{ type: 'Tax ID No.', value: '12-3', country: 'XA', note: 'issued 2001-02-03' }],
    })
  })

  test('keeps the country of a party without an address', async () => {
    const { text } = getAdapter('us-csl-json').sample
    const { entries, warnings } = await readWithAdapter(
      'us-csl-json',
      toSource(text.replace('"id":', '"country": "XA", "id":')),
    )
    expect(warnings).toEqual([])
    expect(entries[0]).toMatchObject({ remarks: expect.stringContaining('Country: XA') })
  })

  test('reports unknown members and rejects values that are not records', async () => {
    const { text } = getAdapter('us-csl-json').sample
    const odd = text.replace('"city":', '"town":').replace('\n] }', ',\n5 ] }')
    const { rejects, warnings } = await readWithAdapter('us-csl-json', toSource(odd))
    expect(rejects).toMatchObject([{ code: 'not_an_object', at: { row: 2, line: 10, path: '/results/1' } }])
    expect(warnings).toMatchObject([
      { code: 'members_unread', message: 'These members are not read: "addresses/town".' },
    ])
  })
})
