/**
 * One flight: several statements sent under a single Sync, hence one round trip and, outside a block, one implicit
 * transaction. It is how the tenant setting travels with the query it protects. Used by tx.ts only.
 */
import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import type pg from 'pg'
import { parserFor } from './wire-types.ts'

const { prepareValue } = createRequire(import.meta.url)('pg/lib/utils.js') as { prepareValue(value: unknown): unknown }

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
  name: string
  dataTypeID: number
}
interface Connection {
  stream: { cork(): void; uncork(): void }
  parsedStatements: Record<string, string>
  submittedNamedStatements: Record<string, string>
  close(message: { type: 'S'; name: string }): void
  parse(message: { name: string; text: string }): void
  bind(message: object): void
  describe(message: { type: 'P'; name: string }): void
  execute(message: { portal: string; rows: number }): void
  sync(): void
  sendCopyFail(text: string): void
}

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

export class Flight {
  readonly done: Promise<FlightResult[]>
  readonly #statements: readonly Statement[]
  readonly #named: boolean
  readonly #fresh: string[] = []
  readonly #results: FlightResult[] = []
  #fields: { name: string; parse: (text: string) => unknown }[] = []
  #rows: Record<string, unknown>[] = []
  #failure: Error | undefined
  #resolve!: (results: FlightResult[]) => void
  #reject!: (error: Error) => void
  // `pg` sets and calls this on custom queries; the promise above is our answer.
  callback = () => {}

  constructor(statements: readonly Statement[], named: boolean) {
    this.#statements = statements
    this.#named = named
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  /** Called by `pg` when it is this query's turn on the connection. */
  submit(connection: Connection): Error | null {
    connection.stream.cork()
    try {
      for (const statement of this.#statements) this.#send(connection, statement)
    } catch (error) {
      this.#failure = error as Error
    } finally {
      connection.sync()
      connection.stream.uncork()
    }
    return null
  }

  #send(connection: Connection, { text, values }: Statement): void {
    const name = this.#named ? nameOf(text) : ''
    // Values first: one that cannot be encoded must not leave a parsed statement behind.
    const encoded = values.map(prepareValue)
    if (name === '' || connection.submittedNamedStatements[name] === undefined) {
      if (name !== '') {
        // Close costs nothing when the name is unknown, and saves us when an earlier flight failed after its Parse.
        connection.close({ type: 'S', name })
        connection.submittedNamedStatements[name] = text
        this.#fresh.push(name)
      }
      connection.parse({ name, text })
    }
    connection.bind({ portal: '', statement: name, values: encoded, binary: false })
    connection.describe({ type: 'P', name: '' })
    connection.execute({ portal: '', rows: 0 })
  }

  handleRowDescription(message: { fields: Field[] }): void {
    this.#fields = message.fields.map((field) => ({ name: field.name, parse: parserFor(field.dataTypeID) }))
  }

  handleDataRow(message: { fields: (string | null)[] }): void {
    try {
      const row: Record<string, unknown> = {}
      for (let i = 0; i < this.#fields.length; i++) {
        const field = this.#fields[i] as { name: string; parse: (text: string) => unknown }
        const text = message.fields[i]
        row[field.name] = text === null || text === undefined ? null : field.parse(text)
      }
      this.#rows.push(row)
    } catch (error) {
      this.#failure ??= error as Error
    }
  }

  handleCommandComplete(message: { text: string }): void {
    const words = message.text.split(' ')
    this.#results.push({ rows: this.#rows, command: words[0] as string, count: Number(words.at(-1)) || 0 })
    this.#fields = []
    this.#rows = []
  }

  handleReadyForQuery(): void {
    if (this.#failure) this.#reject(this.#failure)
    else this.#resolve(this.#results)
  }

  handleError(error: Error, connection?: Connection): void {
    // Statements parsed in a failed flight may or may not exist on the server: forget them, Close will tidy up.
    if (connection) for (const name of this.#fresh) delete connection.submittedNamedStatements[name]
    this.#reject(error)
  }

  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
  handleCopyData(): void {}
  handleCopyInResponse(connection: Connection): void {
    connection.sendCopyFail('copy is not part of a flight')
  }
}

export function fly(client: pg.ClientBase, statements: readonly Statement[], named: boolean): Promise<FlightResult[]> {
  const flight = new Flight(statements, named)
  client.query(flight as unknown as pg.Submittable)
  return flight.done
}
