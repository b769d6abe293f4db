import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Problem, type ProblemExtra } from './problem.ts'
import { decodeQuery, MAX_QUERY_PARAMETERS, parseQueryString } from './query-string.ts'

fc.configureGlobal({ seed: 3986 })

const schema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    limit: { type: 'integer' },
    deep: { type: 'boolean' },
    name: { type: 'string' },
    state: { type: 'array', items: { type: 'string' } },
    year: { type: 'array', items: { type: 'integer' } },
  },
}

function refusal(act: () => unknown): ProblemExtra {
  try {
    act()
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    expect(error.code).toBe('malformed_request')
    return error.extra
  }
  throw new Error('was accepted')
}

describe('splitting', () => {
  test.each([
    ['', []],
    ['&&', []],
    [
      'a=1&b=2&a=3',
      [
        ['a', ['1', '3']],
        ['b', ['2']],
      ],
    ],
    ['a', [['a', ['']]]],
    ['a=', [['a', ['']]]],
    ['=a', [['', ['a']]]],
    ['a=b=c', [['a', ['b=c']]]],
    ['a+b=c+d%2B', [['a b', ['c d+']]]],
    ['%C3%A9=%F0%9F%98%80%26%3D', [['é', ['😀&=']]]],
    ['a=%00', [['a', ['\0']]]],
    ['__proto__=1', [['__proto__', ['1']]]],
  ])('%j', (raw, entries) => {
    expect([...parseQueryString(raw)]).toEqual(entries)
  })

  test('reads whatever URLSearchParams writes', () => {
    const text = fc.string({ unit: 'binary' })
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text), { maxLength: MAX_QUERY_PARAMETERS }), (pairs) => {
        const params = new URLSearchParams(pairs)
        const expected = new Map([...params.keys()].map((name) => [name, params.getAll(name)]))
        expect(parseQueryString(params.toString())).toEqual(expected)
      }),
    )
  })

  test.each([
    ['a=%', '#/a'],
    ['a=%4', '#/a'],
    ['a=%zz', '#/a'],
    ['a%=1', '#'],
    ['a=%FF', '#/a'],
    ['a=%C0%80', '#/a'],
    ['a=%ED%A0%80', '#/a'],
    ['a=%F5%80%80%80', '#/a'],
    ['a=\u00e9', '#/a'],
    ['a=\ud800', '#/a'],
    ['a b=1', '#'],
  ])('refuses %j', (raw, pointer) => {
    expect(refusal(() => parseQueryString(raw)).errors).toEqual([{ in: 'query', pointer, detail: expect.any(String) }])
  })

  test('refuses too many parameters', () => {
    expect(parseQueryString('a=1&'.repeat(MAX_QUERY_PARAMETERS)).get('a')).toHaveLength(MAX_QUERY_PARAMETERS)
    expect(refusal(() => parseQueryString('a=1&'.repeat(MAX_QUERY_PARAMETERS + 1))).detail).toMatch(/more than 100/)
  })

  test('returns a map or throws a Problem for any text', () => {
    const piece = fc.oneof(
      fc.constantFrom('%', '%4', '%41', '%C3', '%A9', '&', '=', '+', 'a', '%00'),
      fc.string({ unit: 'binary' }),
    )
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        try {
          expect(parseQueryString(pieces.join(''))).toBeInstanceOf(Map)
        } catch (error) {
          expect(error).toBeInstanceOf(Problem)
        }
      }),
    )
  })
})

describe('decoding', () => {
  test.each([
    ['limit=0', { limit: 0 }],
    ['limit=-0', { limit: 0 }],
    ['limit=-17', { limit: -17 }],
    ['limit=9007199254740991', { limit: Number.MAX_SAFE_INTEGER }],
    ['deep=true', { deep: true }],
    ['deep=false', { deep: false }],
    ['name=5', { name: '5' }],
    ['name=true', { name: 'true' }],
    ['state=open', { state: ['open'] }],
    ['state=open&limit=1&state=new', { state: ['open', 'new'], limit: 1 }],
    ['year=1999&year=x&year=2001', { year: [1999, 'x', 2001] }],
    ['year', { year: [''] }],
    ['', {}],
  ])('%j', (raw, query) => {
    expect({ ...decodeQuery(schema, raw) }).toStrictEqual(query)
  })

  test.each([
    '1e2',
    '+5',
    '%205',
    '5%20',
    '',
    '05',
    '-',
    '--5',
    '5.0',
    '0x10',
    'Infinity',
    '9007199254740992',
    '%EF%BC%95',
    '5%0A',
    'null',
  ])('limit=%s stays text, for the validator to refuse', (value) => {
    expect(typeof decodeQuery(schema, `limit=${value}`)['limit']).toBe('string')
  })

  test.each(['1', '0', 'TRUE', 'yes', '', 'true%20'])('deep=%s stays text, for the validator to refuse', (value) => {
    expect(typeof decodeQuery(schema, `deep=${value}`)['deep']).toBe('string')
  })

  test('refuses a repeated scalar with its position, even when both values agree', () => {
    expect(refusal(() => decodeQuery(schema, 'limit=5&deep=true&limit=5')).errors).toEqual([
      { in: 'query', pointer: '#/limit', detail: 'The parameter appears more than once. Send it once.' },
    ])
    const both = refusal(() => decodeQuery(schema, 'name=a&name=b&deep=true&deep=false'))
    expect(both.errors?.map((error) => error.pointer)).toEqual(['#/name', '#/deep'])
    expect(both.detail).toBe('2 parameters appear more than once.')
  })

  test('keeps unknown names for the validator to refuse', () => {
    const query = decodeQuery(schema, 'colour=red&colour=blue&__proto__=polluted&constructor=x&constructor=y&limit=1')
    expect(Object.entries(query)).toEqual([
      ['colour', 'red'],
      ['__proto__', 'polluted'],
      ['constructor', 'x'],
      ['limit', 1],
    ])
    expect(Object.getPrototypeOf({})).toBe(Object.prototype)
    expect(decodeQuery({}, 'toString=1')).toEqual({ toString: '1' })
  })

  test('every safe integer has exactly one spelling', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (value) => {
        expect(decodeQuery(schema, `limit=${value}`)['limit']).toBe(value === 0 ? 0 : value)
        expect(decodeQuery(schema, `limit=0${value}`)['limit']).toBe(`0${value}`)
      }),
    )
  })
})
