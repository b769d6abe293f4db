/** Detection of tables: which row names the columns, what separates them, and what identifies the entries. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { collectBytes, toSource } from '#test/support/byte-sources.ts'
import { findSharedFolder } from '#test/support/shared-data.ts'
import { writeXlsx } from '../formats/xlsx-writer.ts'
import { detectAdapter } from './detect-adapter.ts'
import type { Candidate } from './detection.ts'

/** The ways to read it as a type of its own, the likeliest first. */
async function detect(content: string | Uint8Array): Promise<[Candidate, Candidate?]> {
  const request = { file_name: 'file.csv', types: [], type_key: null }
  const { candidates } = await detectAdapter(toSource(content, 1000), request)
  return candidates.filter(({ type_key }) => type_key === null) as [Candidate, Candidate?]
}

const repeat = <T>(count: number, make: (row: number) => T): T[] => Array.from({ length: count }, (_, row) => make(row))
const toText = (head: string, count: number, make: (row: number) => string): string =>
  `${[head, ...repeat(count, make)].join('\n')}\n`
const toWorkbook = (...rows: (string | number)[][]): Promise<Buffer> => collectBytes(writeXlsx(rows, 'Sheet'))
const listMembers = ({ inferred_type }: Candidate): string[] =>
  Object.keys(inferred_type?.schema['properties'] as object)

/** Both readings have a note of their own. */
async function expectBoth(content: string, rows: number): Promise<void> {
  const [asEntry, asNames] = await detect(content)
  expect(asEntry).toMatchObject({ options: { header: false }, accepted: rows, rejected: 0 })
  expect(asEntry.notes.join()).toMatch(/The first row \(.*\) is read as an entry/)
  expect(asNames).toMatchObject({ accepted: rows - 1, rejected: 0 })
  expect(asNames?.notes.join()).toMatch(/The first row \(.*\) is taken as the names/)
}

const groups = ['Identity,,Scores,', 'code,name,cpi,gdp'] as const

describe('names of columns', () => {
  test.each<[string, string | Promise<Buffer>, number, string[]]>([
    [
      'its first cell blank',
      toText(',code,name,score', 20, (row) => `${row},C${row},N ${row},0`),
      20,
      ['column_1', 'code', 'name', 'score'],
    ],
    [
      'a blank cell',
      toText('code,,name,score', 20, (row) => `C${row},x,N ${row},0`),
      20,
      ['code', 'column_2', 'name', 'score'],
    ],
    ['its last cell blank', 'code,name,\nA,Alpha,1\nB,Beta,2\n', 2, ['code', 'name', 'column_3']],
    ['a blank cell between texts', 'code,,name\nA,x,Alpha\nB,y,Beta\n', 2, ['code', 'column_2', 'name']],
    [
      'a blank cell, in a workbook',
      toWorkbook(['code', '', 'name'], ...repeat(5, (row) => [`C${row}`, 'x', row])),
      5,
      ['code', 'column_2', 'name'],
    ],
    [
      'no last cell, in a workbook',
      toWorkbook(['code', 'name'], ...repeat(5, (row) => [`C${row}`, `N ${row}`, row])),
      5,
      ['code', 'name', 'column_3'],
    ],
    [
      'blank columns before the table',
      toWorkbook([], [], ['', '', 'code', 'name'], ...repeat(5, (row) => ['', '', `C${row}`, row])),
      5,
      ['code', 'name'],
    ],
    [
      'titles of groups above',
      toText(groups.join('\n'), 5, (row) => `C${row},N ${row},1,2`),
      5,
      ['code', 'name', 'cpi', 'gdp'],
    ],
    [
      'names of merged cells above',
      toWorkbook(['Land', 'Limits'], ['', 'low', 'high', 'mean'], ...repeat(5, (row) => [`C${row}`, 1, 2, 3])),
      5,
      ['land', 'low', 'high', 'mean'],
    ],
  ])('keeps the row of names with %s', async (_, content, rows, members) => {
    const [first] = await detect(await content)
    expect(first).toMatchObject({ accepted: rows, rejected: 0 })
    expect(listMembers(first)).toEqual(members)
  })

  test('says which columns have no name, and which rows above the names are not read', async () => {
    const [unnamed] = await detect('code,,score\nA,x,1\nB,y,2\n')
    expect(unnamed.notes).toEqual(['Columns without a name are called by their position: column 2.'])
    const [grouped] = await detect(toText(groups.join('\n'), 5, (row) => `C${row},N ${row},1,2`))
    expect(grouped.notes).toEqual(['Not read as entries, above the names of the columns: row 1 (Identity, Scores).'])
  })

  test.each([
    ['codes of a letter and a digit', 'A1,Farming\nB2,Mining\nC3,Food\nD4,Paper\n', 4],
    ['one column of them', 'A1\nB2\nC3\nD4\n', 4],
    ['single letters', 'A,Alpha\nB,Beta\nC,Gamma\n', 3],
    ['a code that is a usual name', 'NO,Norway\nSE,Sweden\nFI,Finland\n', 3],
    ['a value that returns below', 'DE,No\nFR,Yes\nIT,No\n', 3],
    ['a blank cell and no usual name', 'Land,,Stufe\nDE,x,low\nFR,y,high\n', 3],
  ])('offers both ways to read a first row with %s', async (_, content, rows) => expectBoth(content, rows))

  test('offers both ways to read names among which are numbers', async () => {
    const [asNames, asEntry] = await detect(toText('code,name,1,2', 5, (row) => `C${row},N ${row},7,8`))
    expect(asNames.notes.join()).toMatch(/is taken as the names/)
    expect(listMembers(asNames)).toEqual(['code', 'name', 'column_1', 'column_2'])
    expect(asEntry).toMatchObject({ accepted: 6, notes: [expect.stringMatching(/is read as an entry/)] })
  })

  test('has no doubt that a row with a missing value is an entry', async () => {
    const found = await detect('DE,n/a\nFR,5\nIT,6\nES,7\n')
    expect(found).toMatchObject([{ accepted: 4, options: { header: false }, notes: [] }])
  })

  test.each(['My list, of countries', 'Name,Printed 2026'])('takes no title for the names: %s', async (title) => {
    const [first] = await detect(toText(`${title}\ncode,name,score`, 5, (row) => `C${row},N ${row},${row}`))
    expect(first).toMatchObject({ options: { skip_lines: 1 }, accepted: 5, rejected: 0 })
    expect(listMembers(first)).toEqual(['code', 'name', 'score'])
  })
})

