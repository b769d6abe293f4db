import { expect, test } from 'vitest'
import { describeFinding, isFindings } from './finding-texts.ts'

test('findings of a contract are words with their place', () => {
  expect(describeFinding('wrong_form')).toBe('The payload does not have the form that the contract describes')
  expect(describeFinding('type_changed /address/country')).toBe('Type changed at /address/country')
  expect(isFindings([{ name: 'finding' }])).toBe(true)
  expect(isFindings([{ name: 'Name' }])).toBe(false)
  expect(isFindings([])).toBe(false)
})
