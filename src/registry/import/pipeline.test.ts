/** A row without all of its key is rejected at its place, whatever it was read from: it never becomes an entry with an empty key. */
import { describe, expect, test } from 'vitest'
import type { Reject } from '../adapter.ts'
import { adapterOf } from '../adapters/test-reading.ts'
import { mappingOf } from '../export.ts'
import { bytesOfAll, sourceOf } from '../formats/test-sources.ts'
import { writeXlsx } from '../formats/xlsx-writer.ts'
import type { TypeDefinition } from '../types/definition.ts'
import type { ImportTotals } from './order.ts'
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

async function importing(adapter_key: string, content: string | Uint8Array, type = rate, options = {}) {
  const rejects: Reject[] = []
  let totals: ImportTotals | undefined
  const order = { adapter_key, options, type, strict: true, drop: [], hash: [], hash_key: null, filled: [] }
  for await (const output of runImport(adapterOf(adapter_key), sourceOf(content), order)) {
    if (output.kind === 'rejects') rejects.push(...output.items)
    if (output.kind === 'end') totals = output.totals
  }
  const places = rejects.map(({ code, pointer, at }) => `row ${at.row} ${pointer} ${code}`)
  const columns = rejects.map(({ at }) => at.column)
  return { places, columns, messages: rejects.map(({ message }) => message), root: totals?.root ?? null }
}

const rows = [
  ['product', 'region', 'rate'],
  ['loan', 'EU', '1'],
  ['loan', '', '2'],
  ['', 'EU', '3'],
  ['loan', '   ', '4'],
]
const book = () => bytesOfAll(writeXlsx(rows, 'Rates'))
const texts = (separator: string) => rows.map((row) => row.join(separator)).join('\n')

describe.each([
  ['csv', texts(',')],
  ['tsv', texts('\t')],
  ['xlsx', null],
] as const)('an empty cell under a part of the key, from %s', (adapter_key, content) => {
  const importingWith = async (options: object) => importing(adapter_key, content ?? (await book()), rate, options)

  test.each([{}, { trim: false }])('is rejected with its row and column (%j)', async (options) => {
    const { places, columns, root } = await importingWith({ ...options, columns: mappingOf(rate) })
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
])('an empty text from JSON is no key of %s', async (_, type, pointer, message) => {
  const entries = [
    { product: 'loan', region: 'EU' },
    { product: '', region: '' },
  ]
  const { places, messages, root } = await importing('json', JSON.stringify(entries), type)
  expect(places).toEqual([`row 2 ${pointer} key_empty`])
  expect([messages, root]).toEqual([[message], null])
})
