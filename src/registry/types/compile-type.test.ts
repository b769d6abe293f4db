import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalJson } from '#kernel/canonical-json.ts'
import { entryHash } from '../content/hashes.ts'
import { compileType, InvalidKeyError, type PreparedEntry } from './compile-type.ts'
import { compilePattern, describePattern } from './pattern.ts'
import { normaliseStatedKey } from './text-rules.ts'
import type { TypeDefinition } from './type-definition.ts'

fc.configureGlobal({ seed: 2020 })

const party: TypeDefinition = {
  type_key: 'party',
  type_version: 1,
  title: 'Party',
  description: 'A listed party.',
  schema: {
    type: 'object',
    additionalProperties: false,
    required: ['id', 'name', 'country_code'],
    properties: {
      id: { type: ['string', 'integer'] },
      name: { type: 'string', minLength: 1, maxLength: 20 },
      country_code: { type: 'string', pattern: '^[A-Z]{2}$' },
      score: { type: 'number', minimum: 0, maximum: 100, multipleOf: 0.01 },
      risk: { enum: ['low', 'high'] },
      listed_on: { type: 'string', format: 'date' },
      remark: { type: ['string', 'null'] },
      born_on: { type: 'string', format: 'date' },
      tags: { type: 'array', items: { type: 'string' }, uniqueItems: true },
      limit: { anyOf: [{ type: 'integer', minimum: 5 }, { type: 'null' }] },
      address: { type: 'object', properties: { city: { type: 'string' }, street: { type: 'string' } } },
    },
    dependentRequired: { score: ['risk'] },
  },
  key_pointers: ['/id'],
  trim: true,
  list_rules: {},
  fields: {
    '/country_code': { title: 'Country code' },
    '/born_on': { title: 'Date of birth', personal: true },
    '/address/city': { title: 'City', personal: true },
  },
  examples: [{ id: 'a', name: 'A', country_code: 'DE' }],
}
const type = compileType(party)
const good = { id: 'x', name: 'Name', country_code: 'DE' }
const messages = (change: Record<string, unknown>) =>
  (type.validate({ ...good, ...change }) ?? []).map(({ pointer, message }) => `${pointer} ${message}`)

