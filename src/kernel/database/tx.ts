/**
 * The only way to reach tenant data. One function owns connect, tenant setting, commit and release; the handle it gives
 * dies with its transaction, so a stray promise cannot run as the next tenant. No other code obtains a client.
 */
import type pg from 'pg'
import { repeated } from './beforehand.ts'
import { copyIn } from './copy.ts'
import {
  isConnectionFailure,
  isReadOnlyRefusal,
  isRetryable,
  ReadOnlyServer,
  translate,
  unknownOutcome,
} from './failures.ts'
import { Flight, type FlightResult, fly, flyTogether, type Statement } from './flight.ts'
import { Gate, type Wait, type Waiter } from './gate.ts'
import { Parking } from './parking.ts'
import type { DatabaseConnection } from './servers.ts'
import { wireTypes } from './wire-types.ts'

/** Whose data, on whose behalf. `actor` is written to every row's provenance and required by the database. */
export interface Scope {
  readonly tenant_id: string
  readonly actor: string
}

export interface Tx extends Scope {
  /** All rows. */
  query<R extends object>(text: string, values?: readonly unknown[]): Promise<R[]>
  /** The first row, for statements that give none or one. */
  find<R extends object>(text: string, values?: readonly unknown[]): Promise<R | undefined>
  /** How many rows were changed. */
  run(text: string, values?: readonly unknown[]): Promise<number>
  /** Sent together with COMMIT, without a round trip of its own, for statements whose result nobody reads. Writes only. */
  defer(text: string, values: readonly unknown[]): void
  /** COPY into a temporary table of this transaction (a walled one refuses it); gives the number of rows. */
  copy(text: string, source: AsyncIterable<Uint8Array>): Promise<number>
  /** For long work: from now on a statement of this transaction may take as long as it needs. */
  takeTime(): Promise<void>
}

export type TxMode = 'one' | 'read' | 'write' | 'self'

export interface DatabaseOptions {
  readonly connection: DatabaseConnection
  readonly max: number
  /** Named statements need a direct connection or PgBouncer >= 1.21. */
  readonly prepared: boolean
  readonly statement_timeout_ms: number
  readonly wait_ms: number
  readonly onIdleError?: (error: Error) => void
}

/** Gives no row, for nobody reads what was set. A volatile function in a subquery is called all the same. */
const settings = (last: string): string => `select from (select set_config('app.tenant_id', $1, true),
  set_config('app.actor', $2, true), set_config('statement_timeout', $3, true), ${last}) as settings (tenant, b, c, d)
  where tenant is null`
const CONTEXT = settings(`set_config('idle_in_transaction_session_timeout', $3, true)`)
/** Begun and ended by its one flight, such a transaction is never idle. */
const CONTEXT_READ_ONLY = settings(`set_config('transaction_read_only', 'on', true)`)
const NO_TIMEOUT: Statement = { text: `select set_config('statement_timeout', '0', true)`, values: [] }
const COMMIT: Statement = { text: 'commit', values: [] }
const ROLLBACK: Statement = { text: 'rollback', values: [] }
const BEGIN_WRITE = 'begin'
const BEGIN_READ = 'begin isolation level repeatable read read only'
const WRITE_ATTEMPTS = 4
/** Beyond what PostgreSQL itself allows the statements of a flight. */
const SILENCE_MARGIN_MS = 1000
const ENDED = 'transaction handle used after it ended'
const ONE_ONLY = "a handler with tx 'one' may send exactly one query; declare 'read' for several"

/** So many single reads of one tenant that wait for a connection leave together on the next one. */
const CONVOY = 4

/** A single read that waits for a connection. */
interface Passenger {
  readonly flight: Flight
  readonly wait: Wait
}

export class Database {
  readonly gate: Gate
  readonly #clients: Parking
  readonly #options: DatabaseOptions
  readonly #silence_ms: number
  readonly #convoy: number
  readonly #passengers = new Map<string, Passenger[]>()

