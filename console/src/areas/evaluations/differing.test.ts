/** Only what differs is supposed. */
import { expect, test } from 'vitest'
import { differing } from './differing.ts'

test('what is changed, added or taken away is sent, and nothing else', () => {
  const stored = { country: 'DE', products: ['a'], pep: false }
  expect(differing(stored, { country: 'CH', products: ['a'], age: 4 })).toEqual({ country: 'CH', age: 4, pep: null })
  expect(differing(stored, stored)).toEqual({})
})
