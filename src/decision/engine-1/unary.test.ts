/** Unary tests: results, faults with their positions, and the round trip between text and tree. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { slugPattern } from '#kernel/schema.ts'
import { formatDate, formatScaled, parseDate, parseScaled } from './scalars.ts'
import {
  type Column,
  findListKeys,
  findOperands,
  type ListOperand,
  printTest,
  toColumn,
  toInterval,
  type UnboundTerm,
  type UnboundTest,
} from './unary.ts'
import { isTestFault, LIST_KEY, MAX_DEPTH, MAX_TERMS, MAX_TEST_CHARS, parseTest } from './unary-parser.ts'

fc.configureGlobal({ seed: 1971 })

const column = (kind: Column['kind'], more: Partial<Column> = {}): Column => ({
  kind,
  scale: kind === 'decimal' ? 2 : 0,
  values: null,
  many: false,
  ...more,
})
const columns = {
  text: column('text'),
  enum: column('text', { values: ['a', 'b'] }),
  integer: column('integer'),
  decimal: column('decimal'),
  boolean: column('boolean'),
  date: column('date'),
}
type Of = keyof typeof columns

describe('results of a test', () => {
  const one = (term: UnboundTerm): UnboundTest => ({ form: 'terms', terms: [term] })
  const equals = (value: string | number | boolean | ListOperand): UnboundTerm => ({ form: 'equals', value })
  const limit = (field: string, key = 'cash'): ListOperand => ({ list_key: 'limits', key, field })
  const cases: [Of, string, UnboundTest, string?][] = [
    ['text', ' - ', { form: 'any' }, '-'],
    ['text', '"a"', one(equals('a'))],
    ['text', '"a\\"\\u00e9"', one(equals('a"é')), '"a\\"é"'],
    ['text', '"a" ,"b"', { form: 'terms', terms: [equals('a'), equals('b')] }, '"a", "b"'],
    ['text', 'not("a", "b")', one({ form: 'not', terms: [equals('a'), equals('b')] })],
    ['text', 'in list(high-risk)', one({ form: 'in_list', list_key: 'high-risk' })],
    [
      'text',
      'not( in list( x_1 ) )',
      one({ form: 'not', terms: [{ form: 'in_list', list_key: 'x_1' }] }),
      'not(in list(x_1))',
    ],
    ['integer', '-5', one(equals(-5))],
    ['integer', '<= 7', one({ form: 'compare', sign: '<=', value: 7 })],
    ['integer', '>7', one({ form: 'compare', sign: '>', value: 7 }), '> 7'],
    ['integer', '[1..3]', one({ form: 'range', from: 1, from_included: true, to: 3, to_included: true })],
    ['integer', '(1 .. 3)', one({ form: 'range', from: 1, from_included: false, to: 3, to_included: false }), '(1..3)'],
    ['integer', ']1..3[', one({ form: 'range', from: 1, from_included: false, to: 3, to_included: false }), '(1..3)'],
    ['decimal', '12.5', one(equals(1250)), '12.50'],
    [
      'decimal',
      '[-0.01..1)',
      one({ form: 'range', from: -1, from_included: true, to: 100, to_included: false }),
      '[-0.01..1.00)',
    ],
    ['boolean', 'true', one(equals(true))],
    ['date', '"1970-01-02"', one(equals(1)), 'date("1970-01-02")'],
    ['date', '< date( "1970-01-01" )', one({ form: 'compare', sign: '<', value: 0 }), '< date("1970-01-01")'],
    ['integer', '>= list(limits, cash).low', one({ form: 'compare', sign: '>=', value: limit('low') })],
    ['text', 'list( limits , "cash" ).name', one(equals(limit('name'))), 'list(limits, cash).name'],
    ['text', '"a", list(limits, a|b).x', { form: 'terms', terms: [equals('a'), equals(limit('x', 'a|b'))] }],
    ['boolean', 'not(list(limits, cash).on)', one({ form: 'not', terms: [equals(limit('on'))] })],
    ['date', 'list(limits, "a b")."/from/0"', one(equals(limit('/from/0', 'a b')))],
    [
      'integer',
      '[list(limits, cash).low..list(limits, cash).high)',
      one({ form: 'range', from: limit('low'), from_included: true, to: limit('high'), to_included: false }),
    ],
    [
      'integer',
      '(0 .. list(limits,cash).high]',
      one({ form: 'range', from: 0, from_included: false, to: limit('high'), to_included: true }),
      '(0..list(limits, cash).high]',
    ],
    [
      'decimal',
      '< minor( list(limits, cash).amount_minor )',
      one({ form: 'compare', sign: '<', value: { ...limit('amount_minor'), minor: true } }),
      '< minor(list(limits, cash).amount_minor)',
    ],
  ]
  test.each(cases)('%s %s', (of, text, tree, printed = text) => {
    expect(parseTest(text, columns[of])).toEqual(tree)
    expect(printTest(tree, columns[of])).toBe(printed)
  })

  test('converts ranges to integers with both ends included', () => {
    const interval = (text: string) => {
      const parsed = parseTest(text, columns.integer)
      return isTestFault(parsed) || parsed.form === 'any' ? null : toInterval(parsed.terms[0] as never)
    }
    expect(interval('(1..4)')).toEqual({ from: 2, to: 3 })
    expect(interval('< 4')).toEqual({ from: Number.NEGATIVE_INFINITY, to: 3 })
    expect(interval('> 4')).toEqual({ from: 5, to: Number.POSITIVE_INFINITY })
    expect(interval('>= 4')).toEqual({ from: 4, to: Number.POSITIVE_INFINITY })
  })

  test('names the lists it looks up in order', () => {
    const parsed = parseTest('in list(b), not(in list(a), "x")', columns.text) as UnboundTest
    expect(findListKeys(parsed)).toEqual(['b', 'a'])
  })

  test('names list references in order, separately from lookups', () => {
    const parsed = parseTest('[list(a, k).x..3], not(>= list(b, k).y), list(a, k).z', columns.integer) as UnboundTest
    expect(findOperands(parsed).map(({ list_key, field }) => `${list_key} ${field}`)).toEqual(['a x', 'b y', 'a z'])
    expect(findListKeys(parsed)).toEqual([])
  })

  test('requires slugs as list keys', () => {
    expect(LIST_KEY.source).toBe(slugPattern)
  })
})

describe('faults and positions', () => {
  const cases: [Of, string, string, number, RegExp][] = [
    ['text', '', 'test_type', 0, /Expected a text in double quotes, found the end/],
    ['text', 'DE', 'test_type', 0, /Expected a text in double quotes, found "DE"/],
    ['text', '"a', 'test_syntax', 0, /Expected a text/],
    ['text', '"a\\x"', 'test_syntax', 0, /escape/],
    ['text', '"\\ud800"', 'test_syntax', 0, /not allowed/],
    ['text', '"a" "b"', 'test_syntax', 4, /a comma or the end/],
    ['text', '"a",', 'test_type', 4, /found the end/],
    ['text', '-, "a"', 'test_type', 0, /Expected a text/],
    ['text', '< "a"', 'test_type', 0, /no order/],
    ['text', '["a".."b"]', 'test_type', 0, /no order/],
    ['boolean', '>= true', 'test_type', 0, /no order/],
    ['text', 'not "a"', 'test_syntax', 4, /"\(" after not/],
    ['text', 'not("a"', 'test_syntax', 7, /a comma or "\)"/],
    ['text', 'in list(Bad)', 'test_syntax', 8, /key of a list/],
    ['text', 'in table(x)', 'test_syntax', 8, /list\(list_key\) after in/],
    ['decimal', 'in list(x)', 'test_type', 0, /never the key/],
    ['enum', '"c"', 'test_value', 0, /not one of the values/],
    ['integer', '1.5', 'test_value', 0, /not a whole number/],
    ['integer', '9007199254740992', 'test_value', 0, /exactly/],
    ['integer', '"1"', 'test_type', 0, /Expected a whole number/],
    ['decimal', '1.005', 'test_value', 0, /at most 2 digits/],
    ['decimal', '1e3', 'test_syntax', 1, /a comma or the end/],
    ['integer', '[3..1]', 'test_value', 0, /No value lies/],
    ['integer', '(3..4)', 'test_value', 0, /No value lies/],
    ['integer', '[1-3]', 'test_syntax', 2, /"\.\."/],
    ['integer', '[1..3', 'test_syntax', 5, /after the range/],
    ['boolean', 'yes', 'test_type', 0, /true or false/],
    ['date', '"2023-02-29"', 'test_value', 0, /not a date/],
    ['date', 'date(2024)', 'test_type', 5, /a date such as/],
    ['date', 'date("2024-01-01"', 'test_syntax', 17, /"\)" after the date/],
    ['integer', '>= list(limits)', 'test_syntax', 14, /a comma and the key of an entry/],
    ['integer', '>= list(limits, )', 'test_syntax', 16, /the key of an entry/],
    ['integer', '>= list(limits, "a)', 'test_syntax', 16, /the key of an entry/],
    ['integer', '>= list(limits, a b).x', 'test_syntax', 18, /"\)" after the key of the entry/],
    ['integer', '>= list(limits, a)', 'test_syntax', 18, /"\." and the name of a field/],
    ['integer', '>= list(limits, a).1', 'test_syntax', 19, /the name of a field/],
    ['integer', '>= list(limits, a)."/~"', 'test_syntax', 19, /not a JSON pointer/],
    ['integer', '>= list(Limits, a).x', 'test_syntax', 8, /the key of a list/],
    ['text', '>= list(limits, a).x', 'test_type', 0, /no order/],
    ['integer', '>= minor(list(limits, a).x)', 'test_type', 3, /smallest unit of a decimal/],
    ['decimal', '>= minor(12)', 'test_syntax', 9, /list\(list_key, key\)\.field/],
    ['decimal', '>= minor(list(limits, a).x', 'test_syntax', 26, /"\)" after the value/],
  ]
  test.each(cases)('%s %s', (of, text, code, offset, message) => {
    expect(parseTest(text, columns[of])).toEqual({ code, offset, message: expect.stringMatching(message) })
  })

  test('limits characters, terms and nesting', () => {
    const long = `"${'x'.repeat(MAX_TEST_CHARS)}"`
    const terms = (count: number) => Array.from({ length: count }, (_, n) => n).join(',')
    const nested = (depth: number) => `${'not('.repeat(depth)}1${')'.repeat(depth)}`
    const { integer, text } = columns
    expect(parseTest(long, text)).toMatchObject({ code: 'test_limit' })
    expect(isTestFault(parseTest(long.slice(2), text))).toBe(true)
    expect(isTestFault(parseTest(terms(MAX_TERMS), integer))).toBe(false)
    expect(parseTest(terms(MAX_TERMS + 1), integer)).toMatchObject({ code: 'test_limit' })
    expect(isTestFault(parseTest(nested(MAX_DEPTH), integer))).toBe(false)
    expect(parseTest(nested(MAX_DEPTH + 1), integer)).toMatchObject({ code: 'test_limit' })
  })
})

const anyColumn = fc.constantFrom(...Object.values(columns))

const operand: fc.Arbitrary<ListOperand> = fc.record({
  list_key: fc.constantFrom('a', 'b-c'),
  key: fc.oneof(fc.constantFrom('k', 'a|b', '0', 'x y', '-', '.'), fc.string({ minLength: 1, maxLength: 5 })),
  field: fc.constantFrom('low', 'high_2', '/low/0', 'x y', '2'),
})

function operandOf({ kind }: Column): fc.Arbitrary<ListOperand> {
  if (kind !== 'decimal') return operand
  return fc.tuple(operand, fc.boolean()).map(([given, minor]) => (minor ? { ...given, minor } : given))
}

function scalarOf({ kind, values }: Column): fc.Arbitrary<string | number | boolean> {
  if (kind === 'boolean') return fc.boolean()
  if (kind !== 'text') return fc.integer({ min: -700_000, max: 2_000_000 })
  return values ? fc.constantFrom(...values) : fc.string({ unit: 'grapheme', maxLength: 8 })
}

function termOf(of: Column, depth: number): fc.Arbitrary<UnboundTerm> {
  const number = scalarOf(of) as fc.Arbitrary<number>
  const end = fc.oneof(number, operandOf(of))
  const forms: fc.Arbitrary<UnboundTerm>[] = [
    fc.oneof(scalarOf(of), operandOf(of)).map((value) => ({ form: 'equals', value })),
  ]
  if (of.kind !== 'text' && of.kind !== 'boolean') {
    forms.push(
      fc.record({ form: fc.constant('compare'), sign: fc.constantFrom('<', '<=', '>', '>='), value: end }),
      fc.tuple(number, fc.nat(1000), fc.boolean(), fc.boolean()).map(([from, more, from_included, to_included]) => ({
        form: 'range',
        from,
        from_included,
        to: from + more + 2,
        to_included,
      })),
      fc
        .tuple(operandOf(of), end, fc.boolean(), fc.boolean())
        .map(([from, to, from_included, to_included]) => ({ form: 'range', from, from_included, to, to_included })),
    )
  }
  if (of.kind !== 'decimal')
    forms.push(fc.constantFrom('a', 'b-c', 'd_e').map((list_key) => ({ form: 'in_list', list_key })))
  if (depth > 0) {
    const terms = fc.array(termOf(of, depth - 1), { minLength: 1, maxLength: 3 })
    forms.push(terms.map((inner) => ({ form: 'not', terms: inner })))
  }
  return fc.oneof(...forms)
}

describe('for all tests', () => {
  test('parses the printed text to the same tree', () => {
    const columnAndTest = anyColumn.chain((of) =>
      fc.tuple(fc.constant(of), fc.array(termOf(of, 2), { minLength: 1, maxLength: 5 })),
    )
    fc.assert(
      fc.property(columnAndTest, ([of, terms]) => {
        const tree: UnboundTest = { form: 'terms', terms }
        const text = printTest(tree, of)
        expect(parseTest(text, of)).toEqual(tree)
        expect(printTest(parseTest(text, of) as UnboundTest, of)).toBe(text)
      }),
      { numRuns: 500 },
    )
  })

  test('never throws, and reports a position within the text', () => {
    const pieces = fc.constantFrom(
      '-',
      '"',
      '\\',
      'not(',
      'in ',
      'list(',
      'list(a, k).x',
      'minor(',
      ').',
      ')',
      '(',
      '[',
      ']',
      '..',
      '<',
      '>=',
      ',',
      ' ',
      '1',
      '0.5',
      'true',
      'date(',
      '"x"',
      '\ud800',
      'é',
    )
    const hostile = fc.oneof(
      fc.array(pieces, { maxLength: 400 }).map((parts) => parts.join('')),
      fc.string({ unit: 'binary', maxLength: 2100 }),
    )
    fc.assert(
      fc.property(hostile, anyColumn, (text, of) => {
        const parsed = parseTest(text, of)
        if (!isTestFault(parsed)) return printTest(parsed, of).length > 0
        return parsed.offset >= 0 && parsed.offset <= text.length
      }),
      { numRuns: 2000 },
    )
  })

  test('handles the longest invalid texts', () => {
    for (const piece of [
      'not(',
      '"',
      '\\"',
      '(',
      '[',
      '1,',
      '-',
      '<',
      ' ',
      '..',
      '"\\',
      '0',
      'in list(',
      'list(a,',
      'minor(',
    ]) {
      const text = piece.repeat(Math.floor(MAX_TEST_CHARS / piece.length))
      for (const of of Object.values(columns))
        expect(isTestFault(parseTest(text, of)) || text.startsWith('0')).toBe(true)
    }
  })
})

describe('dates and decimals', () => {
  test('converts every day of four centuries', () => {
    const day_ms = 86_400_000
    for (let days = Date.UTC(1880, 0, 1) / day_ms; days < Date.UTC(2280, 0, 1) / day_ms; days++) {
      const text = new Date(days * day_ms).toISOString().slice(0, 10)
      if (parseDate(text) !== days || formatDate(days) !== text) throw new Error(text)
    }
    expect([parseDate('0001-01-01'), parseDate('9999-12-31')].map((days) => formatDate(days as number))).toEqual([
      '0001-01-01',
      '9999-12-31',
    ])
    for (const wrong of [
      '0000-01-01',
      '2100-02-29',
      '2024-13-01',
      '2024-00-01',
      '2024-01-00',
      '2024-1-1',
      '2024-01-01T00:00',
    ]) {
      expect(parseDate(wrong)).toBeUndefined()
    }
  })

  test('converts decimals exactly or refuses them', () => {
    expect(parseScaled('-0.00', 2)).toBe(0)
    expect(Object.is(parseScaled('-0', 2), 0)).toBe(true)
    expect(parseScaled('0.1', 2)).toBe(10)
    expect(parseScaled('90071992547409.91', 2)).toBe(Number.MAX_SAFE_INTEGER)
    for (const wrong of ['90071992547409.92', '01', '1.', '.5', '+1', '1e2', ' 1', '1.234', '']) {
      expect(parseScaled(wrong, 2)).toBeUndefined()
    }
    fc.assert(
      fc.property(fc.maxSafeInteger(), fc.integer({ min: 0, max: 10 }), (value, scale) => {
        expect(parseScaled(formatScaled(value, scale), scale)).toBe(value)
      }),
    )
  })

  test('derives columns from inputs', () => {
    expect(toColumn({ name: 'x', title: 'X', type: 'decimal' })).toEqual(column('decimal'))
    expect(toColumn({ name: 'x', title: 'X', type: 'list', values: ['a'] })).toEqual(
      column('text', { values: ['a'], many: true }),
    )
  })
})
