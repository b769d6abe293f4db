/** OpenSanctions in the FollowTheMoney model, over invented entities. */
import { describe, expect, test } from 'vitest'
import { readWithAdapter } from '#test/support/adapter-reading.ts'
import { toSource } from '#test/support/byte-sources.ts'
import { HeldValues } from './parties.ts'
import type { SanctionedParty } from './sanctioned-party.ts'

type Properties = Readonly<Record<string, readonly unknown[]>>
const entity = (id: string, schema: string, properties: Properties, more: object = {}) => ({
  id,
  caption: (properties['name']?.[0] as string) ?? id,
  schema,
  properties,
  referents: [],
  datasets: ['example'],
  target: false,
  ...more,
})
const person = entity(
  'p1',
  'Person',
  {
    name: ['Alex Sample', 'Alexander Sample'],
    weakAlias: ['Lex'],
    previousName: ['Alex Old'],
    firstName: ['Alex'],
    birthDate: ['1970-01-02', '1971'],
    birthPlace: ['Sampleton'],
    nationality: ['xa'],
    gender: ['male'],
    position: ['Minister'],
    passportNumber: ['A1'],
    email: ['a@example.org'],
    topics: ['sanction'],
    addressEntity: ['a1'],
    eyeColor: ['green'],
  },
  { target: true, referents: ['xx-1'], last_change: '2026-05-04T10:00:00', last_seen: '2026-11-01T00:00:00' },
)
const company = entity('c1', 'Company', { name: ['Sample Ltd.'], topics: ['sanction.linked'] })
const others = [
  entity('a1', 'Address', { full: ['1 Main St, Sampleton'], city: ['Sampleton'], country: ['xa'] }),
  entity('s1', 'Sanction', {
    entity: ['p1'],
    authority: ['Ministry'],
    program: ['ORDER-1'],
    startDate: ['2020-02-03'],
    endDate: ['2024-01-01'],
    reason: ['Samples'],
    sourceUrl: ['https://example.org'],
  }),
  entity('s2', 'Sanction', { entity: ['p1'], program: ['ORDER-2'], startDate: ['2019'] }),
  entity('d1', 'Passport', { holder: ['p1'], number: ['P7'], country: ['xa'], endDate: ['2030'] }),
  entity('o1', 'Ownership', { owner: ['p1'], asset: ['c1'], percentage: ['51'] }),
  entity('w1', 'CryptoWallet', { publicKey: ['bc1qsample'], currency: ['XBT'], holder: ['p1'] }, { target: true }),
  entity(
    'v1',
    'Vessel',
    { name: ['Sea Sample'], imoNumber: ['IMO1'], flag: ['xa', 'xb'], type: ['Tug'] },
    { target: true },
  ),
]
const all = [person, company, ...others]

async function read(entities: readonly unknown[], options: Record<string, unknown> = {}) {
  const text = entities.map((one) => `${JSON.stringify(one)}\n`).join('')
  const reading = await readWithAdapter('opensanctions-ftm', toSource(text, 53), options)
  return { ...reading, parties: reading.entries as unknown as SanctionedParty[] }
}

