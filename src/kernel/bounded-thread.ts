/**
 * A worker thread with bounded memory and a time limit for each task, started when it is needed and replaced after it died or
 * had to be stopped. Tasks are served one after the other, callers by turns; what a task means is no concern of this file.
 */
import { Worker } from 'node:worker_threads'
import { fail, Problem } from './problem.ts'

export interface ThreadOptions {
  /** What messages call it. */
  readonly name: string
  /** The built script: it says that it is ready with its first message, and then answers each task with one. */
  readonly script: URL | string
  /** Of a task, from when it is its turn. */
  readonly time_limit_ms: number
  readonly heap_limit_mib: number
  /** So many tasks of one caller may wait. */
  readonly max_waiting?: number
}

export interface RunOptions {
  readonly signal?: AbortSignal | undefined
  /** Whose task it is: callers take turns, so that one who asks for much delays nobody else by more than one task. */
  readonly caller?: string
  /** What of the task is handed over instead of copied: afterwards the caller has it no more. */
  readonly transfer?: readonly ArrayBuffer[]
}

/** Starting a thread is not the task's fault, so it has its own, generous limit. */
const START_LIMIT_MS = 60_000

/** Why there is no answer: the task met a limit (`time`, `memory`) or `crashed` the thread, or it never had a fair chance. */
export class ThreadFailure extends Error {
  readonly reason: 'time' | 'memory' | 'crashed' | 'stopped' | 'not_started' | 'busy' | 'closed'
  constructor(reason: ThreadFailure['reason'], message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'ThreadFailure'
    this.reason = reason
  }
}

/** What a client is told when there was no thread to do its work; other errors are thrown on. */
export function failUndone(error: unknown, detail: string): never {
  if (!(error instanceof ThreadFailure)) throw error
  if (error.reason === 'closed') fail('shutting_down')
  const code = error.reason === 'busy' ? 'overloaded' : 'dependency_unavailable'
  throw Object.assign(new Problem(code, { detail, retry_after_s: 1 }), { cause: error })
}

interface Call<Task, Answer> {
  readonly task: Task
  readonly transfer: readonly ArrayBuffer[]
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
}

export class BoundedThread<Task, Answer> {
  readonly #options: ThreadOptions
  /** By caller, in the order of their turns. */
  readonly #waiting = new Map<string, Call<Task, Answer>[]>()
  #running: Call<Task, Answer> | null = null
  #current: { readonly worker: Worker; readonly ready: Promise<unknown> } | null = null
  #isClosed = false

  constructor(options: ThreadOptions) {
    this.#options = options
  }

  async run(task: Task, { signal, caller = '', transfer = [] }: RunOptions = {}): Promise<Answer> {
    const { name, max_waiting = Number.POSITIVE_INFINITY } = this.#options
    signal?.throwIfAborted()
    if (this.#isClosed) throw new ThreadFailure('closed', `The ${name} is closed`)
    const queue = this.#waiting.get(caller) ?? []
    if (queue.length >= max_waiting) throw new ThreadFailure('busy', `Too many tasks wait for the ${name}`)
    let abort = (): void => {}
    const answer = new Promise<Answer>((resolve, reject) => {
      const call = { task, transfer, resolve, reject }
      abort = () => {
        reject(signal?.reason)
        if (this.#running === call) void this.#stop()
        const at = queue.indexOf(call)
        if (at >= 0) queue.splice(at, 1)
      }
      queue.push(call)
    })
    this.#waiting.set(caller, queue)
    signal?.addEventListener('abort', abort, { once: true })
    this.#serve()
    return answer.finally(() => signal?.removeEventListener('abort', abort))
  }

  /** Ends the thread; calls that still wait are rejected. */
  async close(): Promise<void> {
    this.#isClosed = true
    const closed = new ThreadFailure('closed', `The ${this.#options.name} was closed`)
    for (const call of [...this.#waiting.values()].flat()) call.reject(closed)
    this.#waiting.clear()
    await this.#stop()
  }

  #serve(): void {
    if (this.#running) return
    const call = this.#next()
    if (!call) return
    this.#running = call
    this.#perform(call)
      .then(call.resolve, call.reject)
      .finally(() => {
        this.#running = null
        this.#serve()
      })
  }

  #next(): Call<Task, Answer> | undefined {
    for (const [caller, queue] of this.#waiting) {
      const call = queue.shift()
      this.#waiting.delete(caller)
      if (queue.length > 0) this.#waiting.set(caller, queue)
      if (call) return call
    }
    return undefined
  }

  async #perform({ task, transfer }: Call<Task, Answer>): Promise<Answer> {
    const { worker, ready } = this.#start()
    const { name, time_limit_ms } = this.#options
    worker.ref()
    try {
      await ready.catch((cause: unknown) => {
        throw new ThreadFailure('not_started', `The ${name} did not start`, cause)
      })
      return await this.#answerWithin(time_limit_ms, worker, () => worker.postMessage(task, transfer))
    } finally {
      // Between calls the thread keeps no process alive.
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
    const started = { worker, ready: this.#answerWithin(START_LIMIT_MS, worker, () => {}) }
    this.#current = started
    const forget = (): void => {
      if (this.#current === started) this.#current = null
    }
    // A thread that dies is replaced at the next call; without a listener its error would end the process.
    worker.on('error', forget).on('exit', forget)
    return started
  }

  /** The next message of the thread, or the reason why none will come. */
  #answerWithin(limit_ms: number, worker: Worker, begin: () => void): Promise<Answer> {
    const { name } = this.#options
    return new Promise<Answer>((resolve, reject) => {
      const onMessage = (answer: Answer): void => end(() => resolve(answer))
      const onError = (error: Error): void => end(() => reject(this.#reasonOf(error)))
      const onExit = (): void => end(() => reject(new ThreadFailure('stopped', `The ${name} was stopped`)))
      const onLimit = (): void => {
        end(() => reject(new ThreadFailure('time', `it took longer than ${limit_ms / 1000} s`)))
        void this.#stop()
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

  #reasonOf(error: Error & { code?: string }): ThreadFailure {
    if (error.code !== 'ERR_WORKER_OUT_OF_MEMORY') return new ThreadFailure('crashed', error.message, error)
    return new ThreadFailure('memory', `it needs more than ${this.#options.heap_limit_mib} MiB of memory`, error)
  }
}
