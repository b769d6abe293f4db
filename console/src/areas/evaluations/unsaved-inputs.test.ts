/** Inputs of a decision that the record of its subject does not have. */
import { expect, test } from 'vitest'
import { listUnsavedInputs } from './unsaved-inputs.ts'

test('names inputs that are missing or differ, and none that are equal', () => {
  expect(listUnsavedInputs({ a: 1, b: ['x'], c: 'new' }, { a: 1, b: ['x'], c: 'old', d: true })).toEqual(['c'])
  expect(listUnsavedInputs({ a: false }, {})).toEqual(['a'])
  expect(listUnsavedInputs({}, { a: 1 })).toEqual([])
})
