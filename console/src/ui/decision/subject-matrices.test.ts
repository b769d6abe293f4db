/** Which matrix is offered for a subject. */
import { expect, test } from 'vitest'
import { chooseMatrix, listFittingMatrices } from './subject-matrices.ts'

const matrix = (matrix_key: string, isInForce = true) => ({ matrix_key, active: isInForce ? {} : null })
const person = matrix('customer-risk-person')
const company = matrix('customer-risk-company')
const neutral = matrix('private-banking-risk')

test('fits a type when it is in force and names no other type', () => {
  expect(listFittingMatrices([person, company, neutral, matrix('person-old', false)], 'person')).toEqual([
    person,
    neutral,
  ])
})

test('is the one that rated the subject last, then the one of its type, then the only one', () => {
  expect(chooseMatrix([person, company, neutral], 'person', 'private-banking-risk')).toBe('private-banking-risk')
  expect(chooseMatrix([person, company, neutral], 'company', null)).toBe('customer-risk-company')
  expect(chooseMatrix([person, company, neutral], 'person', 'removed-since')).toBe('customer-risk-person')
  expect(chooseMatrix([neutral], 'other', null)).toBe('private-banking-risk')
  expect(chooseMatrix([neutral, matrix('another-risk')], 'other', null)).toBeNull()
})
