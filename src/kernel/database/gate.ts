/**
 * Fair admission to the connection pool: one tenant holds at most half of a process's connections, and whoever waits
 * longer than the limit is told so (503) instead of queueing without end.
 */
import { fail } from '../problem.ts'

interface Waiter {
  readonly tenant: string
  readonly admit: () => void
}

export class Gate {
  readonly #size: number
  readonly #share: number
  readonly #wait_ms: number
  readonly #held = new Map<string, number>()
  readonly #waiting: Waiter[] = []
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
    return this.#waiting.length
  }

  async enter(tenant: string): Promise<void> {
    if (this.#fits(tenant)) {
      this.#take(tenant)
      return
    }
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1)
        try {
          fail('overloaded', { retry_after_s: 1 })
        } catch (problem) {
          reject(problem)
        }
      }, this.#wait_ms)
      const waiter: Waiter = {
        tenant,
        admit: () => {
          clearTimeout(timer)
          resolve()
        },
      }
      this.#waiting.push(waiter)
    })
  }

  leave(tenant: string): void {
    const held = (this.#held.get(tenant) ?? 0) - 1
    if (held > 0) this.#held.set(tenant, held)
    else this.#held.delete(tenant)
    this.#inside--
    // The longest-waiting one that fits, not simply the first: a tenant over its share must not block the others.
    const next = this.#waiting.findIndex((waiter) => this.#fits(waiter.tenant))
    if (next < 0) return
    const [waiter] = this.#waiting.splice(next, 1) as [Waiter]
    this.#take(waiter.tenant)
    waiter.admit()
  }

  #fits(tenant: string): boolean {
    return this.#inside < this.#size && (this.#held.get(tenant) ?? 0) < this.#share
  }
  #take(tenant: string): void {
    this.#inside++
    this.#held.set(tenant, (this.#held.get(tenant) ?? 0) + 1)
  }
}
