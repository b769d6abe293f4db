/** Constants, defaults, splitting, elements and grouping: how any table or JSON is mapped to entries of a type. */
import { describe, expect, test } from 'vitest'
import { findSchemaErrors } from '#kernel/http/validation.ts'
import { getAdapter, readWithAdapter } from '#test/support/adapter-reading.ts'
import { collectBytes, toSource } from '#test/support/byte-sources.ts'
import { writeXlsx } from '../formats/xlsx-writer.ts'
import { BatchBuilder } from './batch-builder.ts'
import type { Mapping } from './mapping.ts'
import { findMappingFaults } from './mapping-check.ts'
import { MappedRecords } from './row-groups.ts'

async function read(key: string, content: string | Uint8Array, options: Record<string, unknown>) {
  expect(findSchemaErrors('body', getAdapter(key).options, structuredClone(options))).toEqual([])
  expect(findMappingFaults(options)).toEqual([])
  return readWithAdapter(key, toSource(content), options)
}

const columns = [
  { column: 'id', pointer: '/id', required: true },
  { column: 'name', pointer: '/name' },
]

describe('one row, one entry', () => {
  test('adds constants to every entry, each with its own copy', async () => {
    const { entries } = await read('csv', 'id,tag\n1,a\n2,\n', {
      constants: { source: 'own', tags: ['listed'], place: { country: 'NO' } },
      columns: [
        { column: 'id', pointer: '/id' },
        { column: 'tag', pointer: '/tags/-' },
      ],
    })
    expect(entries).toEqual([
      { source: 'own', tags: ['listed', 'a'], place: { country: 'NO' }, id: '1' },
      { source: 'own', tags: ['listed'], place: { country: 'NO' }, id: '2' },
    ])
  })

  test('uses a default for a blank cell and for a missing column', async () => {
    const { entries } = await read('csv', 'id,country\n1,SE\n2, \n', {
      columns: [
        { column: 'id', pointer: '/id' },
        { column: 'country', pointer: '/country', default: 'NO' },
        { column: 'weight', pointer: '/weight', kind: 'integer', optional: true, default: 1 },
      ],
    })
    expect(entries).toEqual([
      { id: '1', country: 'SE', weight: 1 },
      { id: '2', country: 'NO', weight: 1 },
    ])
  })

  test('allows an empty part of a key when its default is an empty text', async () => {
    const { entries } = await read('csv', 'code,language\nA,\n', {
      columns: [
        { column: 'code', pointer: '/code' },
        { column: 'language', pointer: '/language', default: '' },
      ],
    })
    expect(entries).toEqual([{ code: 'A', language: '' }])
  })

  test('splits a cell into values of a kind and leaves out blank parts', async () => {
    const options = {
      null_values: ['-'],
      columns: [
        { column: 'years', pointer: '/years', kind: 'integer', split: ';' },
        { column: 'tags', pointer: '/tags/-', split: ' / ' },
      ],
    }
    const { entries } = await read('csv', 'years,tags\n1980; 1981 ;;-,a / b\n-,\n', options)
    expect(entries).toEqual([{ years: [1980, 1981], tags: ['a', 'b'] }, {}])
    const { rejects } = await read('csv', 'years,tags\n1980;x,\n', options)
    expect(rejects).toMatchObject([
      { code: 'value_unreadable', pointer: '/years', at: { line: 2, column: 'years' }, excerpt: '1980;x' },
    ])
    expect(rejects[0]?.message).toBe('"years" has a part that is not a whole number.')
  })

  test('builds elements from columns and constants, one for each part, and none without a value', async () => {
    const { entries, rejects } = await read('csv', 'name,aka,street,city\nJo,Joe;J.,Main St,\nAn,,,\n', {
      columns: [{ column: 'name', pointer: '/name' }],
      elements: [
        { pointer: '/names', constants: { kind: 'primary' }, columns: [{ column: 'name', pointer: '/name' }] },
        {
          pointer: '/names',
          constants: { kind: 'alias' },
          columns: [{ column: 'aka', pointer: '/name', split: ';' }],
        },
        {
          pointer: '/addresses',
          columns: [
            { column: 'street', pointer: '/text' },
            { column: 'city', pointer: '/city', default: 'Oslo' },
          ],
        },
      ],
    })
    expect(rejects).toEqual([])
    expect(entries).toEqual([
      {
        name: 'Jo',
        names: [
          { kind: 'primary', name: 'Jo' },
          { kind: 'alias', name: 'Joe' },
          { kind: 'alias', name: 'J.' },
        ],
        addresses: [{ text: 'Main St', city: 'Oslo' }],
      },
      { name: 'An', names: [{ kind: 'primary', name: 'An' }] },
    ])
  })

  test('names column and member of a fault inside an element', async () => {
    const found = await read('csv', 'id,born\n1,30/02/1980\n', {
      columns: [{ column: 'id', pointer: '/id' }],
      elements: [{ pointer: '/births', columns: [{ column: 'born', pointer: '/date', kind: 'date' }] }],
    })
    expect(found.rejects).toMatchObject([
      { code: 'value_unreadable', pointer: '/births/*/date', at: { line: 2, column: 'born' } },
    ])
  })

  test('maps members of JSON like columns', async () => {
    const { entries } = await read('ndjson', '{"n":"Jo","aka":"a|b","tags":["x"]}\n', {
      constants: { source: 'own' },
      members: [
        { from: '/n', pointer: '/name' },
        { from: '/tags', pointer: '/tags', split: ',' },
        { from: '/c', pointer: '/country', default: 'NO' },
      ],
      elements: [{ pointer: '/names', members: [{ from: '/aka', pointer: '/name', split: '|' }] }],
    })
    expect(entries).toEqual([
      { source: 'own', name: 'Jo', tags: ['x'], country: 'NO', names: [{ name: 'a' }, { name: 'b' }] },
    ])
    // A record without a mapping may already have the member a constant sets.
    const kept = await read('ndjson', '{"source":"own"}\n{"source":"other"}\n', { constants: { source: 'own' } })
    expect(kept.entries).toEqual([{ source: 'own' }])
    expect(kept.rejects).toMatchObject([{ code: 'value_ambiguous', pointer: '/source', at: { line: 2 } }])
  })
})

