/** Why a step is done or left out. */
import { expect, test } from 'vitest'
import { describeReason, describeTest } from './step-reasons.ts'

test.each([
  ['>= 3', 'is at least 3'],
  ['not("listed", "public-body")', 'is not listed or public body'],
  ['"company", "other"', 'is company or other'],
  ['in list(pep-categories)', 'is in the list pep categories'],
  ['[1..3]', 'fulfils [1..3]'],
])('%s %s', (written, words) => {
  expect(describeTest(written)).toBe(words)
})

const step = { kind: 'task', problem: null, is_required: false, condition: null, after: [] } as const

test('a step says why it was left out, and why it opened', () => {
  const condition = { ownership_layers: '>= 3' }
  expect(describeReason({ ...step, state: 'skipped', condition })).toBe(
    'Left out: needed only if ownership layers is at least 3.',
  )
  expect(describeReason({ ...step, state: 'waiting', after: ['Risk rating'] })).toBe(
    'Opened after Risk rating. The case can be closed without it.',
  )
  expect(describeReason({ ...step, state: 'waiting', is_required: true })).toBeNull()
  expect(describeReason({ ...step, state: 'succeeded', condition })).toBe(
    'Needed because ownership layers is at least 3.',
  )
})
