/** The import pipeline. A row with an incomplete key is rejected in every format and never becomes an entry with an empty key. */
import { describe, expect, test } from 'vitest'
import { getAdapter } from '#test/support/adapter-reading.ts'
import { collectBytes, toSource } from '#test/support/byte-sources.ts'
import type { Reject } from '../adapter.ts'
import { entryTypes } from '../adapters/index.ts'
import { buildColumnMapping } from '../export.ts'
import { writeXlsx } from '../formats/xlsx-writer.ts'
import type { TypeDefinition } from '../types/type-definition.ts'
import type { ImportRequest, ImportTotals } from './import-messages.ts'
import { MAX_COMPARED_KEYS, SeenKeys } from './key-report.ts'
import { runImport } from './pipeline.ts'

const text = { type: 'string', maxLength: 20 }
const rate: TypeDefinition = {
  type_key: 'rate',
  type_version: 1,
  title: 'Rate',
  description: 'A rate of a product in a region.',
  schema: {
    type: 'object',
    additionalProperties: false,
    required: ['product', 'region'],
    properties: { product: text, region: text, rate: text },
  },
  key_pointers: ['/product', '/region'],
  list_rules: {},
  fields: { '/product': { title: 'Product' }, '/region': { title: 'Region' } },
  examples: [{ product: 'loan', region: 'EU' }],
}
const single: TypeDefinition = { ...rate, key_pointers: ['/region'] }

async function importing(
  adapter_key: string,
  content: string | Uint8Array,
  type = rate,
  options = {},
  more: Partial<ImportRequest> = {},
) {
  const rejects: Reject[] = []
  let totals: ImportTotals | undefined
  const order = { adapter_key, options, type, strict: true, drop: [], hash: [], hash_key: null, filled: [], ...more }
  for await (const output of runImport(getAdapter(adapter_key), toSource(content), order)) {
    if (output.kind === 'rejects') rejects.push(...output.items)
    if (output.kind === 'end') totals = output.totals
  }
  const places = rejects.map(({ code, pointer, at }) => `row ${at.row} ${pointer} ${code}`)
  const columns = rejects.map(({ at }) => at.column)
  const messages = rejects.map(({ message }) => message)
  return { places, columns, messages, root: totals?.root ?? null, totals: totals as ImportTotals }
}

const rows = [
  ['product', 'region', 'rate'],
  ['loan', 'EU', '1'],
  ['loan', '', '2'],
  ['', 'EU', '3'],
  ['loan', '   ', '4'],
]
const book = () => collectBytes(writeXlsx(rows, 'Rates'))
const texts = (separator: string) => rows.map((row) => row.join(separator)).join('\n')

describe.each([
  ['csv', texts(',')],
  ['tsv', texts('\t')],
  ['xlsx', null],
] as const)('an empty cell under a part of the key, from %s', (adapter_key, content) => {
  const importingWith = async (options: object) => importing(adapter_key, content ?? (await book()), rate, options)

  test.each([{}, { trim: false }])('is rejected with its row and column (%j)', async (options) => {
    const { places, columns, root } = await importingWith({ ...options, columns: buildColumnMapping(rate) })
    expect(places).toEqual([
      'row 2 /region value_missing',
      'row 3 /product value_missing',
      'row 4 /region value_missing',
    ])
    expect(columns).toEqual(['region', 'product', 'region'])
    expect(root).toBeNull()
  })

  test.each([{}, { trim: false }])('is rejected with its row and member without a mapping (%j)', async (options) => {
    const { places, root } = await importingWith(options)
    expect(places).toEqual(['row 2 /region required', 'row 3 /product required', 'row 4 /region required'])
    expect(root).toBeNull()
  })
})

test.each([
  ['several members', rate, '', 'Product and Region are the key and must not be empty.'],
  ['one member', single, '/region', 'Region is the key and must not be empty.'],
])('rejects an empty text from JSON as key of %s', async (_, type, pointer, message) => {
  const entries = [
    { product: 'loan', region: 'EU' },
    { product: '', region: '' },
  ]
  const { places, messages, root } = await importing('json', JSON.stringify(entries), type)
  expect(places).toEqual([`row 2 ${pointer} key_empty`])
  expect([messages, root]).toEqual([[message], null])
})

