/** Guards as people write them, there and back. */
import { expect, test } from 'vitest'
import { findFillRateFault, parseGuards, toGuardTexts } from './guards.ts'

test('converts guards to texts and back', () => {
  const guards = {
    min_entries: 0,
    max_entries: 500,
    max_removed_bps: 1250,
    max_removed_entries: 3,
    max_changed_bps: 5000,
    max_members_lost_bps: 250,
    max_members_lost: 0,
    max_emptied_bps: 10000,
    max_emptied_entries: 7,
    max_orphan_rows: 12,
    min_filled_bps: { '/country': 9950, '/names/first': 100 },
  }
  expect(toGuardTexts(guards)).toMatchObject({
    removed_percent: 12.5,
    filled: '/country 99.5\n/names/first 1',
  })
  expect(parseGuards(toGuardTexts(guards))).toEqual(guards)
})

test('omits empty fields', () => {
  expect(parseGuards(toGuardTexts({}))).toEqual({})
})

test('accepts only a field and a percentage as fill rate', () => {
  expect(findFillRateFault('/country 95\n\n /name 100 %\n')).toBeNull()
  expect(findFillRateFault('/country')).toContain('“/country”')
  expect(findFillRateFault('/country 95\ncountry 95')).toContain('“country 95”')
  expect(findFillRateFault('/country 101')).toContain('“/country 101”')
})
