/**
 * Fair admission to the connection pool: one tenant holds at most half of a process's connections, and a request that waits
 * longer than the limit fails with 503.
 */
import { LinkedList, type Node } from '../linked-list.ts'
import { Problem } from '../problem.ts'
import { InFlightCounter } from '../token-bucket.ts'

/** A waiting request; exactly one of the two is called, unless the wait is cancelled. */
export interface Waiter {
  readonly tenant: string
  readonly admit: () => void
  readonly reject: (problem: Problem) => void
}

/** The node of a waiting request, needed to cancel the wait. */
export type QueuedWaiter = Node<{ readonly waiter: Waiter; readonly deadline_ms: number }>

export class TenantSemaphore {
  readonly #size: number
  readonly #perTenant: number
  readonly #wait_ms: number
  readonly #held = new InFlightCounter()
  /** In the order of arrival, hence of deadline: all wait equally long. */
  readonly #waiting = new LinkedList<QueuedWaiter['value']>()
  #timer: NodeJS.Timeout | undefined
  #inUse = 0

  constructor(options: { size: number; wait_ms: number }) {
    this.#size = options.size
    this.#perTenant = Math.max(1, Math.floor(options.size / 2))
    this.#wait_ms = options.wait_ms
  }

  get inUse(): number {
    return this.#inUse
  }
  get waiting(): number {
    return this.#waiting.size
  }

  /** True, and acquired, when a connection is free. */
  tryAcquire(tenant: string): boolean {
    if (this.#inUse >= this.#size || !this.#held.tryAcquire(tenant, this.#perTenant)) return false
    this.#inUse++
    return true
  }

  enqueue(waiter: Waiter): QueuedWaiter {
    this.#timer ??= setTimeout(() => this.#rejectExpired(), this.#wait_ms)
    return this.#waiting.add({ waiter, deadline_ms: performance.now() + this.#wait_ms })
  }

  cancel(wait: QueuedWaiter): void {
    this.#waiting.remove(wait)
  }

  async acquire(tenant: string): Promise<void> {
    if (this.tryAcquire(tenant)) return
    await new Promise<void>((admit, reject) => this.enqueue({ tenant, admit, reject }))
  }

  release(tenant: string): void {
    this.#held.release(tenant)
    this.#inUse--
    // The longest-waiting request that can be admitted, not simply the first: a tenant at its share must not block the others.
    for (const wait of this.#waiting) {
      const { waiter } = wait.value
      if (!this.tryAcquire(waiter.tenant)) continue
      this.#waiting.remove(wait)
      waiter.admit()
      return
    }
  }

  #rejectExpired(): void {
    const now_ms = performance.now()
    this.#timer = undefined
    for (const wait of this.#waiting) {
      const { waiter, deadline_ms } = wait.value
      if (deadline_ms > now_ms) {
        this.#timer = setTimeout(() => this.#rejectExpired(), deadline_ms - now_ms + 1)
        return
      }
      this.#waiting.remove(wait)
      waiter.reject(new Problem('overloaded', { retry_after_s: 1 }))
    }
  }
}