describe('a preview', () => {
  const lines = (regions: readonly string[]) =>
    regions.map((region) => JSON.stringify({ product: 'loan', region })).join('\n')

  test('names every duplicate key with the row that had it first', async () => {
    const content = lines(['EU', 'US', 'EU', ' US\u200b', 'EU', 'UK'])
    const { places, messages, totals } = await importing('ndjson', content, rate, {}, { preview: 2, strict: false })
    expect(places).toEqual(['row 3  duplicate_key', 'row 4  duplicate_key', 'row 5  duplicate_key'])
    expect(messages[1]).toBe('The key "loan|US" was used in row 2 already.')
    expect(totals).toMatchObject({ rows: 6, accepted: 3, rejected: 3 })
    expect(totals.reject_totals).toEqual([{ code: 'duplicate_key', pointer: '', count: 3 }])
  })

  test('compares no keys when the type is unknown', async () => {
    const anything = { ...rate, schema: { type: 'object' }, key_pointers: [] }
    const { totals } = await importing('ndjson', lines(['EU', 'EU']), anything, {}, { preview: 2, strict: false })
    expect(totals).toMatchObject({ rows: 2, accepted: 2, rejected: 0 })
  })

  test('compares keys up to a limit, and reports where it stopped', () => {
    const seen = new SeenKeys(3000)
    for (let row = 1; row <= 3000; row++) expect(seen.add(`key ${row}`, row)).toBeUndefined()
    expect(seen.warnings()).toEqual([])
    expect(seen.add('another', 3001)).toBeUndefined()
    for (let row = 1; row <= 3000; row++) expect(seen.add(`key ${row}`, 9000 + row)).toBe(row)
    expect(seen.warnings()).toMatchObject([{ code: 'keys_not_compared' }])
    const far = new SeenKeys()
    far.add('a', 2 ** 33 + 7)
    expect([far.add('a', 1), MAX_COMPARED_KEYS]).toEqual([2 ** 33 + 7, 1_000_000])
  })
})

test('removes invisible characters from keys and reports the first location', async () => {
  const lines = (...regions: string[]) =>
    regions.map((region) => JSON.stringify({ product: 'loan', region, rate: 'a\u200bb' })).join('\n')
  const { places, root, totals } = await importing('ndjson', lines('EU', 'U\u200bS', 'UK\ufeff'))
  expect([places, root]).toEqual([[], (await importing('ndjson', lines('EU', 'US', 'UK'))).root])
  expect(totals.warnings).toEqual([
    {
      code: 'key_invisible_removed',
      message: '2 keys hold invisible characters (U+200B, U+FEFF), which were removed. The first is "loan|US".',
      at: { row: 2, line: 2 },
    },
  ])
})

test.each<[TypeDefinition['trim'], string]>([
  [undefined, ' 1 '],
  [['/rate'], '1'],
  [true, '1'],
])('keeps white space around texts of a table unless the type says %j', async (trim, expected) => {
  const content = 'product,region,rate\n loan ,EU, 1 \n'
  const same = JSON.stringify([{ product: 'loan', region: 'EU', rate: expected }])
  const type = { ...rate, ...(trim && { trim }) }
  const { root } = await importing('csv', content, type, { columns: buildColumnMapping(type) })
  expect(root).toBe((await importing('json', same, type)).root)
})

describe('a source of another kind', () => {
  test.each([
    ['csv', '<!doctype html><html><body>Sign in</body></html>', 'an HTML page'],
    ['json', '<!doctype html><html><body>Sign in</body></html>', 'an HTML page'],
    ['un-consolidated-xml', '<html><body>Sign in</body></html>', 'an HTML page'],
    ['ndjson', '- product: loan\n  region: EU\n', 'YAML'],
    ['json', '- product: loan\n  region: EU\n', 'YAML'],
    ['csv', '%PDF-1.4 …', 'a PDF document'],
    ['csv', '[{"product": "loan"}]', 'JSON'],
    ['xlsx', 'product,region\nloan,EU\n', 'a table with columns separated by commas'],
  ])('for %s is refused and named: %s', async (adapter_key, content, name) => {
    await expect(importing(adapter_key, content)).rejects.toMatchObject({
      name: 'SourceFault',
      code: 'another_format',
      message: expect.stringContaining(`The file looks like ${name}; this adapter reads`),
    })
  })

  test('a workbook for csv is refused and named', async () => {
    await expect(importing('csv', await book())).rejects.toMatchObject({ message: expect.stringContaining('.xlsx') })
  })

  test('is named in a warning when it can be read, otherwise in the fault', async () => {
    const yaml = 'product: loan\nregion: EU\n'
    const anything = { ...rate, schema: { type: 'object' }, key_pointers: [] }
    const { totals } = await importing('csv', yaml, anything)
    expect(totals.warnings[0]).toMatchObject({ code: 'another_format' })
    const columns = [{ column: 'region', pointer: '/region' }]
    await expect(importing('csv', yaml, rate, { columns })).rejects.toMatchObject({
      code: 'column_missing',
      message: expect.stringMatching(/^The file looks like YAML;.* There is no column "region"/),
    })
  })
})

