/** Shares of a limit: whatever arrives wherever, all processes together let through no more than one alone would. */
import fc from 'fast-check'
import { afterEach, expect, test, vi } from 'vitest'
import type { TenantStatus } from './auth/tenant-status-cache.ts'
import { Limits } from './limits.ts'

afterEach(() => vi.restoreAllMocks())

const createStatus = (per_second: number, burst: number): TenantStatus => {
  const limit = { per_second, burst }
  const generous = { per_second: 1e6, burst: 1e6 }
  return {
    limits: new Map([
      ['tenant', limit],
      ['principal', generous],
      ['in_flight', limit],
    ]),
  } as unknown as TenantStatus
}

const isAllowed = (act: () => unknown): boolean => {
  try {
    act()
    return true
  } catch {
    return false
  }
}

test('the sum over all processes stays within the limit, and a process alone has all of it', () => {
  let now_ms = 0
  vi.spyOn(performance, 'now').mockImplementation(() => now_ms)
  // Made once: a bucket store reserves its places. Each run has a tenant of its own.
  const all = Array.from({ length: 10 }, () => new Limits())
  let runs = 0
  const arrivals = fc.array(fc.record({ process: fc.nat(9), pause_ms: fc.nat(5) }), { minLength: 100, maxLength: 300 })
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 10 }),
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 10, max: 30 }),
      arrivals,
      (count, per_second, burst, requests) => {
        const tenant = `t${runs++}`
        const status = createStatus(per_second, burst)
        const processes = all.slice(0, count)
        for (const limits of processes) limits.setProcessCount(count)
        const began_ms = now_ms
        let allowed = 0
        for (const { process, pause_ms } of requests) {
          now_ms += pause_ms
          const limits = processes[process % count] as Limits
          if (isAllowed(() => limits.takePrincipal(tenant, 'user:x', status))) allowed++
        }
        expect(allowed).toBeLessThanOrEqual(burst + (per_second * (now_ms - began_ms)) / 1000 + 1e-6)
        const alone = all[0] as Limits
        alone.setProcessCount(1)
        let first = 0
        while (isAllowed(() => alone.takePrincipal(`${tenant} alone`, 'user:x', status))) first++
        expect(first).toBe(burst)
      },
    ),
    { numRuns: 100, seed: 20_263 },
  )
})

test('concurrent requests are divided too, and every process may run at least one', () => {
  const status = createStatus(1, 64)
  const enterAll = (limits: Limits) => {
    let entered = 0
    while (isAllowed(() => limits.assertInFlightCapacity('t', status))) {
      limits.acquireInFlight('t', status)
      entered++
    }
    expect(isAllowed(() => limits.acquireInFlight('t', status))).toBe(false)
    return entered
  }
  for (const [count, each] of [
    [1, 64],
    [3, 21],
    [64, 1],
    [100, 1],
  ] as const) {
    const limits = new Limits()
    limits.setProcessCount(count)
    expect(enterAll(limits), `${count} processes`).toBe(each)
  }
})

test('a smaller share removes saved tokens, a larger one refills', () => {
  let now_ms = 0
  vi.spyOn(performance, 'now').mockImplementation(() => now_ms)
  const limits = new Limits()
  const status = createStatus(10, 40)
  const takeAll = () => {
    let taken = 0
    while (isAllowed(() => limits.takePrincipal('t', 'user:x', status))) taken++
    return taken
  }
  expect(limits.describeBuckets('t', 'user:x', status)[1]).toMatchObject({ limit: 40, remaining: 40 })
  limits.takePrincipal('t', 'user:x', status)
  limits.setProcessCount(4)
  expect(limits.describeBuckets('t', 'user:x', status)[1]).toMatchObject({ limit: 10, remaining: 10 })
  expect(takeAll()).toBe(10)
  limits.setProcessCount(1)
  expect(takeAll()).toBe(0)
  now_ms = 4000
  expect(takeAll()).toBe(40)
})
