/** The same parties in another order or with other line breaks give the same entries. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { getAdapter, readWithAdapter } from '#test/support/adapter-reading.ts'
import { toSource } from '#test/support/byte-sources.ts'
import { findSharedFolder } from '#test/support/shared-data.ts'
import { compileType, type PreparedEntry } from '../types/compile-type.ts'
import { entryTypes } from './index.ts'
import type { SanctionedParty } from './sanctioned-party.ts'

async function hashesOf(key: string, content: Uint8Array) {
  const type = compileType(entryTypes.get(getAdapter(key).target_type as string) as never)
  const { entries, rejects } = await readWithAdapter(key, toSource(content, 65_536))
  expect(rejects).toEqual([])
  return new Map(entries.map((entry) => type.prepare(entry) as PreparedEntry).map(({ key: id, hash }) => [id, hash]))
}

/** Deterministic. */
function shuffle<T>(items: readonly T[]): T[] {
  const shuffled = [...items]
  let state = 15
  for (let at = shuffled.length - 1; at > 0; at--) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    const other = state % (at + 1)
    ;[shuffled[at], shuffled[other]] = [shuffled[other] as T, shuffled[at] as T]
  }
  return shuffled
}

const header = 'Name 6,Name 1,DOB,Title,Group Type,Alias Type,Alias Quality,Other Information,Regime,Listed On,Group ID'
const rows = [
  'DOE,John,00/00/1980,Mr,Individual,Prime Alias,,First.,Syria,01/04/2016,1',
  'DOE,Jon,10/00/1983,Dr,Individual,AKA,Low,Second.,Iran,01/02/2010,1',
  'DOE,Jon,00/00/1980,Mr,Individual,AKA,,First.,Syria,01/04/2016,1',
  'ROE,Ann,,,Individual,AKA,,,Syria,,2',
  'ROE,Anna,,,Individual,AKA,,,Syria,,2',
]

test('UK HMT: ignores the order of alias, birth-date and regime rows', async () => {
  const csv = (lines: readonly string[]) => Buffer.from([header, ...lines, ''].join('\n'))
  const expected = await hashesOf('uk-hmt-csv', csv(rows))
  expect(await hashesOf('uk-hmt-csv', csv([...rows].reverse()))).toEqual(expected)
  expect(await hashesOf('uk-hmt-csv', csv(shuffle(rows)))).toEqual(expected)
  const { entries } = await readWithAdapter('uk-hmt-csv', toSource(csv([...rows].reverse())))
  const party = entries.find((entry) => entry['source_id'] === '1') as unknown as SanctionedParty
  expect(party).toMatchObject({ name: 'John DOE', listed_on: '2010-02-01', remarks: 'First.\nSecond.' })
  expect(party.names).toContainEqual({ name: 'Jon DOE', kind: 'alias' })
})

test('UN: ignores line breaks inside comments', async () => {
  const xml = (comments: string) =>
    Buffer.from(`<CONSOLIDATED_LIST><ENTITIES><ENTITY><DATAID>1</DATAID><FIRST_NAME>A</FIRST_NAME>
      <COMMENTS1>${comments}</COMMENTS1></ENTITY></ENTITIES></CONSOLIDATED_LIST>`)
  const expected = await hashesOf('un-consolidated-xml', xml('Review concluded on 21 June. See notice.'))
  expect(await hashesOf('un-consolidated-xml', xml('Review concluded\r\n on 21 June.\n\n See  notice.'))).toEqual(
    expected,
  )
})

/** The children of an element in another order. */
const reorder = (xml: string, element: string, children: RegExp) =>
  xml.replace(new RegExp(`(<${element}[^>]*>)(.*?)(</${element}>)`, 'gs'), (_, open, inner: string, close) => {
    const found = inner.match(children) ?? []
    return open + inner.replace(children, '') + shuffle(found).reverse().join('\n\t ') + close
  })

test('EU: ignores the order of names, addresses and documents', async () => {
  const xml = `<export><sanctionEntity logicalId="1"><subjectType code="person"/>
    <nameAlias wholeName="B" strong="true" gender="M" logicalId="3"/><nameAlias wholeName="A" strong="true" gender="F" logicalId="2"/>
    <nameAlias wholeName="C" strong="false" logicalId="1"/><address street="1" city="X"/><address street="2" city="X"/>
    <identification identificationTypeCode="id" number="1"/><identification identificationTypeCode="id" number="2"/>
    <birthdate year="1970" calendarType="GREGORIAN"/><birthdate year="1960" calendarType="GREGORIAN"/>
  </sanctionEntity></export>`
  const other = reorder(xml, 'sanctionEntity', /<(nameAlias|address|identification|birthdate)[^>]*\/>/g)
  expect(other).not.toBe(xml)
  expect(await hashesOf('eu-consolidated-xml', Buffer.from(other))).toEqual(
    await hashesOf('eu-consolidated-xml', Buffer.from(xml)),
  )
})

