/**
 * The only way to reach tenant data. One function owns connect, tenant setting, commit and release; its handle is invalid after
 * the transaction, so a promise that nobody awaits cannot run as the next tenant. No other code obtains a client.
 */
import type pg from 'pg'
import { copyIn } from './copy.ts'
import {
  isConnectionFailure,
  isReadOnlyError,
  isRetryable,
  ReadOnlyServer,
  translateDatabaseError,
  unknownCommitOutcome,
} from './failures.ts'
import { IdleConnectionPool } from './idle-connection-pool.ts'
import { type Statement, StatementBatch, type StatementResult, sendBatch, sendPipeline } from './pipeline.ts'
import { retryAfterPrecompute } from './precompute.ts'
import type { Scope } from './scope.ts'
import type { ConnectionConfig } from './servers.ts'
import { type QueuedWaiter, TenantSemaphore, type Waiter } from './tenant-semaphore.ts'
import { wireTypes } from './wire-types.ts'

export interface Tx extends Scope {
  /** All rows. */
  query<R extends object>(text: string, values?: readonly unknown[]): Promise<R[]>
  /** The rows of each statement. All of them are sent in one round trip. */
  queryAll(statements: readonly Statement[]): Promise<object[][]>
  /** The first row, for statements that return none or one. */
  find<R extends object>(text: string, values?: readonly unknown[]): Promise<R | undefined>
  /** Number of changed rows. */
  run(text: string, values?: readonly unknown[]): Promise<number>
  /** Sent together with COMMIT, without a round trip of its own, for writes whose result nobody reads. */
  defer(text: string, values: readonly unknown[]): void
  /** COPY into a temporary table of this transaction (row-level security refuses others); returns the number of rows. */
  copy(text: string, source: AsyncIterable<Uint8Array>): Promise<number>
  /** Called once the transaction is committed, and not where it is rolled back or repeated. For counters: whoever needs more stores a job. */
  onCommit(act: () => void): void
  /** Called when the transaction was rolled back, before it is repeated. For caches of the process. */
  onRollback(act: () => void): void
  /** For long work: statements of this transaction have no timeout from now on. */
  disableTimeout(): Promise<void>
}

export type { Scope } from './scope.ts'

/**
 * `one`: a single query, which may share a write with other reads. `read`: a read-only transaction of several queries. `write`: a
 * transaction that is audited and may be repeated. `self`: the handler opens transactions of its own.
 */
export type TxMode = 'one' | 'read' | 'write' | 'self'

/** The three kinds of transaction, for code whose declaration does not open one. */
export interface Transactions {
  one<T>(scope: Scope, body: (tx: Tx) => Promise<T>): Promise<T>
  read<T>(scope: Scope, body: (tx: Tx) => Promise<T>): Promise<T>
  write<T>(scope: Scope, body: (tx: Tx) => Promise<T>): Promise<T>
}

export interface DatabaseOptions {
  readonly connection: ConnectionConfig
  readonly max: number
  /** Named statements need a direct connection or PgBouncer >= 1.21. */
  readonly prepared: boolean
  readonly statement_timeout_ms: number
  readonly wait_ms: number
  readonly onIdleError?: (error: Error) => void
}

/** Returns no row, since nobody reads the setting. A volatile function in a subquery is called nevertheless. */
const buildSettings = (last: string): string => `select from (select set_config('app.tenant_id', $1, true),
  set_config('app.actor', $2, true), set_config('statement_timeout', $3, true), set_config('app.sight', $4, true),
  ${last}) as settings (tenant, b, c, d, e)
  where tenant is null`
