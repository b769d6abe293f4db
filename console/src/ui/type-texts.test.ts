import { expect, test } from 'vitest'
import { formatEntryValue, getEntryName, getFieldTitle, listFilledMembers, listMembers } from './type-texts.ts'

const type = {
  key_pointers: ['/source', '/source_id'],
  schema: {
    required: ['source', 'source_id', 'kind'],
    properties: {
      addresses: { type: 'array' },
      kind: { type: 'string' },
      remarks: { type: 'string' },
      name: { type: 'string' },
      source_id: { type: 'string' },
      source: { type: 'string' },
    },
  },
  fields: { '/addresses': { title: 'Addresses' }, '/addresses/*/city': { title: 'Town' } },
}

test('returns the title of a field at any depth with its array position', () => {
  expect(getFieldTitle(type, '/addresses')).toBe('Addresses')
  expect(getFieldTitle(type, '/addresses/1/city')).toBe('Town')
  expect(getFieldTitle(type, '/addresses/1/post_code')).toBe('Addresses 2, post code')
  expect(getFieldTitle(type, '/addresses/*/text')).toBe('Addresses, text')
  expect(getFieldTitle(type, '/score_bps')).toBe('Score bps')
})

test('lists fields in display order without empty ones', () => {
  expect(listMembers(type)).toEqual(['source', 'source_id', 'name', 'kind', 'remarks', 'addresses'])
  expect(listFilledMembers(type, { kind: 'x', extra: 0, addresses: [], remarks: '' })).toEqual(['kind', 'extra'])
})

test('formats values as text', () => {
  expect([null, true, 12000, [], ['a', 'b'], { name: 'Ada', age: 3 }, { a: 1, b: null }].map(formatEntryValue)).toEqual(
    ['–', 'yes', '12000', '–', 'a, b', 'Ada', '1'],
  )
  expect(getEntryName({ title: 'T', name: '' })).toBe('T')
})
