import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CanonicalText, canonicalJson } from './canonical-json.ts'

fc.configureGlobal({ seed: 8785 })

describe('what it writes', () => {
  test.each([
    [null, 'null'],
    ['\\ud800', '"\\\\ud800"'],
    [true, 'true'],
    [[], '[]'],
    [{}, '{}'],
    [[1, [2, { b: 1, a: [] }], 'x'], '[1,[2,{"a":[],"b":1}],"x"]'],
    [{ 10: 1, 9: 2, a: 3, A: 4, '': 5 }, '{"":5,"10":1,"9":2,"A":4,"a":3}'],
    ['\u0000\b\t\n\u000b\f\r\u001f"\\/\u007f\u2028é', '"\\u0000\\b\\t\\n\\u000b\\f\\r\\u001f\\"\\\\/\u007f\u2028é"'],
  ])('%j', (value, text) => {
    expect(canonicalJson(value)).toBe(text)
  })

  test('names in the order of UTF-16 code units, not of code points', () => {
    const names = ['\u20ac', '\r', '\ufb33', '1', '\ud83d\ude00', '\u0080', '\u00f6']
    const value = Object.fromEntries(names.map((name) => [name, 0]))
    const sorted = Object.keys(JSON.parse(canonicalJson(value))).map((name) => name.codePointAt(0)?.toString(16))
    expect(sorted).toEqual(['31', 'd', '80', 'f6', '20ac', '1f600', 'fb33'])
  })

  test.each([2, 20, 21, 300])('%i names in the same order as fewer or more', (count) => {
    const names = Array.from({ length: count }, (_, n) => `name-${(n * 7919) % 10_007}`)
    const text = canonicalJson(Object.fromEntries(names.map((name) => [name, 0])))
    expect(Object.keys(JSON.parse(text))).toEqual([...names].sort())
  })

  test('new names, more names than are cached, and longer ones', () => {
    const names = Array.from({ length: 5000 }, (_, n) => `"${'n'.repeat(n % 100)}\n${n}`)
    for (const name of [...names, ...names]) expect(canonicalJson({ [name]: 0 })).toBe(JSON.stringify({ [name]: 0 }))
  })

  test('a value with a cached canonical text', () => {
    const value = { b: [1, { d: 'é', c: null }], a: '\n' }
    const text = new CanonicalText(value)
    expect(canonicalJson(text)).toBe(canonicalJson(value))
    expect(canonicalJson({ z: [text, text], y: text })).toBe(canonicalJson({ z: [value, value], y: value }))
    expect(() => new CanonicalText(undefined)).toThrow(TypeError)
  })

  // The IEEE 754 samples of RFC 8785, appendix B.
  test.each([
    ['0000000000000000', '0'],
    ['8000000000000000', '0'],
    ['0000000000000001', '5e-324'],
    ['8000000000000001', '-5e-324'],
    ['7fefffffffffffff', '1.7976931348623157e+308'],
    ['ffefffffffffffff', '-1.7976931348623157e+308'],
    ['4340000000000000', '9007199254740992'],
    ['c340000000000000', '-9007199254740992'],
    ['4430000000000000', '295147905179352830000'],
    ['44b52d02c7e14af5', '9.999999999999997e+22'],
    ['44b52d02c7e14af6', '1e+23'],
    ['44b52d02c7e14af7', '1.0000000000000001e+23'],
    ['444b1ae4d6e2ef4e', '999999999999999700000'],
    ['444b1ae4d6e2ef4f', '999999999999999900000'],
    ['444b1ae4d6e2ef50', '1e+21'],
    ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
    ['3eb0c6f7a0b5ed8d', '0.000001'],
    ['41b3de4355555553', '333333333.3333332'],
    ['41b3de4355555557', '333333333.33333343'],
    ['becbf647612f3696', '-0.0000033333333333333333'],
    ['43143ff3c1cb0959', '1424953923781206.2'],
  ])('the double %s', (bits, text) => {
    expect(canonicalJson(Buffer.from(bits, 'hex').readDoubleBE())).toBe(text)
  })

  test('an own __proto__ member is data', () => {
    expect(canonicalJson(JSON.parse('{"b":1,"__proto__":{"a":2}}'))).toBe('{"__proto__":{"a":2},"b":1}')
    expect(canonicalJson(Object.assign(Object.create(null), { a: 1 }))).toBe('{"a":1}')
  })

  test('the same value for JSON.parse, and the same text whatever order members came in', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
        const text = canonicalJson(value)
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)))
        expect(canonicalJson(reversed(value))).toBe(text)
        expect(canonicalJson(JSON.parse(text))).toBe(text)
      }),
    )
  })
})

describe('what it refuses', () => {
  const cyclic: unknown[] = []
  cyclic.push(cyclic)

  test.each([
    ['undefined', undefined],
    ['a function', () => 1],
    ['a symbol', Symbol('s')],
    ['a bigint', 1n],
    ['NaN', Number.NaN],
    ['Infinity', Number.POSITIVE_INFINITY],
    ['a lone high surrogate', 'a\ud800'],
    ['a lone low surrogate', '\udc00\ud800'],
    ['a lone surrogate in a name', { '\ud800': 1 }],
    ['a hole', Array(1)],
    ['a date', new Date(0)],
    ['a map', new Map()],
    ['a boxed string', Object('s')],
    ['a cycle', cyclic],
  ])('%s, alone and inside', (_, value) => {
    expect(() => canonicalJson(value)).toThrow(TypeError)
    expect(() => canonicalJson({ a: [value] })).toThrow(TypeError)
  })
})

const vectors = path.resolve(import.meta.dirname, '../../../shared/data/conformance/jcs')
const vectorsFound = existsSync(vectors)
if (!vectorsFound) console.info(`JCS vectors skipped: ${vectors} is absent`)

describe.skipIf(!vectorsFound)('published vectors', () => {
  const names = vectorsFound ? readdirSync(path.join(vectors, 'input')) : []

  test.each(names)('%s', (name) => {
    const input: unknown = JSON.parse(readFileSync(path.join(vectors, 'input', name), 'utf8'))
    const bytes = readFileSync(path.join(vectors, 'outhex', name.replace('.json', '.txt')), 'utf8').replace(/\s/g, '')
    expect(Buffer.from(canonicalJson(input)).toString('hex')).toBe(bytes)
    expect(canonicalJson(input)).toBe(readFileSync(path.join(vectors, 'output', name), 'utf8').trimEnd())
  })
})

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, inner]) => [name, reversed(inner)]),
  )
}