const CONTEXT = buildSettings(`set_config('idle_in_transaction_session_timeout', $3, true)`)
/** A transaction begun and ended by one batch is never idle. */
const CONTEXT_READ_ONLY = buildSettings(`set_config('transaction_read_only', 'on', true)`)
const NO_TIMEOUT: Statement = { text: `select set_config('statement_timeout', '0', true)`, values: [] }
const COMMIT: Statement = { text: 'commit', values: [] }
const ROLLBACK: Statement = { text: 'rollback', values: [] }
const BEGIN_WRITE = 'begin'
const BEGIN_READ = 'begin isolation level repeatable read read only'
const WRITE_ATTEMPTS = 4
/** Added to the timeouts of the statements of a batch. */
const QUERY_TIMEOUT_MARGIN_MS = 1000
const ENDED = 'transaction handle used after it ended'
const ONE_ONLY = "a handler with tx 'one' may send exactly one query; declare 'read' for several"

/** Maximum number of waiting single reads of one tenant that are pipelined on the next free connection. */
const MAX_PIPELINED_READS = 4

/** A single read that waits for a connection. */
interface PendingRead {
  readonly batch: StatementBatch
  readonly wait: QueuedWaiter
}

export class Database {
  readonly semaphore: TenantSemaphore
  readonly #connections: IdleConnectionPool
  readonly #options: DatabaseOptions
  readonly #queryTimeout_ms: number
  readonly #maxPipelined: number
  readonly #pendingReads = new Map<string, PendingRead[]>()

