/** Times of addresses and fields. */
import { expect, test } from 'vitest'
import { findUnknownTime, toInstant } from './local-time.ts'

test.each(['notadate', '2026-13-45', '2026-02-31', '2026-02-31T10:00', '7'])('says that %s is no time', (text) => {
  expect(toInstant(text)).toBeUndefined()
  expect(findUnknownTime(text)).toBe(text)
})

test.each(['2026-02-28', '2028-02-29T10:00', '2026-02-28T10:00:00Z'])('reads %s', (text) => {
  expect(toInstant(text)).toBe(new Date(text).toISOString())
  expect(findUnknownTime(text)).toBeUndefined()
})

test('an empty field is no time, and nothing to complain about', () => {
  expect([toInstant(''), findUnknownTime('')]).toEqual([undefined, undefined])
})
