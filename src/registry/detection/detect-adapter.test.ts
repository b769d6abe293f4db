/** Detection on small files: general formats, guessed options, inferred types, and files that no adapter reads. */
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import yazl from 'yazl'
import { collectBytes, EndlessSource, toSource } from '#test/support/byte-sources.ts'
import type { Adapter } from '../adapter.ts'
import { adapters } from '../adapters/index.ts'
import { writeXlsx } from '../formats/xlsx-writer.ts'
import { checkDefinition } from '../types/check-type-definition.ts'
import type { TypeDefinition } from '../types/type-definition.ts'
import { detectAdapter } from './detect-adapter.ts'
import type { Candidate, DetectionRequest } from './detection.ts'

const text = { type: 'string', maxLength: 100 }
const rating = {
  type_key: 'rating',
  type_version: 1,
  title: 'Rating',
  description: 'A rating.',
  schema: {
    type: 'object',
    additionalProperties: false,
    required: ['code', 'score'],
    properties: { code: text, name: text, score: { type: 'integer', minimum: 0, maximum: 100 } },
  },
  key_pointers: ['/code'],
  list_rules: {},
  fields: { '/code': { title: 'Industry code' } },
  examples: [{ code: 'A', score: 1 }],
} as unknown as TypeDefinition

const detect = (content: string | Uint8Array, request: Partial<DetectionRequest> = {}) =>
  detectAdapter(toSource(content, 1000), { file_name: 'file.csv', types: [rating], type_key: null, ...request })

async function zip(files: Readonly<Record<string, string | Buffer>>): Promise<Buffer> {
  const archive = new yazl.ZipFile()
  for (const [name, content] of Object.entries(files)) archive.addBuffer(Buffer.from(content as string), name)
  archive.end()
  return collectBytes(archive.outputStream as unknown as AsyncIterable<Uint8Array>)
}

test.each(
  Object.entries({
    commas: ['code,name,score\nA,Alpha,1\nB,Beta,2\n', 'csv', {}],
    semicolons: ['code;score\nA;1\nB;2\n', 'csv', { delimiter: ';' }],
    tabs: ['code\tscore\nA\t1\nB\t2\n', 'tsv', {}],
    'a line above the header': ['Ratings of 2026\ncode,name,score\nA,Alpha,1\n', 'csv', { skip_lines: 1 }],
    'JSON in an object': ['{"data":{"items":[{"code":"A","score":1}]}}', 'json', { pointer: '/data/items' }],
    'JSON lines': ['{"code":"A","score":1}\n{"code":"B","score":2}\n', 'ndjson', {}],
  } as const),
)('reads a file with %s as the type its columns match', async (_, [content, adapter_key, options]) => {
  const { candidates } = await detect(content)
  expect(candidates[0]).toMatchObject({ adapter_key, options, type_key: 'rating', rejected: 0 })
  expect(candidates[0]?.reason).toMatch(/match the type Rating, \d of \d entries read\.$/)
})

test('maps columns whose names differ in case and punctuation, or are the titles of fields', async () => {
  const { candidates } = await detect('Industry Code;NAME;Score;Comment\nA;Alpha;1;x\n')
  expect(candidates[0]).toMatchObject({
    type_key: 'rating',
    accepted: 1,
    options: {
      delimiter: ';',
      columns: [
        { column: 'Industry Code', pointer: '/code', required: true },
        { column: 'NAME', pointer: '/name' },
        { column: 'Score', pointer: '/score', kind: 'integer' },
      ],
    },
    notes: ['Not read: Comment.'],
  })
})

test('finds the sheet and the header row of a workbook', async () => {
  const rows = [['Ratings'], [], ['code', 'name', 'score'], ['A', 'Alpha', 1], ['B', 'Beta', 2]]
  const { candidates, looks_like } = await detect(await collectBytes(writeXlsx(rows, 'Scores')))
  expect(looks_like).toBe('an .xlsx workbook with the sheet "Scores"')
  expect(candidates[0]).toMatchObject({
    adapter_key: 'xlsx',
    type_key: 'rating',
    options: { skip_rows: 2 },
    accepted: 2,
  })
})

