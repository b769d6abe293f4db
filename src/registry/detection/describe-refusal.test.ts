/** What is said about files of which no adapter reads an entry: the fault, its place, and what to do. */
import { expect, test } from 'vitest'
import { toSource } from '#test/support/byte-sources.ts'
import { detectAdapter } from './detect-adapter.ts'

const detect = (content: string, file_name = 'list') =>
  detectAdapter(toSource(content, 5000), { file_name, types: [], type_key: null })

const nest = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
const shape = /^No entries were found in it\. Entries are read from an array of objects, such as \[\{"code"/

test.each<[string, string, RegExp]>([
  [
    'a name that appears twice in each record',
    '[{"code":"A","code":"B"}]',
    /^The name "code" appears twice .*: \/0\/code\.$/,
  ],
  ['a name that appears twice', '{"data":[{"code":"A"}],"data":[]}', /^The name "data" appears twice .*: \/data\.$/],
  ['a number that would be rounded', '[{"n":12345678901234567890}]', /would be rounded\. .* Place: \/0\/n\.$/],
  [
    'deep nesting in a record',
    `[{"code":"A","x":${nest(100)}}]`,
    /^The document is nested deeper than 64 levels\. Flatten it\.$/,
  ],
  ['deep nesting of arrays', '['.repeat(3000) + ']'.repeat(3000), /^The document is nested deeper than 64 levels/],
  ['an empty array', '[]', /^It has no entries\. /],
  ['an empty array in an object', '{"data": []}\n', /^It has no entries\. /],
  ['arrays in an array', '[["a",1],["b",2]]', shape],
  ['a single object', '{"code":"A","score":1}', shape],
  [
    'a comma too many',
    '[\n{"code":"A",\n},]',
    /^The JSON is not well-formed\. Put a name in double quotes at line 3, column 1\./,
  ],
  [
    'lines with a name twice',
    '{"c":"A","c":"B"}\n{"c":"C","c":"D"}\n',
    /^No entry of it could be read\. Row 1: The same name/,
  ],
])('says what is wrong with JSON that has %s', async (_, content, advice) => {
  const detection = await detect(content)
  expect(detection.candidates).toEqual([])
  expect(detection.looks_like).toMatch(/^JSON /)
  expect(detection.advice).toMatch(advice)
})

const remark =
  'This XML file does not appear to have any style information associated with it. The document tree is shown below.'

test.each([
  `${remark}\n\n<!-- Created -->\n<CONSOLIDATED_LIST>\n<INDIVIDUALS/>\n</CONSOLIDATED_LIST>\n`,
  `${remark}\n<CONSOLIDATED_LIST dateGenerated="2025-01-01"><INDIVIDUALS/></CONSOLIDATED_LIST>`,
])('recognises XML that was copied from a browser', async (content) => {
  const { candidates, looks_like, advice } = await detect(content)
  expect(candidates).toEqual([])
  expect(looks_like).toBe('XML below a line of other text, as a browser shows it')
  expect(advice).toMatch(/^Save the file itself, .* or remove what is above the first "<"\./)
})

const looked = 'in the first 64 KiB of the file, which is all that is looked at\\.'

test.each<[string, string, string]>([
  [
    'a first row above 64 KiB',
    `code,name\nA,${'x'.repeat(70_000)}\nB,b\n`,
    `^The row that begins at line 2 does not end ${looked}`,
  ],
  [
    'a header above 64 KiB',
    `code,${'name,'.repeat(20_000)}\nA,b\n`,
    `^The row that begins at line 1 does not end ${looked}`,
  ],
  [
    'a quote that stays open',
    `code,name\n"A,Alpha\n${'B,Beta\n'.repeat(20_000)}`,
    `^The quote opened at line 2 is not closed ${looked}`,
  ],
  ['an open quote in the first row', 'code,name\nC,"Gamma\nB,Beta\n', '^The quote opened at line 2 is never closed'],
  ['an open quote in the header', '"code,name\nA,Alpha\nB,Beta\n', '^The quote opened at line 1 is never closed'],
])('does not call a table empty that has %s', async (_, content, advice) => {
  const detection = await detect(content, 'list.csv')
  expect(detection.candidates).toEqual([])
  expect(detection.advice).toMatch(new RegExp(advice))
})

test('reads a file whose last line has no line end as a whole', async () => {
  const pretty = await detect('[\n  { "code": "A", "score": 1 },\n  { "code": "B", "score": 2 }\n]')
  expect(pretty.candidates[0]).toMatchObject({ adapter_key: 'json', rows: 2, accepted: 2 })
  const table = await detect('branch,size\nA,1')
  expect(table.candidates[0]).toMatchObject({ rows: 1, accepted: 1 })
})

test('offers both ways to read a column of names whose first row may be one', async () => {
  const { candidates } = await detect('Anna Mueller\nBob Jones\nJosé d’Ávila\n', 'names.csv')
  expect(candidates).toMatchObject([
    { accepted: 3, options: { header: false } },
    { accepted: 2, columns: [{ column: 'Anna Mueller' }] },
  ])
})
