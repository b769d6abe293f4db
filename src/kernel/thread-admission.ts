/**
 * Admits heavy work to worker threads: so many run at once in a process, so many of one kind and so many of one tenant. The rest
 * waits, tenants in turn, for a bounded time and in bounded number; more is refused. Every thread of the process needs a slot,
 * so that one core is always free for requests.
 */
import { availableParallelism } from 'node:os'
import { Problem } from './problem.ts'

/** What one kind of heavy work may use. */
export interface WorkKind {
  readonly name: string
  /** How many may run at once, given the number of threads of the process. */
  readonly max_running: (threads: number) => number
  /** How many may wait for one caller; one more is refused with 429. */
  readonly max_waiting: number
}

export interface AdmissionRequest {
  readonly kind: WorkKind
  /** Who the work is for, usually a tenant. */
  readonly caller: string
  readonly signal?: AbortSignal | undefined
  /** Work of a job: it waits without a limit, since no client waits for it and the worker's slots bound it. */
  readonly is_job?: boolean
  /** Called when a waiting request could use this slot; the holder may stop early or release it for a while. */
  readonly onContended?: () => void
}

/** The permission to run one thread. Released exactly once, when the thread has ended or is idle. */
export interface ThreadSlot {
  release(): void
}

export interface AdmissionLimits {
  /** Threads that run heavy work at once. */
  readonly threads: number
  readonly per_caller: number
  readonly max_waiting: number
  readonly wait_ms: number
}

/** One core is left for everything else; a process with a single core runs one heavy thread at a time. */
export const defaultThreads = (): number => Math.max(1, availableParallelism() - 1)

const MAX_WAITING = 200
const WAIT_MS = 20_000

interface Waiter {
  readonly request: AdmissionRequest
  readonly admit: () => void
}

export class ThreadAdmission {
  readonly limits: AdmissionLimits
  readonly #running = new Set<AdmissionRequest>()
  /** By caller, in the order of their turns. */
  readonly #waiting = new Map<string, Waiter[]>()

  constructor(limits: Partial<AdmissionLimits> = {}) {
    const threads = Math.max(1, limits.threads ?? defaultThreads())
    const per_caller = Math.max(1, Math.floor(threads / 2))
    this.limits = { per_caller, max_waiting: MAX_WAITING, wait_ms: WAIT_MS, ...limits, threads }
  }

  get running(): number {
    return this.#running.size
  }

  get waiting(): number {
    let count = 0
    for (const queue of this.#waiting.values()) count += queue.length
    return count
  }

  /** How many run or wait, of one kind or of all. */
  count(kind?: WorkKind, caller?: string): number {
    const fits = (request: AdmissionRequest): boolean =>
      (kind === undefined || request.kind === kind) && (caller === undefined || request.caller === caller)
    const waiting = [...this.#waiting.values()].flat().map(({ request }) => request)
    return [...this.#running, ...waiting].filter(fits).length
  }

  /** Waits for a slot. Fails with 429 or 503 when too many wait or the wait takes too long, and when `signal` aborts. */
  async acquire(request: AdmissionRequest): Promise<ThreadSlot> {
    request.signal?.throwIfAborted()
    if (this.#hasCapacity(request)) return this.#start(request)
    if (!request.is_job) this.#assertQueueCapacity(request)
    return this.#wait(request)
  }

  async run<T>(request: AdmissionRequest, work: () => Promise<T>): Promise<T> {
    const slot = await this.acquire(request)
    try {
      return await work()
    } finally {
      slot.release()
    }
  }

  /** Whether a request can start now, or could if `leaving` had ended. */
  #hasCapacity({ kind, caller }: AdmissionRequest, leaving?: AdmissionRequest): boolean {
    if (this.#running.size - (leaving ? 1 : 0) >= this.limits.threads) return false
    let of_kind = 0
    let of_caller = 0
    for (const running of this.#running) {
      if (running === leaving) continue
      if (running.kind === kind) of_kind++
      if (running.caller === caller) of_caller++
    }
    return of_kind < Math.max(1, kind.max_running(this.limits.threads)) && of_caller < this.limits.per_caller
  }

  #start(request: AdmissionRequest): ThreadSlot {
    // A copy, since the same request object may be used again.
    const held = { ...request }
    this.#running.add(held)
    for (const { request: next } of held.onContended ? [...this.#waiting.values()].flat() : []) {
      if (!this.#hasCapacity(next, held)) continue
      held.onContended?.()
      break
    }
    return {
      release: () => {
        if (this.#running.delete(held)) this.#admitNext()
      },
    }
  }

  #assertQueueCapacity({ kind, caller }: AdmissionRequest): void {
    const own = (this.#waiting.get(caller) ?? []).filter(({ request }) => request.kind === kind).length
    if (own >= kind.max_waiting) {
      throw new Problem('concurrency_limited', {
        detail: `This tenant has as much work of the kind "${kind.name}" waiting as its limit allows. Repeat when some has finished.`,
        retry_after_s: 2,
      })
    }
    if (this.waiting >= this.limits.max_waiting) throw overloadedProblem()
  }

  #wait(request: AdmissionRequest): Promise<ThreadSlot> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer)
        request.signal?.removeEventListener('abort', onAbort)
        const queue = this.#waiting.get(request.caller) ?? []
        const at = queue.indexOf(waiter)
        if (at >= 0) queue.splice(at, 1)
        if (queue.length === 0) this.#waiting.delete(request.caller)
      }
      const waiter: Waiter = {
        request,
        admit: () => {
          leave()
          resolve(this.#start(request))
        },
      }
      const onAbort = (): void => {
        leave()
        reject(request.signal?.reason)
        this.#admitNext()
      }
      const onTimeout = (): void => {
        leave()
        reject(overloadedProblem())
      }
      const timer = request.is_job ? undefined : setTimeout(onTimeout, this.limits.wait_ms)
      request.signal?.addEventListener('abort', onAbort, { once: true })
      const queue = this.#waiting.get(request.caller)
      if (queue) queue.push(waiter)
      else this.#waiting.set(request.caller, [waiter])
      for (const running of this.#running) if (this.#hasCapacity(request, running)) running.onContended?.()
    })
  }

  /** Admits the next request of each caller in turn if it can start; a caller that was served moves to the end. */
  #admitNext(): void {
    for (const [caller, queue] of [...this.#waiting]) {
      const next = queue.find(({ request }) => this.#hasCapacity(request))
      if (!next) continue
      this.#waiting.delete(caller)
      this.#waiting.set(caller, queue)
      next.admit()
    }
  }
}

const overloadedProblem = (): Problem =>
  new Problem('overloaded', { detail: 'All threads for heavy work of this process are busy.', retry_after_s: 5 })
