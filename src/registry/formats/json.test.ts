import { describe, expect, test } from 'vitest'
import { collectItems } from '#test/support/byte-sources.ts'
import { SourceFault } from '../adapter.ts'
import { readJsonItems } from './json.ts'
import { parseRecord, RecordFault } from './json-record.ts'
import { readNdjson } from './ndjson.ts'

async function* pieces(texts: readonly string[]): AsyncGenerator<string> {
  yield* texts
}

async function read(text: string, pointer?: string) {
  const whole = await collectItems(readJsonItems(pieces([text]), pointer))
  expect(await collectItems(readJsonItems(pieces([...text]), pointer))).toEqual(whole)
  return whole
}

const values = async (text: string, pointer?: string) => (await read(text, pointer)).map(({ value }) => value)

describe('one record', () => {
  test('is parsed', () => {
    expect(parseRecord('{"a":[1,{"b":"x\\"y:"}],"c":null}')).toEqual({ a: [1, { b: 'x"y:' }], c: null })
  })

  test.each([
    ['the same name twice', '{"a":1,"a":2}', 'name_duplicate'],
    ['the same name twice, deep down and spelled differently', '{"x":[{"a":1,"\\u0061":2}]}', 'name_duplicate'],
    ['an integer that would be rounded', '{"a":9007199254740993}', 'value_unreadable'],
    ['a number that would become infinite', '{"a":1e999}', 'value_unreadable'],
    ['half a surrogate pair', '{"a":"\\ud800"}', 'value_unreadable'],
    ['too many levels', `${'['.repeat(65)}${']'.repeat(65)}`, 'value_unreadable'],
    ['no JSON', '{"a":NaN}', 'not_well_formed'],
  ])('refuses %s', (_, text, code) => {
    let caught: unknown
    try {
      parseRecord(text)
    } catch (error) {
      caught = error
    }
    expect(caught).toBeInstanceOf(RecordFault)
    expect(caught).toMatchObject({ code })
  })

  test.each(['{"a":"1234567890123456789"}', '{"a":1.5e3}', '{"a":"\\ud83d\\ude00"}', '{"a":"x1e5","b":":"}'])(
    'reads %s',
    (text) => {
      expect(parseRecord(text)).toEqual(JSON.parse(text))
    },
  )
})

describe('a document', () => {
  test('is an array, or has an array at the pointer', async () => {
    expect(await values('[1, "a]", {"b": [2]}, null]')).toEqual([1, 'a]', { b: [2] }, null])
    const text = '{"meta": {"items": [0]}, "data": {"more": 1, "items": [{"a": 1}, {"a": 2}]}, "end": true}'
    expect(await values(text, '/data/items')).toEqual([{ a: 1 }, { a: 2 }])
    expect(await values('[[1],[2,3]]', '/1')).toEqual([2, 3])
    expect(await values('{"a/b":[1]}', '/a~1b')).toEqual([1])
    expect(await values('[]')).toEqual([])
  })

  test('yields members of an object with their names', async () => {
    expect((await read('{"11": {"t": 1}, "21": {"t": 2}}')).map(({ name }) => name)).toEqual(['11', '21'])
  })

  test('yields records with their line', async () => {
    expect((await read('[\n{"a":1},\n\n{"a":\n2}, {"a":3}]')).map(({ line }) => line)).toEqual([2, 4, 5])
  })

  test('reports a duplicate name as a fault of its record', async () => {
    expect(await values('[{"a":1},{"a":1,"a":2},{"a":3}]')).toEqual([{ a: 1 }, expect.any(RecordFault), { a: 3 }])
  })

  test.each([
    ['half a file', '[{"a":1},{"a"', 'truncated'],
    ['no closing bracket', '[{"a":1}', 'truncated'],
    ['an outer object cut off', '{"data":[1]', 'truncated'],
    ['a missing comma', '[{"a":1} {"a":2}]', 'not_well_formed'],
    ['a trailing comma', '[1,]', 'not_well_formed'],
    ['a record that is not JSON', '[\n{"a":1},\n{"a":NaN}]', 'not_well_formed'],
    ['something after the end', '[1] 2', 'not_well_formed'],
    ['a broken part that is only skipped', '{"x": [1 2], "data": [1]}', 'not_well_formed'],
    ['the same name twice around the records', '{"data":[1],"data":[2]}', 'not_well_formed'],
    ['nothing but space', ' \n', 'truncated'],
    ['no records at the pointer', '{"rows":[1]}', 'layout_unknown'],
    ['a plain value', '42', 'layout_unknown'],
    ['too many levels', `{"x":${'['.repeat(70)}${']'.repeat(70)},"data":[]}`, 'not_well_formed'],
  ])('%s is refused', async (_, text, code) => {
    const pointer = text.startsWith('{') ? '/data' : ''
    const refused = await read(text, pointer).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(SourceFault)
    expect(refused).toMatchObject({ code })
  })

  test('reports the line of a fault in the document', async () => {
    await expect(read('[\n{"a":1},\n{\n"a":NaN}]')).rejects.toMatchObject({
      message: expect.stringContaining('at line 4'),
      at: { line: 4 },
    })
  })
})

describe('lines', () => {
  const lines = (text: string) => collectItems(readNdjson(pieces([...text])))

  test('skips blank lines, and reports a malformed line as its own fault', async () => {
    expect(await lines('{"a":1}\r\n\n{"a":\n{"a":2}')).toMatchObject([
      { line: 1, value: { a: 1 } },
      { line: 3, value: { code: 'not_well_formed' } },
      { line: 4, value: { a: 2 } },
    ])
  })

  test('refuses a file with an incomplete last line as truncated', async () => {
    await expect(lines('{"a":1}\n{"a"')).rejects.toMatchObject({ code: 'truncated', at: { line: 2 } })
  })

  test('refuses a line beyond the maximum length', async () => {
    const long = Array.from({ length: 17 }, () => 'x'.repeat(65_536))
    await expect(collectItems(readNdjson(pieces(['{}\n', ...long])))).rejects.toMatchObject({ code: 'record_too_long' })
  })
})
