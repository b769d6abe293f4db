/** The version suggested for a rollback is the one that was last in force. */
import { expect, test } from 'vitest'
import { findPreviousVersion, isInForce, toVersionChoices } from './version-names.ts'

const at = (day: number) => `2026-01-0${day}T00:00:00Z`
const now_ms = Date.parse(at(5))

test('suggests the version that was last in force, never a scheduled one', () => {
  const spans = [
    { version: 1, from: at(1) },
    { version: 3, from: at(2) },
    { version: null, from: at(3) },
    { version: 2, from: at(4) },
    { version: 4, from: at(6) },
  ]
  expect(findPreviousVersion(spans, 2, now_ms)).toBe(3)
  expect(findPreviousVersion(spans.slice(0, 1), 1, now_ms)).toBeNull()
})

test('a period includes its start and excludes its end', () => {
  expect(isInForce({ from: at(5), until: at(6) }, now_ms)).toBe(true)
  expect(isInForce({ from: at(1), until: null }, now_ms)).toBe(true)
  expect(isInForce({ from: at(1), until: at(5) }, now_ms)).toBe(false)
  expect(isInForce({ from: at(6), until: null }, now_ms)).toBe(false)
})

test('lists versions with their labels', () => {
  expect(toVersionChoices([{ version: 2, label: 'q4' }, { version: 1 }])).toEqual([
    { value: '2', label: 'Version 2 (q4)' },
    { value: '1', label: 'Version 1' },
  ])
})
