import { expect, test } from 'vitest'
import { describeOverlap, describeVerification } from './credential-texts.ts'

const version = { version: 4, last_verified_at: null, rejected_at: null }
const verified = { ...version, last_verified_at: '2026-01-01T00:00:00Z' }

test('warns of a version that was not verified, was rejected or failed its last verification', () => {
  expect(describeVerification(version)).toMatchObject({
    isVerified: false,
    text: expect.stringContaining('was not verified'),
  })
  expect(describeVerification({ ...verified, rejected_at: '2026-01-02T00:00:00Z' })).toMatchObject({
    isVerified: false,
    text: expect.stringContaining('The provider rejected version 4'),
  })
  expect(describeVerification(verified, 'failed')).toMatchObject({ isVerified: false })
  expect(describeVerification(verified, 'answered')).toMatchObject({ isVerified: true })
  expect(describeVerification(verified)).toMatchObject({ isVerified: true })
})

test('says what becomes of the version before', () => {
  expect(describeOverlap(0)).toBe('ends at once')
  expect(describeOverlap(86_400)).toContain('usable for 1 day,')
  expect(describeOverlap(5400)).toContain('usable for 90 minutes,')
  expect(describeOverlap(61)).toContain('usable for 61 seconds,')
})
