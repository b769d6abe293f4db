/**
 * A worker thread with bounded memory and a time limit per task, started when it is needed and replaced after it died or was
 * stopped. Tasks run one after the other, in the order of the admission.
 */
import { Worker } from 'node:worker_threads'
import { fail, Problem } from './problem.ts'
import { ThreadAdmission, type WorkKind } from './thread-admission.ts'

export interface ThreadOptions {
  /** Its name in messages. */
  readonly name: string
  /** The built script: its first message means that it is ready, then it answers each task with one message. */
  readonly script: URL | string
  /** Time limit of one task, from its start: by the clock, or with `elapsed_limit_ms` in CPU time. */
  readonly time_limit_ms: number
  /**
   * With it, a task exceeds its time limit only once the process has used that much CPU time, which bounds what the thread has
   * used. A task without an answer after this time by the clock has not got the CPU: the failure is `starved`.
   */
  readonly elapsed_limit_ms?: number
  readonly heap_limit_mib: number
  /** How many tasks of one caller may wait. */
  readonly max_waiting?: number
  /** Decides when a task may run; without it only this thread's own tasks are counted. */
  readonly admission?: ThreadAdmission | undefined
}

export interface RunOptions {
  readonly signal?: AbortSignal | undefined
  /** The caller of the task: callers take turns, so that one with many tasks delays another by at most one task. */
  readonly caller?: string
  /** Parts of the task that are transferred instead of copied: afterwards the caller cannot use them. */
  readonly transfer?: readonly ArrayBuffer[]
  /** Time limits of this task instead of those of the thread. */
  readonly limits?: TimeLimits
}

/** Starting a thread has a limit of its own, since it is not caused by the task. */
const START_LIMIT_MS = 60_000

/**
 * Why there is no result: the task exceeded a limit (`time`, `memory`), the machine was too busy (`starved`), the thread `crashed`,
 * or no thread was available.
 */
export class ThreadFailure extends Error {
  readonly reason: 'time' | 'memory' | 'starved' | 'crashed' | 'stopped' | 'not_started' | 'closed'
  constructor(reason: ThreadFailure['reason'], message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'ThreadFailure'
    this.reason = reason
  }
}

/** Throws the problem a client gets when no thread was available; other errors are thrown as they are. */
export function failThreadUnavailable(error: unknown, detail: string): never {
  if (!(error instanceof ThreadFailure)) throw error
  if (error.reason === 'closed') fail('shutting_down')
  if (error.reason === 'starved') {
    throw Object.assign(new Problem('overloaded', { detail, retry_after_s: STARVED_RETRY_S }), { cause: error })
  }
  throw Object.assign(new Problem('dependency_unavailable', { detail, retry_after_s: 1 }), { cause: error })
}

const STARVED_RETRY_S = 10
const MAX_WAITING = 50

export class BoundedThread<Task, Answer> {
  readonly #options: ThreadOptions
  readonly #admission: ThreadAdmission
  readonly #kind: WorkKind
  readonly #activeCalls = new Set<AbortController>()
  #isClosed = false
  #current: { readonly worker: Worker; readonly ready: Promise<unknown> } | null = null

  constructor(options: ThreadOptions) {
    this.#options = options
    this.#admission = options.admission ?? new ThreadAdmission({ threads: 1 })
    // One thread runs one task at a time, whatever the admission allows.
    this.#kind = { name: options.name, max_running: () => 1, max_waiting: options.max_waiting ?? MAX_WAITING }
  }

  async run(task: Task, options: RunOptions = {}): Promise<Answer> {
    const { signal, caller = '' } = options
    signal?.throwIfAborted()
    if (this.#isClosed) throw this.#closedFailure()
    const call = new AbortController()
    const onAbort = (): void => call.abort(signal?.reason)
    signal?.addEventListener('abort', onAbort, { once: true })
    this.#activeCalls.add(call)
    try {
      const request = { kind: this.#kind, caller, signal: call.signal }
      return await this.#admission.run(request, () => this.#runUntilAborted(task, options, call.signal))
    } finally {
      this.#activeCalls.delete(call)
      signal?.removeEventListener('abort', onAbort)
    }
  }

  /** Ends the thread; waiting calls are rejected. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const call of this.#activeCalls) call.abort(this.#closedFailure())
    await this.#stop()
  }

  #closedFailure(): ThreadFailure {
    return new ThreadFailure('closed', `The ${this.#options.name} is closed`)
  }

  /** A task is ended by ending its thread; the next one gets a new thread. The slot is held until the thread has ended. */
  async #runUntilAborted(task: Task, options: RunOptions, signal: AbortSignal): Promise<Answer> {
    signal.throwIfAborted()
    let stopping: Promise<void> | undefined
    const onAbort = (): void => {
      stopping = this.#stop()
    }
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      return await this.#runTask(task, options)
    } catch (error) {
      await stopping
      throw signal.aborted ? signal.reason : error
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  async #runTask(task: Task, { transfer = [], limits = this.#options }: RunOptions): Promise<Answer> {
    const { worker, ready } = this.#start()
    const { name } = this.#options
    worker.ref()
    try {
      await ready.catch((cause: unknown) => {
        throw new ThreadFailure('not_started', `The ${name} did not start`, cause)
      })
      return await this.#waitForMessage(limits, worker, () => worker.postMessage(task, transfer))
    } finally {
      // Between calls the thread does not keep the process alive.
      worker.unref()
    }
  }

  async #stop(): Promise<void> {
    const stopped = this.#current
    this.#current = null
    await stopped?.worker.terminate()
  }

