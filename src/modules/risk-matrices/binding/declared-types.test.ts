/** Which declared types of a list field fit a condition that compares with it. */
import { expect, test } from 'vitest'
import type { CompiledDefinition } from '#decision/model.ts'
import { findDeclaredTypeFault } from './declared-types.ts'

type Compares = NonNullable<CompiledDefinition['references'][number]['compares']>

const faultOf = (declared: unknown, type: Compares['type'], minor = false, field = 'limit'): string | undefined => {
  const reference = { list_key: 'limits', pointer: '/table/rows/0/when/0', key: 'k', field }
  const schema = { type: 'object', properties: { limit: declared, within: { properties: { limit: declared } } } }
  return findDeclaredTypeFault({ ...reference, compares: { title: 'Amount', type, minor } }, schema)?.message
}

test.each<[Compares['type'], boolean, unknown]>([
  ['integer', false, { type: 'integer' }],
  ['integer', false, { type: ['integer', 'null'] }],
  ['integer', false, { enum: [1, 2, null] }],
  ['decimal', true, { allOf: [{ type: 'integer' }, { minimum: 0 }] }],
  ['decimal', false, { type: 'string' }],
  ['date', false, { type: 'string', format: 'date' }],
  ['text', false, { enum: ['a', 'b'] }],
  ['boolean', false, { const: true }],
])('%s fits (minor: %s) %j', (type, minor, declared) => {
  expect(faultOf(declared, type, minor)).toBeUndefined()
  expect(faultOf(declared, type, minor, '/within/limit')).toBeUndefined()
})

test.each<[Compares['type'], boolean, unknown, RegExp]>([
  ['integer', false, { type: 'number' }, /declares "limit" as a number, but Amount is compared with a whole number\./],
  ['integer', false, { type: 'string' }, /as a text/],
  ['integer', false, {}, /as a text or a number or true or false or an object or an array/],
  ['decimal', false, { type: 'integer' }, /as a whole number.*as text.*write minor\(…\)/],
  ['decimal', true, { type: 'string' }, /a whole number of its smallest unit/],
  ['date', false, { type: ['string', 'integer'] }, /as a text or a number/],
  ['text', false, { type: 'array' }, /as an array/],
  ['boolean', false, { enum: ['yes', 'no'] }, /true or false/],
])('%s does not fit (minor: %s) %j', (type, minor, declared, message) => {
  expect(faultOf(declared, type, minor)).toMatch(message)
})

test('reports nothing for an undeclared field and for a field that is not compared', () => {
  expect(faultOf({ type: 'string' }, 'integer', false, 'other')).toBeUndefined()
  const reference = { list_key: 'limits', pointer: '/factors/0', key: null, field: 'limit' }
  expect(findDeclaredTypeFault(reference, { properties: { limit: { type: 'string' } } })).toBeUndefined()
})
