/** Options passed to an adapter: the marker of removed rows is read although a stated mapping leaves it out. */
import { expect, test } from 'vitest'
import { withDefaultColumns } from './options.ts'

const marker = { pointer: '/action', values: ['D'] }

test.each([
  ['ndjson', 'members', { from: '/country', pointer: '/country' }, { from: '/action', pointer: '/action' }],
  [
    'csv',
    'columns',
    { column: 'Country', pointer: '/country' },
    { column: 'action', pointer: '/action', optional: true },
  ],
])('a stated mapping of %s reads the marker of removed rows as well', (adapter_key, mapping, one, added) => {
  expect(withDefaultColumns(adapter_key, { [mapping]: [one] }, null, marker)).toEqual({ [mapping]: [one, added] })
  expect(withDefaultColumns(adapter_key, { [mapping]: [one, added] }, null, marker)).toEqual({
    [mapping]: [one, added],
  })
  expect(withDefaultColumns(adapter_key, { [mapping]: [one] }, null)).toEqual({ [mapping]: [one] })
})

test('options without a mapping stay as they are', () => {
  expect(withDefaultColumns('ndjson', {}, null, marker)).toEqual({})
})
