import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Problem } from './problem.ts'
import { MAX_JSON_DEPTH, MAX_JSON_TOKENS, parseStrictJson, toJsonPointer } from './strict-json.ts'

fc.configureGlobal({ seed: 8259 })

const read = (text: string) => parseStrictJson(Buffer.from(text))

function refusal(input: string | Buffer): { detail: string; pointer: string } {
  try {
    parseStrictJson(typeof input === 'string' ? Buffer.from(input) : input)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const [first] = error.extra.errors ?? []
    expect(error.code).toBe('malformed_request')
    expect(first?.in).toBe('body')
    expect(first?.detail).toBe(error.extra.detail)
    return { detail: first?.detail ?? '', pointer: first?.pointer ?? '' }
  }
  throw new Error('was accepted')
}

/** Values that a reader may keep exactly: no number beyond the safe integers. */
const jsonValue = fc
  .jsonValue({ maxDepth: 6, stringUnit: 'binary' })
  .filter((value) => everyNumber(value, (n) => Math.abs(n) <= Number.MAX_SAFE_INTEGER))

function everyNumber(value: unknown, holds: (n: number) => boolean): boolean {
  if (typeof value === 'number') return holds(value)
  if (typeof value !== 'object' || value === null) return true
  return Object.values(value).every((inner) => everyNumber(inner, holds))
}

describe('what is accepted', () => {
  test('any well-formed document reads as JSON.parse reads it', () => {
    fc.assert(
      fc.property(jsonValue, fc.constantFrom(undefined, 1, '\t', '\r\n'), (value, indent) => {
        const text = JSON.stringify(value, null, indent)
        expect(read(text)).toStrictEqual(JSON.parse(text))
      }),
    )
  })

  test('scalars, white space and every escape', () => {
    expect(read(' \t\r\n"\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\ud83d\\ude00" ')).toBe('"\\/\b\f\n\r\tA😀')
    expect(read('null')).toBeNull()
    expect(read('[true,false]')).toEqual([true, false])
    expect(read('"\\u0000"')).toBe('\0')
  })

  test.each([
    '0',
    '-0',
    '0.1',
    '-1.5e-7',
    '1e15',
    '9007199254740991',
    '-9007199254740991',
    '90071992547409.91e2',
    '1e-400',
  ])('the number %s', (literal) => {
    expect(read(literal)).toBe(JSON.parse(literal))
  })

  test('the deepest and the longest document allowed', () => {
    const deep = '['.repeat(MAX_JSON_DEPTH) + ']'.repeat(MAX_JSON_DEPTH)
    expect(read(deep)).toEqual(JSON.parse(deep))
    expect(read(JSON.stringify(Array(MAX_JSON_TOKENS - 2).fill(0)))).toHaveLength(MAX_JSON_TOKENS - 2)
  })

  test('a name that means something to JavaScript is an ordinary own property', () => {
    const value = read('{"__proto__":{"admin":true},"constructor":1,"hasOwnProperty":2}') as Record<string, unknown>
    expect(Object.keys(value)).toEqual(['__proto__', 'constructor', 'hasOwnProperty'])
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    expect(value['admin']).toBeUndefined()
    expect(({} as Record<string, unknown>)['admin']).toBeUndefined()
  })

  test('the same name in different objects is no duplicate', () => {
    const text = '{"a":{"a":[{"a":1},{"a":2}]},"b":{"a":3}}'
    expect(read(text)).toEqual(JSON.parse(text))
  })
})

