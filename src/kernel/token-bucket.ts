/**
 * Rate limits of this process: token buckets that refill continuously, counters of requests in flight, and the headers that
 * describe them. Nothing is shared between processes.
 */
import { LRUCache } from 'lru-cache'

export interface Limit {
  readonly per_second: number
  readonly burst: number
}

export interface TakeResult {
  readonly allowed: boolean
  /** Whole tokens left. */
  readonly remaining: number
  /** The burst: how many tokens a full bucket holds. */
  readonly limit: number
  /** How long an empty bucket takes to fill, so that `limit` per `window_s` is the steady rate. */
  readonly window_s: number
  /** Until the bucket is full again. */
  readonly reset_s: number
  /** Until the same request would be allowed; 0 when it was. */
  readonly retry_after_s: number
}

interface Level {
  tokens: number
  at_ms: number
}

/** A bucket that never refills is described with this many seconds. */
const MAX_WAIT_S = 86_400

/**
 * A bucket without an entry is full. When there are more keys than entries, the least recently used bucket is dropped: most
 * likely it is full again; at worst its owner starts with a full one.
 */
export class TokenBuckets {
  readonly #levels: LRUCache<string, Level>
  readonly #now_ms: () => number

  constructor({
    max_keys = 50_000,
    now_ms = () => performance.now(),
  }: { max_keys?: number; now_ms?: () => number } = {}) {
    this.#levels = new LRUCache({ max: max_keys })
    this.#now_ms = now_ms
  }

  get size(): number {
    return this.#levels.size
  }

  take(key: string, limit: Limit, cost = 1): TakeResult {
    const level = this.#levels.get(key)
    const now_ms = this.#now_ms()
    const tokens = level ? refill(level, limit, now_ms) : limit.burst
    const allowed = tokens >= cost
    const left = allowed ? tokens - cost : tokens
    if (level) {
      level.tokens = left
      level.at_ms = now_ms
    } else if (left < limit.burst) {
      this.#levels.set(key, { tokens: left, at_ms: now_ms })
    }
    return toTakeResult(limit, left, allowed ? 0 : cost)
  }

  /** What `take` would return, without taking and without counting as use. */
  peek(key: string, limit: Limit, cost = 1): TakeResult {
    const level = this.#levels.peek(key)
    const tokens = level ? refill(level, limit, this.#now_ms()) : limit.burst
    return toTakeResult(limit, tokens, tokens >= cost ? 0 : cost)
  }
}

const MANY_KEYS = 10_000

/** How many are in flight under a key; every successful `tryAcquire` is paired with one `release`. */
export class InFlightCounter {
  /** A key with nothing in flight keeps its entry: creating and deleting one each time is expensive. */
  readonly #counts = new Map<string, number>()

  get size(): number {
    return this.#counts.size
  }

  count(key: string): number {
    return this.#counts.get(key) ?? 0
  }

  tryAcquire(key: string, max: number): boolean {
    const count = this.count(key)
    if (count >= max) return false
    this.#counts.set(key, count + 1)
    return true
  }

  release(key: string): void {
    const count = this.count(key)
    if (count === 0) throw new Error('release without a matching tryAcquire')
    if (count === 1 && this.#counts.size > MANY_KEYS) this.#counts.delete(key)
    else this.#counts.set(key, count - 1)
  }
}

/** RateLimit header fields of draft-ietf-httpapi-ratelimit-headers. Names contain letters, digits, `-` and `_` only. */
export function rateLimitHeaders(
  policies: readonly ({ readonly name: string } & TakeResult)[],
): Record<string, string> {
  if (policies.length === 0) return {}
  return {
    'RateLimit-Policy': policies.map(({ name, limit, window_s }) => `"${name}";q=${limit};w=${window_s}`).join(', '),
    RateLimit: policies.map(({ name, remaining, reset_s }) => `"${name}";r=${remaining};t=${reset_s}`).join(', '),
  }
}

function refill(level: Level, limit: Limit, now_ms: number): number {
  return Math.min(limit.burst, level.tokens + ((now_ms - level.at_ms) * limit.per_second) / 1000)
}

/** `wanted` is the refused cost, 0 when nothing was refused. */
function toTakeResult({ per_second, burst }: Limit, tokens: number, wanted: number): TakeResult {
  return {
    allowed: wanted === 0,
    remaining: Math.floor(tokens),
    limit: burst,
    window_s: computeWait_s(burst, per_second),
    reset_s: computeWait_s(burst - tokens, per_second),
    retry_after_s: computeWait_s(wanted - tokens, per_second),
  }
}

function computeWait_s(tokens: number, per_second: number): number {
  return tokens <= 0 ? 0 : Math.min(MAX_WAIT_S, Math.ceil(tokens / per_second))
}
