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
  /** Time limit of one task, from its start. */
  readonly time_limit_ms: number
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
}

/** Starting a thread has a limit of its own, since it is not caused by the task. */
const START_LIMIT_MS = 60_000

/** Why there is no result: the task exceeded a limit (`time`, `memory`), the thread `crashed`, or no thread was available. */
export class ThreadFailure extends Error {
  readonly reason: 'time' | 'memory' | 'crashed' | 'stopped' | 'not_started' | 'closed'
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
  throw Object.assign(new Problem('dependency_unavailable', { detail, retry_after_s: 1 }), { cause: error })
}

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

  async run(task: Task, { signal, caller = '', transfer = [] }: RunOptions = {}): Promise<Answer> {
    signal?.throwIfAborted()
    if (this.#isClosed) throw this.#closedFailure()
    const call = new AbortController()
    const onAbort = (): void => call.abort(signal?.reason)
    signal?.addEventListener('abort', onAbort, { once: true })
    this.#activeCalls.add(call)
    try {
      const request = { kind: this.#kind, caller, signal: call.signal }
      return await this.#admission.run(request, () => this.#runUntilAborted(task, transfer, call.signal))
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
  async #runUntilAborted(task: Task, transfer: readonly ArrayBuffer[], signal: AbortSignal): Promise<Answer> {
    signal.throwIfAborted()
    let stopping: Promise<void> | undefined
    const onAbort = (): void => {
      stopping = this.#stop()
    }
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      return await this.#runTask(task, transfer)
    } catch (error) {
      await stopping
      throw signal.aborted ? signal.reason : error
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  async #runTask(task: Task, transfer: readonly ArrayBuffer[]): Promise<Answer> {
    const { worker, ready } = this.#start()
    const { name, time_limit_ms } = this.#options
    worker.ref()
    try {
      await ready.catch((cause: unknown) => {
        throw new ThreadFailure('not_started', `The ${name} did not start`, cause)
      })
      return await this.#waitForMessage(time_limit_ms, worker, () => worker.postMessage(task, transfer))
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
    const started = { worker, ready: this.#waitForMessage(START_LIMIT_MS, worker, () => {}) }
    this.#current = started
    const remove = (): void => {
      if (this.#current === started) this.#current = null
    }
    // A thread that ended is replaced at the next call; without a listener its error would end the process.
    worker.on('error', remove).on('exit', remove)
    return started
  }

  /** The next message of the thread, or the reason why there is none. */
  #waitForMessage(limit_ms: number, worker: Worker, begin: () => void): Promise<Answer> {
    const { name } = this.#options
    return new Promise<Answer>((resolve, reject) => {
      const onMessage = (answer: Answer): void => end(() => resolve(answer))
      const onError = (error: Error): void => end(() => reject(this.#toFailure(error)))
      const onExit = (): void => end(() => reject(new ThreadFailure('stopped', `The ${name} was stopped`)))
      const onLimit = (): void => {
        // The thread ends before the answer: the slot of the caller is free only when the thread is gone.
        const failure = new ThreadFailure('time', `it took longer than ${limit_ms / 1000} s`)
        end(() => void this.#stop().then(() => reject(failure)))
      }
      const timer = setTimeout(onLimit, limit_ms)
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
