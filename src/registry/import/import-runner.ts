/**
 * Runs one import in a worker thread and streams its output with backpressure in both directions. Memory and time of the thread are
 * bounded; ending the iteration ends the thread.
 */
import { Worker } from 'node:worker_threads'
import type { AdmissionRequest, ThreadAdmission } from '#kernel/thread-admission.ts'
import { type Source, SourceFault } from '../adapter.ts'
import type { ImportOutput, ImportRequest } from './import-messages.ts'
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
/** Number of bytes sent before the thread requests more. */
const MAX_BYTES_UNDER_WAY = 1024 * 1024
const YOUNG_MB = 16

export async function* importInThread(
  script: string,
  source: Source,
  request: ImportRequest,
  { limits = defaultLimits, signal, admission }: ImportOptions = {},
): AsyncGenerator<ImportOutput, void, undefined> {
  const turns = admission && new ThreadTurns(admission.threads, { ...admission.request, signal })
  await turns?.acquire()
  try {
    yield* runThread(script, source, request, limits, signal, turns)
  } finally {
    turns?.release()
  }
}

async function* runThread(
  script: string,
  source: Source,
  request: ImportRequest,
  limits: ImportLimits,
  signal: AbortSignal | undefined,
  turns: ThreadTurns | undefined,
): AsyncGenerator<ImportOutput, void, undefined> {
  signal?.throwIfAborted()
  const worker = new Worker(script, {
    // Rows are short-lived: a young generation for some thousand of them avoids most copying. It costs that much more memory.
    resourceLimits: { maxOldGenerationSizeMb: limits.memory_mb, maxYoungGenerationSizeMb: YOUNG_MB },
  })
  const post = (message: ThreadInput, transfer: ArrayBuffer[] = []) => worker.postMessage(message, transfer)
  const outputs: ImportOutput[] = []
  let bytes_under_way = 0
  let started = false
  let failure: Error | undefined
  let done = false
  let ended = false
  let wakeCaller = () => {}
  let wakeFeeder = () => {}
  const fail = (error: Error) => {
    failure ??= error
    wakeCaller()
    wakeFeeder()
  }
  const onAbort = () => fail(signal?.reason as Error)
  signal?.addEventListener('abort', onAbort, { once: true })
  const pause = new Int32Array(new SharedArrayBuffer(4))
  turns?.onPauseWanted(() => Atomics.store(pause, 0, 1))
  let isPaused = false
  /** Waits until the slot is acquired again. */
  const waitForTurn = async (): Promise<void> => {
    isPaused = true
    await turns?.yield()
    isPaused = false
    Atomics.store(pause, 0, 0)
    if (!ended) post({ kind: 'resume' })
    watch()
  }

  // The thread sends no messages until it has started, and while it waits for the source or for the caller.
  let watchdog: NodeJS.Timeout | undefined
  const watch = () => {
    clearTimeout(watchdog)
    if (!started || isPaused || done || failure || outputs.length > 0 || bytes_under_way === 0) return
    watchdog = setTimeout(giveUp, limits.idle_timeout_ms)
  }
  const giveUp = () => {
    const message = 'Reading the source or checking its rows takes too long; the type or the file is not usable.'
    fail(new SourceFault('took_too_long', message))
    void worker.terminate()
  }
  const deadline = limits.total_ms === undefined ? undefined : setTimeout(giveUp, limits.total_ms)

  worker.on('message', (message: ThreadOutput) => {
    if (message.kind === 'started') started = true
    else if (message.kind === 'paused') waitForTurn().catch(fail)
    else if (message.kind === 'taken') {
      bytes_under_way -= message.bytes
      wakeFeeder()
    } else if (message.kind === 'output') {
      outputs.push(message.output)
      wakeCaller()
    } else if (message.kind === 'done') {
      done = true
      wakeCaller()
    } else if (message.kind === 'fault') fail(new SourceFault(message.code, message.message, message.at))
    else fail(new Error(message.message))
    watch()
  })
  worker.on('error', (error: NodeJS.ErrnoException) =>
    fail(
      error.code === 'ERR_WORKER_OUT_OF_MEMORY'
        ? new SourceFault('took_too_much_memory', 'Reading the source takes more memory than an import may use.')
        : error,
    ),
  )
  worker.on('exit', () => {
    if (!done) fail(new Error('the import thread ended early'))
  })

  const feed = async (): Promise<void> => {
    try {
      for await (const bytes of source) {
        while (bytes_under_way >= MAX_BYTES_UNDER_WAY && !failure && !ended) {
          await new Promise<void>((resolve) => {
            wakeFeeder = resolve
          })
        }
        if (failure || ended) return
        const whole = asWhole(bytes)
        bytes_under_way += whole.length
        post({ kind: 'chunk', bytes: whole }, [whole.buffer])
        watch()
      }
      post({ kind: 'finished' })
    } catch (error) {
      fail(error as Error)
    }
  }

  post({ kind: 'start', order: request, pause })
  const feeding = feed()
  try {
    for (;;) {
      const output = outputs.shift()
      if (output) {
        yield output
        post({ kind: 'written' })
        watch()
        continue
      }
      if (failure) throw failure
      if (done) break
      await new Promise<void>((resolve) => {
        wakeCaller = resolve
      })
    }
    await feeding
  } finally {
    ended = true
    done = true
    clearTimeout(watchdog)
    clearTimeout(deadline)
    signal?.removeEventListener('abort', onAbort)
    wakeFeeder()
    await worker.terminate()
  }
}

/** A buffer that fills its memory is transferred; a part of a larger one is copied. */
const asWhole = (bytes: Uint8Array): Uint8Array<ArrayBuffer> =>
  bytes.buffer instanceof ArrayBuffer && bytes.length === bytes.buffer.byteLength
    ? (bytes as Uint8Array<ArrayBuffer>)
    : new Uint8Array(bytes)
