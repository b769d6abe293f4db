import { expect, test } from 'vitest'
import { getFreshness } from './freshness.tsx'

const now_ms = Date.parse('2026-01-10T00:00:00Z')
const active = {
  version: 1,
  via: 'shared',
  content_hash: '',
  effective_from: '2025-01-01T00:00:00Z',
  overlay_version: null,
} as const
const list = { active, stale_after_days: 30, stale_since: null, review_due_at: null, state: 'live' } as const

test.each([
  ['fresh', list],
  ['fresh', { ...list, review_due_at: '2026-01-11T00:00:00Z' }],
  ['no-limit', { ...list, stale_after_days: null }],
  ['due', { ...list, stale_after_days: null, review_due_at: '2026-01-09T00:00:00Z' }],
  ['out-of-date', { ...list, review_due_at: '2026-01-09T00:00:00Z', stale_since: '2026-01-08T00:00:00Z' }],
  ['empty', { ...list, active: null }],
  ['archived', { ...list, active: null, state: 'archived' }],
] as const)('%s: %o', (freshness, dataset) => {
  expect(getFreshness(dataset, now_ms)).toBe(freshness)
})