describe('several rows, one entry', () => {
  const group_rows = { by: ['/id'] }
  const grouped = {
    group_rows,
    columns: [...columns, { column: 'aka', pointer: '/aka/-' }, { column: 'c', pointer: '/country', default: 'NO' }],
  }

  test('requires equal scalars, collects arrays and applies defaults last', async () => {
    const text = 'id,name,aka,c\n1,Jo,Joe,\n2,An,,SE\n1,,J,DK\n1,Jo,Joe,DK\n'
    const { read: entries, rejects, warnings } = await read('csv', text, grouped)
    expect(rejects).toEqual([])
    expect(entries).toEqual([
      { entry: { id: '1', name: 'Jo', aka: ['Joe', 'J'], country: 'DK' }, at: { row: 1, line: 2 } },
      { entry: { id: '2', name: 'An', country: 'SE' }, at: { row: 2, line: 3 } },
    ])
    expect(warnings).toMatchObject([{ code: 'rows_grouped', message: '4 rows were joined to 2 entries.' }])
  })

  test('rejects a row that contradicts the first with its line, and leaves out its entry', async () => {
    const text = 'id,name,aka,c\n1,Jo,a,\n1,Joan,b,\n2,An,,\n'
    const { entries, rejects, warnings } = await read('csv', text, grouped)
    expect(entries).toEqual([{ id: '2', name: 'An', country: 'NO' }])
    expect(warnings).toMatchObject([{ code: 'entries_left_out', at: { line: 2 } }])
    expect(rejects).toMatchObject([{ code: 'value_ambiguous', pointer: '/name', at: { line: 3 }, excerpt: 'Joan' }])
    expect(rejects[0]?.message).toBe('/name is not what it is in line 2, which belongs to the same entry.')
  })

  test('accepts a required value from any row, and rejects a row without the member rows are joined by', async () => {
    const required = { group_rows, columns: [columns[0], { column: 'name', pointer: '/name', required: true }] }
    const { entries, rejects } = await read('csv', 'id,name\n1,\n1,Jo\n2,\n,X\n', required)
    expect(entries).toEqual([{ id: '1', name: 'Jo' }])
    expect(rejects.map(({ code, pointer, at }) => [code, pointer, at.line])).toEqual([
      ['value_missing', '/id', 5],
      ['value_missing', '/name', 4],
    ])
  })

  const dated = { ...grouped, columns: [...grouped.columns, { column: 'd', pointer: '/d', kind: 'date' }] }
  test.each([
    ['first', 'id,name,aka,c,d\n1,Jo,a,,x\n1,Jo,b,,\n2,An,,,\n'],
    ['second', 'id,name,aka,c,d\n1,Jo,a,,\n1,Jo,b,,x\n2,An,,,\n'],
  ])('leaves out the entry when a value in the %s row cannot be read', async (_, text) => {
    for (const adjacent of [false, true]) {
      const later = adjacent ? '1,Jo,c,,\n' : ''
      const options = { ...dated, group_rows: { by: ['/id'], adjacent } }
      const { entries, rejects, warnings } = await read('csv', `${text}${later}`, options)
      expect(entries).toEqual([{ id: '2', name: 'An', country: 'NO' }])
      expect(rejects).toMatchObject([{ code: 'value_unreadable', pointer: '/d' }])
      expect(warnings.map(({ code }) => code)).toEqual(['entries_left_out'])
    }
  })

  test('marks the source as incomplete when a rejected row names no entry', async () => {
    const { entries, warnings } = await read('csv', 'id,name,aka,c\n1,Jo,a,\n,Jo,b,\n1,Jo\n', grouped)
    expect(entries).toHaveLength(1)
    expect(warnings).toMatchObject([{ code: 'rows_orphaned', count: 2, closes_guard: true }])
  })

  test('joins rows whose keys are equal once composed, trimmed and without invisible characters', async () => {
    const text = 'id,name,aka,c\nk\u00e9,Jos\u00e9,a,\nke\u0301\u200b,Jose\u0301,b,\n k\u00e9 ,,c,\n\u200b,x,,\n'
    const { entries, rejects } = await read('csv', text, grouped)
    expect(entries).toEqual([{ id: 'k\u00e9', name: 'Jos\u00e9', aka: ['a', 'b', 'c'], country: 'NO' }])
    expect(rejects).toMatchObject([{ code: 'value_missing', pointer: '/id', at: { line: 5 } }])
  })

  test('streams entries whose rows follow each other', async () => {
    const rows = Array.from({ length: 1200 }, (_, n) => `${n},x,a,\n${n},,b,\n`).join('')
    const adjacent = { ...grouped, group_rows: { by: ['/id'], adjacent: true } }
    const { entries, batches } = await read('csv', `id,name,aka,c\n${rows}`, adjacent)
    expect(entries).toHaveLength(1200)
    expect(entries.at(-1)).toEqual({ id: '1199', name: 'x', aka: ['a', 'b'], country: 'NO' })
    expect(batches.findIndex((batch) => batch.entries.length > 0)).toBeLessThan(batches.length - 1)
  })

  test('groups JSON records and rows of workbooks', async () => {
    const { entries } = await read('json', '[{"id":1,"t":["a"]},{"id":1,"t":["b","a"],"o":{"x":1}}]', { group_rows })
    expect(entries).toEqual([{ id: 1, t: ['a', 'b'], o: { x: 1 } }])
    const book = await collectBytes(
      writeXlsx(
        [
          ['id', 'name', 'aka', 'c'],
          ['1', 'Jo', 'a'],
          ['1', 'Jo', 'b'],
        ],
        'S',
      ),
    )
    expect((await read('xlsx', book, grouped)).entries).toEqual([
      { id: '1', name: 'Jo', aka: ['a', 'b'], country: 'NO' },
    ])
  })

  test('refuses more rows than can be held with advice, unless rows follow each other', () => {
    const note = 'x'.repeat(1_000_000)
    const mapping: Mapping<number> = { map: (n) => ({ id: n, note }), complete: () => [] }
    const addAll = (adjacent: boolean) => {
      const out = new BatchBuilder()
      const records = new MappedRecords(mapping, { group_rows: { by: ['/id'], adjacent } }, out)
      for (let n = 1; n <= 40; n++) records.add(n, { row: n })
      return out.take().entries.length
    }
    expect(() => addAll(false)).toThrow('Sort them by the members they are joined by, and set group_rows.adjacent.')
    expect(addAll(true)).toBe(39)
  })
})