  constructor(options: DatabaseOptions) {
    this.#options = options
    this.#queryTimeout_ms = 2 * options.statement_timeout_ms + QUERY_TIMEOUT_MARGIN_MS
    // A PgBouncer too old for prepared statements is not trusted with pipelined transactions either.
    this.#maxPipelined = options.prepared ? MAX_PIPELINED_READS : 1
    this.semaphore = new TenantSemaphore({ size: options.max, wait_ms: options.wait_ms })
    this.#connections = new IdleConnectionPool(
      { ...options.connection, max: options.max, connectionTimeoutMillis: options.wait_ms, types: wireTypes },
      options.onIdleError,
    )
  }

  /** Exactly one read-only query, sent together with the tenant setting in one round trip. */
  async one<T>(scope: Scope, body: (tx: Tx) => Promise<T>): Promise<T> {
    let used = false
    let open = true
    const send = (...statements: Statement[]) => {
      if (!open) return Promise.reject(new Error(ENDED))
      if (used || statements.length !== 1) return Promise.reject(new Error(ONE_ONLY))
      used = true
      const batch = new StatementBatch(
        [this.#contextStatement(scope, CONTEXT_READ_ONLY), ...statements],
        this.#options.prepared,
      )
      this.#submit(scope.tenant_id, batch)
      return batch.done
    }
    try {
      return await body(createTxHandle(scope, send))
    } catch (error) {
      throw translateDatabaseError(error)
    } finally {
      open = false
    }
  }

  /** On a connection of its own if one is free; otherwise pipelined with others of its tenant on the next one. */
  #submit(tenant_id: string, batch: StatementBatch): void {
    if (this.semaphore.tryAcquire(tenant_id)) {
      this.#send(tenant_id, [batch])
      return
    }
    const queue = this.#pendingReads.get(tenant_id) ?? []
    if (queue.length === 0) this.#pendingReads.set(tenant_id, queue)
    const waiter: Waiter = {
      tenant: tenant_id,
      admit: () => this.#send(tenant_id, this.#takePending(queue, tenant_id)),
      reject: (problem) => {
        queue.splice(
          queue.findIndex((pending) => pending.batch === batch),
          1,
        )
        if (queue.length === 0) this.#pendingReads.delete(tenant_id)
        batch.handleError(problem)
      },
    }
    queue.push({ batch, wait: this.semaphore.enqueue(waiter) })
  }

  #takePending(queue: PendingRead[], tenant_id: string): StatementBatch[] {
    const taken = queue.splice(0, this.#maxPipelined)
    if (queue.length === 0) this.#pendingReads.delete(tenant_id)
    for (const { wait } of taken) this.semaphore.cancel(wait)
    return taken.map(({ batch }) => batch)
  }

  #send(tenant_id: string, batches: readonly StatementBatch[]): void {
    const idle = this.#connections.acquire()
    if (idle) this.#sendOn(tenant_id, batches, idle)
    else {
      this.#connections.open().then(
        (opened) => this.#sendOn(tenant_id, batches, opened),
        (error: Error) => {
          this.semaphore.release(tenant_id)
          for (const batch of batches) batch.handleError(error)
        },
      )
    }
  }

  #sendOn(tenant_id: string, batches: readonly StatementBatch[], client: pg.PoolClient): void {
    sendPipeline(client, batches, batches.length * this.#queryTimeout_ms, (failures) => {
      this.#connections.release(client, failures.find(isConnectionFailure))
      this.semaphore.release(tenant_id)
    })
  }

  /** Several queries on one snapshot; retried after work that the body needs precomputed. */
  read<T>(scope: Scope, body: (tx: Tx) => Promise<T>): Promise<T> {
    return retryAfterPrecompute(() =>
      this.#withClient(scope, (client) => this.#transaction(client, scope, BEGIN_READ, body)),
    )
  }

  /** Changes, committed together or not at all; retried like a read, and after a serialization failure or deadlock. */
  write<T>(scope: Scope, body: (tx: Tx) => Promise<T>): Promise<T> {
    return retryAfterPrecompute(() => this.#writeOnce(scope, body))
  }

  async #writeOnce<T>(scope: Scope, body: (tx: Tx) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#withClient(scope, (client) => this.#transaction(client, scope, BEGIN_WRITE, body))
      } catch (error) {
        if (!isRetryable(error) || attempt === WRITE_ATTEMPTS) throw translateDatabaseError(error)
        await new Promise((resolve) => setTimeout(resolve, attempt * 5 + Math.random() * 10))
      }
    }
  }

  /** Closes idle connections: they may lead to a server that does not accept writes. */
  discardIdle(): void {
    this.#connections.discardIdle()
  }

  end(): Promise<void> {
    return this.#connections.end()
  }

  #contextStatement({ tenant_id, actor, sight }: Scope, text: string): Statement {
    return { text, values: [tenant_id, actor, this.#options.statement_timeout_ms, sight] }
  }

  async #withClient<T>(scope: Scope, body: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    await this.semaphore.acquire(scope.tenant_id)
    try {
      const client = this.#connections.acquire() ?? (await this.#connections.open())
      let broken: Error | undefined
      try {
        return await body(client)
      } catch (error) {
        if (isConnectionFailure(error) || error instanceof UnknownTransactionState) broken = error as Error
        if (error instanceof ReadOnlyServer) this.discardIdle()
        throw error instanceof UnknownTransactionState ? error.cause : error
      } finally {
        this.#connections.release(client, broken)
      }
    } catch (error) {
      // write() needs the PostgreSQL error to decide about a retry.
      throw isRetryable(error) ? error : translateDatabaseError(error)
    } finally {
      this.semaphore.release(scope.tenant_id)
    }
  }

  async #transaction<T>(client: pg.PoolClient, scope: Scope, begin: string, body: (tx: Tx) => Promise<T>): Promise<T> {
    const { prepared } = this.#options
    const timeout_ms = this.#queryTimeout_ms
    // BEGIN and the tenant setting are sent with the first query.
    let pending: Statement[] = [{ text: begin, values: [] }, this.#contextStatement(scope, CONTEXT)]
    const deferred: Statement[] = []
    const committed: (() => void)[] = []
    const rolledBack: (() => void)[] = []
    let open = true
    let hasNoTimeout = false
    let tail: Promise<unknown> = Promise.resolve()
    const enqueue = <R>(act: () => Promise<R>): Promise<R> => {
      if (!open) return Promise.reject(new Error(ENDED))
      const next = tail.then(act)
      tail = next.catch(() => {})
      return next
    }
    const send = (...statements: Statement[]): Promise<StatementResult[]> =>
      enqueue(() => {
        const batch = [...pending, ...statements]
        pending = []
        return sendBatch(client, batch, prepared, hasNoTimeout ? undefined : timeout_ms)
      })
    const disableTimeout = async (): Promise<void> => {
      hasNoTimeout = true
      await send(NO_TIMEOUT)
    }
    const copy = (text: string, source: AsyncIterable<Uint8Array>): Promise<number> =>
      enqueue(async () => {
        const batch = pending
        pending = []
        if (batch.length > 0) await sendBatch(client, batch, prepared, timeout_ms)
        return copyIn(client, text, source)
      })
    const defer = (statement: Statement): void => {
      if (!open) throw new Error(ENDED)
      deferred.push(statement)
    }
    const onCommit = (act: () => void): void => void committed.push(act)
    const onRollback = (act: () => void): void => void rolledBack.push(act)
    try {
      const result = await body(createTxHandle(scope, send, defer, { copy, disableTimeout, onCommit, onRollback }))
      open = false
      await tail
      if (pending.length > 0 && deferred.length === 0) return result
      const last = [...pending, ...deferred, COMMIT]
      pending = []
      await commit(client, last, prepared, timeout_ms)
      for (const act of committed) act()
      return result
    } catch (cause) {
      open = false
      await tail
      for (const act of rolledBack) act()
      const isStandby = begin === BEGIN_WRITE && isReadOnlyError(cause)
      const error = isStandby ? new ReadOnlyServer('the server takes no writes', { cause }) : cause
      if (pending.length === 0 && !isConnectionFailure(error) && !(error instanceof UnknownTransactionState)) {
        await sendBatch(client, [ROLLBACK], false, timeout_ms).catch((failure: Error) => {
          throw new UnknownTransactionState('rollback', { cause: error instanceof Error ? error : failure })
        })
      }
      throw error
    }
  }
}

