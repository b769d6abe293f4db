/** A real service process of a run: started, probed for readiness, stopped or killed. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import net from 'node:net'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const READY_LIMIT_MS = 60_000
const MAX_OUTPUT_CHARS = 4000

export async function freePort(): Promise<number> {
  const probe = net.createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as net.AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}

export class Service {
  readonly name: 'api' | 'worker'
  readonly base: string
  readonly #env: Record<string, string>
  #child: ChildProcess | undefined
  #output = ''

  constructor(name: 'api' | 'worker', port: number, env: Readonly<Record<string, string>>) {
    this.name = name
    this.base = `http://127.0.0.1:${port}`
    this.#env = { ...env, PORT: String(port), HOST: '127.0.0.1' }
  }

  get isAlive(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null
  }
  /** The end of what it wrote, for whoever has to find out why it died. */
  get output(): string {
    return this.#output
  }

  launch(): void {
    const script = path.join(import.meta.dirname, 'service-process.mjs')
    this.#output = ''
    this.#child = spawn(process.execPath, [script, this.name], { env: this.#env, stdio: ['ignore', 'pipe', 'pipe'] })
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#output = (this.#output + text).slice(-MAX_OUTPUT_CHARS)
      })
    }
  }

  /** Launched and, where it answers requests, ready to. */
  async start(signal?: AbortSignal): Promise<void> {
    this.launch()
    if (this.name === 'worker') return
    const giveUpAt_ms = performance.now() + READY_LIMIT_MS
    while (!(await this.isReady())) {
      if (!this.isAlive) throw new Error(`${this.name} ended while starting:\n${this.#output}`)
      if (performance.now() > giveUpAt_ms) throw new Error(`${this.name} does not get ready:\n${this.#output}`)
      await sleep(25, undefined, { signal })
    }
  }

  async isReady(): Promise<boolean> {
    try {
      const reply = await fetch(`${this.base}/health/ready`, { signal: AbortSignal.timeout(3000) })
      await reply.arrayBuffer()
      return reply.status === 200
    } catch {
      return false
    }
  }

  async kill(): Promise<void> {
    await this.#signal('SIGKILL')
  }

  /** The exit code; null when it had to be killed. */
  async stop(limit_ms = 60_000): Promise<number | null> {
    const tooLate = setTimeout(() => this.#child?.kill('SIGKILL'), limit_ms)
    const code = await this.#signal('SIGTERM')
    clearTimeout(tooLate)
    return code
  }

  async #signal(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
    const child = this.#child
    if (!child || !this.isAlive) return child?.exitCode ?? null
    const gone = once(child, 'exit')
    child.kill(signal)
    return ((await gone) as [number | null])[0]
  }
}