describe('messages', () => {
  test.each<[Record<string, unknown>, string[]]>([
    [{}, []],
    [{ country_code: 'Germany' }, ['/country_code Country code must be two capital letters; found "Germany".']],
    [{ name: '' }, ['/name Name must not be empty; found "".']],
    [{ name: 'x'.repeat(21) }, [`/name Name must have at most 20 characters; found "${'x'.repeat(21)}".`]],
    [{ name: 5 }, ['/name Name must be text; found 5.']],
    [{ score: 101, risk: 'low' }, ['/score Score must be 100 or less; found 101.']],
    [{ score: 1 }, ['/risk Risk is missing; it is needed because Score is given.']],
    [{ risk: 'medium' }, ['/risk Risk must be one of "low" or "high"; found "medium".']],
    [{ listed_on: '2024-02-30' }, ['/listed_on Listed on must be a date like 2026-03-31; found "2024-02-30".']],
    [{ born_on: '1980' }, ['/born_on Date of birth must be a date like 2026-03-31.']],
    [{ address: { city: 5 } }, ['/address/city City must be text.']],
    [{ address: [{ city: 'Bonn' }] }, ['/address Address must be an object.']],
    [{ tags: ['a', 5] }, ['/tags/1 Item 2 of tags must be text; found 5.']],
    [{ tags: ['a', 'b', 'a'] }, ['/tags Tags must not repeat an item (items 1 and 3 are equal); found ["a","b","a"].']],
    [{ limit: 3 }, ['/limit Limit must be 5 or more; found 3.']],
    [{ limit: 'a' }, ['/limit Limit fits none of the forms the type allows; found "a".']],
    [{ 'a/b': 1 }, ['/a~1b "a/b" is not a member of this type.']],
    [{ name: 'a\0' }, ['/name Name holds a character that cannot be stored; found "a\\u0000".']],
    [{ tags: ['\ud800'] }, ['/tags/0 Item 1 of tags holds a character that cannot be stored; found "\\ud800".']],
    [{ 'a\0': 1 }, ['/a\ufffd "a\\u0000" is not a member of this type.']],
    [{ id: 'é'.repeat(251) }, ['/id The key of an entry may have 500 bytes; this one has 502.']],
    [{ id: '' }, ['/id Id is the key and must not be empty.']],
  ])('%j', (change, expected) => {
    expect(messages(change)).toEqual(expected)
  })

  test('reports every fault and every missing member', () => {
    const faults = type.validate({ name: 5, country_code: 'x' })
    expect(faults?.map(({ code, pointer }) => `${code} ${pointer}`)).toEqual([
      'required /id',
      'wrong_type /name',
      'wrong_form /country_code',
    ])
  })

  test('ignores inherited members', () => {
    expect(type.validate(Object.create(good))?.map(({ code }) => code)).toEqual(['required', 'required', 'required'])
  })

  test('reports a value that is not an object as a fault', () => {
    for (const given of [null, 'x', 5, [good]]) expect(type.prepare(given)).toMatchObject([{ code: 'wrong_type' }])
  })

  test('accepts decimal fractions as multiples', () => {
    expect(messages({ score: 19.99, risk: 'low' })).toEqual([])
    expect(messages({ score: 19.995, risk: 'low' })).toEqual(['/score Score must be a multiple of 0.01; found 19.995.'])
  })

  test('uses a separate matcher for each pattern', () => {
    const schema = { type: 'object', properties: { a: { pattern: '^a+b?$' }, b: { pattern: '^b|c$' } } }
    const two = compileType({ ...party, schema, key_pointers: ['/a'] })
    expect(two.validate({ a: 'a', b: 'b' })).toBeNull()
    expect(two.validate({ a: 'b', b: 'a' })).toHaveLength(2)
  })
})

