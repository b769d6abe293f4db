/** Where violations are in a payload, and what they are called. */
import { expect, test } from 'vitest'
import {
  describeDemand,
  describeKeyword,
  formatViolationPlace,
  toPayloadPointer,
} from '#console/ui/definition/violations.ts'
import { describeDrift, getDriftShares } from './drift-texts.ts'
import { readSamples } from './samples.ts'

test('a violation in a record is located below the records of the payload', () => {
  const violation = { pointer: '/status', record_index: 2 }
  expect(toPayloadPointer(violation, '/result/items', {})).toBe('/result/items/2/status')
  expect(toPayloadPointer(violation, '', [{}, {}, {}])).toBe('/2/status')
  expect(toPayloadPointer({ pointer: '/status', record_index: 0 }, '', {})).toBe('/status')
  expect(toPayloadPointer({ pointer: '/meta/date', record_index: null }, '/items', {})).toBe('/meta/date')
})

test('violations are named by what is wrong, and a check by its key', () => {
  expect(describeKeyword({ keyword: 'one_of' })).toBe('Not on the list')
  expect(describeKeyword({ code: 'check_failed', keyword: 'dates-ordered' })).toBe('Check “dates-ordered” failed')
  expect(formatViolationPlace({ pointer: '/a', record_index: 0 })).toBe('record 1, /a')
  expect(formatViolationPlace({ pointer: '', record_index: null })).toBe('whole payload')
})

test('what is expected is a sentence', () => {
  expect(describeDemand('must be a list')).toBe('It must be a list.')
  expect(describeDemand('at most 500 records')).toBe('Expected: at most 500 records.')
  expect(describeDemand('The JSON ends too early. Put a digit at line 1, column 8.')).toBe(
    'The JSON ends too early. Put a digit at line 1, column 8.',
  )
})

test('samples are one document, one on each line, or several files', () => {
  expect(readSamples(['{"a":1}\n{"a":2}\n', '[3]'])).toEqual({ kind: 'json', payloads: [{ a: 1 }, { a: 2 }, [3]] })
  expect(readSamples(['', ' <a/>'])).toEqual({ kind: 'xml', text: ' <a/>' })
  expect(readSamples(['{"a":1}', '{"a"'])).toMatchObject({
    kind: 'unreadable',
    message: expect.stringContaining('Sample 2'),
  })
  expect(readSamples([''])).toMatchObject({ kind: 'unreadable' })
})

test('drift is said before and now, and drawn where both are sizes', () => {
  const longer = { kind: 'text_longer', item: '', facts: { longest_before: 30, longest_now: 300 } } as const
  expect(describeDrift(longer)).toEqual(['at most 30 characters', 'up to 300 characters'])
  expect(getDriftShares(longer)).toEqual([0.1, 1])
  const added = { kind: 'new_value', item: 'struck off', facts: { share: 0.08, values_before: 2 } } as const
  expect(describeDrift(added)).toEqual(['2 known values', '“struck off” in 8 % of values'])
  const below = {
    kind: 'number_below',
    item: '',
    facts: { minimum_before: 1, maximum_before: 2, minimum_now: -50 },
  } as const
  expect(describeDrift(below)).toEqual(['1 to 2', 'down to -50'])
  expect(getDriftShares(below)).toBeNull()
})
