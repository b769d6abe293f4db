/** Describes whether a change increases or reduces the agreement with overrides. */
import { expect, test } from 'vitest'
import { classifyTurn, describeAgreement } from './known-outcome-texts.ts'

const about = 'about subjects whose rating a person has overridden'

test('the sum says how many agree today, how many then, and the difference', () => {
  expect(describeAgreement({ decisions: 4, agreed_before: 1, agreed_after: 3 })).toBe(
    `Of 4 decisions ${about}, 1 agrees with that person today; with this change it would be 3, 2 more.`,
  )
  expect(describeAgreement({ decisions: 1, agreed_before: 1, agreed_after: 0 })).toMatch(
    /^Of 1 decision .* be 0, 1 fewer\.$/,
  )
  expect(describeAgreement({ decisions: 2, agreed_before: 2, agreed_after: 2 })).toMatch(
    /2 agree with .* be 2, as many\.$/,
  )
})

test('a combination turns towards the known outcome, away from it, or stays; what is refused agrees with nobody', () => {
  expect(classifyTurn({ outcome: 'high', before: 'high', after: 'high' })).toBe('agrees')
  expect(classifyTurn({ outcome: 'high', before: 'low', after: 'high' })).toBe('comes to agree')
  expect(classifyTurn({ outcome: 'high', before: 'high', after: null })).toBe('no longer agrees')
  expect(classifyTurn({ outcome: 'high', before: null, after: 'low' })).toBe('differs')
})
