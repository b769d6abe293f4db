import { expect, test } from 'vitest'
import { describeEntry } from './history-texts.ts'

const raised = [{ member: 'priority', before: 'low', after: 'high' }]

test.each([
  ['priority_changed', raised, 'Priority changed from low to high'],
  ['facts_changed', raised, 'Facts changed, priority from low to high'],
  ['woken', [{ member: 'state', before: 'snoozed', after: 'new' }], 'Snooze ended'],
  ['opened', [], 'Opened'],
])('an entry %s with %j says what changed', (event, changes, text) => {
  expect(describeEntry({ event, changes })).toBe(text)
})
