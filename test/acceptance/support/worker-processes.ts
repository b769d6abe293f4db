/** The worker processes of a run: starts them, tells which are alive, and ends them gently or not. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import type { WorkerStartMessage } from '../worker-process.ts'
import type { DurableDatabase } from './durable-database.ts'

export class WorkerProcesses {
  readonly #startMessage: WorkerStartMessage
  readonly #alive = new Map<number, ChildProcess>()
  readonly #stalled = new Set<number>()

  constructor(database: DurableDatabase, slots: number, options: Pick<WorkerStartMessage, 'egress' | 'crash'> = {}) {
    this.#startMessage = {
      ...options,
      connections: { app: database.connection('app'), worker: database.connection('worker') },
      slots,
    }
  }

  /** Starts one and waits until it is gone. */
  async runToEnd(): Promise<void> {
    const before = new Set(this.#alive.keys())
    await this.start()
    const [child] = [...this.#alive].filter(([pid]) => !before.has(pid)).map(([, each]) => each)
    if (child) await once(child, 'exit')
  }

  async start(): Promise<void> {
    const script = path.join(import.meta.dirname, 'worker-process.mjs')
    const child = fork(script, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    child.send(this.#startMessage)
    const [first] = await Promise.race([once(child, 'message'), once(child, 'exit')])
    if (first !== 'ready') throw new Error(`a worker did not start: ${first}`)
    const pid = child.pid as number
    this.#alive.set(pid, child)
    child.once('exit', () => this.#alive.delete(pid))
  }

  /** Alive and not stalled. */
  has(pid: number): boolean {
    return this.#alive.has(pid) && !this.#stalled.has(pid)
  }

  /** Gives the time of death, once the process is gone. */
  async kill(pid: number): Promise<number> {
    const child = this.#alive.get(pid) as ChildProcess
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
    return performance.now()
  }

  /** As in a machine that swaps or a debugger that stops: the process is there, and does nothing. */
  stall(pid: number): () => void {
    const child = this.#alive.get(pid) as ChildProcess
    this.#stalled.add(pid)
    child.kill('SIGSTOP')
    return () => {
      this.#stalled.delete(pid)
      child.kill('SIGCONT')
    }
  }

  async stop(): Promise<void> {
    await Promise.all(
      [...this.#alive].map(async ([pid, child]) => {
        if (this.#stalled.has(pid)) child.kill('SIGCONT')
        const gone = once(child, 'exit')
        if (child.connected) child.send('stop')
        const tooLate = setTimeout(() => child.kill('SIGKILL'), 15_000)
        await gone
        clearTimeout(tooLate)
      }),
    )
  }
}