/** A client whose transaction could not be rolled back is destroyed. */
class UnknownTransactionState extends Error {}

async function commit(
  client: pg.PoolClient,
  statements: readonly Statement[],
  named: boolean,
  timeout_ms: number,
): Promise<void> {
  let command: string | undefined
  try {
    command = (await sendBatch(client, statements, named, timeout_ms)).at(-1)?.command
  } catch (error) {
    if (isConnectionFailure(error)) throw new UnknownTransactionState('commit', { cause: unknownCommitOutcome(error) })
    throw error
  }
  // COMMIT of an aborted transaction answers ROLLBACK without an error.
  if (command !== 'COMMIT') throw new Error('a statement failed and was swallowed; the transaction was rolled back')
}

/** The query is the last statement of its batch, after the tenant setting and BEGIN. */
const getLastResult = (results: readonly StatementResult[]): StatementResult =>
  results[results.length - 1] as StatementResult

const rejectCommit = (): never => {
  throw new Error('only a transaction of its own has a commit')
}
const rejectLongWork = (): Promise<never> => Promise.reject(new Error('long work needs a transaction of its own'))

function createTxHandle(
  scope: Scope,
  send: (...statements: Statement[]) => Promise<StatementResult[]>,
  defer: (statement: Statement) => void = rejectCommit,
  ofTransaction: Pick<Tx, 'copy' | 'disableTimeout' | 'onCommit' | 'onRollback'> = {
    copy: rejectLongWork,
    disableTimeout: rejectLongWork,
    onCommit: rejectCommit,
    onRollback: rejectCommit,
  },
): Tx {
  return {
    tenant_id: scope.tenant_id,
    actor: scope.actor,
    sight: scope.sight,
    // The caller states the type of its rows.
    query: (text, values = []) => send({ text, values }).then((results) => getLastResult(results).rows as never),
    queryAll: (statements) =>
      send(...statements).then((results) => results.slice(-statements.length).map(({ rows }) => rows)),
    // The same, for one row.
    find: (text, values = []) => send({ text, values }).then((results) => getLastResult(results).rows[0] as never),
    run: (text, values = []) => send({ text, values }).then((results) => getLastResult(results).count),
    defer: (text, values) => defer({ text, values }),
    ...ofTransaction,
  }
}
