/**
 * One connection as one role, used for one transaction after the other, each inside one tenant. Rows are streamed: the socket is
 * paused while nobody reads, so memory holds only one chunk.
 */
import type { Duplex } from 'node:stream'
import pg from 'pg'
import { type ConnectionConfig, openClient } from '#kernel/database/servers.ts'
import { type QueryRunner, SET_CONTEXT } from './queries.ts'

/** Every value in PostgreSQL's own text form. */
export type TextRow = readonly (string | null)[]

export interface SessionTransaction extends QueryRunner {
  stream(text: string, values: readonly unknown[]): AsyncGenerator<readonly TextRow[]>
}

export interface TransactionScope {
  readonly tenant_id: string
  readonly actor: string
  readonly mode: 'read' | 'write'
  /** Uses the snapshot that another transaction exported. */
  readonly snapshot?: string
}

const begin = { read: 'begin isolation level repeatable read read only', write: 'begin' } as const
const textTypes = { getTypeParser: () => (text: string) => text } as unknown as pg.CustomTypesConfig

export class Session {
  readonly #client: pg.Client

  private constructor(client: pg.Client) {
    this.#client = client
  }

  static async open(connection: ConnectionConfig): Promise<Session> {
    return new Session(await openClient(connection, { connectionTimeoutMillis: 10_000 }))
  }

  /** A failed transaction closes the connection: nothing is retried on it. */
  async transaction<T>(entry: TransactionScope, body: (tx: SessionTransaction) => Promise<T>): Promise<T> {
    const client = this.#client
    try {
      await client.query(begin[entry.mode])
      if (entry.snapshot) await client.query(`set transaction snapshot ${pg.escapeLiteral(entry.snapshot)}`)
      await client.query(SET_CONTEXT, [entry.tenant_id, entry.actor])
      const result = await body({
        query: async (text, values = []) => (await client.query(text, [...values])).rows,
        run: async (text, values = []) => (await client.query(text, [...values])).rowCount ?? 0,
        stream: (text, values) => streamRows(client, text, values),
      })
      const { command } = await client.query('commit')
      if (command !== 'COMMIT') throw new Error('a statement failed and was swallowed')
      return result
    } catch (error) {
      await this.close()
      throw error
    }
  }

  async close(): Promise<void> {
    await this.#client.end().catch(() => {})
  }
}

async function* streamRows(
  client: pg.Client,
  text: string,
  values: readonly unknown[],
): AsyncGenerator<readonly TextRow[]> {
  const { stream } = (client as unknown as { connection: { stream: Duplex } }).connection
  const query = new pg.Query<string[]>({
    text,
    values: [...values],
    rowMode: 'array',
    types: textTypes,
  } as pg.QueryConfig)
  let waiting: TextRow[] = []
  let state: 'open' | 'ended' | Error = 'open'
  let wake = () => {}
  const settle = (outcome: 'ended' | Error) => {
    state = outcome
    wake()
  }
  query.on('row', (row) => {
    waiting.push(row as unknown as TextRow)
    stream.pause()
    wake()
  })
  query.on('end', () => settle('ended'))
  query.on('error', settle)
  client.query(query)
  try {
    for (;;) {
      if (waiting.length > 0) {
        const taken = waiting
        waiting = []
        yield taken
      } else if (state === 'open') {
        const news = new Promise<void>((resolve) => {
          wake = resolve
        })
        stream.resume()
        await news
      } else if (state === 'ended') return
      else throw state
    }
  } finally {
    stream.resume()
  }
}
