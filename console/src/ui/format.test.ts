import { expect, test } from 'vitest'
import { formatOperation, groupDigits } from './format.ts'

test('a decimal is grouped in thousands, and its fraction is left as it is', () => {
  expect(['0.5', '999', '1000', '-1234567.1234567', '1500000.00'].map(groupDigits)).toEqual([
    '0.5',
    '999',
    '1,000',
    '-1,234,567.1234567',
    '1,500,000.00',
  ])
})

test('an operation is named in words', () => {
  expect(['updateUserRoles', 'job:audit-export', 'job:investigation.gather'].map(formatOperation)).toEqual([
    'Update user roles',
    'Job: audit export',
    'Job: investigation gather',
  ])
})
