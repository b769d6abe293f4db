/** One unit for scores and limits. */
import { expect, test } from 'vitest'
import { formatPoints, formatUnit, formatValueInPoints } from './points.ts'

test('writes scores, limits and contributions as points', () => {
  expect([0, 850, 3000, 10_000, 525.04].map(formatPoints)).toEqual(['0', '850', '3,000', '10,000', '525'])
})

test('names the stored unit of lists as points of 10,000 and keeps other units', () => {
  expect(formatUnit('basis points')).toBe('points of 10,000')
  expect(formatUnit('months')).toBe('months')
})

test('writes a value in points only where its field has that unit', () => {
  expect(formatValueInPoints(2600, 'basis points')).toBe('2,600')
  expect(formatValueInPoints(2600, 'months')).toBeUndefined()
  expect(formatValueInPoints('2600', 'basis points')).toBeUndefined()
})
