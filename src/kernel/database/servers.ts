/**
 * Database URLs with several servers, as libpq reads them: hosts are tried in turn and the first that accepts writes is used.
 * node-postgres supports neither several hosts nor `target_session_attrs`, so both are handled here.
 */
import pg from 'pg'
import { isConnectionFailure, NoWritableServer } from './failures.ts'

/** With `candidates`, each new connection goes to the first of them that accepts writes. */
export interface ConnectionConfig extends pg.PoolConfig {
  readonly candidates?: readonly pg.PoolConfig[]
}

export interface DatabaseUrl {
  /** One URL per host, in the given order; a URL with one host unchanged. */
  readonly urls: readonly string[]
  readonly hosts: readonly string[]
  /** Whether a new connection is checked for accepting writes. */
  readonly needs_writable: boolean
}

const CONNECT_MS = 5000
const WRITABLE = new Set(['read-write', 'primary'])

/** Throws a message that contains nothing of the URL but host names. */
export function parseDatabaseUrl(url: string): DatabaseUrl {
  const [, scheme, authority = '', path = '', query = ''] =
    /^(postgres(?:ql)?:\/\/)([^/?#]*)([^?#]*)(?:\?([^#]*))?/.exec(url) ?? []
  if (scheme === undefined) throw new Error('it must start with postgres:// or postgresql://')
  const parameters = new URLSearchParams(query)
  const target = parameters.get('target_session_attrs')
  if (target !== null && target !== 'any' && !WRITABLE.has(target))
    throw new Error(
      `target_session_attrs=${target} cannot be used: Probity needs a server that takes writes (read-write)`,
    )
  const at = authority.lastIndexOf('@') + 1
  const userinfo = authority.slice(0, at)
  const servers = listServers(authority.slice(at), parameters)
  const hosts = servers.map(({ host, port }) => `${host || 'localhost'}${port ? `:${port}` : ''}`)
  for (const name of ['target_session_attrs', 'host', 'port']) parameters.delete(name)
  if (servers.length === 1) {
    const plain = url.replace(/([?&])target_session_attrs=[^&#]*(&?)/, (_, before, after) => (after ? before : ''))
    return { urls: [plain], hosts, needs_writable: target !== null && WRITABLE.has(target) }
  }
  const urls = servers.map(({ host, port }) => {
    const own = new URLSearchParams({ host, ...(port && { port }), ...Object.fromEntries(parameters) })
    return `${scheme}${userinfo || '@'}${path || '/'}?${own}`
  })
  return { urls, hosts, needs_writable: true }
}

interface Server {
  readonly host: string
  readonly port: string
}

function listServers(authority: string, parameters: URLSearchParams): Server[] {
  const given = parameters.get('host')
  const ports = parameters.get('port')?.split(',')
  const servers =
    given === null
      ? authority.split(',').map(parseServer)
      : given.split(',').map((host) => ({ host, port: authority.includes(',') ? '' : parseServer(authority).port }))
  if (ports && ports.length !== 1 && ports.length !== servers.length)
    throw new Error(`it names ${servers.length} hosts and ${ports.length} ports`)
  const all = servers.map(({ host, port }, index) => ({ host, port: ports?.[index] ?? ports?.[0] ?? port }))
  for (const { host, port } of all) {
    if (all.length > 1 && host === '') throw new Error('one of its hosts is empty')
    if (!/^\d{0,5}$/.test(port) || Number(port) > 65_535) throw new Error(`the port of host ${host} is not a number`)
  }
  return all
}

function parseServer(text: string): Server {
  const [, host = '', port = ''] = /^(\[[^\]]*\]|[^:]*):?(.*)$/.exec(text) ?? []
  return { host: decodeURIComponent(host.replace(/^\[(.*)\]$/, '$1')), port }
}

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
