/** Weights of factors, given as numbers or by lists. */
import { expect, test } from 'vitest'
import { toWeights } from './weights.ts'

const factor = (key: string, weight_bps: unknown) => ({ key, title: key, form: 'lookup', weight_bps }) as never

test('weights are read from lists, and what cannot be read is missing', () => {
  const contents = new Map([['weights', { entries: [{ key: 'country', entry: { weight_bps: 2500 } }] }]])
  const fromList = (key: string) => ({ list_key: 'weights', key, field: 'weight_bps' })
  const { byFactor, total } = toWeights(
    [factor('country', fromList('country')), factor('funds', 7500), factor('other', fromList('other'))],
    contents,
  )
  expect([...byFactor]).toEqual([
    ['country', 2500],
    ['funds', 7500],
  ])
  expect(total).toBe(10_000)
})
