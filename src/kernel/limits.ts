/**
 * Rate limits: token buckets per principal, tenant and anonymous address, requests in flight per tenant, and an allowance
 * of unfinished heavy work. Values are the tenant's own rows, with generous defaults. Buckets live in the process, and each
 * process that serves requests has an equal share of the limit, so that they hold in sum.
 */
import type { Standing } from './auth/standing.ts'
import { refuse } from './problem.ts'
import { InFlight, type Limit, rateLimitHeaders, type Taken, TokenBuckets } from './token-bucket.ts'

export type Bucket = 'principal' | 'tenant' | 'in_flight' | 'heavy'

export const defaultLimits: Readonly<Record<Bucket | 'anonymous', Limit>> = {
  principal: { per_second: 200, burst: 400 },
  tenant: { per_second: 400, burst: 800 },
  anonymous: { per_second: 50, burst: 500 },
  // For these two only `burst` counts: how many at once.
  in_flight: { per_second: 64, burst: 64 },
  heavy: { per_second: 1000, burst: 1000 },
}

/** So many refusals of a tenant in a second go the whole way, through router and log; the rest is refused at the door. */
const FLOOD: Limit = { per_second: 100, burst: 100 }
const FLOOD_MS = 1000
const floodKey = (tenantId: string): string => `f:${tenantId}`

export interface Refusal {
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
  readonly #inFlight = new InFlight()
  #flooded_until_ms = Number.NEGATIVE_INFINITY
  #processes = 1
  #shares = new WeakMap<Limit, Limit>()

  /** How many processes serve requests, this one included. */
  setProcesses(count: number): void {
    const processes = Math.max(1, count)
    if (processes === this.#processes) return
    this.#processes = processes
    this.#shares = new WeakMap()
  }

  /** What the tenant may use of it in all processes together. */
  limitOf(standing: Standing, bucket: Bucket): Limit {
    return standing.limits.get(bucket) ?? defaultLimits[bucket]
  }

  #shareOf(limit: Limit): Limit {
    if (this.#processes === 1) return limit
    let share = this.#shares.get(limit)
    if (!share) {
      // Whole tokens, and at least one: whoever may ask at all may ask everywhere.
      const burst = Math.max(1, Math.floor(limit.burst / this.#processes))
      share = { per_second: limit.per_second / this.#processes, burst }
      this.#shares.set(limit, share)
    }
    return share
  }

  #ownLimit(standing: Standing, bucket: Bucket): Limit {
    return this.#shareOf(this.limitOf(standing, bucket))
  }

  /** Before an unknown token is verified: verification is work that a stranger could ask for without end. */
  expectAnonymousRoom(address: string): void {
    anonymousHeaders(this.#buckets.peek(`a:${address}`, this.#shareOf(defaultLimits.anonymous)))
  }

  /** Returns the RateLimit headers, or fails with 429 that carries them. */
  takeAnonymous(address: string): Record<string, string> {
    return anonymousHeaders(this.#buckets.take(`a:${address}`, this.#shareOf(defaultLimits.anonymous)))
  }

  /** Returns the RateLimit headers, or fails with 429 that carries them. */
  takePrincipal(tenantId: string, principal: string, standing: Standing): Record<string, string> {
    const own = this.#buckets.take(`p:${tenantId}:${principal}`, this.#ownLimit(standing, 'principal'))
    // What its own limit refuses must not use up the tenant's: one runaway key would lock everybody else out.
    const shared = [`t:${tenantId}`, this.#ownLimit(standing, 'tenant')] as const
    const all = own.allowed ? this.#buckets.take(...shared) : this.#buckets.peek(...shared)
    if (own.allowed && all.allowed) return headersOf(own, all)
    if (!this.#buckets.take(floodKey(tenantId), FLOOD).allowed) this.#flooded_until_ms = performance.now() + FLOOD_MS
    refuse('rate_limited', refusalOf(own, all))
  }

  /** Whether anybody floods this process with requests beyond a limit: asked for every request, so it costs nothing. */
  isFlooded(): boolean {
    return performance.now() < this.#flooded_until_ms
  }

  /**
   * What a caller beyond its limit is told when its tenant has had so many refusals lately that this one need not be looked
   * at any closer. Takes nothing from any bucket.
   */
  floodOf(tenantId: string, principal: string, standing: Standing): Refusal | undefined {
    if (this.#buckets.peek(floodKey(tenantId), FLOOD).allowed) return undefined
    const own = this.#buckets.peek(`p:${tenantId}:${principal}`, this.#ownLimit(standing, 'principal'))
    const all = this.#buckets.peek(`t:${tenantId}`, this.#ownLimit(standing, 'tenant'))
    return own.allowed && all.allowed ? undefined : refusalOf(own, all)
  }

  enter(tenantId: string, standing: Standing): void {
    if (!this.#inFlight.enter(tenantId, this.#ownLimit(standing, 'in_flight').burst)) {
      refuse('concurrency_limited', { retry_after_s: 1 })
    }
  }

  /** Before a body is received whose request will want to enter. */
  expectRoom(tenantId: string, standing: Standing): void {
    if (this.#inFlight.count(tenantId) >= this.limitOf(standing, 'in_flight').burst) {
      refuse('concurrency_limited', { retry_after_s: 1 })
    }
  }

  leave(tenantId: string): void {
    this.#inFlight.leave(tenantId)
  }

  /** What GET /limits shows: it explains a 429 without causing one. */
  describe(tenantId: string, principal: string, standing: Standing): BucketState[] {
    const show = (bucket: string, state: Taken): BucketState => ({
      bucket,
      limit: state.limit,
      remaining: Math.floor(state.remaining),
      reset_s: state.reset_s,
    })
    const inFlight = this.#ownLimit(standing, 'in_flight').burst
    return [
      show('principal', this.#buckets.peek(`p:${tenantId}:${principal}`, this.#ownLimit(standing, 'principal'))),
      show('tenant', this.#buckets.peek(`t:${tenantId}`, this.#ownLimit(standing, 'tenant'))),
      {
        bucket: 'in_flight',
        limit: inFlight,
        remaining: Math.max(0, inFlight - this.#inFlight.count(tenantId)),
        reset_s: 0,
      },
    ]
  }
}

/** Written out, since a spread costs more than all the rest of a limiter. */
const named = (name: string, { allowed, remaining, limit, window_s, reset_s, retry_after_s }: Taken) => ({
  name,
  allowed,
  remaining,
  limit,
  window_s,
  reset_s,
  retry_after_s,
})

const headersOf = (own: Taken, all: Taken): Record<string, string> =>
  rateLimitHeaders([named('principal', own), named('tenant', all)])

/** Its own limit is told first: there the caller can do something about it. */
const refusalOf = (own: Taken, all: Taken): Refusal => ({
  retry_after_s: (own.allowed ? all : own).retry_after_s,
  headers: headersOf(own, all),
})

function anonymousHeaders(taken: Taken): Record<string, string> {
  const headers = rateLimitHeaders([named('anonymous', taken)])
  if (!taken.allowed) refuse('rate_limited', { retry_after_s: taken.retry_after_s, headers })
  return headers
}
