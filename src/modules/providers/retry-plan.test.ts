/** When a call that was not answered is tried again. */
import { expect, test } from 'vitest'
import type { HttpCapability } from '#provider/manifest.ts'
import { exampleManifest } from '#test/support/example-manifest.ts'
import { planNextAttempt, type RetriedCall } from './retry-plan.ts'

const now_ms = Date.parse('2026-03-01T12:00:00Z')

/** Seconds until the next attempt after so many that have ended before. */
function plan(retry: HttpCapability['retry'], http_status: number, retry_after_s: number | null, before = 0) {
  const declared = { ...exampleManifest.capabilities['company.lookup'], retry } as HttpCapability
  const loaded: RetriedCall = {
    call: { promise: 'free', created_at: new Date(now_ms).toISOString() },
    capability: { kind: 'http', declared },
    attempts: Array.from({ length: before }, () => ({ outcome: 'failed' })),
  }
  const failure = { outcome: 'failed', fault: 'rate_limited', http_status, is_outage: http_status !== 400 } as const
  const delay_ms = planNextAttempt(loaded, failure, { retry_after_s, now_ms })
  return delay_ms === null ? null : delay_ms / 1000
}

test('waits as long as the provider asks, after the last declared attempt too', () => {
  expect(plan({ attempts: 1 }, 429, 50)).toBe(50)
  expect(plan({}, 429, 50, 2)).toBe(50)
  expect(plan({ attempts: 1 }, 429, null)).toBe(15)
  expect(plan({ attempts: 1 }, 429, 1)).toBe(15)
})

test('waits as long as the provider asks where the manifest does not list the status', () => {
  expect(plan({ on: [503] }, 429, 3600)).toBe(3600)
  expect(plan({ on: [503] }, 429, 1_000_000)).toBe(86_400)
  expect(plan({ on: [503] }, 400, 3600)).toBeNull()
})