describe('OpenSanctions', () => {
  test('builds a party from all entities about it', async () => {
    const { parties, rejects, warnings } = await read(all)
    expect(rejects).toEqual([])
    expect(warnings).toMatchObject([{ code: 'parties_left_out', message: expect.stringMatching(/^1 /) }])
    expect(parties.map(({ source_id }) => source_id)).toEqual(['p1', 'w1', 'v1'])
    expect(parties[0]).toEqual({
      source: 'opensanctions',
      source_id: 'p1',
      kind: 'person',
      name: 'Alex Sample',
      names: [
        { name: 'Alex Sample', kind: 'primary' },
        { name: 'Alexander Sample', kind: 'alias' },
        { name: 'Lex', kind: 'weak-alias' },
        { name: 'Alex Old', kind: 'former' },
      ],
      gender: 'male',
      titles: [],
      positions: ['Minister'],
      birth_dates: [
        { text: '1970-01-02', date: '1970-01-02', year_from: 1970, year_to: 1970 },
        { text: '1971', year_from: 1971, year_to: 1971 },
      ],
      birth_places: ['Sampleton'],
      nationalities: ['xa'],
      addresses: [{ text: '1 Main St, Sampleton', city: 'Sampleton', country: 'xa' }],
      identifiers: [
        { type: 'passportNumber', value: 'A1' },
        { type: 'email', value: 'a@example.org' },
        { type: 'Passport', value: 'P7', country: 'xa', note: 'endDate 2030' },
        { type: 'Digital currency address', value: 'bc1qsample', note: 'XBT' },
      ],
      programmes: ['ORDER-1', 'ORDER-2'],
      references: ['example', 'xx-1', 'Ministry'],
      listed_on: '2020-02-03',
      updated_on: '2026-05-04',
      remarks: [
        'In part until 2024-01-01.',
        'Ownership as owner; asset: Sample Ltd. (c1); percentage: 51',
        'Sanction, reason: Samples',
        'Sanction, startDate: 2019',
        'eyeColor: green',
        'topics: sanction',
      ].join('\n'),
    })
    expect(parties[1]).toMatchObject({ kind: 'other', name: 'w1', identifiers: [{ value: 'bc1qsample' }] })
    expect(parties[2]).toMatchObject({
      kind: 'vessel',
      vessel: { flag: 'xa', type: 'Tug' },
      identifiers: [{ type: 'imoNumber', value: 'IMO1' }],
      remarks: 'flag: xb',
    })
  })

  test('reads the parties that the options select', async () => {
    const ids = async (options: object) =>
      (await read(all, options as Record<string, unknown>)).parties.map(({ source_id }) => source_id)
    expect(await ids({ parties: 'all' })).toEqual(['p1', 'c1', 'w1', 'v1'])
    expect(await ids({ topics: ['sanction'] })).toEqual(['p1'])
    expect(await ids({ parties: 'all', topics: ['sanction.linked', 'role.pep'] })).toEqual(['c1'])
    const unmarked = all.map(({ target: _, ...rest }) => rest)
    expect((await read(unmarked)).parties.map(({ source_id }) => source_id)).toEqual(['p1', 'c1'])
  })

  test.each([
    ['s1', { entity: ['nobody'] }, 'Sanction'],
    ['d1', { holder: [], number: ['1'] }, 'Passport'],
    ['o1', { owner: ['p1'], asset: ['nobody'] }, 'Ownership'],
    ['o1', { owner: ['nobody'], asset: ['c1'] }, 'Ownership'],
    ['w1', { publicKey: ['x'], holder: ['nobody'] }, 'CryptoWallet'],
  ] as const)('marks the source as incomplete when %s refers to no party', async (id, properties, schema) => {
    const { warnings } = await read(all.map((one) => (one.id === id ? { ...one, properties } : one)))
    expect(warnings.filter(({ closes_guard }) => closes_guard)).toMatchObject([
      { code: 'rows_orphaned', count: 1, message: expect.stringContaining(schema) },
    ])
  })

  test('marks the source as incomplete when an address is missing', async () => {
    const { warnings } = await read(all.filter(({ id }) => id !== 'a1'))
    expect(warnings).toMatchObject([{ code: 'rows_orphaned', count: 1, at: { line: 1 } }, { code: 'parties_left_out' }])
  })

  test('reports unknown schemata', async () => {
    const { warnings } = await read([person, others[0], entity('x', 'Spaceship', { name: ['X'] })])
    expect(warnings).toMatchObject([{ code: 'members_unread', at: { line: 3 } }])
    expect(warnings[0]?.message).toContain('"Spaceship (1)"')
  })

  test('rejects invalid, nested and repeated entities with their line', async () => {
    const nested = entity('n1', 'Person', { name: ['N'], addressEntity: [{ id: 'a9' }] }, { target: true })
    const { rejects } = await read([person, others[0], { id: 'x' }, nested, person, [1]])
    expect(rejects.map(({ code, at }) => [code, at.line])).toEqual([
      ['value_unreadable', 3],
      ['value_unreadable', 4],
      ['value_ambiguous', 5],
      ['value_unreadable', 6],
    ])
    expect(rejects[1]?.message).toContain('entities.ftm.json')
  })

  test('buffers values unchanged up to a limit', () => {
    const held = new HeldValues()
    const values = [{ name: 'Сампл' }, 'x'.repeat(3_000_000), [1, null], 'y'.repeat(1_048_000), 'é'.repeat(600)]
    const numbers = values.map((value) => held.hold(value, { row: 1 }))
    expect(numbers.map((number) => held.get(number))).toEqual(values)
    const small = new HeldValues(20)
    small.hold('0123456789', { row: 1 })
    expect(() => small.hold('0123456789', { row: 2, line: 7 })).toThrow(
      expect.objectContaining({ code: 'source_too_large', at: { row: 2, line: 7 } }),
    )
  })
})
