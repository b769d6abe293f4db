import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { InFlightCounter, rateLimitHeaders, TokenBuckets } from './token-bucket.ts'

fc.configureGlobal({ seed: 6585 })

function bucketsAt(start_ms = 0, max_keys?: number) {
  const clock = { ms: start_ms }
  return { clock, buckets: new TokenBuckets({ now_ms: () => clock.ms, ...(max_keys !== undefined && { max_keys }) }) }
}

const anyLimit = fc.record({
  per_second: fc.double({ min: 0.01, max: 1000, noNaN: true }),
  burst: fc.integer({ min: 1, max: 500 }),
})
const anySteps = fc.array(
  fc.record({ wait_ms: fc.double({ min: 0, max: 2000, noNaN: true }), cost: fc.integer({ min: 1, max: 20 }) }),
  { maxLength: 200 },
)

describe('a token bucket', () => {
  test('allows its burst at once, then refuses and says how long to wait', () => {
    const { buckets, clock } = bucketsAt(5000)
    const limit = { per_second: 2, burst: 5 }
    const remaining = Array.from({ length: 5 }, () => buckets.take('k', limit).remaining)
    expect(remaining).toEqual([4, 3, 2, 1, 0])
    const refused = { allowed: false, remaining: 0, limit: 5, window_s: 3, reset_s: 3, retry_after_s: 1 }
    expect(buckets.take('k', limit)).toEqual(refused)
    expect(buckets.take('k', limit, 3).retry_after_s).toBe(2)
    clock.ms += 499
    expect(buckets.take('k', limit).allowed).toBe(false)
    clock.ms += 1
    expect(buckets.take('k', limit)).toEqual({ ...refused, allowed: true, retry_after_s: 0 })
    clock.ms += 60_000
    expect(buckets.take('k', limit)).toMatchObject({ allowed: true, remaining: 4, reset_s: 1 })
  })

  test('allows the whole burst even when the rate is no round number', () => {
    const { buckets } = bucketsAt(1e9 / 3)
    const taken = Array.from({ length: 11 }, () => buckets.take('k', { per_second: 1 / 3, burst: 10 }).allowed)
    expect(taken).toEqual([...Array(10).fill(true), false])
  })

  test('never allows more than burst plus rate times time in any interval', () => {
    fc.assert(
      fc.property(anyLimit, anySteps, (limit, steps) => {
        const { buckets, clock } = bucketsAt()
        const allowed: { at_ms: number; cost: number }[] = []
        for (const { wait_ms, cost } of steps) {
          clock.ms += wait_ms
          if (buckets.take('k', limit, cost).allowed) allowed.push({ at_ms: clock.ms, cost })
        }
        for (let from = 0; from < allowed.length; from++) {
          let sum = 0
          for (const { at_ms, cost } of allowed.slice(from)) {
            sum += cost
            const elapsed_s = (at_ms - (allowed[from]?.at_ms ?? 0)) / 1000
            expect(sum).toBeLessThanOrEqual(limit.burst + limit.per_second * elapsed_s + 1e-6)
          }
        }
      }),
    )
  })

  test('allows the refused request after the wait it named', () => {
    fc.assert(
      fc.property(anyLimit, anySteps, (limit, steps) => {
        const { buckets, clock } = bucketsAt()
        for (const { wait_ms, cost } of steps) {
          clock.ms += wait_ms
          const taken = buckets.take('k', limit, cost)
          if (taken.allowed || cost > limit.burst) continue
          expect(taken.retry_after_s).toBeGreaterThanOrEqual(1)
          clock.ms += taken.retry_after_s * 1000 + 0.1
          expect(buckets.take('k', limit, cost).allowed).toBe(true)
        }
      }),
    )
  })

  test('shows its level without taking tokens', () => {
    const { buckets, clock } = bucketsAt()
    const limit = { per_second: 1, burst: 2 }
    const full = { allowed: true, remaining: 2, limit: 2, window_s: 2, reset_s: 0, retry_after_s: 0 }
    expect(buckets.peek('k', limit)).toEqual(full)
    expect(buckets.size).toBe(0)
    buckets.take('k', limit, 2)
    expect(buckets.peek('k', limit)).toEqual({ ...full, allowed: false, remaining: 0, reset_s: 2, retry_after_s: 1 })
    expect(buckets.peek('other', limit).remaining).toBe(2)
    clock.ms += 2000
    expect(buckets.peek('k', limit)).toEqual(full)
  })

  test('follows a changed limit', () => {
    const { buckets, clock } = bucketsAt()
    buckets.take('k', { per_second: 1, burst: 100 })
    expect(buckets.take('k', { per_second: 1, burst: 5 }).remaining).toBe(4)
    clock.ms += 1000
    expect(buckets.take('k', { per_second: 50, burst: 100 }).remaining).toBe(53)
  })

  test('refuses with finite waits when nothing is allowed or the cost exceeds the burst', () => {
    const { buckets, clock } = bucketsAt()
    const never = buckets.take('k', { per_second: 0, burst: 0 })
    expect(never).toEqual({ allowed: false, remaining: 0, limit: 0, window_s: 0, reset_s: 0, retry_after_s: 86_400 })
    clock.ms += 1e9
    expect(buckets.take('j', { per_second: 1, burst: 3 }, 4)).toMatchObject({ allowed: false, remaining: 3 })
    expect(buckets.size).toBe(0)
  })

  test('keeps a bounded number of keys and drops the least recently used', () => {
    const { buckets } = bucketsAt(0, 3)
    const limit = { per_second: 1, burst: 10 }
    for (const key of ['a', 'b', 'c', 'a']) buckets.take(key, limit)
    buckets.peek('b', limit)
    buckets.take('d', limit)
    expect(buckets.size).toBe(3)
    expect(buckets.peek('a', limit).remaining).toBe(8)
    expect(buckets.peek('b', limit).remaining).toBe(10)
    expect(buckets.peek('d', limit).remaining).toBe(9)
  })

  test('runs on the monotonic clock by default', () => {
    const buckets = new TokenBuckets()
    const limit = { per_second: 0.001, burst: 1 }
    expect([buckets.take('k', limit).allowed, buckets.take('k', limit).allowed]).toEqual([true, false])
  })
})

