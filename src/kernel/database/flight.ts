/**
 * One flight: several statements sent under a single Sync, hence one round trip and, outside a block, one implicit
 * transaction. It is how the tenant setting travels with the query it protects. Used by tx.ts only.
 */
import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import type pg from 'pg'
import { parserFor } from './wire-types.ts'

const require = createRequire(import.meta.url)
const { prepareValue } = require('pg/lib/utils.js') as { prepareValue(value: unknown): unknown }
const { serialize } = createRequire(require.resolve('pg'))('pg-protocol') as { serialize: Messages }

export interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
}
export interface FlightResult {
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
/** By name, what a connection has prepared, with its columns once they are known: these are described once, not each time. */
type Prepared = Map<string, readonly Column[] | undefined>
const preparedOn = new WeakMap<Connection, Prepared>()

const names = new Map<string, string>()

/** Statement names are a hash of the text, so that every connection and process agrees on them. */
function nameOf(text: string): string {
  let name = names.get(text)
  if (name === undefined) {
    name = `p_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`
    names.set(text, name)
  }
  return name
}

/** The statement is gone, or its columns have changed since it was prepared. */
const isOutdated = (error: Error): boolean => ['26000', '0A000'].includes((error as { code?: string }).code ?? '')

export class Flight {
  readonly done: Promise<FlightResult[]>
  readonly #statements: readonly Statement[]
  readonly #names: readonly string[]
  readonly #fresh: string[] = []
  readonly #results: FlightResult[] = []
  #prepared: Prepared = new Map()
  #columns: readonly Column[] | undefined
  #rows: Record<string, unknown>[] = []
  #failure: Error | undefined
  readonly #silence_ms: number | undefined
  #patience: NodeJS.Timeout | undefined
  #resolve!: (results: FlightResult[]) => void
  #reject!: (error: Error) => void
  // `pg` sets and calls this on custom queries; the promise above is our answer.
  callback = () => {}

  constructor(statements: readonly Statement[], named: boolean, silence_ms?: number) {
    this.#statements = statements
    this.#silence_ms = silence_ms
    this.#names = statements.map(({ text }) => (named ? nameOf(text) : ''))
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  /** Called by `pg` when it is this query's turn on the connection. Everything leaves in one write. */
  submit(connection: Connection): Error | null {
    const known = preparedOn.get(connection)
    if (known) this.#prepared = known
    else preparedOn.set(connection, this.#prepared)
    const messages: Buffer[] = []
    try {
      for (const [index, statement] of this.#statements.entries()) {
        this.#write(messages, statement, this.#names[index] as string)
      }
    } catch (error) {
      this.#failure = error as Error
    }
    messages.push(serialize.sync())
    if (this.#silence_ms !== undefined) {
      this.#patience = setTimeout(() => this.handleError(new Silence('the database does not answer')), this.#silence_ms)
    }
    if (connection.stream.writable) connection.stream.write(Buffer.concat(messages))
    return null
  }

  #write(messages: Buffer[], { text, values }: Statement, name: string): void {
    // Values first: one that cannot be encoded must not leave a parsed statement behind.
    const bind = serialize.bind({ statement: name, values, valueMapper: prepareValue })
    if (name === '' || !this.#prepared.has(name)) {
      if (name !== '') {
        // Close costs nothing when the name is unknown, and saves us when an earlier flight failed after its Parse.
        messages.push(serialize.close({ type: 'S', name }))
        this.#prepared.set(name, undefined)
        this.#fresh.push(name)
      }
      messages.push(serialize.parse({ name, text }))
    }
    messages.push(bind)
    if (this.#prepared.get(name) === undefined) messages.push(serialize.describe({ type: 'P' }))
    messages.push(serialize.execute())
  }

  handleRowDescription(message: { fields: readonly Field[] }): void {
    this.#columns = message.fields.map((field) => ({ name: field.name, parse: parserFor(field.dataTypeID) }))
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
    if (name !== '' && this.#prepared.get(name) === undefined) this.#prepared.set(name, this.#columns ?? [])
    const [command] = text.split(' ', 1) as [string]
    this.#results.push({ rows: this.#rows, command, count: Number(text.slice(text.lastIndexOf(' ') + 1)) || 0 })
    this.#columns = undefined
    this.#rows = []
  }

  handleReadyForQuery(): void {
    clearTimeout(this.#patience)
    if (this.#failure) this.#reject(this.#failure)
    else this.#resolve(this.#results)
  }

  handleError(error: Error): void {
    clearTimeout(this.#patience)
    // Statements parsed in a failed flight may or may not exist on the server: forget them, Close will tidy up.
    for (const name of isOutdated(error) ? this.#names : this.#fresh) this.#prepared.delete(name)
    this.#reject(error)
  }

  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
  handleCopyData(): void {}
  handleCopyInResponse(connection: Connection): void {
    connection.sendCopyFail('copy is not part of a flight')
  }
}

/** PostgreSQL's own limits need PostgreSQL to be there: behind a dead network only a clock of our own ends the waiting. */
class Silence extends Error {
  readonly code = 'ETIMEDOUT'
}

const silences_ms = new WeakMap<pg.ClientBase, number>()

/** From now on a flight of this client that is not answered within the limit fails like a lost connection. */
export function limitSilence(client: pg.ClientBase, silence_ms: number): void {
  silences_ms.set(client, silence_ms)
}

/** `patient`: an answer may take as long as it needs. */
export function fly(
  client: pg.ClientBase,
  statements: readonly Statement[],
  named: boolean,
  patient = false,
): Promise<FlightResult[]> {
  const flight = new Flight(statements, named, patient ? undefined : silences_ms.get(client))
  client.query(flight as unknown as pg.Submittable)
  return flight.done
}
