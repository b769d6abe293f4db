/** Entries that differ only in the order of a set or in collapsed white space have the same canonical text. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { checkDefinition } from './check-type-definition.ts'
import { compareTypes } from './compatibility.ts'
import { compileType, type PreparedEntry } from './compile-type.ts'
import type { FieldDefinition, TypeDefinition } from './type-definition.ts'

const text = { type: 'string' }
const names = {
  type: 'array',
  items: { type: 'object', properties: { name: text, kind: text, spellings: { type: 'array', items: text } } },
}

const party = (fields: Record<string, FieldDefinition>): TypeDefinition => ({
  type_key: 'party',
  type_version: 1,
  title: 'Party',
  description: 'A party.',
  schema: {
    type: 'object',
    required: ['id'],
    properties: { id: text, names, route: { type: 'array', items: text }, remarks: text, score: { type: 'number' } },
  },
  key_pointers: ['/id'],
  list_rules: {},
  fields,
  examples: [{ id: '1' }],
})
const plain = party({})
const formed = party({
  '/names': { title: 'Names', set: true },
  '/names/*/spellings': { title: 'Spellings', set: true },
  '/remarks': { title: 'Remarks', whitespace: 'collapse' },
})

const textOf = (type: TypeDefinition, entry: object): string => {
  const prepared = compileType(type).prepare(structuredClone(entry))
  if (Array.isArray(prepared)) throw new Error(JSON.stringify(prepared))
  return (prepared as PreparedEntry).text
}

const one = {
  id: '1',
  names: [
    { name: 'B', kind: 'alias', spellings: ['y', 'x'] },
    { name: 'A', kind: 'alias' },
    { name: 'Ä"', kind: 'alias' },
  ],
  route: ['Oslo', 'Bergen'],
  remarks: 'Listed on\r\n\t2 May;  see\u00a0QDe.004.\n',
}
const other = {
  id: '1',
  names: [
    { kind: 'alias', name: 'Ä"' },
    { kind: 'alias', name: 'A' },
    { spellings: ['x', 'y', 'x'], kind: 'alias', name: 'B' },
    { kind: 'alias', name: 'A' },
  ],
  route: ['Oslo', 'Bergen'],
  remarks: 'Listed on 2 May; see QDe.004.',
}

test('ignores order and repetition in a set and white space in a collapsed text', () => {
  expect(textOf(formed, one)).toBe(textOf(formed, other))
  expect(textOf(plain, one)).not.toBe(textOf(plain, other))
  expect(textOf(formed, one)).toContain(
    '"names":[{"kind":"alias","name":"A"},{"kind":"alias","name":"B","spellings":["x","y"]},{"kind":"alias","name":"Ä\\""}]',
  )
})

test('keeps the order of an array that is not a set', () => {
  expect(textOf(formed, one)).not.toBe(textOf(formed, { ...one, route: ['Bergen', 'Oslo'] }))
})

test('returns the same object for an entry in canonical form', () => {
  const { normalise } = compileType(formed)
  const normal = normalise(structuredClone(one))
  expect(normalise(normal)).toBe(normal)
})

test('gives the same text for any order of elements', () => {
  const element = fc.oneof(fc.string({ unit: 'binary' }), fc.integer(), fc.constant(null), fc.boolean())
  const type = party({ '/names': { title: 'Names', set: true } })
  type.schema['properties'] = { id: text, names: { type: 'array' } }
  const { canonical, normalise } = compileType(type)
  fc.assert(
    fc.property(fc.array(element, { maxLength: 8 }), (elements) => {
      const [forward, backward] = [elements, [...elements].reverse()].map((list) => normalise({ id: '1', names: list }))
      expect(canonical(forward as never)).toBe(canonical(backward as never))
    }),
    { seed: 15 },
  )
})

test('reports text in a set that cannot be stored', () => {
  const prepared = compileType(formed).prepare({ id: '1', names: [{ name: '\ud800' }, { name: 'A' }] })
  expect(prepared).toMatchObject([{ code: 'unstorable_text', pointer: '/names/0/name' }])
})

test('reports a form that does not fit its field as a fault of the type', () => {
  expect(checkDefinition(formed)).toEqual([])
  const wrong = party({
    '/remarks': { title: 'Remarks', set: true },
    '/route': { title: 'Route', whitespace: 'collapse' },
    '/score': { title: 'Score', set: true },
  })
  expect(checkDefinition(wrong).map(({ code, pointer }) => [code, pointer])).toEqual([
    ['form_invalid', '/fields/~1remarks/set'],
    ['form_invalid', '/fields/~1route/whitespace'],
    ['form_invalid', '/fields/~1score/set'],
  ])
})

test('requires a check of stored entries when the form changes', () => {
  expect(compareTypes(plain, formed).verdict).toBe('check_entries')
  expect(compareTypes(formed, plain).changes.map(({ pointer, what }) => `${pointer} ${what}`)).toEqual([
    '/names canonical_form_changed',
    '/names/*/spellings canonical_form_changed',
    '/remarks canonical_form_changed',
  ])
})