test('OFAC in advanced XML: ignores white space and the order of values, locations and names', async () => {
  const { text } = getAdapter('ofac-sdn-advanced-xml').sample
  let other = reorder(text, 'NamePartTypeValues', /<NamePartType .*?<\/NamePartType>/g)
  other = reorder(other, 'ReferenceValueSets', /<(\w+Values)>.*?<\/\1>/g)
  other = reorder(other, 'NamePartGroups', /<MasterNamePartGroup>.*?<\/MasterNamePartGroup>/g)
  other = reorder(other, 'Location', /<Location(Part|Country).*?(\/>|<\/LocationPart>)/g).replaceAll('><', '>\n  <')
  expect(other.length).toBeGreaterThan(text.length)
  expect(await hashesOf('ofac-sdn-advanced-xml', Buffer.from(other))).toEqual(
    await hashesOf('ofac-sdn-advanced-xml', Buffer.from(text)),
  )
})

test('US CSL: ignores the order of rows and of values in a cell', async () => {
  const [names = ''] = getAdapter('us-csl-csv').sample.text.split('\n')
  const row = (address: string, aliases: string, remarks: string) =>
    names
      .split(',')
      .map(
        (name) => ({ source: 'Entity List (EL)', name: 'Acme', addresses: address, alt_names: aliases, remarks })[name],
      )
      .join(',')
  const csv = (...lines: string[]) => Buffer.from(`${[names, ...lines].join('\n')}\n`)
  const expected = await hashesOf('us-csl-csv', csv(row('1 St', 'A; B', 'x'), row('2 St', 'C', 'y')))
  expect(await hashesOf('us-csl-csv', csv(row('2 St', 'C', 'y'), row('1 St', 'B;  A', 'x')))).toEqual(expected)
})

test('OpenSanctions: ignores the order of entities and of values', async () => {
  const entities = [
    {
      id: 'p',
      schema: 'Person',
      caption: 'A',
      properties: { name: ['A', 'B'], gender: ['male', 'other'], topics: ['x'] },
    },
    { id: 's', schema: 'Sanction', properties: { entity: ['p'], program: ['1', '2'], endDate: ['2020-01-01'] } },
    { id: 't', schema: 'Sanction', properties: { entity: ['p'], reason: ['r'] } },
    { id: 'q', schema: 'Person', caption: 'C', properties: { name: ['C'], topics: ['x'] } },
    { id: 'f', schema: 'Family', properties: { person: ['p'], relative: ['q'], relationship: ['b', 'a'] } },
    {
      id: 'd',
      schema: 'Passport',
      properties: { number: ['1'], holder: ['p'], type: ['b', 'a'], endDate: ['2'], authority: ['1'] },
    },
  ]
  const lines = (list: readonly (typeof entities)[number][]) =>
    Buffer.from(list.map((entity) => `${JSON.stringify(entity)}\n`).join(''))
  const turned = entities.map((entity) => ({
    ...entity,
    properties: Object.fromEntries(
      Object.entries(entity.properties)
        .reverse()
        .map(([name, values]) => [name, [...(values as string[])].reverse()]),
    ) as never,
  }))
  expect(await hashesOf('opensanctions-ftm', lines(turned.reverse()))).toEqual(
    await hashesOf('opensanctions-ftm', lines(entities)),
  )
})

const folder = findSharedFolder('sanctions', 2) as string
describe.skipIf(!folder)('a real list', () => {
  test('of HM Treasury with its rows in another order is the same', async () => {
    const text = readFileSync(path.join(folder, 'uk-hmt/conlist_2018-04-13.csv'), 'latin1')
    const [date, names, ...lines] = text.trimEnd().split('\n')
    const reordered = Buffer.from([date, names, ...shuffle(lines), ''].join('\n'), 'latin1')
    const expected = await hashesOf('uk-hmt-csv', Buffer.from(text, 'latin1'))
    expect(expected.size).toBe(2106)
    const found = await hashesOf('uk-hmt-csv', reordered)
    expect([...found].filter(([id, hash]) => expected.get(id) !== hash)).toEqual([])
    expect(found.size).toBe(expected.size)
  })

  test('of the United Nations with other line breaks in its comments is the same', async () => {
    const text = readFileSync(path.join(folder, 'un-consolidated/un_2018-06-07.xml'), 'utf8')
    let broken = 0
    const rebroken = text.replace(/<COMMENTS1>[^<]*/g, (comment) => {
      broken++
      return comment.replaceAll('. ', '.\r\n   ')
    })
    expect(broken).toBeGreaterThan(400)
    expect(rebroken).not.toBe(text)
    expect(await hashesOf('un-consolidated-xml', Buffer.from(rebroken))).toEqual(
      await hashesOf('un-consolidated-xml', Buffer.from(text)),
    )
  })
})
