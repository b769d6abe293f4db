import { expect, test } from 'vitest'
import { getTestDecisionIds, isTestDecision } from './is-test.ts'

test('marks decisions that say that they are tests, and no others', () => {
  expect(isTestDecision({ is_test: true })).toBe(true)
  expect(isTestDecision({ is_test: false })).toBe(false)
  expect(isTestDecision({})).toBe(false)
  const decisions = [{ evaluation_id: 'a', is_test: true }, { evaluation_id: 'b' }]
  expect([...getTestDecisionIds(decisions)]).toEqual(['a'])
})
