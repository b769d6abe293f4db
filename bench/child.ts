/** The servers under measurement run as processes of their own; this is how such a process and the measuring one talk. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'

/** In the child: what it was started with. */
export const readStartOptions = <T>(): T => JSON.parse(process.argv[2] as string) as T

/** In the child: it is ready, and from now on tells its processor time when asked. It ends with its parent. */
export function reportReady(facts: object): void {
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    process.send?.({ cpu_us: user + system })
  })
  process.once('disconnect', () => process.exit())
  process.send?.({ ready: facts })
}

/** In the child: something happened that the parent waits for. */
export const sendEvent = (event: object): void => void process.send?.({ event })

export interface Child<F> {
  readonly facts: F
  readonly process: ChildProcess
  /** Processor time used so far, in microseconds. */
  cpu_us(): Promise<number>
  stop(): Promise<void>
}

export interface ChildOptions {
  readonly node?: string
  readonly cwd?: string
  readonly profile_to?: string | undefined
  readonly onEvent?: (event: unknown) => void
}

const READY_TIMEOUT_MS = 60_000

export async function startChild<F>(
  script: string,
  start_options: object,
  options: ChildOptions = {},
): Promise<Child<F>> {
  const child = fork(script, [JSON.stringify(start_options)], {
    execPath: options.node ?? process.execPath,
    execArgv: options.profile_to ? ['--cpu-prof', `--cpu-prof-dir=${options.profile_to}`] : [],
    cwd: options.cwd ?? process.cwd(),
    env: { ...process.env, NODE_ENV: 'production', GRAPHILE_ENV: 'production' },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  child.on('message', (message: { event?: unknown }) => {
    if ('event' in message) options.onEvent?.(message.event)
  })
  const facts = await new Promise<F>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${script} was not ready in time`)), READY_TIMEOUT_MS)
    child.once('exit', (code) => reject(new Error(`${script} ended with ${code} before it was ready`)))
    child.on('message', (message: { ready?: F }) => {
      if (!message.ready) return
      clearTimeout(timer)
      resolve(message.ready)
    })
  })
  return {
    facts,
    process: child,
    cpu_us: () =>
      new Promise((resolve) => {
        const listen = (message: { cpu_us?: number }) => {
          if (message.cpu_us === undefined) return
          child.off('message', listen)
          resolve(message.cpu_us)
        }
        child.on('message', listen)
        child.send('cpu')
      }),
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.disconnect()
      await ended
    },
  }
}
