/**
 * Connections that nobody uses at the moment, newest on top. `pg.Pool` opens and closes them; handing one over must not cost
 * timers and listeners each time, so they stay out of the pool between uses. Used by tx.ts only, which keeps to the limit.
 */
import pg from 'pg'
import { type ConnectionConfig, openWritable } from './servers.ts'

const IDLE_MS = 30_000

export class IdleConnectionPool {
  /** One for each server that a connection may go to. */
  readonly #pools: readonly pg.Pool[]
  readonly #needsWritable: boolean
  /** Which server took writes last. */
  #writableServer = 0
  readonly #idle: pg.PoolClient[] = []
  readonly #broken = new WeakSet<pg.PoolClient>()
  readonly #sweep: NodeJS.Timeout
  /** The fewest that stood here since the last look: nobody needed so many. */
  #minIdle = 0
  #ended = false

  constructor({ candidates, ...config }: ConnectionConfig, onIdleError: (error: Error) => void = () => {}) {
    this.#needsWritable = candidates !== undefined
    this.#pools = (candidates ?? [{}]).map((candidate) => this.#createPool({ ...config, ...candidate }, onIdleError))
    this.#sweep = setInterval(() => this.#closeSurplus(), IDLE_MS).unref()
  }

  #createPool(config: pg.PoolConfig, onIdleError: (error: Error) => void): pg.Pool {
    const pool = new pg.Pool({ ...config, idleTimeoutMillis: 1 })
    // Without a listener, a connection that breaks while nobody uses it would end the process.
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

  /** At once, where one is free. */
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

  /** One of them reached a server that takes no writes: the others may stand there too. */
  discardIdle(): void {
    for (const client of this.#idle.splice(0)) client.release(true)
    this.#minIdle = 0
  }

  /** `broken`: what state it is in is not known, so it is closed. */
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