describe('what is refused', () => {
  test.each([
    ['', /empty/, '#'],
    [' \n', /only white space/, '#'],
    ['\ufeff{}', /byte order mark/, '#'],
    ['{"a":1,"b":[true,}', /JSON value at line 1, column 18/, '#/b/1'],
    ['{"a":1,\n "b" 2}', /colon after the name at line 2, column 6/, '#/b'],
    ['{"a":{"b":1 "c":2}}', /comma or "}"/, '#/a/b'],
    ['{"a":{"b":1} 2}', /comma or "}"/, '#/a'],
    ['[1 2]', /comma or "\]"/, '#/0'],
    ['{a:1}', /name in double quotes/, '#'],
    ['{"a":1,}', /name in double quotes/, '#/a'],
    ['[1,2', /ends too early/, '#/1'],
    ['{"a":"b', /ends too early. Close the string/, '#/a'],
    ['"\n"', /control characters/, '#'],
    ['"\\x"', /escapes JSON knows/, '#'],
    ['"\\', /escapes JSON knows/, '#'],
    ['"\\u12g4"', /four hexadecimal digits/, '#'],
    ['"\\u12', /four hexadecimal digits/, '#'],
    ['{} {}', /exactly one JSON value at line 1, column 4/, '#'],
    ['01', /exactly one JSON value/, '#'],
    ['-', /digit/, '#'],
    ['1.', /digit/, '#'],
    ['1e+', /digit/, '#'],
    ['nul', /JSON value/, '#'],
    ['NaN', /JSON value/, '#'],
    ['\u00a01', /JSON value/, '#'],
  ])('%j', (text, detail, pointer) => {
    const found = refusal(text)
    expect(found.detail).toMatch(detail)
    expect(found.pointer).toBe(pointer)
  })

  test('bytes that are not UTF-8', () => {
    expect(refusal(Buffer.from([0x22, 0xc3, 0x28, 0x22])).detail).toMatch(/UTF-8/)
    expect(refusal(Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])).detail).toMatch(/UTF-8/)
  })

  test.each([
    '"\\ud800"',
    '"\\udc00"',
    '"\\ud800\\u0041"',
    '"\\uD83Dx"',
    '"\\ude00\\ud83d"',
    '"\\ude00\\ude00"',
    '"\\ud83d\\ud83d\\ude00"',
  ])('the lone surrogate in %s, as value and as name', (literal) => {
    const detail = expect.stringContaining('lone surrogate')
    expect(refusal(`{"a":[0,${literal}]}`)).toEqual({ pointer: '#/a/1', detail })
    expect(refusal(`{"a":{${literal}:1}}`)).toEqual({ pointer: '#/a', detail })
  })

  test.each([
    '9007199254740992',
    '9007199254740993',
    '-9007199254740992',
    '1e20',
    '1E400',
    '-1e400',
    '1.5e300',
    '9007199254740993.0',
    '9'.repeat(400),
  ])('the number %s, which would be rounded', (literal) => {
    const found = refusal(`{"n":[${literal}]}`)
    expect(found.detail).toMatch(/would be rounded/)
    expect(found.pointer).toBe('#/n/0')
  })

  test('nesting and length beyond the limits, without reading on', () => {
    expect(refusal('['.repeat(MAX_JSON_DEPTH + 1)).detail).toMatch(/deeper than 64/)
    expect(refusal('{"a":'.repeat(2_000_000 / 5)).detail).toMatch(/deeper than 64/)
    expect(refusal(JSON.stringify(Array(MAX_JSON_TOKENS - 1).fill(0))).detail).toMatch(/more than 200000 tokens/)
    expect(refusal(`[${'{},'.repeat(MAX_JSON_TOKENS / 2)}0]`).detail).toMatch(/tokens/)
  })

  test('a name that cannot be read, blaming the object and not the member before it', () => {
    expect(refusal('{"x":{"a":1,"\\q":2}}').pointer).toBe('#/x')
  })

  test('a name in two spellings', () => {
    expect(refusal('{"x":{"ab/~":1,"\\u0061b\\/~":2}}')).toEqual({
      detail: 'The name "ab/~" appears twice in one object. Only one of them may be there.',
      pointer: '#/x/ab~1~0',
    })
    expect(refusal('{"__proto__":1,"__proto__":2}').pointer).toBe('#/__proto__')
    expect(refusal('{"":1,"":2}').pointer).toBe('#/')
  })

  test('a duplicate inserted anywhere, in any spelling, among few and many names', () => {
    const names = fc.uniqueArray(fc.string({ unit: 'binary' }), { minLength: 1, maxLength: 40, size: 'max' })
    fc.assert(
      fc.property(names, fc.nat(), fc.nat(), fc.boolean(), jsonValue, (unique, from, to, escaped, value) => {
        const member = (name: string) => `${name}:${JSON.stringify(value)}`
        const quoted = unique.map((name) => JSON.stringify(name))
        const members = quoted.map(member)
        const twin = from % unique.length
        const spelling = escaped ? escapeEvery(unique[twin] ?? '') : (quoted[twin] ?? '')
        const wrap = (inner: string) => `[0,{"outer":{${inner}}}]`
        read(wrap(members.join()))
        members.splice(to % (members.length + 1), 0, member(spelling))
        expect(refusal(wrap(members.join())).detail).toMatch(/twice/)
      }),
    )
  })

  test('damaged bytes give a value or a Problem, exactly as JSON.parse would allow', () => {
    const damage = fc.array(
      fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 }), fc.constantFrom('set', 'insert', 'drop')),
    )
    fc.assert(
      fc.property(jsonValue, damage, (value, changes) => {
        const bytes = [...Buffer.from(JSON.stringify({ value, text: 'a\\"b\u0001é😀', list: [1, -2.5e3, null] }))]
        for (const [at, byte, kind] of changes) {
          bytes.splice(at % bytes.length, kind === 'insert' ? 0 : 1, ...(kind === 'drop' ? [] : [byte]))
        }
        const damaged = Buffer.from(bytes)
        let result: unknown
        try {
          result = parseStrictJson(damaged)
        } catch (error) {
          expect(error).toBeInstanceOf(Problem)
          return
        }
        expect(result).toStrictEqual(JSON.parse(damaged.toString()))
      }),
      { numRuns: 1000 },
    )
  })

  test('arbitrary text made of JSON characters is refused whenever JSON.parse refuses it', () => {
    const piece = fc.constantFrom(
      ...'{}[]:,"\\ 0123456789.eE+-truefalsn'.split(''),
      '"a"',
      'null',
      '\\u00e9',
      '\ud83d\ude00',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join('')
        let parsed: unknown
        try {
          parsed = JSON.parse(text)
        } catch {
          refusal(text)
          return
        }
        try {
          expect(read(text)).toStrictEqual(parsed)
        } catch (error) {
          if (!(error instanceof Problem)) throw error
          expect(error.extra.detail).toMatch(/twice|rounded/)
        }
      }),
      { numRuns: 2000 },
    )
  })
})

