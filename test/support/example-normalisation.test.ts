import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { ExampleNormaliser } from './example-normalisation.ts'

/** A reply as it would be at another time, with other chance. */
const record = (now_ms: number) => {
  const hex = randomBytes(32).toString('hex')
  const toSecond = (time_ms: number) => `${new Date(time_ms).toISOString().slice(0, 19)}Z`
  return {
    id: randomUUID(),
    created_at: new Date(now_ms - 1).toISOString(),
    content_hash: createHash('sha256').update(hex).digest('hex'),
    detail: { after_hash: hex.slice(0, 32), before_hash: hex.slice(32) },
    salt: randomBytes(16).toString('base64url'),
    session: { issued_at: toSecond(now_ms), expires_at: toSecond(now_ms + 3_600_000) },
    rows: { query: { override_expires_before: toSecond(now_ms + 14 * 86_400_000) } },
    result: { known_at: null, valid_at: new Date(now_ms - 1).toISOString(), size_bytes: 600 + (now_ms % 7) },
    reference: `INV-${hex.slice(0, 4).toUpperCase()}-${hex.slice(4, 8).toUpperCase()}`,
    label: `Account ${hex.slice(0, 12)}`,
    fingerprint: hex.slice(0, 8),
    cases: { median_hours_to_close: Math.random(), slow_hours_to_close: Math.random() },
    report: { unsealed: 50 + (now_ms % 3) },
    sample: { code: hex.slice(0, 3), version: 1, seed: 'quality-1', rate_bps: now_ms % 10_000, bucket: now_ms % 7 },
    given: '2024-01-01T00:00:00.000Z',
    score_bps: 2000,
  }
}

test('makes two recordings of the same reply equal', () => {
  const now_ms = Date.now()
  const [one, two] = [record(now_ms), record(now_ms + 90_000)].map((reply) => new ExampleNormaliser().normalise(reply))
  expect(one).toEqual(two)
  expect(one).toMatchObject({
    session: { issued_at: '2026-03-02T09:30:00Z', expires_at: '2026-03-02T10:30:00Z' },
    detail: { after_hash: expect.stringMatching(/^[0-9a-f]{32}$/) },
    label: 'Account',
    given: '2024-01-01T00:00:00Z',
    score_bps: 2000,
  })
})
