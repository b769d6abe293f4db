/**
 * Fair admission to the connection pool: one tenant holds at most half of a process's connections, and whoever waits
 * longer than the limit is told so (503) instead of queueing without end.
 */
import { Line, type Place } from '../line.ts'
import { Problem } from '../problem.ts'
import { InFlight } from '../token-bucket.ts'

/** Somebody who waits; exactly one of the two is called, unless the wait is called off. */
export interface Waiter {
  readonly tenant: string
  readonly admit: () => void
  readonly refuse: (problem: Problem) => void
}

/** Where a waiter stands: what is needed to call the wait off. */
export type Wait = Place<{ readonly waiter: Waiter; readonly deadline_ms: number }>

export class Gate {
  readonly #size: number
  readonly #share: number
  readonly #wait_ms: number
  readonly #held = new InFlight()
  /** In the order of arrival, hence of patience: all have the same. */
  readonly #waiting = new Line<Wait['value']>()
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
    if (this.#inside >= this.#size || !this.#held.enter(tenant, this.#share)) return false
    this.#inside++
    return true
  }

  wait(waiter: Waiter): Wait {
    this.#timer ??= setTimeout(() => this.#refuseLate(), this.#wait_ms)
    return this.#waiting.add({ waiter, deadline_ms: performance.now() + this.#wait_ms })
  }

  callOff(wait: Wait): void {
    this.#waiting.remove(wait)
  }

  async enter(tenant: string): Promise<void> {
    if (this.tryEnter(tenant)) return
    await new Promise<void>((admit, refuse) => this.wait({ tenant, admit, refuse }))
  }

  leave(tenant: string): void {
    this.#held.leave(tenant)
    this.#inside--
    // The longest-waiting one that fits, not simply the first: a tenant over its share must not block the others.
    for (const wait of this.#waiting) {
      const { waiter } = wait.value
      if (!this.tryEnter(waiter.tenant)) continue
      this.#waiting.remove(wait)
      waiter.admit()
      return
    }
  }

  #refuseLate(): void {
    const now_ms = performance.now()
    this.#timer = undefined
    for (const wait of this.#waiting) {
      const { waiter, deadline_ms } = wait.value
      if (deadline_ms > now_ms) {
        this.#timer = setTimeout(() => this.#refuseLate(), deadline_ms - now_ms + 1)
        return
      }
      this.#waiting.remove(wait)
      waiter.refuse(new Problem('overloaded', { retry_after_s: 1 }))
    }
  }
}
