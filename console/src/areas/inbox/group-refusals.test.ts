/** Grouping of refused alerts by rule. */
import { expect, test } from 'vitest'
import { groupRefusals } from './group-refusals.ts'

test('counts alerts by rule, most first, and leaves out what can be done', () => {
  const items = [
    { code: null, detail: null },
    { code: 'transition_not_allowed', detail: 'The alert is dismissed.' },
    { code: 'conflict', detail: 'The end is in the past.' },
    { code: 'conflict', detail: 'The end is in the past.' },
    { code: 'not_found', detail: null },
  ]
  expect(groupRefusals(items)).toEqual([
    { detail: 'The end is in the past.', count: 2 },
    { detail: 'The alert is dismissed.', count: 1 },
    { detail: 'not_found', count: 1 },
  ])
})