test('reads UTF-16 without a byte order mark', async () => {
  const { candidates } = await detect(Buffer.from('code;score\nA;1\nB;2\n', 'utf16le'))
  expect(candidates[0]).toMatchObject({ options: { delimiter: ';', encoding: 'utf-16le' }, accepted: 2, rejected: 0 })
})

test('counts rejects and quotes the first', async () => {
  const { candidates } = await detect('code,score\nA,1\nB,many\nC,3\n')
  expect(candidates[0]).toMatchObject({ rows: 3, accepted: 2, rejected: 1, first_reject: { at: { row: 2 } } })
})

test('prefers an adapter whose columns fit to an inferred type that rejects the same rows', async () => {
  const damaged = 'country,score\nDE,5\nFR\nIT\n'
  const [best, ...others] = (await detect(damaged, { types: [] })).candidates
  expect(best).toMatchObject({ adapter_key: 'country-scores', accepted: 1, rejected: 2 })
  expect(others).toMatchObject([{ adapter_key: 'csv', type_key: null, rejected: 2 }])
  // An inferred type that keeps the rows still comes first.
  const emptied = await detect('country,score\nDE,5\n,6\n,7\n', { types: [] })
  expect(emptied.candidates[0]).toMatchObject({ type_key: null, rejected: 0 })
})

test('infers a usable type where none fits', async () => {
  const { candidates } = await detect('Nr;Long name;Active;Share\n007;One;true;1.5\n008;Two;false;2\n', {
    file_name: 'my_own-list.csv',
  })
  const [first] = candidates
  expect(first).toMatchObject({ adapter_key: 'csv', type_key: null, accepted: 2, rejected: 0 })
  const { inferred_type } = first as NonNullable<typeof first>
  expect(inferred_type).toMatchObject({
    type_key: 'my-own-list',
    key_pointers: ['/nr'],
    schema: { properties: { nr: { type: 'string' }, active: { type: 'boolean' }, share: { type: 'number' } } },
  })
  expect(checkDefinition({ type_version: 1, ...inferred_type })).toEqual([])
})

test('leaves accents out of inferred names instead of breaking the words', async () => {
  const { candidates } = await detect('Kürzel;Größe;Élan\nDE;1;2\nAT;3;4\n', {
    file_name: 'Länderrisiken.csv',
  })
  expect(Object.keys(candidates[0]?.inferred_type?.schema['properties'] as object)).toEqual(['kurzel', 'gro_e', 'elan'])
  expect(candidates[0]?.inferred_type?.type_key).toBe('landerrisiken')
})

test('says what is wrong with a table of which no row can be read', async () => {
  const { candidates, looks_like, advice } = await detect('a,b\n1,2,3\n"unclosed,4\n')
  expect(candidates).toEqual([])
  expect(looks_like).toBe('a table with 2 columns separated by commas')
  expect(advice).toBe('The quote opened at line 3 is never closed: the file was cut off.')
})

/** All entries of the file when it is read as the candidate says. */
async function readEntries(content: string, candidate: Candidate): Promise<unknown[]> {
  const adapter = adapters.get(candidate.adapter_key) as Adapter
  const entries: unknown[] = []
  for await (const { entries: some } of adapter.read(toSource(content, 1000), candidate.options, null)) {
    entries.push(...some.map(({ entry }) => entry))
  }
  return entries
}

test('reads a column of names as a list', async () => {
  const { candidates } = await detect('name\nAnna Mueller\nBob Jones\nJosé d’Ávila\n')
  expect(candidates[0]).toMatchObject({ adapter_key: 'csv', rows: 3, accepted: 3 })
})

