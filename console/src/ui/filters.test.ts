/** Filters of a list whose value comes from the page address. */
import { expect, test } from 'vitest'
import { findChoice } from './filters.tsx'

const choices = [
  { value: 'high', label: 'High' },
  { value: 'very-high', label: 'Very high' },
]

test('finds a choice by its value or title in any case, and nothing by a part of it', () => {
  expect(findChoice(choices, 'high')?.value).toBe('high')
  expect(findChoice(choices, 'High')?.value).toBe('high')
  expect(findChoice(choices, 'VERY HIGH')?.value).toBe('very-high')
  expect(findChoice(choices, 'Hi')).toBeUndefined()
})
