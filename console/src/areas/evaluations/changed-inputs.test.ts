/** Only inputs that differ are sent. */
import { expect, test } from 'vitest'
import { pickChangedInputs } from './changed-inputs.ts'

test('returns changed, added and removed inputs only', () => {
  const stored = { country: 'DE', products: ['a'], pep: false }
  expect(pickChangedInputs(stored, { country: 'CH', products: ['a'], age: 4 })).toEqual({
    country: 'CH',
    age: 4,
    pep: null,
  })
  expect(pickChangedInputs(stored, stored)).toEqual({})
})
