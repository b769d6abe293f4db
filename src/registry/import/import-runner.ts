/**
 * Runs one import in a worker thread and streams its output with backpressure in both directions. Memory and time of the thread are
 * bounded; ending the iteration ends the thread.
 */
import { Worker } from 'node:worker_threads'
import type { AdmissionRequest, ThreadAdmission } from '#kernel/thread-admission.ts'
import { type Source, SourceFault } from '../adapter.ts'
import { PluginAdapterFault } from '../adapters/plugin-adapter.ts'
import type { ImportOutput, ThreadTask } from './import-messages.ts'
import type { ThreadInput, ThreadOutput } from './import-thread.ts'
import { ThreadTurns } from './thread-turns.ts'

export interface ImportLimits {
  readonly memory_mb: number
  /** How long the thread may be busy without a message. */
  readonly idle_timeout_ms: number
  /** How long the thread may run in total; without it, as long as it sends messages. */
  readonly total_ms?: number
}
export interface ImportOptions {
  readonly limits?: ImportLimits
  readonly signal?: AbortSignal | undefined
  /** The slot of the thread; without one it starts immediately. */
  readonly admission?: { readonly threads: ThreadAdmission; readonly request: AdmissionRequest } | undefined
}

/** A malicious row or type takes seconds; so may a good one on a busy machine. */
export const defaultLimits: ImportLimits = { memory_mb: 256, idle_timeout_ms: 20_000 }
/** A chunk of a plugin adapter may reach the backstop of the sandbox three times before it is known as a native loop. */
export const pluginLimits: ImportLimits = { memory_mb: 256, idle_timeout_ms: 180_000 }
/** Number of bytes sent before the thread requests more. */
const MAX_BYTES_UNDER_WAY = 1024 * 1024
const YOUNG_MB = 16

export async function* importInThread(
  script: string,
  source: Source,
  request: ThreadTask,
  { limits = defaultLimits, signal, admission }: ImportOptions = {},
): AsyncGenerator<ImportOutput, void, undefined> {
  const turns = admission && new ThreadTurns(admission.threads, { ...admission.request, signal })
  await turns?.acquire()
  try {
    signal?.throwIfAborted()
    yield* new ImportThread(script, limits, turns).run(source, request, signal)
  } finally {
    turns?.release()
  }
}

/** A condition that one side waits for and another signals. */
class Wakeup {
  private resolve = () => {}

  wait(): Promise<void> {
    return new Promise((resolve) => {
      this.resolve = resolve
    })
  }

  wake(): void {
    this.resolve()
  }
}

/** One worker thread with its pending input and output. */
class ImportThread {
  private readonly worker: Worker
  private readonly limits: ImportLimits
  private readonly turns: ThreadTurns | undefined
  private readonly outputs: ImportOutput[] = []
  private readonly caller = new Wakeup()
  private readonly feeder = new Wakeup()
  private readonly pause = new Int32Array(new SharedArrayBuffer(4))
  private bytes_under_way = 0
  private failure: Error | undefined
  private isStarted = false
  private isPaused = false
  private isDone = false
  private isEnded = false
  private watchdog: NodeJS.Timeout | undefined

  constructor(script: string, limits: ImportLimits, turns: ThreadTurns | undefined) {
    this.limits = limits
    this.turns = turns
    this.worker = new Worker(script, {
      // Rows are short-lived: a young generation for some thousand of them avoids most copying. It costs that much more memory.
      resourceLimits: { maxOldGenerationSizeMb: limits.memory_mb, maxYoungGenerationSizeMb: YOUNG_MB },
    })
    this.worker.on('message', (message: ThreadOutput) => {
      this.receive(message)
      this.watch()
    })
    this.worker.on('error', (error) => this.fail(toSourceFault(error)))
    this.worker.on('exit', () => {
      if (!this.isDone) this.fail(new Error('the import thread ended early'))
    })
    turns?.onPauseWanted(() => Atomics.store(this.pause, 0, 1))
  }