  constructor(options: DatabaseOptions) {
    this.#options = options
    this.#silence_ms = 2 * options.statement_timeout_ms + SILENCE_MARGIN_MS
    // A PgBouncer too old to keep statements is not asked to keep several transactions apart on one connection either.
    this.#convoy = options.prepared ? CONVOY : 1
    this.gate = new Gate({ size: options.max, wait_ms: options.wait_ms })
    this.#clients = new Parking(
      { ...options.connection, max: options.max, connectionTimeoutMillis: options.wait_ms, types: wireTypes },
      options.onIdleError,
    )
  }

  /** Exactly one read-only query, sent together with the tenant setting in one round trip. */
  async one<T>(scope: Scope, body: (tx: Tx) => Promise<T>): Promise<T> {
    let used = false
    let open = true
    const send = (statement: Statement) => {
      if (!open) return Promise.reject(new Error(ENDED))
      if (used) return Promise.reject(new Error(ONE_ONLY))
      used = true
      const flight = new Flight([this.#context(scope, CONTEXT_READ_ONLY), statement], this.#options.prepared)
      this.#board(scope.tenant_id, flight)
      return flight.done
    }
    try {
      return await body(handle(scope, send))
    } catch (error) {
      throw translate(error)
    } finally {
      open = false
    }
  }

  /** On a connection of its own where one is free; otherwise with others of its tenant on the next one. */
  #board(tenant_id: string, flight: Flight): void {
    if (this.gate.tryEnter(tenant_id)) {
      this.#carry(tenant_id, [flight])
      return
    }
    const queue = this.#passengers.get(tenant_id) ?? []
    if (queue.length === 0) this.#passengers.set(tenant_id, queue)
    const waiter: Waiter = {
      tenant: tenant_id,
      admit: () => this.#carry(tenant_id, this.#take(queue, tenant_id)),
      refuse: (problem) => {
        queue.splice(
          queue.findIndex((passenger) => passenger.flight === flight),
          1,
        )
        if (queue.length === 0) this.#passengers.delete(tenant_id)
        flight.handleError(problem)
      },
    }
    queue.push({ flight, wait: this.gate.wait(waiter) })
  }

  #take(queue: Passenger[], tenant_id: string): Flight[] {
    const taken = queue.splice(0, this.#convoy)
    if (queue.length === 0) this.#passengers.delete(tenant_id)
    for (const { wait } of taken) this.gate.callOff(wait)
    return taken.map(({ flight }) => flight)
  }

  #carry(tenant_id: string, flights: readonly Flight[]): void {
    const parked = this.#clients.parked()
    if (parked) this.#send(tenant_id, flights, parked)
    else {
      this.#clients.open().then(
        (opened) => this.#send(tenant_id, flights, opened),
        (error: Error) => {
          this.gate.leave(tenant_id)
          for (const flight of flights) flight.handleError(error)
        },
      )
    }
  }

  #send(tenant_id: string, flights: readonly Flight[], client: pg.PoolClient): void {
    flyTogether(client, flights, flights.length * this.#silence_ms, (failures) => {
      this.#clients.giveBack(client, failures.find(isConnectionFailure))
      this.gate.leave(tenant_id)
    })
  }

  /** Several queries on one snapshot; repeated after work that the body wants done beforehand. */
  read<T>(scope: Scope, body: (tx: Tx) => Promise<T>): Promise<T> {
    return repeated(() => this.#withClient(scope, (client) => this.#transaction(client, scope, BEGIN_READ, body)))
  }

  /** Changes, committed together or not at all; repeated like a read, and when PostgreSQL asks for it (serialisation, deadlock). */
  write<T>(scope: Scope, body: (tx: Tx) => Promise<T>): Promise<T> {
    return repeated(() => this.#writeOnce(scope, body))
  }

  async #writeOnce<T>(scope: Scope, body: (tx: Tx) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#withClient(scope, (client) => this.#transaction(client, scope, BEGIN_WRITE, body))
      } catch (error) {
        if (!isRetryable(error) || attempt === WRITE_ATTEMPTS) throw translate(error)
        await new Promise((resolve) => setTimeout(resolve, attempt * 5 + Math.random() * 10))
      }
    }
  }

  /** The next transactions open connections anew: those that are open may lead to a server that takes no writes. */
  discardIdle(): void {
    this.#clients.discardIdle()
  }

  end(): Promise<void> {
    return this.#clients.end()
  }

  #context({ tenant_id, actor }: Scope, text: string): Statement {
    return { text, values: [tenant_id, actor, this.#options.statement_timeout_ms] }
  }

  async #withClient<T>(scope: Scope, body: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    await this.gate.enter(scope.tenant_id)
    try {
      const client = this.#clients.parked() ?? (await this.#clients.open())
      let broken: Error | undefined
      try {
        return await body(client)
      } catch (error) {
        if (isConnectionFailure(error) || error instanceof UnknownState) broken = error as Error
        if (error instanceof ReadOnlyServer) this.discardIdle()
        throw error instanceof UnknownState ? error.cause : error
      } finally {
        this.#clients.giveBack(client, broken)
      }
    } catch (error) {
      // write() still has to see whether PostgreSQL asked for a repetition.
      throw isRetryable(error) ? error : translate(error)
    } finally {
      this.gate.leave(scope.tenant_id)
    }
  }

  async #transaction<T>(client: pg.PoolClient, scope: Scope, begin: string, body: (tx: Tx) => Promise<T>): Promise<T> {
    const { prepared } = this.#options
    const silence_ms = this.#silence_ms
    // BEGIN and the tenant setting travel with the first query: nothing is sent before there is something to ask.
    let pending: Statement[] = [{ text: begin, values: [] }, this.#context(scope, CONTEXT)]
    const deferred: Statement[] = []
    let open = true
    let patient = false
    let tail: Promise<unknown> = Promise.resolve()
    const inTurn = <R>(act: () => Promise<R>): Promise<R> => {
      if (!open) return Promise.reject(new Error(ENDED))
      const next = tail.then(act)
      tail = next.catch(() => {})
      return next
    }
    const send = (statement: Statement): Promise<FlightResult[]> =>
      inTurn(() => {
        const flight = [...pending, statement]
        pending = []
        return fly(client, flight, prepared, patient ? undefined : silence_ms)
      })
    const takeTime = async (): Promise<void> => {
      patient = true
      await send(NO_TIMEOUT)
    }
    const copy = (text: string, source: AsyncIterable<Uint8Array>): Promise<number> =>
      inTurn(async () => {
        const flight = pending
        pending = []
        if (flight.length > 0) await fly(client, flight, prepared, silence_ms)
        return copyIn(client, text, source)
      })
    const defer = (statement: Statement): void => {
      if (!open) throw new Error(ENDED)
      deferred.push(statement)
    }
    try {
      const result = await body(handle(scope, send, defer, { copy, takeTime }))
      open = false
      await tail
      if (pending.length > 0 && deferred.length === 0) return result
      const last = [...pending, ...deferred, COMMIT]
      pending = []
      await commit(client, last, prepared, silence_ms)
      return result
    } catch (cause) {
      open = false
      await tail
      const isStandby = begin === BEGIN_WRITE && isReadOnlyRefusal(cause)
      const error = isStandby ? new ReadOnlyServer('the server takes no writes', { cause }) : cause
      if (pending.length === 0 && !isConnectionFailure(error) && !(error instanceof UnknownState)) {
        await fly(client, [ROLLBACK], false, silence_ms).catch((failure: Error) => {
          throw new UnknownState('rollback', { cause: error instanceof Error ? error : failure })
        })
      }
      throw error
    }
  }
}

