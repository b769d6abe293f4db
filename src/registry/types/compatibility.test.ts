import { expect, test } from 'vitest'
import { compareTypes } from './compatibility.ts'
import type { TypeDefinition } from './type-definition.ts'

const old: TypeDefinition = {
  type_key: 'country-risk',
  type_version: 1,
  title: 'Country risk',
  description: 'How risky a country is.',
  schema: {
    type: 'object',
    additionalProperties: false,
    required: ['code', 'rating'],
    properties: {
      code: { type: 'string', maxLength: 3 },
      rating: { enum: ['low', 'medium', 'high'] },
      score: { type: 'number', minimum: 0 },
      note: { type: ['string', 'null'] },
      parts: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } },
      alias: { anyOf: [{ $ref: '#/$defs/alias' }, { type: 'null' }] },
    },
    $defs: { alias: { type: 'string', maxLength: 10 } },
  },
  key_pointers: ['/code'],
  list_rules: { min_items: 1 },
  fields: {
    '/rating': { title: 'Rating', order: ['low', 'medium', 'high'] },
    '/score': { title: 'Score', unit: 'points' },
  },
  examples: [{ code: 'DE', rating: 'low' }],
}

type Properties = Record<string, Record<string, unknown>>

function compare(change: (next: TypeDefinition, properties: Properties) => void, from = old) {
  const next = structuredClone(from)
  change(next, next.schema['properties'] as Properties)
  const { verdict, changes } = compareTypes(from, next)
  return [verdict, ...changes.map(({ what, pointer }) => `${what} ${pointer}`)]
}

test.each<[string, Parameters<typeof compare>[0], string[]]>([
  ['nothing', () => {}, ['compatible']],
  ['another title', (next) => (next.title = 'x'), ['compatible']],
  ['another key', (next) => (next.key_pointers = ['/code', '/rating']), ['incompatible', 'key_changed ']],
  ['a new optional member', (_, p) => (p['extra'] = { type: 'string' }), ['compatible']],
  ['a new value', (_, p) => (p['rating'] = { enum: ['low', 'medium', 'high', 'severe'] }), ['compatible']],
  ['a wider bound', (_, p) => (p['code'] = { type: 'string', maxLength: 4 }), ['compatible']],
  ['a wider type', (_, p) => (p['code'] = { type: ['string', 'null'], maxLength: 3 }), ['compatible']],
  ['a removed member', (_, p) => delete p['note'], ['check_entries', 'member_removed /note']],
  [
    'a new required member',
    (next, p) => {
      p['extra'] = { type: 'string' }
      next.schema['required'] = ['code', 'rating', 'extra']
    },
    ['check_entries', 'member_added_required /extra'],
  ],
  [
    'a member required',
    (next) => (next.schema['required'] = ['code', 'rating', 'score']),
    ['check_entries', 'member_now_required /score'],
  ],
  ['a narrower type', (_, p) => (p['note'] = { type: 'string' }), ['check_entries', 'type_narrowed /note']],
  [
    'whole numbers only',
    (_, p) => (p['score'] = { type: 'integer', minimum: 0 }),
    ['check_entries', 'type_narrowed /score'],
  ],
  ['a value less', (_, p) => (p['rating'] = { enum: ['low', 'high'] }), ['check_entries', 'values_removed /rating']],
  [
    'a tighter maximum',
    (_, p) => (p['code'] = { type: 'string', maxLength: 2 }),
    ['check_entries', 'bound_tightened /code'],
  ],
  [
    'a tighter minimum',
    (_, p) => (p['score'] = { type: 'number', minimum: 1 }),
    ['check_entries', 'bound_tightened /score'],
  ],
  [
    'a new bound',
    (_, p) => (p['score'] = { type: 'number', minimum: 0, maximum: 9 }),
    ['check_entries', 'bound_tightened /score'],
  ],
  [
    'a pattern',
    (_, p) => (p['code'] = { type: 'string', maxLength: 3, pattern: '^[A-Z]' }),
    ['check_entries', 'form_changed /code'],
  ],
  ['a condition', (next) => (next.schema['not'] = { required: ['note'] }), ['check_entries', 'rule_changed ']],
  [
    'a narrower element',
    (_, p) => (p['parts'] = { type: 'array', items: { type: 'object', properties: { name: { enum: ['a'] } } } }),
    ['check_entries', 'values_removed /parts/*/name'],
  ],
  [
    'a definition behind an alternative',
    (next) => (next.schema['$defs'] = { alias: { type: 'string', maxLength: 5 } }),
    ['check_entries', 'rule_changed /alias'],
  ],
  ['a list rule', (next) => (next.list_rules = { min_items: 2 }), ['check_entries', 'list_rule_changed ']],
  [
    'another order',
    (next) => (next.fields['/rating'] = { title: 'Rating', order: ['high', 'medium', 'low'] }),
    ['review', 'order_changed /rating'],
  ],
  [
    'an order that is gone',
    (next) => (next.fields['/rating'] = { title: 'Rating' }),
    ['review', 'order_changed /rating'],
  ],
  [
    'another unit',
    (next) => (next.fields['/score'] = { title: 'Score', unit: 'percent' }),
    ['review', 'unit_changed /score'],
  ],
  [
    'personal from now on',
    (next) => (next.fields['/note'] = { title: 'Note', personal: true }),
    ['review', 'personal_changed /note'],
  ],
])('%s', (_, change, expected) => {
  expect(compare(change)).toEqual(expected)
})

test('accepts an order with added values', () => {
  const grown = compare((next, p) => {
    p['rating'] = { enum: ['low', 'medium', 'high', 'severe'] }
    next.fields['/rating'] = { title: 'Rating', order: ['low', 'medium', 'high', 'severe'] }
  })
  expect(grown).toEqual(['compatible'])
})

test('reports an open type that is closed, or that declares a free member', () => {
  const open = structuredClone(old)
  delete open.schema['additionalProperties']
  expect(compare((next) => (next.schema['additionalProperties'] = false), open)).toEqual([
    'check_entries',
    'members_closed ',
  ])
  expect(compare((_, p) => (p['extra'] = { type: 'string' }), open)).toEqual(['check_entries', 'rule_changed /extra'])
})

test('compares a recursive type once', () => {
  const recursive = structuredClone(old)
  recursive.schema = {
    type: 'object',
    required: ['code'],
    properties: { code: { type: 'string' }, child: { $ref: '#' } },
  }
  expect(compare(() => {}, recursive)).toEqual(['compatible'])
})

test('names the old and the new value', () => {
  const next = structuredClone(old)
  next.fields['/rating'] = { title: 'Rating', order: ['high', 'medium', 'low'] }
  expect(compareTypes(old, next).changes[0]?.detail).toBe(
    'The order of severity was low < medium < high and would be high < medium < low.',
  )
})