describe('requests in flight', () => {
  test('are admitted up to the maximum per key, and again after a release', () => {
    const inFlight = new InFlightCounter()
    expect([inFlight.tryAcquire('a', 2), inFlight.tryAcquire('a', 2), inFlight.tryAcquire('a', 2)]).toEqual([
      true,
      true,
      false,
    ])
    expect(inFlight.tryAcquire('b', 2)).toBe(true)
    inFlight.release('a')
    expect(inFlight.count('a')).toBe(1)
    expect(inFlight.tryAcquire('a', 2)).toBe(true)
    expect(inFlight.tryAcquire('c', 0)).toBe(false)
  })

  test('drop their entry when there are very many keys', () => {
    const inFlight = new InFlightCounter()
    for (let n = 0; n < 20_000; n++) {
      inFlight.tryAcquire(`k${n}`, 1)
      inFlight.release(`k${n}`)
    }
    expect(inFlight.size).toBe(10_000)
    expect([inFlight.tryAcquire('k0', 1), inFlight.tryAcquire('k19999', 1)]).toEqual([true, true])
  })

  test('cannot be released without being acquired', () => {
    const inFlight = new InFlightCounter()
    inFlight.tryAcquire('a', 1)
    inFlight.release('a')
    expect(() => inFlight.release('a')).toThrow('release without a matching tryAcquire')
    expect(inFlight.tryAcquire('a', 1)).toBe(true)
  })
})

test('headers describe every policy', () => {
  const { buckets } = bucketsAt()
  const tenant = buckets.take('t', { per_second: 400, burst: 400 })
  const address = buckets.take('a', { per_second: 50, burst: 500 }, 100)
  expect(rateLimitHeaders([{ name: 'tenant', ...tenant }])).toEqual({
    'RateLimit-Policy': '"tenant";q=400;w=1',
    RateLimit: '"tenant";r=399;t=1',
  })
  expect(
    rateLimitHeaders([
      { name: 'tenant', ...tenant },
      { name: 'anonymous', ...address },
    ]),
  ).toEqual({
    'RateLimit-Policy': '"tenant";q=400;w=1, "anonymous";q=500;w=10',
    RateLimit: '"tenant";r=399;t=1, "anonymous";r=400;t=2',
  })
  expect(rateLimitHeaders([])).toEqual({})
})
