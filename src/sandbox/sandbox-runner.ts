/**
 * Runs plugin code in a bounded thread. Fuel and memory end an item for the plugin's own fault, the same on every machine; the
 * time limit of the thread is a backstop for native loops that use no fuel.
 */
import { hash } from 'node:crypto'
import { BoundedThread, ThreadFailure } from '#kernel/bounded-thread.ts'
import type { ThreadAdmission } from '#kernel/thread-admission.ts'
import { SANDBOX_HASH } from './builds.ts'
import type { SandboxItem, SandboxResult, SandboxTask } from './model.ts'
import type { SandboxWorkerReply, SandboxWorkerTask } from './worker-messages.ts'

export interface SandboxRunnerOptions {
  /** The built script `sandbox`. */
  readonly script: URL | string
  readonly admission?: ThreadAdmission
  readonly max_waiting?: number
  /** Backstop in CPU time: a base and a share for each unit of fuel, ten times what an item needs. */
  readonly base_ms?: number
  readonly ms_per_fuel?: number
  /** Backstop by the clock, for a machine that is too busy. */
  readonly elapsed_limit_ms?: number
}

export interface SandboxRunOptions {
  readonly signal?: AbortSignal | undefined
  /** Callers take turns. */
  readonly caller?: string
  /** The first item that is a native loop is the last one that runs: there may be fewer results than items. */
  readonly ends_with_native_loop?: boolean
}

export const MAX_TASK_ITEMS = 200
export const MAX_ARGUMENT_BYTES = 4 * 1024 * 1024

const BASE_MS = 1000
const MS_PER_FUEL = 2
const ELAPSED_LIMIT_MS = 60_000
const HEAP_LIMIT_MIB = 128
const MAX_WAITING = 64
/** So many times an item must reach the backstop on an idle thread before the plugin is blamed. */
const NATIVE_LOOP_ATTEMPTS = 3
/** Items of a shared run ended alone, so that one that does not end here is rarely the fault of the machine. */
const SHARED_ATTEMPTS = 2
const MAX_KNOWN_LOOPS = 200

export class SandboxRunner {
  readonly #options: SandboxRunnerOptions
  readonly #thread: BoundedThread<SandboxWorkerTask, SandboxWorkerReply>
  /** Items known as native loops. They are refused without running again, since each attempt costs the whole backstop. */
  readonly #nativeLoops = new Set<string>()
  /** Tasks that run or wait. */
  #active = 0

