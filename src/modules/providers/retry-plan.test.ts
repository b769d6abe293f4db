/** When a call that was not answered is tried again. */
import { expect, test } from 'vitest'
import type { EgressFault } from '#kernel/egress/faults.ts'
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
    attempts: Array.from({ length: before }, () => ({ outcome: 'failed', fault: 'rate_limited' })),
  }
  const failure = { outcome: 'failed', fault: 'rate_limited', http_status, is_outage: http_status !== 400 } as const
  const delay_ms = planNextAttempt(loaded, failure, { retry_after_s, now_ms })
  return delay_ms === null ? null : delay_ms / 1000
}

/** Seconds until the next attempt of a call that may be repeated, after attempts that ended with these faults. */
function planAfter(earlier: readonly string[], fault: EgressFault, change: object = {}): number | null {
  const declared = { ...exampleManifest.capabilities['company.lookup'], retry: { attempts: 3 } } as HttpCapability
  const toRow = (each: string) => ({ outcome: each === 'connect_failed' ? 'not_sent' : 'failed', fault: each }) as const
  const loaded: RetriedCall = {
    call: { promise: 'free', created_at: new Date(now_ms).toISOString() },
    capability: { kind: 'http', declared },
    attempts: earlier.map(toRow),
  }
  const failure = { ...toRow(fault), http_status: null, is_outage: true, ...change }
  return planNextAttempt(loaded, failure, { retry_after_s: null, now_ms })
}

test.each(['timeout', 'headers_timeout', 'idle_timeout'] as const)('repeats after %s as often as declared', (fault) => {
  expect(planAfter([], fault)).toBeGreaterThan(0)
  expect(planAfter([fault], 'timeout')).toBeGreaterThan(0)
  expect(planAfter([fault, 'timeout'], fault)).toBeNull()
  expect(planAfter(['timeout', 'status_unexpected', fault, 'connect_failed'], fault)).toBeNull()
})

test('repeats after an outage, and a request that was not sent, for longer', () => {
  const outage = ['status_unexpected', 'connect_failed', 'connection_reset', 'connect_failed']
  expect(planAfter(outage, 'connect_failed')).toBeGreaterThan(0)
  expect(planAfter(outage, 'connection_reset')).toBeGreaterThan(0)
  expect(planAfter(outage, 'timeout')).toBeGreaterThan(0)
  expect(planAfter(['timeout', 'timeout', 'timeout'], 'timeout', { outcome: 'not_sent' })).toBeGreaterThan(0)
})

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
