import { describe, expect, test } from 'vitest'
import { findSchemaErrors } from '#kernel/http/validation.ts'
import { getAdapter, readWithAdapter } from '#test/support/adapter-reading.ts'
import { collectBytes, toSource } from '#test/support/byte-sources.ts'
import { writeXlsx } from '../formats/xlsx-writer.ts'

async function read(key: string, content: string | Uint8Array, options: Record<string, unknown> = {}) {
  expect(findSchemaErrors('body', getAdapter(key).options, options)).toEqual([])
  return readWithAdapter(key, toSource(content), options)
}

describe('csv', () => {
  test('without a mapping reads every column as text and leaves out empty cells', async () => {
    const { read: entries } = await read('csv', ' code ,name,note\nNA, Namibia ,\n"0742","a\nb",x\n')
    expect(entries).toEqual([
      { entry: { code: 'NA', name: ' Namibia ' }, at: { row: 1, line: 2 } },
      { entry: { code: '0742', name: 'a\nb', note: 'x' }, at: { row: 2, line: 3 } },
    ])
  })

  test('reads columns into the members and kinds of the mapping', async () => {
    const { entries, rejects } = await read(
      'csv',
      'id;score;on;since;city;odd\n007;1,50;Yes;14 Nov 2007;Windhoek;-\n',
      {
        delimiter: ';',
        null_values: ['-'],
        columns: [
          { column: 'id', pointer: '/id', kind: 'integer' },
          { column: 2, pointer: '/score', kind: 'decimal', decimal_separator: ',' },
          { column: 'on', pointer: '/active', kind: 'boolean' },
          { column: 'since', pointer: '/dates/since', kind: 'date', formats: ['YYYY-MM-DD', 'DD MMM YYYY'] },
          { column: 'city', pointer: '/address/city' },
          { column: 'odd', pointer: '/odd' },
          { column: 'absent', pointer: '/absent', optional: true },
        ],
      },
    )
    expect(rejects).toEqual([])
    expect(entries).toEqual([
      { id: 7, score: 1.5, active: true, dates: { since: '2007-11-14' }, address: { city: 'Windhoek' } },
    ])
  })

  test.each([
    ['integer', '1.0'],
    ['integer', '12345678901234567890'],
    ['decimal', '1,5'],
    ['decimal', '0.12345678901234567'],
    ['boolean', 'maybe'],
    ['date', '2023-02-29'],
    ['date', '00/00/1980'],
  ])('%s: rejects "%s" with its column', async (kind, value) => {
    const columns = [{ column: 'v', pointer: '/v', kind }]
    const { entries, rejects } = await read('csv', `k,v\na,"${value}"\n`, { columns })
    expect(entries).toEqual([])
    expect(rejects).toMatchObject([
      { code: 'value_unreadable', pointer: '/v', at: { row: 1, line: 2, column: 'v' }, excerpt: value },
    ])
  })

  test('rejects a row without a required value, and reports every fault of a row', async () => {
    const columns = [
      { column: 'a', pointer: '/a', required: true },
      { column: 'b', pointer: '/b', kind: 'integer' },
    ]
    const { rejects } = await read('csv', 'a,b\n,x\n', { columns })
    expect(rejects.map(({ code, pointer }) => [code, pointer])).toEqual([
      ['value_missing', '/a'],
      ['value_unreadable', '/b'],
    ])
  })

  test('rejects rows that are too short or too long, and reads padded ones', async () => {
    const { entries, rejects, warnings } = await read('csv', 'a,b,c\n1,2\n1,2,3,4\n1,2,3,, \n"1"x,2,3\n4,5,6\n')
    expect(rejects.map(({ code, at }) => [code, at])).toEqual([
      ['column_lacking', { row: 1, line: 2, column: 'c' }],
      ['column_extra', { row: 2, line: 3, column: '4' }],
      ['quote_misplaced', { row: 4, line: 5, column: 'a' }],
    ])
    expect(entries).toEqual([
      { a: '1', b: '2', c: '3' },
      { a: '4', b: '5', c: '6' },
    ])
    expect(warnings).toMatchObject([{ code: 'rows_padded', at: { row: 3, line: 4 } }])
    expect((await read('csv', 'a,b\n1\n', { fill_short_rows: true })).entries).toEqual([{ a: '1' }])
  })

  test('refuses a source whose last row is short and has no line end', async () => {
    await expect(read('csv', 'a,b\n1,2\n3')).rejects.toMatchObject({ code: 'truncated', at: { row: 2, line: 3 } })
  })

  test('numbers the columns of a file without header, and skips lines before the header', async () => {
    expect((await read('csv', '1,x\n2,y\n', { header: false })).entries).toEqual([
      { '1': '1', '2': 'x' },
      { '1': '2', '2': 'y' },
    ])
    const { read: entries } = await read('csv', 'Report,,\nof today\nk|v\n1|2\n', { skip_lines: 2, delimiter: '|' })
    expect(entries).toEqual([{ entry: { k: '1', v: '2' }, at: { row: 1, line: 4 } }])
  })

  test.each([
    ['a mapped column that is not there', 'a,b\n', { columns: [{ column: 'c', pointer: '/c' }] }, 'column_missing'],
    ['two columns of one name', 'a,a\n', {}, 'column_duplicate'],
    ['a name that would not be a member', '__proto__\nx\n', {}, 'layout_unknown'],
  ])('refuses a source with %s', async (_, text, options, code) => {
    await expect(read('csv', text, options)).rejects.toMatchObject({ code })
  })

  test('keeps white space around a text for the type to trim, unless an option drops it', async () => {
    expect((await read('csv', 'a\n x \n')).entries).toEqual([{ a: ' x ' }])
    expect((await read('csv', 'a\n x \n', { trim: true })).entries).toEqual([{ a: 'x' }])
    const columns = [{ column: 'a', pointer: '/a', kind: 'integer', null_values: ['-'] }]
    expect((await read('csv', 'a\n 5 \n - \n', { columns })).entries).toEqual([{ a: 5 }, {}])
  })

  test('tsv reads tab-separated text', async () => {
    expect((await read('tsv', '"a"\tb\n" 1"\t2,3\n')).entries).toEqual([{ a: ' 1', b: '2,3' }])
  })
})