describe('normalise', () => {
  test('composes and trims text, drops a null that means absent, and replaces negative zero', () => {
    const given = {
      id: ' x ',
      name: 'Ame\u0301lie\u00a0',
      score: -0,
      risk: null,
      remark: null,
      country_code: null,
      limit: null,
      tags: [' a', null],
      address: { city: null, street: 'S ', other: null },
      unknown: null,
    }
    const normal = type.normalise(given)
    expect(normal).toEqual({
      id: 'x',
      name: 'Amélie',
      score: 0,
      remark: null,
      country_code: null,
      limit: null,
      tags: ['a', null],
      address: { street: 'S', other: null },
      unknown: null,
    })
    expect(Object.is(normal['score'], 0)).toBe(true)
    expect(given.id).toBe(' x ')
  })

  test('returns the same object for a normalised entry', () => {
    const entry = { ...good, tags: ['a'], address: { city: 'B' } }
    expect(type.normalise(entry)).toBe(entry)
  })

  const loose = fc.dictionary(
    fc.constantFrom(...Object.keys(party.schema['properties'] as object), 'other', '__proto__'),
    fc.oneof(fc.constant(null), fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }), fc.jsonValue()),
  )

  test('is idempotent', () => {
    fc.assert(
      fc.property(loose, (entry) => {
        const once = type.normalise(entry)
        expect(type.normalise(once)).toBe(once)
      }),
      { numRuns: 500 },
    )
  })

  const holdsNul = (value: unknown): boolean =>
    typeof value === 'string'
      ? value.includes('\0')
      : typeof value === 'object' && value !== null && Object.entries(value).flat().some(holdsNul)

  test('the canonical text equals that of canonicalJson, or both refuse; U+0000 is refused too', () => {
    const attempt = (write: () => string) => {
      try {
        return write()
      } catch (error) {
        return (error as Error).name
      }
    }
    fc.assert(
      fc.property(loose, (entry) => {
        const expected = attempt(() => canonicalJson(entry))
        expect(attempt(() => type.canonical(entry))).toBe(holdsNul(entry) ? 'TypeError' : expected)
      }),
      { numRuns: 1000 },
    )
  })

  test.each<[string, TypeDefinition['trim'], Record<string, unknown>]>([
    ['nothing', undefined, { name: ' N ', tags: [' a '], address: { city: ' C ', street: '\u00a0S ' } }],
    ['nothing', [], { name: ' N ', tags: [' a '], address: { city: ' C ', street: '\u00a0S ' } }],
    ['everything', true, { name: 'N', tags: ['a'], address: { city: 'C', street: 'S' } }],
    [
      'what is named',
      ['/tags/*', '/address/street'],
      { name: ' N ', tags: ['a'], address: { city: ' C ', street: 'S' } },
    ],
  ])('trims %s when the type says %j, and always trims the key', (_, trim, expected) => {
    const given = { id: '\t x ', name: ' N ', tags: [' a '], address: { city: ' C ', street: '\u00a0S ' } }
    const { trim: _all, ...rest } = party
    expect(compileType({ ...rest, ...(trim && { trim }) }).normalise(given)).toEqual({ id: 'x', ...expected })
  })

  test('removes invisible characters from keys only', () => {
    const { removed, key, text } = compileType({ ...party, trim: [] }).prepare({
      id: '\ufeff\u200bA\u00ad\u200d-\u202e1\ufe0f\x7f \u2060',
      name: 'zero\u200cwidth',
      country_code: 'DE',
    }) as PreparedEntry
    expect({ removed: [...(removed ?? [])].sort(), key }).toEqual({
      key: 'A-1',
      removed: ['U+007F', 'U+00AD', 'U+200B', 'U+200D', 'U+202E', 'U+2060', 'U+FE0F', 'U+FEFF'],
    })
    expect(JSON.parse(text)).toEqual({ id: 'A-1', name: 'zero\u200cwidth', country_code: 'DE' })
    expect(type.prepare(good)).not.toHaveProperty('removed')
  })

  test('keeps visible marks and letters of every script in a key', () => {
    for (const id of ['क्षि', 'é', 'العربية', '日本', 'ä\u0323', '١٢', 'a\tb', '😀']) {
      const prepared = type.prepare({ ...good, id }) as PreparedEntry
      expect([prepared.key, prepared.removed]).toEqual([id.normalize('NFC'), undefined])
    }
  })

  test('normalises a recursive type', () => {
    const schema = {
      type: 'object',
      required: ['id'],
      properties: { id: { type: 'string' }, note: { type: 'string' }, parts: { type: 'array', items: { $ref: '#' } } },
    }
    const tree = compileType({ ...party, schema })
    expect(tree.normalise({ id: 'a', parts: [{ id: ' b', note: null, parts: [{ id: 'c ', note: null }] }] })).toEqual({
      id: 'a',
      parts: [{ id: 'b', parts: [{ id: 'c' }] }],
    })
  })
})