  #start(): { readonly worker: Worker; readonly ready: Promise<unknown> } {
    if (this.#current) return this.#current
    const { script, heap_limit_mib } = this.#options
    // Memory that grows in small steps meets the limit and ends the thread; one allocation of tens of MiB there would end the
    // process (Node 20), so what runs in the thread keeps what is large in typed arrays, which do not count, and bounds how
    // many items a Map, a Set or an array may have: a million is too many.
    const worker = new Worker(script, {
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: heap_limit_mib },
    })
    const started = { worker, ready: this.#waitForMessage({ time_limit_ms: START_LIMIT_MS }, worker, () => {}) }
    this.#current = started
    const remove = (): void => {
      if (this.#current === started) this.#current = null
    }
    // A thread that ended is replaced at the next call; without a listener its error would end the process.
    worker.on('error', remove).on('exit', remove)
    return started
  }

  /** The next message of the thread, or the reason why there is none. */
  #waitForMessage(limits: TimeLimits, worker: Worker, begin: () => void): Promise<Answer> {
    const { name } = this.#options
    const clock = new TaskClock(limits)
    return new Promise<Answer>((resolve, reject) => {
      const onMessage = (answer: Answer): void => end(() => resolve(answer))
      const onError = (error: Error): void => end(() => reject(this.#toFailure(error)))
      const onExit = (): void => end(() => reject(new ThreadFailure('stopped', `The ${name} was stopped`)))
      const onTime = (): void => {
        const failure = clock.findFailure()
        // The thread ends before the answer: the slot of the caller is free only when the thread is gone.
        if (failure) end(() => void this.#stop().then(() => reject(failure)))
        else timer = setTimeout(onTime, clock.getRemaining_ms())
      }
      let timer = setTimeout(onTime, clock.getRemaining_ms())
      const end = (settle: () => void): void => {
        clearTimeout(timer)
        worker.off('message', onMessage).off('error', onError).off('exit', onExit)
        settle()
      }
      worker.on('message', onMessage).on('error', onError).on('exit', onExit)
      try {
        begin()
      } catch (error) {
        end(() => reject(error))
      }
    })
  }

  #toFailure(error: Error & { code?: string }): ThreadFailure {
    if (error.code !== 'ERR_WORKER_OUT_OF_MEMORY') return new ThreadFailure('crashed', error.message, error)
    return new ThreadFailure('memory', `it needs more than ${this.#options.heap_limit_mib} MiB of memory`, error)
  }
}

type TimeLimits = Pick<ThreadOptions, 'time_limit_ms' | 'elapsed_limit_ms'>

/** The time of one task against its limits. */
class TaskClock {
  readonly #limits: TimeLimits
  readonly #started_ms = performance.now()
  readonly #cpu = process.cpuUsage()

  constructor(limits: TimeLimits) {
    this.#limits = limits
  }

  findFailure(): ThreadFailure | null {
    const { time_limit_ms, elapsed_limit_ms } = this.#limits
    if (elapsed_limit_ms === undefined || this.#getCpu_ms() >= time_limit_ms) {
      return new ThreadFailure('time', `it took longer than ${time_limit_ms / 1000} s`)
    }
    // A timer may fire a fraction of a millisecond early.
    if (this.#getElapsed_ms() < elapsed_limit_ms - 1) return null
    return new ThreadFailure('starved', `the machine was too busy to complete it in ${elapsed_limit_ms / 1000} s`)
  }

  /** The earliest time at which a limit can be exceeded. */
  getRemaining_ms(): number {
    const { time_limit_ms, elapsed_limit_ms } = this.#limits
    if (elapsed_limit_ms === undefined) return time_limit_ms
    const cpu_left_ms = Math.max(MIN_CHECK_MS, time_limit_ms - this.#getCpu_ms())
    return Math.max(0, Math.min(cpu_left_ms, elapsed_limit_ms - this.#getElapsed_ms()))
  }

  #getElapsed_ms(): number {
    return performance.now() - this.#started_ms
  }

  /** Of all threads of the process, in user mode and in the kernel. */
  #getCpu_ms(): number {
    const { user, system } = process.cpuUsage(this.#cpu)
    return (user + system) / 1000
  }
}

/** Several threads together use CPU time faster than the clock runs, so the remaining time is an estimate. */
const MIN_CHECK_MS = 10
