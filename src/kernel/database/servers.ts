/**
 * Connections to one of several servers: hosts are tried in turn and the first that accepts writes is used.
 * node-postgres supports neither several hosts nor `target_session_attrs`, so both are handled here.
 */
import pg from 'pg'
import { parseDatabaseUrl } from './database-url.ts'
import { isConnectionFailure, NoWritableServer } from './failures.ts'

/** With `candidates`, each new connection goes to the first of them that accepts writes. */
export interface ConnectionConfig extends pg.PoolConfig {
  readonly candidates?: readonly pg.PoolConfig[]
}

const CONNECT_MS = 5000

export function toConnectionConfig(url: string, settings: pg.PoolConfig): ConnectionConfig {
  const { urls, needs_writable: asks_for_writes } = parseDatabaseUrl(url)
  const candidates = urls.map((connectionString) => ({ ...settings, connectionString }))
  return { ...(candidates[0] as pg.PoolConfig), ...(asks_for_writes && { candidates }) }
}

/** Standbys are read-only, and servers whose administrator made them so. */
export async function isWritable(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ transaction_read_only: string }>('show transaction_read_only')
  return rows[0]?.transaction_read_only === 'off'
}

/**
 * The first of several servers that can be reached and accepts writes, beginning with `first`. A server that refuses for another
 * reason, such as a wrong password, ends the search: the next one would hide the mistake.
 */
export async function openWritable<C extends pg.ClientBase>(
  count: number,
  first: number,
  open: (index: number) => Promise<C>,
  close: (client: C) => unknown,
): Promise<{ client: C; index: number }> {
  const refusals: string[] = []
  for (let n = 0; n < count; n++) {
    const index = (first + n) % count
    let client: C | undefined
    try {
      client = await open(index)
      if (await isWritable(client)) return { client, index }
      refusals.push('takes no writes')
    } catch (error) {
      if (client) close(client)
      if (!isConnectionFailure(error)) throw error
      refusals.push((error as Error).message || String((error as NodeJS.ErrnoException).code))
      continue
    }
    close(client)
  }
  throw new NoWritableServer(refusals)
}

/** One connection outside a pool. The caller ends it. */
export async function openClient(
  connection: ConnectionConfig,
  settings: pg.ClientConfig = { connectionTimeoutMillis: CONNECT_MS },
): Promise<pg.Client> {
  const { candidates, ...single } = connection
  const open = async (config: pg.PoolConfig): Promise<pg.Client> => {
    const client = new pg.Client({ ...settings, ...config })
    // Callers get the error through their query; without a listener Node would exit.
    client.on('error', () => {})
    await client.connect()
    return client
  }
  if (!candidates) return open(single)
  const { client } = await openWritable(
    candidates.length,
    0,
    (index) => open(candidates[index] as pg.PoolConfig),
    (unused) => void unused.end().catch(() => {}),
  )
  return client
}
