/**
 * Runs tenants' types where they can do no harm: one worker thread with bounded memory, a time limit per call, replaced when
 * either is exceeded. Calls are served one after the other; the process itself never compiles a tenant's schema.
 */
import { hash } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import { canonicalJson } from '../../kernel/canonical-json.ts'
import type { Fault, TypeDefinition } from './definition.ts'
import type { Answer, Task, Validated } from './type-worker.ts'

export type { Validated }

export interface TypeRunnerOptions {
  /** The built type-worker. */
  readonly script: URL | string
  readonly time_limit_ms?: number
  readonly heap_limit_mib?: number
}

export interface TypeRunner {
  /** Faults of a definition; empty when it can be used. */
  check(definition: unknown, signal?: AbortSignal): Promise<readonly Fault[]>
  /** Throws TypeUnusable when the type itself is the trouble; faults of entries are part of the answer. */
  validate(definition: TypeDefinition, entries: readonly unknown[], signal?: AbortSignal): Promise<Validated>
  /** Ends the worker; calls that still wait are rejected. */
  close(): Promise<void>
}

/** The type cannot be used: it is wrong, too slow or too large. */
export class TypeUnusable extends Error {
  readonly code = 'type_unusable'
  readonly reason: 'definition' | 'time' | 'memory' | 'failed'
  readonly faults: readonly Fault[]
  constructor(reason: TypeUnusable['reason'], message: string, faults: readonly Fault[] = []) {
    super(message)
    this.name = 'TypeUnusable'
    this.reason = reason
    this.faults = faults
  }
}

const TIME_LIMIT_MS = 5000
const HEAP_LIMIT_MIB = 256
/** Starting a thread is not the type's fault, so it has its own, generous limit. */
const START_LIMIT_MS = 60_000

interface Call {
  readonly task: Task
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
}

export function createTypeRunner(options: TypeRunnerOptions): TypeRunner {
  const thread = new BoundedThread(options)
  const hashes = new WeakMap<TypeDefinition, string>()
  let waiting: Call[] = []
  let running: Call | null = null
  let isClosed = false

  const serve = (): void => {
    const call = running ? undefined : waiting.shift()
    if (!call) return
    running = call
    const next = (): void => {
      running = null
      serve()
    }
    thread.run(call.task).then(call.resolve, call.reject).finally(next)
  }

  const run = (task: Task, signal: AbortSignal | undefined): Promise<Answer> => {
    if (signal?.aborted) return Promise.reject(signal.reason)
    if (isClosed) return Promise.reject(new Error('The type runner is closed'))
    let abort = (): void => {}
    const answer = new Promise<Answer>((resolve, reject) => {
      const call: Call = { task, resolve, reject }
      abort = () => {
        reject(signal?.reason)
        if (running === call) thread.stop()
        waiting = waiting.filter((other) => other !== call)
      }
      waiting.push(call)
    })
    signal?.addEventListener('abort', abort, { once: true })
    serve()
    return answer.finally(() => signal?.removeEventListener('abort', abort))
  }

  const hashOf = (definition: TypeDefinition): string => {
    const known = hashes.get(definition) ?? hash('sha256', canonicalJson(definition), 'hex')
    hashes.set(definition, known)
    return known
  }

  return {
    async check(definition, signal) {
      try {
        const answer = await run({ op: 'check', definition }, signal)
        if (answer.op === 'checked') return answer.faults
        throw unexpected(answer)
      } catch (error) {
        if (!(error instanceof TypeUnusable)) throw error
        return [{ code: error.code, pointer: '/schema', message: error.message }]
      }
    },
    async validate(definition, entries, signal) {
      const task: Task = { op: 'validate', definition_hash: hashOf(definition), definition, entries }
      const answer = await run(task, signal)
      if (answer.op === 'validated') return answer.result
      if (answer.op !== 'unusable') throw unexpected(answer)
      const message = `The type cannot be used: ${answer.faults[0]?.message ?? 'its definition is wrong'}`
      throw new TypeUnusable('definition', message, answer.faults)
    },
    async close() {
      isClosed = true
      for (const call of waiting.splice(0)) call.reject(new Error('The type runner was closed'))
      await thread.stop()
    },
  }
}

const unexpected = (answer: Answer): Error =>
  answer.op === 'failed'
    ? new TypeUnusable('failed', `The type cannot be used: ${answer.message}.`)
    : new Error(`The type worker answered ${answer.op}`)

/** One worker at a time, started when it is needed, and a new one after each that had to be stopped. */
class BoundedThread {
  private readonly options: TypeRunnerOptions
  private current: { readonly worker: Worker; readonly ready: Promise<void> } | null = null

  constructor(options: TypeRunnerOptions) {
    this.options = options
  }

  async run(task: Task): Promise<Answer> {
    const { worker, ready } = this.start()
    const { time_limit_ms = TIME_LIMIT_MS } = this.options
    worker.ref()
    try {
      await ready.catch((cause: unknown) => {
        throw new Error('The type worker did not start', { cause })
      })
      return await this.within(time_limit_ms, worker, () => worker.postMessage(task))
    } finally {
      // Between calls the worker keeps no process alive.
      worker.unref()
    }
  }

  async stop(): Promise<void> {
    const stopped = this.current
    this.current = null
    await stopped?.worker.terminate()
  }

  private start(): { readonly worker: Worker; readonly ready: Promise<void> } {
    if (this.current) return this.current
    const worker = new Worker(this.options.script, {
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: this.options.heap_limit_mib ?? HEAP_LIMIT_MIB },
    })
    const ready = this.within(START_LIMIT_MS, worker, () => {}).then(() => {})
    const started = { worker, ready }
    this.current = started
    const forget = (): void => {
      if (this.current === started) this.current = null
    }
    // A worker that dies is replaced at the next call; without a listener its error would end the process.
    worker.on('error', forget).on('exit', forget)
    return started
  }

  /** The next message of the worker, or the reason why none will come. */
  private within(limit_ms: number, worker: Worker, begin: () => void): Promise<Answer> {
    return new Promise<Answer>((resolve, reject) => {
      const onMessage = (answer: Answer): void => end(() => resolve(answer))
      const onError = (error: Error): void => end(() => reject(this.reasonOf(error)))
      const onExit = (): void => end(() => reject(new Error('The type worker was stopped')))
      const onLimit = (): void => {
        const message = `The type cannot be used: it took longer than ${limit_ms / 1000} s.`
        end(() => reject(new TypeUnusable('time', message)))
        void this.stop()
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

  private reasonOf(error: Error & { code?: string }): Error {
    if (error.code !== 'ERR_WORKER_OUT_OF_MEMORY')
      return new TypeUnusable('failed', `The type cannot be used: ${error.message}.`)
    const limit_mib = this.options.heap_limit_mib ?? HEAP_LIMIT_MIB
    return new TypeUnusable('memory', `The type cannot be used: it needs more than ${limit_mib} MiB of memory.`)
  }
}
