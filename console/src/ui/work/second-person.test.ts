/** Which proposals wait for a person other than their proposer. */
import { expect, test } from 'vitest'
import { keepOthersProposals } from './second-person.ts'

test('nobody gets their own proposal, nor a case without one', () => {
  const own = { proposal: { proposed_by: 'user:clara' } }
  const other = { proposal: { proposed_by: 'user:anton' } }
  expect(keepOthersProposals([own, other, { proposal: null }], 'user:clara')).toEqual([other])
})
