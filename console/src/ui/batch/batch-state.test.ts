/** What a batch is called. */
import { expect, test } from 'vitest'
import { describeSource, getBatchTitle } from './batch-state.ts'

const source = {
  kind: 'filter',
  upload_id: null,
  file_name: null,
  sha256: null,
  filter: { segment: 'corporate', subject_type: 'company' },
} as const

test('is called by its note, and by its source where it has none', () => {
  const filtered = { source, note: 'Nightly rating: corporate customers' }
  expect(getBatchTitle(filtered)).toBe('Nightly rating: corporate customers')
  expect(getBatchTitle({ ...filtered, note: null })).toBe('subjects with segment corporate, subject type company')
  expect(describeSource({ source: { ...source, kind: 'items', filter: null } })).toBe('a given list of items')
})
