/**
 * A batch: several statements sent with a single Sync, hence in one round trip and, outside a transaction block, one implicit
 * transaction. The tenant setting is sent in the same batch as the query it protects. A pipeline: several batches, each with its
 * own Sync, sent in one write. Used by tx.ts only.
 */
import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import type pg from 'pg'
import { LinkedList, type Node } from '../linked-list.ts'
import { getParser } from './wire-types.ts'

const require = createRequire(import.meta.url)
const { prepareValue } = require('pg/lib/utils.js') as { prepareValue(value: unknown): unknown }
const { serialize } = createRequire(require.resolve('pg'))('pg-protocol') as { serialize: Messages }

export interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
}
export interface StatementResult {
  readonly rows: Record<string, unknown>[]
  readonly command: string
  readonly count: number
}

interface Field {
  readonly name: string
  readonly dataTypeID: number
}
interface Messages {
  close(message: { type: 'S'; name: string }): Buffer
  parse(message: { name: string; text: string }): Buffer
  bind(message: { statement: string; values: readonly unknown[]; valueMapper: typeof prepareValue }): Buffer
  describe(message: { type: 'P' }): Buffer
  execute(): Buffer
  sync(): Buffer
}
interface Connection {
  readonly stream: { readonly writable: boolean; write(bytes: Buffer): void }
  sendCopyFail(text: string): void
}

interface Column {
  readonly name: string
  readonly parse: (text: string) => unknown
}
/** Prepared statements of a connection by name, with their columns, which are described only once. */
type Prepared = Map<string, readonly Column[]>
const preparedByConnection = new WeakMap<Connection, Prepared>()

const statementNames = new Map<string, string>()

/** A statement is named by a hash of its text, so that every connection and process uses the same name. */
function getStatementName(text: string): string {
  let name = statementNames.get(text)
  if (name === undefined) {
    name = `p_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`
    statementNames.set(text, name)
  }
  return name
}

/** The statement no longer exists, or its columns have changed since it was prepared. */
const isOutdated = (error: Error): boolean => ['26000', '0A000'].includes((error as { code?: string }).code ?? '')

export class StatementBatch {
  readonly done: Promise<StatementResult[]>
  readonly statements: readonly Statement[]
  /** Called once, before `done` is settled: the connection is free again, or lost by this error. */
  onEnd: ((failure: Error | undefined) => void) | undefined
  readonly #names: readonly string[]
  readonly #parsed: string[] = []
  readonly #results: StatementResult[] = []
  #prepared: Prepared = new Map()
  #columns: readonly Column[] | undefined
  #rows: Record<string, unknown>[] = []
  #failure: Error | undefined
  #resolve!: (results: StatementResult[]) => void
  #reject!: (error: Error) => void
  // `pg` sets and calls this on custom queries; the result is the promise above.
  callback = () => {}

