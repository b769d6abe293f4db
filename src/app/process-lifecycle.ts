/**
 * The lifecycle of a process. What it opens it registers here; it is closed once, in reverse order, each step within its limit,
 * whether the process was asked to stop, failed to start or crashed.
 */
import { setMaxListeners } from 'node:events'

class StartInterrupted extends Error {
  override readonly name = 'StartInterrupted'
}

interface ShutdownStep {
  readonly text: string | null
  readonly limit_ms: number
  readonly close: () => Promise<unknown>
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** npm forwards a Ctrl-C that the terminal has already sent to all processes: the same one, twice. */
const SAME_SIGNAL_MS = 1000
const FORCED_EXIT_MS = 1500
const PARENT_CHECK_INTERVAL_MS = 250

const ignore = (): void => {}

/** The terminal may be closed before we end, or a reader may stop early (a pipe into head): no failure. */
export function ignoreBrokenPipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    if (!stream.listeners('error').includes(ignore)) stream.on('error', ignore)
  }
}

export class ProcessLifecycle {
  readonly #closers: ShutdownStep[] = []
  readonly #stop = new AbortController()
  readonly #say: (text: string) => void
  readonly #onCrash: (error: unknown) => void
  #asked_at_ms: number | undefined
  #crashed = false

  constructor(options: { say: (text: string) => void; onCrash: (error: unknown) => void }) {
    // Every request in progress listens to it, so the number of listeners says nothing about a leak.
    setMaxListeners(0, this.#stop.signal)
    this.#say = options.say
    this.#onCrash = options.onCrash
  }

  /** Aborted when the process should end. */
  get signal(): AbortSignal {
    return this.#stop.signal
  }

  get exit_code(): 0 | 1 {
    return this.#crashed ? 1 : 0
  }

  /** `by_npm`: the shell of npm ends on SIGTERM without forwarding it. */
  listen(options: { by_npm?: boolean } = {}): void {
    for (const name of signals) process.on(name, () => this.#onSignal(name))
    if (options.by_npm) this.#watchParent()
    process.on('uncaughtException', (error) => this.#crash(error))
    process.on('unhandledRejection', (error) => this.#crash(error))
    ignoreBrokenPipes()
  }

  /** Called between two steps of a start: throws when the process was asked to stop. */
  proceed(): void {
    if (this.signal.aborted) throw new StartInterrupted('stopped while starting')
  }

  /** Whether an error only says that the start was aborted on request. */
  isInterruption(error: unknown): boolean {
    const isAbort = (error as { name?: unknown } | null)?.name === 'AbortError'
    return error instanceof StartInterrupted || (isAbort && this.signal.aborted)
  }

  onEnd(text: string | null, limit_ms: number, close: () => Promise<unknown>): void {
    this.#closers.push({ text, limit_ms, close })
  }

  ended(): Promise<void> {
    if (this.signal.aborted) return Promise.resolve()
    return new Promise((resolve) => this.signal.addEventListener('abort', () => resolve(), { once: true }))
  }

  /** `exits`: the process ends soon afterwards, whatever is still open in it. */
  async close({ exits = true } = {}): Promise<void> {
    this.#asked_at_ms ??= performance.now()
    for (let closer = this.#closers.pop(); closer; closer = this.#closers.pop()) {
      if (closer.text) this.#say(closer.text)
      const failure = await runShutdownStep(closer)
      if (failure) this.#say(`${closer.text ?? 'A step'}: ${failure}`)
    }
    // Everything is closed; a socket that still keeps the process alive is not needed.
    if (exits) setTimeout(() => process.exit(process.exitCode ?? this.exit_code), FORCED_EXIT_MS).unref()
  }

  /** Detects that the parent process is gone, the only sign of its end. */
  #watchParent(): void {
    const parent = process.ppid
    const timer = setInterval(() => {
      if (process.ppid === parent) return
      clearInterval(timer)
      this.#onSignal('the end of npm')
    }, PARENT_CHECK_INTERVAL_MS)
    timer.unref()
  }

  #onSignal(name: string): void {
    const now_ms = performance.now()
    if (this.#asked_at_ms !== undefined && now_ms - this.#asked_at_ms > SAME_SIGNAL_MS) {
      this.#say(`${name} again: leaving at once`)
      process.exit(1)
    }
    this.#asked_at_ms ??= now_ms
    this.#stop.abort()
  }

  #crash(error: unknown): void {
    this.#onCrash(error)
    if (this.#crashed) process.exit(1)
    this.#crashed = true
    this.#asked_at_ms ??= performance.now()
    this.#stop.abort()
  }
}

/** What went wrong, or null. */
async function runShutdownStep({ limit_ms, close }: ShutdownStep): Promise<string | null> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(`not done after ${limit_ms / 1000} s, going on`), limit_ms)
  })
  const done = close().then(
    () => null,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  )
  const outcome = await Promise.race([done, late])
  clearTimeout(timer)
  return outcome
}
