/**
 * Rate limits: token buckets per principal, tenant and anonymous address, and requests in flight per tenant. The limit
 * of unfinished heavy jobs is kept in job/queries.ts. Values are the tenant's own rows, with generous defaults. Buckets are held per process, and each
 * serving process has an equal share of the limit.
 */
import type { Bucket } from './auth/queries.ts'
import type { TenantStatus } from './auth/tenant-status-cache.ts'
import { failWithoutStack } from './problem.ts'
import { InFlightCounter, type Limit, rateLimitHeaders, type TakeResult, TokenBuckets } from './token-bucket.ts'

export const defaultLimits: Readonly<Record<Bucket | 'anonymous', Limit>> = {
  principal: { per_second: 200, burst: 400 },
  tenant: { per_second: 400, burst: 800 },
  anonymous: { per_second: 50, burst: 500 },
  // For these two only `burst` is used: how many at once.
  in_flight: { per_second: 64, burst: 64 },
  heavy: { per_second: 1000, burst: 1000 },
  // A person's assistant makes a few calls at once and then thinks.
  mcp: { per_second: 5, burst: 50 },
}

/** So many refusals per second of a tenant are routed and logged; the rest is shed. */
const FLOOD: Limit = { per_second: 100, burst: 100 }
const FLOOD_MS = 1000
const floodKey = (tenantId: string): string => `f:${tenantId}`

export interface RateLimitRefusal {
  readonly retry_after_s: number
  readonly headers: Readonly<Record<string, string>>
}

export interface BucketState {
  readonly bucket: string
  readonly limit: number
  readonly remaining: number
  readonly reset_s: number
}

export class Limits {
  readonly #buckets = new TokenBuckets()
  readonly #inFlight = new InFlightCounter()
  #flooded_until_ms = Number.NEGATIVE_INFINITY
  #processes = 1
  #shares = new WeakMap<Limit, Limit>()