  constructor(statements: readonly Statement[], named: boolean) {
    this.statements = statements
    this.#names = statements.map(({ text }) => (named ? getStatementName(text) : ''))
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  /** Called by `pg` when this query is next on the connection. All messages are sent in one write. */
  submit(connection: Connection): null {
    const messages: Buffer[] = []
    this.writeMessages(connection, messages)
    if (connection.stream.writable) connection.stream.write(Buffer.concat(messages))
    return null
  }

  /** Its messages up to and including the final Sync. */
  writeMessages(connection: Connection, messages: Buffer[]): void {
    const known = preparedByConnection.get(connection)
    if (known) this.#prepared = known
    else preparedByConnection.set(connection, this.#prepared)
    try {
      for (let at = 0; at < this.statements.length; at++) {
        this.#writeStatement(messages, this.statements[at] as Statement, this.#names[at] as string)
      }
    } catch (error) {
      this.#failure = error as Error
    }
    messages.push(serialize.sync())
  }

  #writeStatement(messages: Buffer[], { text, values }: Statement, name: string): void {
    // Values are encoded first: one that cannot be encoded must not leave a parsed statement behind.
    const bind = serialize.bind({ statement: name, values, valueMapper: prepareValue })
    if (name !== '' && this.#prepared.has(name)) {
      messages.push(bind, serialize.execute())
      return
    }
    // Close is free when the name is unknown, and necessary when an earlier batch failed after its Parse.
    if (name !== '') messages.push(serialize.close({ type: 'S', name }))
    this.#parsed.push(name)
    messages.push(serialize.parse({ name, text }), bind, serialize.describe({ type: 'P' }), serialize.execute())
  }

  handleRowDescription(message: { fields: readonly Field[] }): void {
    this.#columns = message.fields.map((field) => ({ name: field.name, parse: getParser(field.dataTypeID) }))
  }

  handleDataRow(message: { fields: readonly (string | null)[] }): void {
    try {
      this.#columns ??= this.#prepared.get(this.#names[this.#results.length] as string) ?? []
      const row: Record<string, unknown> = {}
      for (let i = 0; i < this.#columns.length; i++) {
        const column = this.#columns[i] as Column
        const text = message.fields[i]
        row[column.name] = text === null || text === undefined ? null : column.parse(text)
      }
      this.#rows.push(row)
    } catch (error) {
      this.#failure ??= error as Error
    }
  }

  handleCommandComplete({ text }: { text: string }): void {
    const name = this.#names[this.#results.length] as string
    // Prepared only now: a later batch on the same connection must not rely on a Parse that fails.
    if (name !== '' && !this.#prepared.has(name)) this.#prepared.set(name, this.#columns ?? [])
    const end = text.indexOf(' ')
    const command = end < 0 ? text : text.slice(0, end)
    this.#results.push({ rows: this.#rows, command, count: Number(text.slice(text.lastIndexOf(' ') + 1)) || 0 })
    this.#columns = undefined
    this.#rows = []
  }

  handleReadyForQuery(): void {
    this.#notifyEnd(undefined)
    if (this.#failure) this.#reject(this.#failure)
    else this.#resolve(this.#results)
  }

  #notifyEnd(failure: Error | undefined): void {
    const { onEnd } = this
    this.onEnd = undefined
    onEnd?.(failure)
  }

  handleError(error: Error): void {
    this.#notifyEnd(error)
    // Statements parsed in a failed batch may or may not exist on the server: discard them; Close removes them.
    for (const name of isOutdated(error) ? this.#names : this.#parsed) this.#prepared.delete(name)
    this.#reject(error)
  }

  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
  handleCopyData(): void {}
  handleCopyInResponse(connection: Connection): void {
    connection.sendCopyFail('COPY is not supported in a batch')
  }
}

/**
 * Several batches on one connection, in one write and without waiting in between. Each has its own Sync, hence its own
 * transaction and tenant setting, and fails alone. `pg` knows one active query at a time, and its own pipelines refuse custom
 * queries: so this one stays active until its last batch is complete.
 */
class Pipeline {
  readonly #client: ActiveClient
  readonly #batches: readonly StatementBatch[]
  #index = 0
  callback = () => {}

  constructor(client: ActiveClient, batches: readonly StatementBatch[]) {
    this.#client = client
    this.#batches = batches
  }

  submit(connection: Connection): null {
    const messages: Buffer[] = []
    for (const batch of this.#batches) batch.writeMessages(connection, messages)
    if (connection.stream.writable) connection.stream.write(Buffer.concat(messages))
    return null
  }

  get #current(): StatementBatch {
    return this.#batches[this.#index] as StatementBatch
  }
  handleRowDescription(message: { fields: readonly Field[] }): void {
    this.#current.handleRowDescription(message)
  }
  handleDataRow(message: { fields: readonly (string | null)[] }): void {
    this.#current.handleDataRow(message)
  }
  handleCommandComplete(message: { text: string }): void {
    this.#current.handleCommandComplete(message)
  }
  handleReadyForQuery(): void {
    this.#current.handleReadyForQuery()
    this.#index++
    if (this.#index < this.#batches.length) this.#stayActive()
  }
  handleError(error: Error): void {
    // An error of the server ends one batch, and the next follows; any other error ends the connection and all batches.
    if (!('severity' in error)) {
      for (const batch of this.#batches.slice(this.#index)) batch.handleError(error)
      return
    }
    this.#current.handleError(error)
    this.#stayActive()
  }
  #stayActive(): void {
    this.#client._activeQuery = this
    this.#client.readyForQuery = false
  }
  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
  handleCopyData(): void {}
  handleCopyInResponse(connection: Connection): void {
    connection.sendCopyFail('COPY is not supported in a batch')
  }
}
interface ActiveClient {
  _activeQuery: unknown
  readyForQuery: boolean
}

/** What is running on a connection, and its deadline. */
interface RunningQuery {
  readonly query: StatementBatch | Pipeline
  readonly deadline_ms: number
}
const SWEEP_MS = 250

/**
 * PostgreSQL's own timeouts do not help when the network is down: a timer of our own ends the wait. One timer for all batches:
 * one per batch would cost more than many a query.
 */
const runningQueries = new LinkedList<RunningQuery>()
let sweepTimer: NodeJS.Timeout | undefined

class QueryTimeout extends Error {
  readonly code = 'ETIMEDOUT'
}

function trackQuery(query: StatementBatch | Pipeline, timeout_ms: number): Node<RunningQuery> {
  sweepTimer ??= setInterval(failTimedOutQueries, SWEEP_MS)
  return runningQueries.add({ query, deadline_ms: performance.now() + timeout_ms })
}

function failTimedOutQueries(): void {
  const now_ms = performance.now()
  for (const pending of runningQueries) {
    if (pending.value.deadline_ms > now_ms) continue
    runningQueries.remove(pending)
    pending.value.query.handleError(new QueryTimeout('the database does not answer'))
  }
  if (runningQueries.size > 0) return
  clearInterval(sweepTimer)
  sweepTimer = undefined
}

/** A batch without a response for `timeout_ms` fails like a lost connection. */
export function sendBatch(
  client: pg.ClientBase,
  statements: readonly Statement[],
  named: boolean,
  timeout_ms?: number,
): Promise<StatementResult[]> {
  const batch = new StatementBatch(statements, named)
  sendPipeline(client, [batch], timeout_ms)
  return batch.done
}

/** `onEnd` is called when the connection is free again, with the errors; the outcome of each batch is in its `done`. */
export function sendPipeline(
  client: pg.ClientBase,
  batches: readonly StatementBatch[],
  timeout_ms: number | undefined,
  onEnd: (failures: readonly Error[]) => void = () => {},
): void {
  const [first] = batches as [StatementBatch]
  const query = batches.length === 1 ? first : new Pipeline(client as unknown as ActiveClient, batches)
  const pending = timeout_ms === undefined ? undefined : trackQuery(query, timeout_ms)
  const failures: Error[] = []
  let remaining = batches.length
  for (const batch of batches) {
    batch.onEnd = (failure) => {
      if (failure) failures.push(failure)
      if (--remaining > 0) return
      if (pending) runningQueries.remove(pending)
      onEnd(failures)
    }
  }
  // `pg` passes the connection to `submit` when it is this query's turn.
  client.query(query as unknown as pg.Submittable)
}
