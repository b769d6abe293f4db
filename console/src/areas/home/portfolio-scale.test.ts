/** Ticks and outlines of the portfolio chart. */
import { expect, test } from 'vitest'
import { buildAreas, pickDateTicks, pickTableDays, pickTicks } from './portfolio-scale.ts'

test('picks round counts that reach the highest one', () => {
  expect(pickTicks(0)).toEqual([0, 1])
  expect(pickTicks(3)).toEqual([0, 1, 2, 3])
  expect(pickTicks(487)).toEqual([0, 200, 400, 600])
  expect(pickTicks(1_000_000)).toEqual([0, 500_000, 1_000_000])
})

test('spreads dates evenly and keeps the first and the last', () => {
  expect(pickDateTicks(365, 20)).toEqual([0, 61, 121, 182, 243, 303, 364])
  expect(pickDateTicks(2, 7)).toEqual([0, 1])
  expect(pickDateTicks(90, 1)).toEqual([0, 89])
})

test('lists at most thirteen days and always the last', () => {
  const days = Array.from({ length: 365 }, (_, place) => ({ on: `day-${place}`, bands: [] }))
  const picked = pickTableDays(days)
  expect(picked.length).toBeLessThanOrEqual(13)
  expect(picked.at(-1)?.on).toBe('day-364')
})

test('stacks each band on those below it', () => {
  const days = [
    { on: 'a', bands: [{ band: 'low', subjects: 2 }] },
    {
      on: 'b',
      bands: [
        { band: 'low', subjects: 1 },
        { band: 'high', subjects: 3 },
      ],
    },
  ]
  const areas = buildAreas(days, ['low', 'high'], { x: (place) => place, y: (count) => count })
  expect(areas).toEqual([
    { band: 'low', path: 'M0 2L1 1L1 0L0 0Z' },
    { band: 'high', path: 'M0 2L1 4L1 1L0 2Z' },
  ])
})