describe('names of countries', () => {
  const country = entryTypes.get('country') as TypeDefinition
  const english =
    'DE Germany,FR France,ES Spain,JP Japan,EG Egypt,NL Netherlands,US United States,ZA South Africa,KR South Korea,IT Italy,TH Thailand,PT Portugal'
  const malay =
    'DE Jerman,FR Perancis,ES Sepanyol,JP Jepun,EG Mesir,NL Belanda,US Amerika Syarikat,ZA Afrika Selatan,KR Korea Selatan,IT Itali,TH Thailand,PT Portugal'
  const states =
    'AL Alabama,AR Arkansas,AZ Arizona,CA California,CO Colorado,DE Delaware,GA Georgia,ID Idaho,IL Illinois,IN Indiana,LA Louisiana,MA Massachusetts'
  const csv = (names: string) =>
    `Code,Name\n${names
      .replaceAll(/([A-Z]{2}) /g, '$1|')
      .replaceAll(',', '\n')
      .replaceAll('|', ',')}\n`

  test.each([
    ['English', english, []],
    ['Malay', malay, ['language_differs']],
    ['another list', states, ['names_differ']],
  ])('in %s', async (_, names, codes) => {
    const { totals } = await importing('iso-3166', csv(names), country)
    expect([totals.accepted, totals.warnings.map(({ code }) => code)]).toEqual([12, codes])
  })

  test('are reported with their language, also in a table with a mapping', async () => {
    const columns = [
      { column: 'Code', pointer: '/alpha_2' },
      { column: 'Name', pointer: '/name' },
    ]
    const { totals } = await importing('csv', csv(malay), country, { columns })
    expect(totals.warnings[0]?.message).toBe(
      'The names look like Malay, not English: 12 of 12 are the Malay names of their codes, 2 the English ones.',
    )
  })
})

describe('rows of a delta that remove', () => {
  const columns = [
    { column: 'region', pointer: '/region', required: true },
    { column: 'product', pointer: '/product', required: true },
    { column: 'rate', pointer: '/rate', kind: 'integer' },
    { column: 'op', pointer: '/op' },
  ]
  const delta = { marker: { pointer: '/op', values: ['DEL'] } }
  const group_rows = { by: ['/region'] }
  const importChanges = (text: string, options: object, strict: boolean) =>
    importing('csv', `region,product,rate,op\n${text}`, single, { columns, ...options }, { delta, strict })

  test.each([{}, { group_rows }])('need only their key (%j)', async (options) => {
    const { places, totals } = await importChanges('EU,,x,DEL\n,loan,,DEL\n', options, false)
    expect(places).toEqual(['row 2 /region value_missing'])
    expect(totals).toMatchObject({ accepted: 1, rejected: 1 })
  })

  test.each([
    ['DEL', 'CHG'],
    ['CHG', 'DEL'],
  ])('are refused together with rows that keep the same entry (%s, %s), in both modes', async (first, second) => {
    for (const strict of [true, false]) {
      const text = `EU,loan,,${first}\nEU,loan,,${second}\nUS,loan,,CHG\n`
      const { places, messages, root, totals } = await importChanges(text, { group_rows }, strict)
      expect(places).toEqual([`row ${first === 'CHG' ? 1 : 2}  changed_and_removed`])
      expect(messages[0]).toContain('"EU" would be both changed and removed')
      expect([root, totals.accepted]).toEqual([null, 1])
    }
  })

  test('join rows without a marker', async () => {
    const { places, totals } = await importChanges('EU,,,DEL\nEU,loan,,\nUS,,,DEL\nUS,,,DEL\n', { group_rows }, true)
    expect([places, totals.accepted]).toEqual([[], 2])
  })
})