describe('key', () => {
  test('of a request is normalised part by part, like the key of an entry', () => {
    const pair = compileType({ ...party, key_pointers: ['/id', '/name'] })
    const prepared = pair.prepare({ ...good, id: ' a|b\u200b\\', name: '\u200be\u0301 ' }) as PreparedEntry
    expect(normaliseStatedKey(' a\\|b\u200b\\\\ |\u200be\u0301 ', 2)).toBe(prepared.key)
    expect(normaliseStatedKey('a | b\u200b', 1)).toBe('a | b')
    expect(normaliseStatedKey('a || b', 3)).toBe('a||b')
  })

  test('has no missing part and at least one part that is not empty', () => {
    const pair = compileType({ ...party, key_pointers: ['/id', '/name'] })
    const given = (entry: Record<string, unknown>) => {
      try {
        return pair.getKey(entry)
      } catch (error) {
        return error instanceof InvalidKeyError ? `${error.fault.code} ${error.fault.pointer}` : error
      }
    }
    expect(given({ id: 0, name: '' })).toBe('0|')
    expect(given({ id: '', name: '' })).toBe('key_empty ')
    expect(given({ id: 'x' })).toBe('key_missing /name')
  })

  test('of one member is the text of the member', () => {
    expect(type.getKey(good)).toBe('x')
    expect(type.getKey({ ...good, id: 10 })).toBe('10')
    expect(type.getKey({ ...good, id: 'a|b\\c' })).toBe('a|b\\c')
    expect(() => type.getKey({})).toThrow(InvalidKeyError)
  })

  test('of several members is unique', () => {
    const pair = compileType({ ...party, key_pointers: ['/name', '/address/city'] })
    const keyOf = (name: string, city: string) => pair.getKey({ name, address: { city } })
    expect(keyOf('a|b', 'c\\')).toBe('a\\|b|c\\\\')
    const part = fc.string({ unit: fc.constantFrom('a', '|', '\\'), maxLength: 5 })
    fc.assert(
      fc.property(part, part, part, part, (a, b, c, d) => {
        fc.pre(a + b !== '' && c + d !== '')
        expect(keyOf(a, b) === keyOf(c, d)).toBe(a === c && b === d)
      }),
      { numRuns: 1000 },
    )
  })
})

test('prepare returns key, canonical text and hash', () => {
  const text = '{"country_code":"DE","id":"x","name":"Né\\\\u0000"}'
  expect(type.prepare({ name: 'Ne\u0301\\u0000 ', risk: null, id: 'x', country_code: 'DE' })).toEqual({
    key: 'x',
    text,
    hash: entryHash(text),
  })
})

describe('patterns', () => {
  test('simple patterns have the same meaning in both engines', () => {
    const pieces = fc.constantFrom('[A-Z]', '[a-z0-9]', '\\d', 'x', '\\.', '-', '[A-Z]{2}', '[0-9]{1,3}', 'y*', 'z?')
    const text = fc.string({ unit: fc.constantFrom('A', 'b', '1', 'x', '.', '-', 'y', 'z', '\n', 'é'), maxLength: 8 })
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 4 }), text, (parts, value) => {
        const pattern = `^${parts.join('')}$`
        // RE2 runs patterns with groups.
        expect(compilePattern(pattern).test(value)).toBe(compilePattern(`^(?:${parts.join('')})$`).test(value))
      }),
      { numRuns: 2000 },
    )
  })

  test('no pattern backtracks', () => {
    const text = `${'a'.repeat(50_000)}!`
    for (const pattern of ['^(a+)+$', '^a*a*a*a*a*$', '^(a|a)*$', '^[a-z]+[a-z0-9]+[a-z]+$', '^[a-z]{1,500}$']) {
      expect(compilePattern(pattern).test(text)).toBe(false)
    }
  })

  test('accepts long names of Unicode properties', () => {
    expect(compilePattern('^\\p{Letter}+$').test('Żółć')).toBe(true)
    expect(compilePattern('^\\P{Script=Greek}+$').test('αβγ')).toBe(false)
    expect(compilePattern('^\\\\p\\{Letter\\}$').test('\\p{Letter}')).toBe(true)
  })

  test.each([
    ['^[A-Z]{2}$', 'two capital letters'],
    ['^[0-9]{1}$', 'one digit'],
    ['^\\d{8,11}$', 'eight to 11 digits'],
    ['^[a-z0-9]+$', 'one or more small letters or digits'],
    ['^[A-Z]{2}-[0-9]$', null],
  ])('describes %s in words', (pattern, words) => {
    expect(describePattern(pattern)).toBe(words)
  })
})