  constructor(options: SandboxRunnerOptions) {
    this.#options = options
    this.#thread = new BoundedThread({
      name: 'sandbox',
      script: options.script,
      time_limit_ms: options.base_ms ?? BASE_MS,
      heap_limit_mib: HEAP_LIMIT_MIB,
      max_waiting: options.max_waiting ?? MAX_WAITING,
      admission: options.admission,
    })
  }

  /**
   * One result for each item, in their order, unless the options let it end earlier. Throws a ThreadFailure when the thread or the machine, not the plugin, is the cause:
   * the caller may repeat the task.
   */
  async run(task: SandboxTask, options: SandboxRunOptions = {}): Promise<readonly SandboxResult[]> {
    assertTaskSize(task)
    if (task.is_shared) return this.#runShared(task, options)
    const results: SandboxResult[] = []
    while (results.length < task.items.length) {
      results.push(...(await this.#runNext(task, task.items.slice(results.length), options)))
      const last = results.at(-1)
      if (options.ends_with_native_loop && last && !last.ok && last.reason === 'native_loop') return results
    }
    return results
  }

  close(): Promise<void> {
    return this.#thread.close()
  }

  /** All items in one message: they share a context, so none of them can be judged alone. */
  async #runShared(task: SandboxTask, options: SandboxRunOptions): Promise<readonly SandboxResult[]> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#send(task, options)
      } catch (error) {
        if (!(error instanceof BackstopReached)) throw error
        if (!error.isIdle) throw error.failure
        if (attempt === SHARED_ATTEMPTS) return task.items.map(createNativeLoopResult)
      }
    }
  }

  /** Results of at least one item. */
  async #runNext(
    task: SandboxTask,
    items: readonly SandboxItem[],
    options: SandboxRunOptions,
  ): Promise<readonly SandboxResult[]> {
    const [first] = items as [SandboxItem]
    if (this.#nativeLoops.has(hashItem(task, first))) return [createNativeLoopResult()]
    try {
      return await this.#send({ ...task, items }, options)
    } catch (error) {
      if (!(error instanceof BackstopReached)) throw error
      // Any of the items may be the cause: the first is judged alone.
      return [await this.#judge({ ...task, items: [first] }, options, items.length === 1 ? error : null)]
    }
  }

  /** Runs an item until it has a result, or has reached the backstop so often that it must be a native loop. */
  async #judge(task: SandboxTask, options: SandboxRunOptions, failure: BackstopReached | null): Promise<SandboxResult> {
    let attempts = 0
    for (let last = failure; ; ) {
      if (last) {
        if (!last.isIdle) throw last.failure
        if (++attempts === NATIVE_LOOP_ATTEMPTS) break
      }
      try {
        return (await this.#send(task, options))[0] as SandboxResult
      } catch (error) {
        if (!(error instanceof BackstopReached)) throw error
        last = error
      }
    }
    this.#recordLoop(hashItem(task, task.items[0] as SandboxItem))
    return createNativeLoopResult()
  }

  async #send(task: SandboxTask, { signal, caller = '' }: SandboxRunOptions): Promise<readonly SandboxResult[]> {
    const {
      base_ms = BASE_MS,
      ms_per_fuel = MS_PER_FUEL,
      elapsed_limit_ms = ELAPSED_LIMIT_MS,
      admission,
    } = this.#options
    const { source, entry_point, items, limits, is_shared = false, sandbox_hash = SANDBOX_HASH } = task
    const { shared_fuel = items.length * limits.fuel, refuses_own_import = false } = task
    // Items of their own are sent again after a short time, so that the limit is that of one.
    const fuel = is_shared ? Math.max(shared_fuel, limits.fuel) : limits.fuel
    const time_limit_ms = base_ms + fuel * ms_per_fuel
    this.#active++
    // Other threads use CPU time of the process, which the time limit counts. Of this one's tasks at most one runs.
    const isIdle = (): boolean => (admission?.running ?? 0) <= (this.#active > 1 ? 1 : 0)
    const startedIdle = isIdle()
    try {
      const reply = await this.#thread.run(
        { source, entry_point, items, limits, is_shared, sandbox_hash, refuses_own_import },
        { signal, caller, limits: { time_limit_ms, elapsed_limit_ms: Math.max(elapsed_limit_ms, time_limit_ms) } },
      )
      if (reply.op === 'ran') return reply.results
      throw new Error(reply.op === 'failed' ? reply.message : `The sandbox answered ${reply.op}`)
    } catch (error) {
      if (!(error instanceof ThreadFailure) || error.reason !== 'time') throw error
      throw new BackstopReached(error, startedIdle && isIdle())
    } finally {
      this.#active--
    }
  }

  #recordLoop(id: string): void {
    this.#nativeLoops.add(id)
    const [oldest] = this.#nativeLoops
    if (this.#nativeLoops.size > MAX_KNOWN_LOOPS && oldest !== undefined) this.#nativeLoops.delete(oldest)
  }
}

/** The time limit ended a task, though its fuel did not. */
class BackstopReached extends Error {
  readonly failure: ThreadFailure
  /** No other thread of the process ran at its start and at its end. */
  readonly isIdle: boolean

  constructor(failure: ThreadFailure, isIdle: boolean) {
    super(failure.message, { cause: failure })
    this.failure = failure
    this.isIdle = isIdle
  }
}

const createNativeLoopResult = (): SandboxResult => ({
  ok: false,
  reason: 'native_loop',
  message: 'It did not end in time, though it used no fuel: a built-in function works on too much data',
  line: null,
  stack: null,
  fuel: 0,
})

const hashItem = ({ source, entry_point }: SandboxTask, { args, entries }: SandboxItem): string =>
  hash('sha256', JSON.stringify([source, entry_point, args, entries ?? null]), 'hex')

function assertTaskSize({ items }: SandboxTask): void {
  if (items.length > MAX_TASK_ITEMS) throw new RangeError(`A task has at most ${MAX_TASK_ITEMS} items`)
  for (const { args } of items) {
    const length = args.reduce((sum, text) => sum + text.length, 0)
    if (length > MAX_ARGUMENT_BYTES)
      throw new RangeError(`The arguments have more than ${MAX_ARGUMENT_BYTES} characters`)
  }
}