  async *run(source: Source, request: ThreadTask, signal: AbortSignal | undefined) {
    const onAbort = () => this.fail(signal?.reason as Error)
    signal?.addEventListener('abort', onAbort, { once: true })
    const { total_ms } = this.limits
    const deadline = total_ms === undefined ? undefined : setTimeout(() => this.giveUp(), total_ms)
    this.post({ kind: 'start', request, pause: this.pause })
    const feeding = this.feed(source)
    try {
      yield* this.takeOutputs()
      await feeding
    } finally {
      this.isEnded = true
      this.isDone = true
      clearTimeout(this.watchdog)
      clearTimeout(deadline)
      signal?.removeEventListener('abort', onAbort)
      this.feeder.wake()
      await this.worker.terminate()
    }
  }

  private async *takeOutputs(): AsyncGenerator<ImportOutput, void, undefined> {
    for (;;) {
      const output = this.outputs.shift()
      if (output) {
        yield output
        this.post({ kind: 'written' })
        this.watch()
        continue
      }
      if (this.failure) throw this.failure
      if (this.isDone) return
      await this.caller.wait()
    }
  }

  private async feed(source: Source): Promise<void> {
    try {
      for await (const bytes of source) {
        while (this.bytes_under_way >= MAX_BYTES_UNDER_WAY && !this.failure && !this.isEnded) await this.feeder.wait()
        if (this.failure || this.isEnded) return
        const whole = asWhole(bytes)
        this.bytes_under_way += whole.length
        this.post({ kind: 'chunk', bytes: whole }, [whole.buffer])
        this.watch()
      }
      this.post({ kind: 'finished' })
    } catch (error) {
      this.fail(error as Error)
    }
  }

  private post(message: ThreadInput, transfer: ArrayBuffer[] = []): void {
    this.worker.postMessage(message, transfer)
  }

  private receive(message: ThreadOutput): void {
    if (message.kind === 'started') this.isStarted = true
    else if (message.kind === 'paused') this.waitForTurn().catch((error) => this.fail(error as Error))
    else if (message.kind === 'taken') {
      this.bytes_under_way -= message.bytes
      this.feeder.wake()
    } else if (message.kind === 'output') {
      this.outputs.push(message.output)
      this.caller.wake()
    } else if (message.kind === 'done') {
      this.isDone = true
      this.caller.wake()
    } else if (message.kind === 'fault') this.fail(new SourceFault(message.code, message.message, message.at))
    else if (message.kind === 'plugin_fault') this.fail(new PluginAdapterFault(message.fault))
    else this.fail(new Error(message.message))
  }

  /** Waits until the slot is acquired again. */
  private async waitForTurn(): Promise<void> {
    this.isPaused = true
    await this.turns?.yield()
    this.isPaused = false
    Atomics.store(this.pause, 0, 0)
    if (!this.isEnded) this.post({ kind: 'resume' })
    this.watch()
  }

  /** Starts the watchdog. The thread sends no messages before its start, and while it waits for the source or for the caller. */
  private watch(): void {
    clearTimeout(this.watchdog)
    const isBusy = this.outputs.length === 0 && this.bytes_under_way > 0
    if (!this.isStarted || this.isPaused || this.isDone || this.failure || !isBusy) return
    this.watchdog = setTimeout(() => this.giveUp(), this.limits.idle_timeout_ms)
  }

  private giveUp(): void {
    const message = 'Reading the source or checking its rows takes too long; the type or the file is not usable.'
    this.fail(new SourceFault('took_too_long', message))
    void this.worker.terminate()
  }

  private fail(error: Error): void {
    this.failure ??= error
    this.caller.wake()
    this.feeder.wake()
  }
}

function toSourceFault(error: NodeJS.ErrnoException): Error {
  return error.code === 'ERR_WORKER_OUT_OF_MEMORY'
    ? new SourceFault('took_too_much_memory', 'Reading the source takes more memory than an import may use.')
    : error
}

/** A buffer that fills its memory is transferred; a part of a larger one is copied. */
const asWhole = (bytes: Uint8Array): Uint8Array<ArrayBuffer> =>
  bytes.buffer instanceof ArrayBuffer && bytes.length === bytes.buffer.byteLength
    ? (bytes as Uint8Array<ArrayBuffer>)
    : new Uint8Array(bytes)