/** A client that could not be rolled back must be destroyed, whatever the error that led there. */
class UnknownState extends Error {}

async function commit(
  client: pg.PoolClient,
  flight: readonly Statement[],
  named: boolean,
  silence_ms: number,
): Promise<void> {
  let command: string | undefined
  try {
    command = (await fly(client, flight, named, silence_ms)).at(-1)?.command
  } catch (error) {
    if (isConnectionFailure(error)) throw new UnknownState('commit', { cause: unknownOutcome(error) })
    throw error
  }
  // COMMIT of an aborted transaction answers ROLLBACK without any error.
  if (command !== 'COMMIT') throw new Error('a statement failed and was swallowed; the transaction was rolled back')
}

/** What comes before it in a flight nobody asked for: the tenant setting, the begin. */
const lastOf = (results: readonly FlightResult[]): FlightResult => results[results.length - 1] as FlightResult

const refuseLong = (): Promise<never> => Promise.reject(new Error('long work needs a transaction of its own'))

function handle(
  scope: Scope,
  send: (statement: Statement) => Promise<FlightResult[]>,
  defer: (statement: Statement) => void = () => {
    throw new Error('only a write transaction has a commit to send things with')
  },
  long: Pick<Tx, 'copy' | 'takeTime'> = { copy: refuseLong, takeTime: refuseLong },
): Tx {
  return {
    tenant_id: scope.tenant_id,
    actor: scope.actor,
    query: (text, values = []) => send({ text, values }).then((results) => lastOf(results).rows as never),
    find: (text, values = []) => send({ text, values }).then((results) => lastOf(results).rows[0] as never),
    run: (text, values = []) => send({ text, values }).then((results) => lastOf(results).count),
    defer: (text, values) => defer({ text, values }),
    ...long,
  }
}
