/**
 * Connections that nobody uses at the moment, newest on top. `pg.Pool` opens and closes them; handing one over must not cost
 * timers and listeners each time, so they stay out of the pool between uses. Used by tx.ts only, which keeps to the limit.
 */
import pg from 'pg'

const IDLE_MS = 30_000

export class Parking {
  readonly #pool: pg.Pool
  readonly #parked: pg.PoolClient[] = []
  readonly #lost = new WeakSet<pg.PoolClient>()
  readonly #sweep: NodeJS.Timeout
  /** The fewest that stood here since the last look: nobody needed so many. */
  #spare = 0
  #ended = false

  constructor(config: pg.PoolConfig, onIdleError: (error: Error) => void = () => {}) {
    this.#pool = new pg.Pool({ ...config, idleTimeoutMillis: 1 })
    // Without a listener, a connection that breaks while nobody uses it would end the process.
    this.#pool.on('error', onIdleError)
    this.#pool.on('connect', (client) => {
      client.on('error', (error) => {
        this.#lost.add(client as pg.PoolClient)
        const at = this.#parked.indexOf(client as pg.PoolClient)
        if (at < 0) return
        this.#parked.splice(at, 1)
        ;(client as pg.PoolClient).release(error)
        onIdleError(error)
      })
    })
    this.#sweep = setInterval(() => this.#closeSpare(), IDLE_MS).unref()
  }

  /** At once, where one is free. */
  parked(): pg.PoolClient | undefined {
    const client = this.#parked.pop()
    if (this.#parked.length < this.#spare) this.#spare = this.#parked.length
    return client
  }

  open(): Promise<pg.PoolClient> {
    return this.#pool.connect()
  }

  /** `broken`: what state it is in is not known, so it is closed. */
  giveBack(client: pg.PoolClient, broken: Error | undefined): void {
    if (broken || this.#lost.has(client) || this.#ended) client.release(broken ?? true)
    else this.#parked.push(client)
  }

  async end(): Promise<void> {
    this.#ended = true
    clearInterval(this.#sweep)
    for (const client of this.#parked.splice(0)) client.release()
    await this.#pool.end()
  }

  #closeSpare(): void {
    for (const client of this.#parked.splice(0, this.#spare)) client.release(true)
    this.#spare = this.#parked.length
  }
}
