/**
 * Fair admission to the connection pool: one tenant holds at most half of a process's connections, and whoever waits
 * longer than the limit is told so (503) instead of queueing without end.
 */
import { Problem } from '../problem.ts'

/** Somebody who waits; exactly one of the two is called, unless the wait is called off. */
export interface Waiter {
  readonly tenant: string
  readonly admit: () => void
  readonly refuse: (problem: Problem) => void
}

export class Gate {
  readonly #size: number
  readonly #share: number
  readonly #wait_ms: number
  readonly #held = new Map<string, number>()
  /** In the order of arrival, hence of patience: all have the same. */
  readonly #waiting = new Map<Waiter, number>()
  #timer: NodeJS.Timeout | undefined
  #inside = 0

  constructor(options: { size: number; wait_ms: number }) {
    this.#size = options.size
    this.#share = Math.max(1, Math.floor(options.size / 2))
    this.#wait_ms = options.wait_ms
  }

  get inside(): number {
    return this.#inside
  }
  get waiting(): number {
    return this.#waiting.size
  }

  /** True, and inside, when there is room at once. */
  tryEnter(tenant: string): boolean {
    const held = this.#held.get(tenant) ?? 0
    if (this.#inside >= this.#size || held >= this.#share) return false
    this.#inside++
    this.#held.set(tenant, held + 1)
    return true
  }

  wait(waiter: Waiter): void {
    this.#waiting.set(waiter, performance.now() + this.#wait_ms)
    this.#timer ??= setTimeout(() => this.#refuseLate(), this.#wait_ms)
  }

  callOff(waiter: Waiter): void {
    this.#waiting.delete(waiter)
  }

  async enter(tenant: string): Promise<void> {
    if (this.tryEnter(tenant)) return
    await new Promise<void>((admit, refuse) => this.wait({ tenant, admit, refuse }))
  }

  leave(tenant: string): void {
    const held = (this.#held.get(tenant) ?? 0) - 1
    if (held > 0) this.#held.set(tenant, held)
    else this.#held.delete(tenant)
    this.#inside--
    // The longest-waiting one that fits, not simply the first: a tenant over its share must not block the others.
    for (const waiter of this.#waiting.keys()) {
      if (!this.tryEnter(waiter.tenant)) continue
      this.#waiting.delete(waiter)
      waiter.admit()
      return
    }
  }

  #refuseLate(): void {
    const now_ms = performance.now()
    this.#timer = undefined
    for (const [waiter, deadline_ms] of this.#waiting) {
      if (deadline_ms > now_ms) {
        this.#timer = setTimeout(() => this.#refuseLate(), deadline_ms - now_ms + 1)
        return
      }
      this.#waiting.delete(waiter)
      waiter.refuse(new Problem('overloaded', { retry_after_s: 1 }))
    }
  }
}
