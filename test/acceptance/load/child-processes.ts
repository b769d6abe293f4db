/**
 * A run that measures runs as several processes: itself, the server it measures and the generator of the load. All are
 * the same bundle; its environment says which part a process plays. They exchange messages over IPC.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'

export type ChildRole = 'server' | 'generator'
/** What a part can be asked; each question has one argument and one answer, both plain values. */
export type RpcHandlers = Readonly<Record<string, (argument: never) => Promise<unknown>>>

const ROLE_VARIABLE = 'PROBITY_ACCEPTANCE_ROLE'
const children = new Set<ChildProcess>()

interface RpcRequest {
  readonly id: number
  readonly method: string
  readonly argument: unknown
}
interface RpcResponse {
  readonly id: number
  readonly value?: unknown
  readonly failure?: string
}

/** In every process of the run: plays the part it was started for, or runs the run itself. */
export async function runMainOrChild(
  parts: Readonly<Partial<Record<ChildRole, () => Promise<RpcHandlers>>>>,
  main: () => Promise<void>,
): Promise<void> {
  const name = process.env[ROLE_VARIABLE] as ChildRole | undefined
  if (name === undefined) {
    // Without its parts the run comes to an end by itself, and tidies up on the way.
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => {
        for (const child of children) child.kill('SIGKILL')
      })
    }
    return main()
  }
  const handlers = await (parts[name] as () => Promise<RpcHandlers>)()
  process.on('disconnect', () => process.exit(0))
  process.on('message', ({ id, method, argument }: RpcRequest) => {
    const act = handlers[method] as (argument: unknown) => Promise<unknown>
    act(argument).then(
      (value) => process.send?.({ id, value }),
      (error: Error) => process.send?.({ id, failure: error.stack ?? String(error) }),
    )
  })
  process.send?.({ id: 0 })
}

export interface ChildService<S extends RpcHandlers> {
  readonly process: ChildProcess
  ask<K extends keyof S & string>(method: K, argument: Parameters<S[K]>[0]): Promise<Awaited<ReturnType<S[K]>>>
  stop(): Promise<void>
}

/** Starts another process from this one's own bundle. */
export async function startChild<S extends RpcHandlers>(name: ChildRole): Promise<ChildService<S>> {
  const child = fork(process.argv[1] as string, {
    env: { ...process.env, NODE_ENV: 'production', [ROLE_VARIABLE]: name },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  children.add(child)
  const waiting = new Map<number, (answer: RpcResponse) => void>()
  let asked = 0
  const ready = new Promise<void>((resolve) => waiting.set(0, () => resolve()))
  child.on('message', (answer: RpcResponse) => {
    waiting.get(answer.id)?.(answer)
    waiting.delete(answer.id)
  })
  child.once('exit', (code, signal) => {
    for (const settle of waiting.values()) settle({ id: -1, failure: `the ${name} ended (${signal ?? code})` })
  })
  await Promise.race([ready, once(child, 'exit')])
  if (child.exitCode !== null) throw new Error(`the ${name} did not start`)
  return {
    process: child,
    ask: (method, argument) =>
      new Promise((resolve, reject) => {
        if (!child.connected) return reject(new Error(`the ${name} is gone`))
        const id = ++asked
        waiting.set(id, ({ value, failure }) =>
          failure === undefined ? resolve(value as never) : reject(new Error(failure)),
        )
        child.send({ id, method, argument } satisfies RpcRequest)
      }),
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      const gone = once(child, 'exit')
      const tooLate = setTimeout(() => child.kill('SIGKILL'), 10_000)
      child.disconnect()
      await gone
      clearTimeout(tooLate)
    },
  }
}