test('a pointer never repeats long names', () => {
  expect(toJsonPointer([])).toBe('#')
  expect(toJsonPointer(['a/b', 0, '~'])).toBe('#/a~1b/0/~0')
  expect(toJsonPointer(['a', 'x'.repeat(1000), 'b'])).toBe('#/a')
})

const suite = path.resolve(import.meta.dirname, '../../../shared/data/conformance/JSONTestSuite')
const suiteFound = existsSync(suite)
if (!suiteFound) console.info(`JSONTestSuite skipped: ${suite} is absent`)

describe.skipIf(!suiteFound)('JSONTestSuite', () => {
  /** Well-formed by the grammar, refused by this reader's own rules. */
  const ours = new Set([
    'y_object_duplicated_key.json',
    'y_number_real_exponent.json',
    'y_number_real_fraction_exponent.json',
  ])
  const files = suiteFound ? readdirSync(suite).filter((name) => /^[yn]_.*\.json$/.test(name)) : []

  test.each(files)('%s', (name) => {
    const bytes = readFileSync(path.join(suite, name))
    if (name.startsWith('y_') && !ours.has(name))
      expect(parseStrictJson(bytes)).toStrictEqual(JSON.parse(bytes.toString()))
    else refusal(bytes)
  })
})

function escapeEvery(text: string): string {
  const units = Array.from({ length: text.length }, (_, at) => text.charCodeAt(at).toString(16).padStart(4, '0'))
  return `"${units.map((unit) => `\\u${unit}`).join('')}"`
}