  /** How many processes serve requests, this one included. */
  setProcessCount(count: number): void {
    const processes = Math.max(1, count)
    if (processes === this.#processes) return
    this.#processes = processes
    this.#shares = new WeakMap()
  }

  /** The limit of the tenant over all processes. */
  getLimit(tenantStatus: TenantStatus, bucket: Bucket): Limit {
    return tenantStatus.limits.get(bucket) ?? defaultLimits[bucket]
  }

  #getShare(limit: Limit): Limit {
    if (this.#processes === 1) return limit
    let share = this.#shares.get(limit)
    if (!share) {
      // Whole tokens, and at least one: a caller with a limit can call every process.
      const burst = Math.max(1, Math.floor(limit.burst / this.#processes))
      share = { per_second: limit.per_second / this.#processes, burst }
      this.#shares.set(limit, share)
    }
    return share
  }

  #getProcessLimit(tenantStatus: TenantStatus, bucket: Bucket): Limit {
    return this.#getShare(this.getLimit(tenantStatus, bucket))
  }

  /** Before an unknown token is verified, since verification is expensive. */
  assertAnonymousAllowed(address: string): void {
    anonymousHeaders(this.#buckets.peek(`a:${address}`, this.#getShare(defaultLimits.anonymous)))
  }

  /** Returns the RateLimit headers, or fails with 429 that carries them. */
  takeAnonymous(address: string): Record<string, string> {
    return anonymousHeaders(this.#buckets.take(`a:${address}`, this.#getShare(defaultLimits.anonymous)))
  }

  /** Returns the RateLimit headers, or fails with 429 that carries them. */
  takePrincipal(tenantId: string, principal: string, tenantStatus: TenantStatus): Record<string, string> {
    const own = this.#buckets.take(`p:${tenantId}:${principal}`, this.#getProcessLimit(tenantStatus, 'principal'))
    // A request refused by the principal's limit must not use up the tenant's: one runaway key would block everybody else.
    const shared = [`t:${tenantId}`, this.#getProcessLimit(tenantStatus, 'tenant')] as const
    const all = own.allowed ? this.#buckets.take(...shared) : this.#buckets.peek(...shared)
    if (own.allowed && all.allowed) return toRateLimitHeaders(own, all)
    if (!this.#buckets.take(floodKey(tenantId), FLOOD).allowed) this.#flooded_until_ms = performance.now() + FLOOD_MS
    failWithoutStack('rate_limited', toRefusal(own, all))
  }

  /** Tool calls of a principal, beside the limits of its requests: one message may carry several calls. */
  takeToolCall(tenantId: string, principal: string, tenantStatus: TenantStatus): void {
    const taken = this.#buckets.take(`m:${tenantId}:${principal}`, this.#getProcessLimit(tenantStatus, 'mcp'))
    if (!taken.allowed) failToolCall(taken)
  }

  /** Before a message is read that may carry a call. */
  assertToolCallAllowed(tenantId: string, principal: string, tenantStatus: TenantStatus): void {
    const state = this.#buckets.peek(`m:${tenantId}:${principal}`, this.#getProcessLimit(tenantStatus, 'mcp'))
    if (!state.allowed) failToolCall(state)
  }

  /**
   * Whether some tenant floods this process with requests beyond its limit. Called for every request, so it only compares a
   * time.
   */
  isFlooded(): boolean {
    return performance.now() < this.#flooded_until_ms
  }

  /**
   * The refusal of a caller beyond its limit, if its tenant was refused so often lately that the request can be shed. Takes no
   * tokens.
   */
  findFloodRefusal(tenantId: string, principal: string, tenantStatus: TenantStatus): RateLimitRefusal | undefined {
    if (this.#buckets.peek(floodKey(tenantId), FLOOD).allowed) return undefined
    const own = this.#buckets.peek(`p:${tenantId}:${principal}`, this.#getProcessLimit(tenantStatus, 'principal'))
    const all = this.#buckets.peek(`t:${tenantId}`, this.#getProcessLimit(tenantStatus, 'tenant'))
    return own.allowed && all.allowed ? undefined : toRefusal(own, all)
  }

  acquireInFlight(tenantId: string, tenantStatus: TenantStatus): void {
    if (!this.#inFlight.tryAcquire(tenantId, this.#getProcessLimit(tenantStatus, 'in_flight').burst)) {
      failWithoutStack('concurrency_limited', { retry_after_s: 1 })
    }
  }

  /** Before a body is received, so that a client does not send it for nothing. */
  assertInFlightCapacity(tenantId: string, tenantStatus: TenantStatus): void {
    if (this.#inFlight.count(tenantId) >= this.#getProcessLimit(tenantStatus, 'in_flight').burst) {
      failWithoutStack('concurrency_limited', { retry_after_s: 1 })
    }
  }

  releaseInFlight(tenantId: string): void {
    this.#inFlight.release(tenantId)
  }

  /** For GET /limits: explains a 429 without causing one. */
  describeBuckets(tenantId: string, principal: string, tenantStatus: TenantStatus): BucketState[] {
    const toState = (bucket: string, state: TakeResult): BucketState => ({
      bucket,
      limit: state.limit,
      remaining: Math.floor(state.remaining),
      reset_s: state.reset_s,
    })
    const inFlight = this.#getProcessLimit(tenantStatus, 'in_flight').burst
    return [
      toState(
        'principal',
        this.#buckets.peek(`p:${tenantId}:${principal}`, this.#getProcessLimit(tenantStatus, 'principal')),
      ),
      toState('tenant', this.#buckets.peek(`t:${tenantId}`, this.#getProcessLimit(tenantStatus, 'tenant'))),
      toState('mcp', this.#buckets.peek(`m:${tenantId}:${principal}`, this.#getProcessLimit(tenantStatus, 'mcp'))),
      {
        bucket: 'in_flight',
        limit: inFlight,
        remaining: Math.max(0, inFlight - this.#inFlight.count(tenantId)),
        reset_s: 0,
      },
    ]
  }
}

/** Members are written out: a spread costs more than the rest of the limiter. */
const toPolicy = (name: string, { allowed, remaining, limit, window_s, reset_s, retry_after_s }: TakeResult) => ({
  name,
  allowed,
  remaining,
  limit,
  window_s,
  reset_s,
  retry_after_s,
})

const toRateLimitHeaders = (own: TakeResult, all: TakeResult): Record<string, string> =>
  rateLimitHeaders([toPolicy('principal', own), toPolicy('tenant', all)])

/** The principal's limit first: the caller can do something about it. */
const toRefusal = (own: TakeResult, all: TakeResult): RateLimitRefusal => ({
  retry_after_s: (own.allowed ? all : own).retry_after_s,
  headers: toRateLimitHeaders(own, all),
})

function failToolCall(state: TakeResult): never {
  const headers = rateLimitHeaders([toPolicy('mcp', state)])
  failWithoutStack('rate_limited', { retry_after_s: state.retry_after_s, headers })
}

function anonymousHeaders(taken: TakeResult): Record<string, string> {
  const headers = rateLimitHeaders([toPolicy('anonymous', taken)])
  if (!taken.allowed) failWithoutStack('rate_limited', { retry_after_s: taken.retry_after_s, headers })
  return headers
}
