/** What checking values by the schemas of plugins may cost: bounded before anything is compiled, and compiled once. */
import { RE2JS } from 're2js'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { findPatternFault } from './pattern.ts'
import { estimatePatternSize, PATTERN_LIMITS } from './pattern-size.ts'
import { findPatternLimitFault } from './schema-limits.ts'
import { findSchemaFaults, findValueFaults, type ValueSchema } from './value-schema.ts'
import { SCHEMA_LIMITS } from './value-schema-limits.ts'

afterEach(() => vi.restoreAllMocks())

const LARGE = '^[a-z]{1,900}[0-9]{1,900}$'
const countProperties = (count: number, member: object) => ({
  properties: Object.fromEntries(Array.from({ length: count }, (_, index) => [`m${index}`, member])),
})

describe('the size of a pattern', () => {
  test.each([
    LARGE,
    '^(?:[a-z]{1,30}[0-9]{1,30}){1,30}$',
    '(\\P{L}|\\p{N}){900}',
    '((a?){1,30}){2,30}',
    '[[:alpha:]]{900}',
    '[^]a]{3,900}x{7,}',
    '(?i:(?<name>ab|c)+?){300}',
    '\\Q(\\E(a)\\){400}',
  ])('%s is about its number of instructions', (pattern) => {
    expect(findPatternFault(pattern)).toBeNull()
    const instructions = RE2JS.compile(RE2JS.translateRegExp(pattern)).programSize()
    expect(estimatePatternSize(pattern)).toBeGreaterThan(instructions * 0.9)
    expect(estimatePatternSize(pattern)).toBeLessThan(instructions * 4 + 2 * pattern.length)
  })

  test.each([
    '',
    ')',
    '((',
    '{3}',
    'a{2}{3}',
    '[',
    '\\',
    '(){1000}',
    `${'('.repeat(5000)}a{1000}`,
    'a{99999999999999999}',
    // Read token by token, it takes a minute.
    '['.repeat(250_000),
  ])('is a number for %s', (pattern) => expect(estimatePatternSize(pattern)).toBeGreaterThanOrEqual(pattern.length))
})

describe('a schema beyond a limit', () => {
  const find = (schema: object) => findSchemaFaults(schema)

  test.each([
    ['pattern_steps', { items: { pattern: '(?:[a-z]{1,31}[0-9]{1,31}){1,32}x{999}' } }, '/items/pattern'],
    ['all_pattern_steps', countProperties(3, { pattern: LARGE }), '/properties/m2/pattern'],
    ['patterns', countProperties(501, { pattern: 'a' }), '/properties/m500/pattern'],
  ] as const)('is refused with the place and the limit %s, and nothing of it is compiled', (limit, schema, pointer) => {
    const compile = vi.spyOn(RE2JS, 'compile')
    const faults = find(schema)
    expect(faults).toEqual([{ pointer, message: expect.stringContaining(String(PATTERN_LIMITS[limit])) }])
    expect(compile).not.toHaveBeenCalled()
  })

  test.each([
    ['nodes', countProperties(2000, {}), '/properties/m1999'],
    [
      'entries',
      { properties: { a: { enum: [1] }, b: { required: Array(10_000).fill('x') } } },
      '/properties/b/required',
    ],
  ] as const)('is refused with the place and the limit %s', (limit, schema, pointer) => {
    expect(find(schema)).toEqual([{ pointer, message: expect.stringContaining(String(SCHEMA_LIMITS[limit])) }])
  })

  test('is refused where it is nested too deeply, or names a type too often', () => {
    let deep: object = {}
    for (let level = 0; level < 41; level++) deep = { items: deep }
    expect(find(deep)).toMatchObject([{ pointer: '/items'.repeat(41), message: expect.stringContaining('20 levels') }])
    expect(find({ type: Array(8).fill('string') })).toMatchObject([{ pointer: '/type' }])
  })

  test('is accepted at the limit', () => {
    expect(find(countProperties(2, { pattern: LARGE }))).toEqual([])
    expect(find({ enum: Array.from({ length: 10_000 }, (_, index) => index) })).toEqual([])
  })

  test('of a tool is found in patterns of members and of their names', () => {
    expect(findPatternLimitFault(countProperties(3, { pattern: LARGE }))).toMatchObject({
      ...{ code: 'pattern_refused', pointer: '/properties/m2/pattern' },
    })
    const named = { anyOf: [{ patternProperties: { a: {}, '(x{999}y{999}z{999}){2}': {} } }] }
    expect(findPatternLimitFault(named)?.pointer).toBe('/anyOf/0/patternProperties/(x{999}y{999}z{999}){2}')
    expect(findPatternLimitFault(countProperties(2, { pattern: LARGE }))).toBeNull()
  })
})

describe('values', () => {
  test('are checked by a pattern that is compiled once', () => {
    const schema: ValueSchema = { items: { pattern: '^(?:a|b){1,20}$' } }
    const compile = vi.spyOn(RE2JS, 'compile')
    const values = Array.from({ length: 30 }, (_, index) => (index === 7 ? 'c' : 'ab'))
    for (let round = 0; round < 2; round++) {
      expect(findValueFaults(schema, values)).toEqual([{ pointer: '/7', message: 'must match ^(?:a|b){1,20}$' }])
    }
    expect(compile).toHaveBeenCalledTimes(1)
  })

  test('are compared with an enum by what they hold', () => {
    const listed = [1, '2', null, { a: 1, b: [2, { c: 3 }] }, [], '{"a":2}', '[]']
    const accepted = [1, '2', null, { b: [2, { c: 3 }], a: 1 }, [], '{"a":2}', '[]']
    const refused = ['1', 2, { a: 1 }, { a: 2 }, [null], '"2', 'null', false, { b: [{ c: 3 }, 2], a: 1 }]
    const faults = findValueFaults({ items: { enum: listed } }, [...accepted, ...refused])
    expect(faults.map(({ pointer }) => pointer)).toEqual(refused.map((_, index) => `/${accepted.length + index}`))
  })

  test('give the first twenty faults, and nothing after them is checked', () => {
    let read = 0
    const last = Object.defineProperty({}, 'a', { enumerable: true, get: () => ++read })
    const values = [...Array.from({ length: 20 }, () => ({})), last]
    const faults = findValueFaults({ items: { required: ['b'], properties: { a: {} } } }, values)
    expect([faults.length, faults.at(-1)?.pointer, read]).toEqual([20, '/19/b', 0])
  })
})