test.each([
  ['two columns for one member', { columns: [columns[0], { column: 'x', pointer: '/id' }] }, '/columns/1/pointer'],
  ['a member inside a text', { columns: [columns[0], { column: 'x', pointer: '/id/x' }] }, '/columns/1/pointer'],
  [
    'an object around a text',
    {
      columns: [
        { column: 'x', pointer: '/a/b' },
        { column: 'y', pointer: '/a' },
      ],
    },
    '/columns/1/pointer',
  ],
  [
    'a constant and a column',
    { constants: { a: { id: 1 } }, columns: [{ column: 'x', pointer: '/a/id' }] },
    '/columns/0/pointer',
  ],
  ['an array that is a value elsewhere', { columns, elements: [{ pointer: '/name', columns }] }, '/elements/0/pointer'],
  [
    'a value and an appended one',
    {
      columns: [
        { column: 'x', pointer: '/a' },
        { column: 'y', pointer: '/a/-' },
      ],
    },
    '/columns/1/pointer',
  ],
  ['"-" in the middle', { columns: [{ column: 'x', pointer: '/names/-/name' }] }, '/columns/0/pointer'],
  ['a member called __proto__', { constants: JSON.parse('{"__proto__": 1}'), columns }, '/constants/__proto__'],
  ['a default that is never used', { columns: [{ ...columns[0], default: 'x' }] }, '/columns/0/default'],
  [
    'two splits in one element',
    {
      columns,
      elements: [{ pointer: '/e', columns: columns.map((one) => ({ ...one, required: false, split: ';' })) }],
    },
    '/elements/0/columns/1/split',
  ],
  [
    'an element that appends',
    { columns, elements: [{ pointer: '/e', columns: [{ column: 'x', pointer: '/a/-' }] }] },
    '/elements/0/columns/0/pointer',
  ],
  ['rows joined by what nothing is mapped to', { columns, group_rows: { by: ['/id', '/key'] } }, '/group_rows/by/1'],
  [
    'rows joined by an array',
    { columns: [...columns, { column: 'x', pointer: '/t/-' }], group_rows: { by: ['/t'] } },
    '/group_rows/by/0',
  ],
])('reports %s as a fault of the mapping, with its pointer', async (_, options, pointer) => {
  expect(findMappingFaults(options).map((fault) => fault.pointer)).toEqual([pointer])
  await expect(readWithAdapter('csv', toSource('id,name,x,y\n'), options)).rejects.toMatchObject({
    code: 'layout_unknown',
  })
})