test.each([
  ['two columns', 'DE,Germany\nFR,France\nIT,Italy\n', { column_1: 'DE', column_2: 'Germany' }, 'DE, Germany'],
  ['one column', 'DE\nFR\nCH\n', { column_1: 'DE' }, 'DE'],
])(
  'reads the first row of a file without names of columns as an entry, and offers the other way: %s',
  async (...row) => {
    const [, content, first, quoted] = row
    const { candidates } = await detect(content)
    const [asEntry, asNames] = candidates as [Candidate, Candidate]
    expect(asEntry).toMatchObject({ rows: 3, accepted: 3, options: { header: false } })
    expect(asEntry.notes).toEqual([expect.stringMatching(`^The first row \\(${quoted}\\) is read as an entry`)])
    expect((await readEntries(content, asEntry))[0]).toEqual(first)
    expect(asNames).toMatchObject({ rows: 2, accepted: 2 })
    expect(asNames.notes).toEqual([expect.stringMatching(`^The first row \\(${quoted}\\) is taken as the names`)])
  },
)

test('has no doubt about names of columns that differ from the entries', async () => {
  for (const content of [
    'Land,Stufe\nDE,low\nFR,high\n',
    'code,name\nalpha,first\nbeta,second\n',
    'Name\nGermany\nFrance\n',
  ]) {
    const { candidates } = await detect(content, { types: [] })
    expect(candidates, content).toMatchObject([{ accepted: 2, notes: [] }])
  }
})

test.each([
  [
    'repeated',
    'code,name,name\nDE,Germany,Deutschland\nFR,France,Frankreich\n',
    'name_column_3',
    /^Column names repeat: name\./,
  ],
  [
    'overlong',
    `code,name,${'x'.repeat(300)}\nDE,Germany,1\nFR,France,2\n`,
    'x'.repeat(60),
    /^A column name is longer than 100/,
  ],
])('reads columns with %s names by their position', async (_, content, member, note) => {
  const { candidates } = await detect(content)
  const [first] = candidates as [Candidate]
  expect(first).toMatchObject({ rows: 2, accepted: 2, options: { header: false, skip_lines: 1 } })
  expect(first.notes[0]).toMatch(note)
  expect(Object.keys(first.inferred_type?.schema['properties'] as object)).toEqual(['code', 'name', member])
  expect((await readEntries(content, first)).map((entry) => (entry as { code: string }).code)).toEqual(['DE', 'FR'])
})

test('requires only the key where the sample is not the whole file', async () => {
  const rows = Array.from({ length: 4000 }, (_, row) => `C${row},${row},${row < 3500 ? 'filled in every row' : ''}`)
  const { candidates, is_whole } = await detect(`code,count,note\n${rows.join('\n')}\n`, { types: [] })
  expect(is_whole).toBe(false)
  expect(candidates[0]?.inferred_type?.schema['required']).toEqual(['code'])
  expect(candidates[0]?.notes).toEqual([
    expect.stringMatching(/^The type is inferred from the beginning of the file only\. .*: count\.$/),
  ])
})

test('returns only ways to read the type that is asked for, the last import first', async () => {
  const previous = {
    adapter_key: 'csv',
    options: {
      columns: [
        { column: 'code', pointer: '/code' },
        { column: 'n', pointer: '/score', kind: 'integer' },
      ],
    },
  }
  const { candidates } = await detect('code,n\nA,1\n', { type_key: 'rating', previous })
  expect(candidates.map(({ options, type_key }) => [options, type_key])).toEqual([[previous.options, 'rating']])
  expect(candidates[0]?.reason).toContain('as in the last import of this list')
})

const branches = [
  'branch_code,name,country,risk_score,opened',
  'B-01,Bern,CH,12,2001-04-01',
  'B-02,Basel,CH,14,2003-09-15',
  'B-03,Lyon,FR,33,2010-01-10',
]

test('prefers a new type that keeps all rows and columns to a type that loses some of both', async () => {
  const { candidates } = await detect(`${branches.join('\n')}\n`, { file_name: 'branches.csv' })
  const scores = candidates.findIndex(({ adapter_key }) => adapter_key === 'country-scores')
  expect(candidates[0]).toMatchObject({ adapter_key: 'csv', type_key: null, accepted: 3, rejected: 0 })
  expect(scores).toBeGreaterThan(0)
  expect(candidates[scores]).toMatchObject({ rejected: 1, notes: ['Not read: branch_code, opened.'] })
})

