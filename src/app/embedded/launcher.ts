/**
 * The embedded PostgreSQL: one server and one Probity per data folder, started if necessary, attached to if it still runs. It
 * knows nothing of schemas or migrations; it provides connections as the roles of `roles.ts`.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { type Binaries, findBinaries } from './binaries.ts'
import {
  type Cluster,
  createCluster,
  findCluster,
  hasCluster,
  openCluster,
  type Role,
  removeLeftovers,
} from './cluster.ts'
import { prepareDataDir } from './data-dir.ts'
import { type Connection, connectToServer, getConnection, launchServer, stopServer } from './postgres-process.ts'
import { rolesSql } from './roles.ts'

export type { Connection, Role }

export interface EmbeddedOptions {
  readonly dataDir: string
  /** Where the binaries' package is looked up; by default from this file upwards. */
  readonly projectRoot?: string
  /** False gives up crash safety for speed: tests only. */
  readonly durable?: boolean
  readonly maxConnections?: number
  /** Each connection plans a statement once, for all values, instead of five times with its values before it considers that. */
  readonly planOnce?: boolean
  readonly onStep?: (text: string) => void
}

export interface EmbeddedServer {
  readonly dataDir: string
  /** True when the server was already running, with the settings of the process that started it. */
  readonly attached: boolean
  url(role: Role, database?: string): Connection
  stop(): Promise<void>
}

export class EmbeddedInUseError extends Error {
  override readonly name = 'EmbeddedInUseError'

  constructor(dataDir: string, pid: string | undefined) {
    const holder = pid ? ` (process ${pid})` : ''
    super(
      `Probity is already running on ${dataDir}${holder}. Stop it first, or set PROBITY_DATA_DIR to use another folder.`,
    )
  }
}

const database_name = 'probity'

/** An arbitrary constant. Advisory locks are per database, and this one is taken in "postgres", where we have no other. */
const instance_lock = 1886547810

/** How long a killed process may appear to hold the lock until the server has noticed. */
const lock_wait_ms = 500

async function tryInstanceLock(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ held: boolean }>('select pg_try_advisory_lock($1) as held', [instance_lock])
  return rows[0]?.held === true
}

async function holdInstanceLock(client: pg.Client, dataDir: string): Promise<void> {
  const deadline = Date.now() + lock_wait_ms
  for (;;) {
    if (await tryInstanceLock(client)) return
    if (Date.now() > deadline) break
    await sleep(50)
  }
  const { rows } = await client.query<{ application_name: string }>(
    `select application_name from pg_locks join pg_stat_activity using (pid)
      where locktype = 'advisory' and classid = 0 and objid = $1 and objsubid = 1 and granted`,
    [instance_lock],
  )
  throw new EmbeddedInUseError(dataDir, rows[0]?.application_name.match(/\d+$/)?.[0])
}

async function createDatabase(cluster: Cluster, client: pg.Client): Promise<void> {
  const { rowCount } = await client.query('select from pg_database where datname = $1', [database_name])
  if (rowCount === 0) await client.query(`create database ${database_name}`)
  const inside = new pg.Client(getConnection(cluster, 'postgres', database_name))
  inside.on('error', () => {})
  await inside.connect()
  try {
    await inside.query(rolesSql({ database: database_name, passwords: cluster.passwords }))
  } finally {
    await inside.end()
  }
}

interface ServerHandle {
  readonly client: pg.Client
  readonly isOurs: boolean
  readonly binaries: Binaries | null
}

async function connectOrLaunch(cluster: Cluster, options: EmbeddedOptions): Promise<ServerHandle> {
  const { projectRoot, durable = true, maxConnections = 100, planOnce = false, onStep = () => {} } = options
  const running = await connectToServer(cluster)
  if (running) {
    onStep('Attaching to the PostgreSQL that is already running')
    return { client: running, isOurs: false, binaries: null }
  }
  try {
    const binaries = await findBinaries(cluster, projectRoot, onStep)
    if (!hasCluster(cluster)) {
      onStep(`Creating the database in ${cluster.dir}`)
      await createCluster(cluster, binaries, durable)
    }
    onStep('Starting PostgreSQL')
    return { ...(await launchServer(cluster, binaries, { durable, maxConnections, planOnce })), binaries }
  } catch (error) {
    // A concurrent start may have removed what this one was preparing.
    const rival = await connectToServer(cluster).catch(() => null)
    if (rival) return { client: rival, isOurs: false, binaries: null }
    throw error
  }
}

/** Only the holder of the lock stops the server: after ours was killed, the running one may belong to another process. */
async function stopOwnServer(cluster: Cluster, client: pg.Client): Promise<void> {
  const isConnected = await tryInstanceLock(client).catch(() => false)
  const holder = isConnected ? client : await connectToServer(cluster)
  try {
    if (holder && (await tryInstanceLock(holder))) await stopServer(cluster, holder)
  } finally {
    await Promise.allSettled([client.end(), holder?.end()])
  }
}

export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedServer> {
  const cluster = openCluster(prepareDataDir(options.dataDir))
  const { client, isOurs, binaries } = await connectOrLaunch(cluster, options)
  try {
    await holdInstanceLock(client, cluster.dir)
    removeLeftovers(cluster, isOurs ? binaries : null)
    await createDatabase(cluster, client)
  } catch (error) {
    // In use: another process attached to the server we started, and needs it.
    if (isOurs && !(error instanceof EmbeddedInUseError)) await stopServer(cluster, client).catch(() => {})
    await client.end().catch(() => {})
    throw error
  }
  let stopping: Promise<void> | undefined
  return {
    dataDir: cluster.dir,
    attached: !isOurs,
    url: (role, database = database_name) => getConnection(cluster, role, database),
    stop: () => {
      stopping ??= stopOwnServer(cluster, client)
      return stopping
    },
  }
}

/** For commands in a second terminal: the running server, without claiming the instance. Null when none runs. */
export async function connectEmbedded(dataDir: string): Promise<Omit<EmbeddedServer, 'stop'> | null> {
  const cluster = findCluster(dataDir)
  const client = cluster && (await connectToServer(cluster))
  if (!client) return null
  await client.end()
  return {
    dataDir: cluster.dir,
    attached: true,
    url: (role, database = database_name) => getConnection(cluster, role, database),
  }
}
