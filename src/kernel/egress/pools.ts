/**
 * Pools of connections, one per key and origin: connections are never shared between tenants or providers. Their number, the
 * requests in each and the time they stay unused are bounded.
 */
import type { Pool } from 'undici'

const MAX_POOLS = 256
/** Of one pool. The client may open as many connections again before it uses one that has just become free. */
const MAX_RUNNING = 16
const MAX_WAITING = 256
const IDLE_MS = 60_000
const SWEEP_EVERY_MS = 10_000

interface PoolEntry {
  readonly key: string
  readonly pool: Pool
  running: number
  /** Called in turn, when a request ends. */
  readonly waiting: Set<() => void>
  last_used_ms: number
}

export interface PoolLease {
  readonly pool: Pool
  release(): void
}

export class ConnectionPools {
  /** In the order of their last use. */
  readonly #entries = new Map<string, PoolEntry>()
  readonly #now: () => number
  readonly #sweep: NodeJS.Timeout

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
    this.#sweep = setInterval(() => this.closeIdle(), SWEEP_EVERY_MS)
    this.#sweep.unref()
  }

  get size(): number {
    return this.#entries.size
  }

  /** Null while the pool is full and as many requests as allowed wait for it. */
  acquire(key: string, create: () => Pool, signal: AbortSignal): Promise<PoolLease | null> | PoolLease {
    const entry = this.#use(key, create)
    if (entry.running < MAX_RUNNING) return this.#lease(entry)
    if (entry.waiting.size >= MAX_WAITING) return Promise.resolve(null)
    return new Promise((resolve) => {
      const start = () => {
        entry.waiting.delete(start)
        signal.removeEventListener('abort', giveUp)
        resolve(this.#lease(entry))
      }
      const giveUp = () => {
        entry.waiting.delete(start)
        resolve(null)
      }
      entry.waiting.add(start)
      signal.addEventListener('abort', giveUp, { once: true })
    })
  }

  closeIdle(): void {
    const before_ms = this.#now() - IDLE_MS
    for (const entry of this.#entries.values()) {
      if (isUnused(entry) && entry.last_used_ms <= before_ms) this.#remove(entry)
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#sweep)
    const entries = [...this.#entries.values()]
    this.#entries.clear()
    await Promise.all(entries.map(({ pool }) => pool.destroy()))
  }

  #use(key: string, create: () => Pool): PoolEntry {
    const known = this.#entries.get(key)
    const entry = known ?? { key, pool: create(), running: 0, waiting: new Set(), last_used_ms: 0 }
    entry.last_used_ms = this.#now()
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    if (this.#entries.size > MAX_POOLS) {
      const oldest = [...this.#entries.values()].find((each) => each !== entry && isUnused(each))
      if (oldest) this.#remove(oldest)
    }
    return entry
  }

  #lease(entry: PoolEntry): PoolLease {
    entry.running++
    const release = () => {
      entry.running--
      entry.last_used_ms = this.#now()
      const [next] = entry.waiting
      next?.()
    }
    return { pool: entry.pool, release }
  }

  #remove(entry: PoolEntry): void {
    this.#entries.delete(entry.key)
    entry.pool.destroy().catch(() => {})
  }
}

const isUnused = ({ running, waiting }: PoolEntry): boolean => running === 0 && waiting.size === 0