test('keeps an existing type first that reads all rows, and names the columns it does not read', async () => {
  const { candidates } = await detect('code,name,score,rank\nCH,Switzerland,82,7\nFR,France,71,20\n', { types: [] })
  expect(candidates[0]).toMatchObject({ adapter_key: 'country-scores', rejected: 0, notes: ['Not read: rank.'] })
})

const html = '<!DOCTYPE html><html><body>Sign in</body></html>'
test.each<[string, string | Uint8Array | Promise<Buffer>, RegExp]>([
  ['an empty file', '', /^an empty file$/],
  ['white space', ' \n\n ', /^a file of white space only$/],
  ['an HTML page saved as CSV', html, /^an HTML page$/],
  ['a zip with an HTML page', zip({ 'sdn.xml': html }), /^a zip file that holds an HTML page$/],
  ['a binary file', Buffer.from([1, 0, 2, 0, 0, 9, 255, 0]), /^a binary file$/],
  ['a PDF', '%PDF-1.7\n', /^a PDF document$/],
  ['JSON that ends too early', '{"data":[{"code":"A","score":1},{"co', /^JSON that is truncated or not well-formed$/],
  [
    'half a zip',
    zip({ 'a.csv': 'code\nA\n' }).then((all) => all.subarray(0, all.length - 30)),
    /^a damaged or truncated archive$/,
  ],
  ['half a gzip', gzipSync('code,score\n'.repeat(50)).subarray(0, 30), /^a damaged or truncated archive$/],
  ['XML of nobody', '<?xml version="1.0"?><Books><Book/></Books>', /^XML with the root element Books$/],
  [
    'a zip of other files',
    zip({ 'a.txt': 'Some words here.', 'b.txt': 'More words.' }),
    /^a zip archive with 2 files: "a.txt", "b.txt"$/,
  ],
  ['sentences', 'This is a letter.\nIt has lines.\nNothing else is in it.\n', /^text in one column$/],
  ['prose', 'This is a letter.\nIt has lines, and commas.\nNothing else in it\n', /^text in one column$/],
])('says what %s looks like, without a candidate', async (_, content, looks_like) => {
  const detection = await detect(await content)
  expect(detection.looks_like).toMatch(looks_like)
  expect(detection.candidates).toEqual([])
})

test.each<[string, string | Uint8Array | Promise<Buffer>, RegExp, RegExp]>([
  [
    'a zip of two tables',
    zip({ 'a.csv': 'x\n', 'b.csv': 'y\n' }),
    /zip archive/,
    /^Upload the one file that holds the list\.$/,
  ],
  ['a zip with a part of an OFAC list', zip({ 'alt.csv': '1,2\n', 'add.csv': '1,2\n' }), /zip archive/, /sdn\.csv/],
  ['names of columns only', 'code,name\n', /2 columns/, /^It has names of columns and no entries\.$/],
  ['a sheet with names of columns only', collectBytes(writeXlsx([['code', 'name']], 'A')), /workbook/, /no entries/],
  ['too many columns', `${'c,'.repeat(300)}c\n${'1,'.repeat(300)}1\n`, /301 columns/, /301 columns.*up to 200/],
  ['UTF-32', Buffer.from('fffe000041000000', 'hex'), /^text in UTF-32$/, /UTF-8/],
  ['lines that end in CR', 'code,name\rA,Alpha\rB,Beta\r', /lines end in CR/, /Windows or Unix/],
  ['XML of nobody', '<?xml version="1.0"?><Books><Book/></Books>', /root element Books/, /^No publisher is known/],
  ['a byte order mark', '\ufeff', /byte order mark and nothing else/, /Download/],
  ['a single NUL', Buffer.from([0]), /^a binary file$/, /Upload a table/],
])('says what to do with %s', async (_, content, looks_like, advice) => {
  const detection = await detect(await content)
  expect(detection.candidates).toEqual([])
  expect(detection.looks_like).toMatch(looks_like)
  expect(detection.advice).toMatch(advice)
})

const readingOf = (key: string): string => (adapters.get(key) as Adapter).sample.text
const dropEnd = (content: string, chars: number): string => content.slice(0, content.length - chars)
/** The sample of the adapter with a name in which one letter is stored as in Latin-1. */
const withStrayByte = (key: string, name: string): Buffer =>
  Buffer.from(readingOf(key).replace(name, `${name}\xe9`), 'latin1')