describe('the delimiter', () => {
  test.each([
    ['', 'code;name;score', (row: number) => `C00${row};Name ${row}, Ltd, X;0,5`, {}],
    ['', 'code;name;address', (row: number) => `C00${row};Name ${row};${row} High St, London, UK`, {}],
    ['A list, as of today\n', 'code;name;score', (row: number) => `C00${row};${row}, Ltd, X;0,5`, { skip_lines: 1 }],
  ])('is what splits the names as it splits the rows: %s%s', async (title, names, make, options) => {
    const [first] = await detect(toText(`${title}${names}`, 50, make))
    expect(first).toMatchObject({ options: { delimiter: ';', ...options }, accepted: 50, rejected: 0 })
    expect(listMembers(first)).toEqual(names.split(';'))
  })
})

describe('the key', () => {
  test('is a column that one row leaves blank where no filled one identifies the entries', async () => {
    const [first] = await detect(toText('Land,Score', 20, (row) => `${row === 7 ? '' : `Land ${row}`},${row % 3}`))
    expect(first).toMatchObject({ accepted: 19, rejected: 1 })
    expect(first.inferred_type).toMatchObject({ key_pointers: ['/land'], schema: { required: ['land', 'score'] } })
    expect(first.notes).toEqual(['Entries are identified by "Land"; rows without a value there are rejected.'])
  })

  test('is a filled column before one that is not', async () => {
    const [first] = await detect(toText('Land,Nr', 20, (row) => `${row === 7 ? '' : `Land ${row}`},${row}`))
    expect(first).toMatchObject({ accepted: 20, notes: [], inferred_type: { key_pointers: ['/nr'] } })
  })

  test('is several filled columns before a nearly filled one, and says so', async () => {
    const make = (row: number) => `L${row % 5},${2000 + Math.floor(row / 5)},${row === 7 ? '' : `about ${row}`}`
    const [first] = await detect(toText('Land,Year,Remark', 20, make))
    expect(first).toMatchObject({ accepted: 20, inferred_type: { key_pointers: ['/land', '/year'] } })
    expect(first.notes).toEqual(['Entries are identified by several columns together: "Land", "Year".'])
  })
})

const root = findSharedFolder('', 2)
test.skipIf(!root)('reads a published workbook with two rows of names without losing an entry', async () => {
  const [first] = await detect(readFileSync(path.join(root as string, 'jurisdictions/cpi/CPI2012.xlsx')))
  expect(first).toMatchObject({ accepted: 176, rejected: 0, inferred_type: { key_pointers: ['/country_territory'] } })
  expect(listMembers(first)).toEqual(expect.arrayContaining(['country_rank', 'cpi_2012_score', 'lower', 'upper', 'fh']))
})
