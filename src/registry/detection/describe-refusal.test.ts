/** What is said about files of which no adapter reads an entry: the fault, its place, and what to do. */
import { expect, test } from 'vitest'
import { collectBytes, toSource } from '#test/support/byte-sources.ts'
import { writeXlsx } from '../formats/xlsx-writer.ts'
import type { TypeDefinition } from '../types/type-definition.ts'
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
  ['a single object on several lines', '{\n"code":"A",\n"score":1}', shape],
  ['entries without members', '[{}]', /^No entry of it has members that can be read\./],
  [
    'a fault in the first part of a large file',
    `[\n{"code":"A","n":}\n${',{"code":"B","n":1}\n'.repeat(5000)}]`,
    /line 2/,
  ],
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

test.each<[string, string, RegExp, RegExp]>([
  [
    'a bare "&" in the first record',
    '<sdnList><sdnEntry><lastName>A & B</lastName></sdnEntry></sdnList>',
    /not well-formed at line 1$/,
    /bare "&"/,
  ],
  [
    'a line above the declaration',
    '\n<?xml version="1.0"?><sdnList><sdnEntry/></sdnList>',
    /not well-formed at line 2$/,
    /start/,
  ],
  [
    'a document type',
    '<!DOCTYPE x>\n<sdnList><sdnEntry/></sdnList>',
    /declares a document type at line 1$/,
    /Remove it/,
  ],
])('names the fault of XML with %s', async (_, content, looks_like, advice) => {
  const detection = await detect(content)
  expect(detection.candidates).toEqual([])
  expect(detection.looks_like).toMatch(looks_like)
  expect(detection.advice).toMatch(advice)
})

test('says that no column identifies the entries, and quotes no adapter of another format', async () => {
  expect((await detect('a,b\n1.5,2.5\n2.5,3.5\n', 'list.csv')).advice).toMatch(/^No column tells its entries apart/)
  const prose = await detect('Dear Sir, thank you.\nThis is a letter.\nNothing else, I fear, is in it.\n', 'list.csv')
  expect(prose.candidates).toEqual([])
  expect(prose.advice).not.toContain('JSON value')
})

test('names the line of a byte of zero in a text', async () => {
  const { looks_like, advice } = await detect(`code,name\n${'A,Alpha\n'.repeat(20)}B,Be\0ta\n`, 'list.csv')
  expect([looks_like, advice]).toEqual([
    'text with a byte of zero at line 22',
    'Download it again, or remove the byte.',
  ])
})

test.each([
  ['blank lines between its records', '{"code":"A","n":1}\n\n{"code":"B","n":2}\r\n\r\n{"code":"C","n":3}\n', 3],
  ['a single record', '{"code":"A","n":1}\n', 1],
])('reads NDJSON with %s', async (_, content, accepted) => {
  expect((await detect(content, 'list.ndjson')).candidates[0]).toMatchObject({
    adapter_key: 'ndjson',
    accepted,
    rejected: 0,
  })
})

test('reads JSON in UTF-16 without a byte order mark', async () => {
  const bytes = Buffer.from('[{"code":"A","n":1},{"code":"B","n":2}]', 'utf16le')
  const { candidates } = await detectAdapter(toSource(bytes), { file_name: 'list.json', types: [], type_key: null })
  expect(candidates[0]).toMatchObject({ adapter_key: 'json', options: { encoding: 'utf-16le' }, accepted: 2 })
})

test('names the members that an inferred type does not read, and rejects what is no record', async () => {
  const mixed = await detect('[{"code":"A","n":1},{"code":"B","n":"n/a"}]')
  expect(mixed.candidates[0]?.notes).toEqual([expect.stringMatching(/^Not read: n\. The values are of several kinds/)])
  const holes = await detect('[{"code":"A"},null,{"code":"B"}]')
  expect(holes.candidates[0]).toMatchObject({ accepted: 2, rejected: 1 })
})

test('rejects cells of a workbook with an error, or a formula without its result', async () => {
  const rows = [
    ['code', 'n'],
    ['A', { broken: '#DIV/0!' }],
    ['B', { broken: '=A1' }],
    ['C', 3],
  ]
  const bytes = await collectBytes(writeXlsx(rows, 'A'))
  const { candidates } = await detectAdapter(toSource(bytes), { file_name: 'list.xlsx', types: [], type_key: null })
  expect(candidates[0]).toMatchObject({ rows: 3, accepted: 1, rejected: 2, first_reject: { code: 'cell_error' } })
})

test('takes codes for countries only where they look like them', async () => {
  const other = await detect('code,score\nC00001,5\nC00002,6\n', 'list.csv')
  expect(other.candidates.map(({ adapter_key }) => adapter_key)).toEqual(['csv'])
  const countries = await detect('code,score\nDE,5\nFR,6\n', 'list.csv')
  expect(countries.candidates[0]?.adapter_key).toBe('country-scores')
})

test('prefers a new type to one that has only a column in common with the file', async () => {
  const schema = {
    type: 'object',
    additionalProperties: false,
    required: ['name'],
    properties: { name: { type: 'string', maxLength: 100 } },
  }
  const own = {
    type_key: 'own',
    type_version: 1,
    title: 'Own',
    description: 'x',
    schema,
    key_pointers: ['/name'],
    list_rules: {},
    fields: {},
    examples: [{ name: 'A' }],
  }
  const content = 'Name,Email,Phone,City\nAnna,a@x.example,1,Rome\nBob,b@x.example,2,Bern\n'
  const request = { file_name: 'list.csv', types: [own as unknown as TypeDefinition], type_key: null }
  const { candidates } = await detectAdapter(toSource(content), request)
  expect(candidates.map(({ type_key }) => type_key)).toEqual([null, 'own'])
})