const ofacRow = (number: number) =>
  `${number},"AEROCARIBBEAN AIRLINES",-0- ,"CUBA",-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- \r\n`
const ofacRows = [36, 173, 306].map(ofacRow).join('')
const un = 'the UN Security Council consolidated list (XML)'
const hmtRow = readingOf('uk-hmt-csv').split('\n')[2] as string

test.each<[string, string | Uint8Array, string, RegExp]>([
  ['an XML list', dropEnd(readingOf('un-consolidated-xml'), 100), `${un}, but it is cut off at line 5`, /^Download/],
  [
    'an XML list of another publisher',
    dropEnd(readingOf('eu-consolidated-xml'), 20),
    'the EU consolidated financial sanctions list (XML), but it is cut off at line ',
    /^Download/,
  ],
  [
    'the parties of OFAC',
    ofacRows.slice(0, -30),
    'the OFAC SDN list (CSV), but it is cut off at line 3',
    /^Download it again\. A complete file of OFAC ends in the byte 0x1A/,
  ],
  [
    'the list of HM Treasury',
    `${readingOf('uk-hmt-csv')}${hmtRow.slice(0, 60)}`,
    'the UK HM Treasury consolidated list (CSV), but it is cut off at line 4',
    /^Download it again\.$/,
  ],
  [
    'a table of nobody',
    'code,name,score\nA,Alpha,1\nB,Be',
    'a table with 3 columns separated by commas, but it is cut off at line 3',
    /./,
  ],
  [
    'an XML list with a byte of another encoding',
    withStrayByte('un-consolidated-xml', 'WON HO'),
    `${un}, but it is not valid UTF-8 at line 2`,
    /declare the encoding/,
  ],
  [
    'an XML list with a bare ampersand',
    // The entities that follow are out of reach.
    readingOf('un-consolidated-xml').replace('7TH OF TIR', '7TH & TIR'),
    `${un}, but it is not well-formed at line 5`,
    /bare "&" at line 5/,
  ],
])('names a damaged file, and where the damage is: %s', async (_, content, looks_like, advice) => {
  const detection = await detect(content, { file_name: 'list' })
  expect(detection.candidates).toEqual([])
  expect(detection.looks_like).toContain(looks_like)
  expect(detection.advice).toMatch(advice)
})

test('names a damaged file whatever it is called', async () => {
  const detection = await detect(ofacRows.slice(0, -30), { file_name: 'sdn.csv' })
  expect(detection).toMatchObject({ candidates: [], advice: expect.stringMatching(/^Download it again/) })
})

test('says on an inferred type that a list of a publisher is cut off after a whole row', async () => {
  const { candidates } = await detect(ofacRows, { types: [] })
  expect(candidates[0]).toMatchObject({ adapter_key: 'csv', type_key: null })
  expect(candidates[0]?.notes[0]).toMatch(/^The file looks like the OFAC SDN list \(CSV\), but it is cut off at line /)
})

test('reads no more of an endless file than the sample, and lets it go', async () => {
  const endless = new EndlessSource('code,score\n', `${'x'.repeat(200)},1\n`)
  const { candidates, is_whole } = await detectAdapter(endless, { file_name: null, types: [rating], type_key: null })
  expect([is_whole, endless.closed]).toEqual([false, true])
  expect(candidates[0]?.rows).toBeLessThan(400)
})

test('puts the adapter of every sample first, or another that reads it as well', async () => {
  const first: string[] = []
  for (const { key, sample, target_type, file_extensions } of adapters.values()) {
    if (target_type === null || (sample.options !== undefined && key !== 'ofac-sdn-csv')) continue
    const content = Buffer.from(sample.text, sample.encoding)
    const { candidates } = await detect(content, { types: [], file_name: `sample.${file_extensions[0]}` })
    if (candidates[0]?.adapter_key !== key) first.push(`${key}: ${candidates[0]?.adapter_key}`)
  }
  expect(first).toEqual([])
})
