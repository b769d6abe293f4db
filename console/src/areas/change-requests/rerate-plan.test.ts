import { expect, test } from 'vitest'
import { planRerating } from './rerate-plan.ts'

const matrix = { family: 'matrix' as const, key: 'customer-risk' }
const move = (from: string | null, to: string | null, decisions: number) => ({ ...matrix, from, to, decisions })
const sample = (subject_id: string, before: string, after: string) => ({
  ...matrix,
  subject_id,
  before: { result: before },
  after: { result: after },
})
const plan = (
  transitions: readonly ReturnType<typeof move>[],
  samples: readonly ReturnType<typeof sample>[],
  complete = true,
) => planRerating({ transitions, samples, population: { complete } })

test('rates the listed customers again whose result changes', () => {
  const samples = [sample('a', 'low', 'medium'), sample('b', 'low', 'low'), sample('c', 'high', 'medium')]
  expect(plan([move('low', 'medium', 1), move('low', 'low', 7), move('high', 'medium', 1)], samples)).toEqual([
    { ...matrix, count: 2, subject_ids: ['a', 'c'] },
  ])
})

test('names no customers where the analysis lists only some of them, or was a sample', () => {
  const samples = [sample('a', 'low', 'medium')]
  expect(plan([move('low', 'medium', 46)], samples)).toMatchObject([{ count: 46, subject_ids: null }])
  expect(plan([move('low', 'medium', 1)], samples, false)).toMatchObject([{ count: 1, subject_ids: null }])
})

test('plans nothing where no result changes', () => {
  expect(plan([move('low', 'low', 3)], [])).toEqual([])
})
