/** Describes whether a change increases or reduces the agreement with overrides. */
import { expect, test } from 'vitest'
import { classifyChange, describeAgreement } from './known-outcome-texts.ts'

const about = 'about subjects with an overridden rating'

test('states how many agree before and after, and the difference', () => {
  expect(describeAgreement({ decisions: 4, agreed_before: 1, agreed_after: 3 })).toBe(
    `Of 4 decisions ${about}, 1 agrees with the override today; with this change 3 would (2 more).`,
  )
  expect(describeAgreement({ decisions: 1, agreed_before: 1, agreed_after: 0 })).toMatch(
    /^Of 1 decision .* 0 would \(1 fewer\)\.$/,
  )
  expect(describeAgreement({ decisions: 2, agreed_before: 2, agreed_after: 2 })).toMatch(
    /2 agree with .* 2 would \(no change\)\.$/,
  )
})

test('classifies how a combination changes; no decision never agrees', () => {
  expect(classifyChange({ outcome: 'high', before: 'high', after: 'high' })).toBe('agrees')
  expect(classifyChange({ outcome: 'high', before: 'low', after: 'high' })).toBe('agrees after the change')
  expect(classifyChange({ outcome: 'high', before: 'high', after: null })).toBe('no longer agrees')
  expect(classifyChange({ outcome: 'high', before: null, after: 'low' })).toBe('differs')
})
