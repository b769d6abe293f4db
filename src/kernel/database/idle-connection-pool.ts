/**
 * Idle connections, most recently used first. `pg.Pool` opens and closes them; taking one from it would cost timers and
 * listeners each time, so they are kept here between uses. Used by tx.ts only, which enforces the limit.
 */
import pg from 'pg'
import { type ConnectionConfig, openWritable } from './servers.ts'

const IDLE_MS = 30_000

export class IdleConnectionPool {
  /** One for each server that a connection may go to. */
  readonly #pools: readonly pg.Pool[]
  readonly #needsWritable: boolean
  /** Which server accepted writes last. */
  #writableServer = 0
  readonly #idle: pg.PoolClient[] = []
  readonly #broken = new WeakSet<pg.PoolClient>()
  readonly #sweep: NodeJS.Timeout
  /** The fewest idle connections since the last check: so many were not needed. */
  #minIdle = 0
  #ended = false

  constructor({ candidates, ...config }: ConnectionConfig, onIdleError: (error: Error) => void = () => {}) {
    this.#needsWritable = candidates !== undefined
    this.#pools = (candidates ?? [{}]).map((candidate) => this.#createPool({ ...config, ...candidate }, onIdleError))
    this.#sweep = setInterval(() => this.#closeSurplus(), IDLE_MS).unref()
  }

  #createPool(config: pg.PoolConfig, onIdleError: (error: Error) => void): pg.Pool {
    const pool = new pg.Pool({ ...config, idleTimeoutMillis: 1 })
    // Without a listener, an idle connection that breaks would end the process.
    pool.on('error', onIdleError)
    pool.on('connect', (client) => {
      client.on('error', (error) => {
        this.#broken.add(client as pg.PoolClient)
        const at = this.#idle.indexOf(client as pg.PoolClient)
        if (at < 0) return
        this.#idle.splice(at, 1)
        ;(client as pg.PoolClient).release(error)
        onIdleError(error)
      })
    })
    return pool
  }

  /** Returns a connection without waiting if one is idle. */
  acquire(): pg.PoolClient | undefined {
    const client = this.#idle.pop()
    if (this.#idle.length < this.#minIdle) this.#minIdle = this.#idle.length
    return client
  }

  async open(): Promise<pg.PoolClient> {
    if (!this.#needsWritable) return (this.#pools[0] as pg.Pool).connect()
    const { client, index } = await openWritable(
      this.#pools.length,
      this.#writableServer,
      (at) => (this.#pools[at] as pg.Pool).connect(),
      (unused) => unused.release(true),
    )
    this.#writableServer = index
    return client
  }

  /** One of them reached a server that does not accept writes: the others may have, too. */
  discardIdle(): void {
    for (const client of this.#idle.splice(0)) client.release(true)
    this.#minIdle = 0
  }

  /** `broken`: its state is unknown, so it is closed. */
  release(client: pg.PoolClient, broken: Error | undefined): void {
    if (broken || this.#broken.has(client) || this.#ended) client.release(broken ?? true)
    else this.#idle.push(client)
  }

  async end(): Promise<void> {
    this.#ended = true
    clearInterval(this.#sweep)
    for (const client of this.#idle.splice(0)) client.release()
    await Promise.all(this.#pools.map((pool) => pool.end()))
  }

  #closeSurplus(): void {
    for (const client of this.#idle.splice(0, this.#minIdle)) client.release(true)
    this.#minIdle = this.#idle.length
  }
}