describe('json and ndjson', () => {
  test('reads records with their location', async () => {
    const { read: entries } = await read('json', '{"data":[{"a":1},\n{"a":2}]}', { pointer: '/data' })
    expect(entries).toEqual([
      { entry: { a: 1 }, at: { row: 1, line: 1, path: '/data/0' } },
      { entry: { a: 2 }, at: { row: 2, line: 2, path: '/data/1' } },
    ])
  })

  test('reads plain values and members of an object as the options say', async () => {
    expect((await read('json', '["x"]', { scalar_member: 'address' })).entries).toEqual([{ address: 'x' }])
    expect((await read('json', '{"31-33":{"t":1}}', { key_member: 'code' })).entries).toEqual([{ code: '31-33', t: 1 }])
    expect((await read('json', '["x",[1]]')).rejects.map(({ code }) => code)).toEqual([
      'not_an_object',
      'not_an_object',
    ])
    expect((await read('json', '{"31-33":{"t":1}}')).rejects).toHaveLength(1)
  })

  test('moves members and converts texts as the mapping says', async () => {
    const members = [
      { from: '/id', pointer: '/key', required: true },
      { from: '/v/n', pointer: '/n', kind: 'integer' },
      { from: '/tags', pointer: '/tags' },
    ]
    const { entries, rejects } = await read('ndjson', '{"id":"a","v":{"n":"7"},"tags":[1]}\n{"v":{"n":1.5}}\n', {
      members,
    })
    expect(entries).toEqual([{ key: 'a', n: 7, tags: [1] }])
    expect(rejects.map(({ code, pointer, at }) => [code, pointer, at.line])).toEqual([
      ['value_missing', '/key', 2],
      ['value_unreadable', '/n', 2],
    ])
  })

  test('rejects an invalid or repeated line with its number', async () => {
    const { entries, rejects } = await read('ndjson', '{"a":1}\n{"a":}\n{"a":1,"a":2}\n[1]\n{"a":3}\n')
    expect(entries).toEqual([{ a: 1 }, { a: 3 }])
    expect(rejects.map(({ code, at }) => [code, at.line])).toEqual([
      ['not_well_formed', 2],
      ['name_duplicate', 3],
      ['not_an_object', 4],
    ])
    expect(rejects[0]?.message).toContain('at line 2')
  })
})

describe('xlsx', () => {
  const book = (rows: (string | number | null)[][]) => collectBytes(writeXlsx(rows, 'Data'))

  test('reads a header and rows with their numbers', async () => {
    const bytes = await book([['Title'], [], ['code', 'score', null], ['NA', 4.5], ['NO']])
    const columns = [
      { column: 'code', pointer: '/code' },
      { column: 'score', pointer: '/score', kind: 'decimal' },
    ]
    const { read: entries } = await read('xlsx', bytes, { skip_rows: 1, columns })
    expect(entries).toEqual([
      { entry: { code: 'NA', score: 4.5 }, at: { row: 1, line: 4, sheet: 'Data' } },
      { entry: { code: 'NO' }, at: { row: 2, line: 5, sheet: 'Data' } },
    ])
  })

  test('rejects text beyond the last column', async () => {
    const { rejects } = await read('xlsx', await book([['a'], ['1', '2']]))
    expect(rejects).toMatchObject([{ code: 'column_extra', at: { line: 2, sheet: 'Data', column: '2' } }])
  })

  test('reads a sheet without a header', async () => {
    expect((await read('xlsx', await book([['x', 1]]), { header: false })).entries).toEqual([{ '1': 'x', '2': '1' }])
  })
})
