import { expect, test } from 'vitest'
import { describeNothingToClaim } from './nothing-to-claim.ts'

const unassigned = { state: 'new', assignee: null, dismissal: null } as const
const taken = { ...unassigned, state: 'claimed', assignee: 'user:1' } as const

test('says that only the queues of the own team are served, and offers the list where it has an unassigned alert', () => {
  expect(describeNothingToClaim(undefined, [taken, unassigned])).toBe(
    'No alert waits for you in the queues of your team. Claim one from the list with c.',
  )
  expect(describeNothingToClaim({ title: 'Payments', is_mine: false }, [unassigned])).toBe(
    'You are not in the team of the queue Payments. Claim one from the list with c.',
  )
})

test('offers no alert of the list where somebody works on each of them', () => {
  expect(describeNothingToClaim({ title: 'Payments', is_mine: true }, [taken])).toBe(
    'No alert waits for you in the queue Payments.',
  )
  expect(describeNothingToClaim(undefined, [])).toBe('No alert waits for you in the queues of your team.')
})
