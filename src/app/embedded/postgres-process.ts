/**
 * The PostgreSQL process of one cluster: start it, find it, stop it. Whether it runs is decided by connecting; a process id is
 * only used to signal a server that has just confirmed it as its own.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Binaries } from './binaries.ts'
import type { Cluster, Role } from './cluster.ts'
import { processOptions, shortHash } from './data-dir.ts'

/** Accepted as it is by `new pg.Pool(…)` and `new pg.Client(…)`. */
export interface Connection {
  readonly host: string
  readonly port: number
  readonly user: Role
  readonly password: string
  readonly database: string
  readonly ssl: false
}

export interface ServerSettings {
  readonly durable: boolean
  readonly maxConnections: number
  readonly planOnce: boolean
}

/** The shorter of the limits of Linux (107) and macOS (103). */
const socket_path_max_bytes = 103
const log_max_bytes = 16 * 1024 * 1024
const retry_ms = 15_000
const answer_timeout_ms = 120_000
const stop_timeout_ms = 60_000
const port = 5432

/** Passes our process id to a second instance, which names it in its error message. */
const instanceName = `probity instance ${process.pid}`

/** Content of postmaster.pid; a crashed server leaves the file behind. */
function readPidFile(cluster: Cluster): { pid: number; port: number; socketDir: string } | null {
  try {
    const lines = fs.readFileSync(path.join(cluster.pg, 'postmaster.pid'), 'utf8').split('\n')
    return { pid: Number(lines[0]), port: Number(lines[3]) || port, socketDir: lines[4] ?? '' }
  } catch {
    return null
  }
}

export function getSocketDir(dataDir: string): string {
  const near = path.join(dataDir, 'run')
  if (Buffer.byteLength(path.join(near, `.s.PGSQL.${port}`)) <= socket_path_max_bytes) return near
  return path.join(os.tmpdir(), `probity-${shortHash(dataDir)}`)
}

/** The owner of the folder of a socket can impersonate the server and receive passwords. */
function checkSocketDir({ user }: Cluster, dir: string): void {
  const found = fs.lstatSync(dir)
  const owner = user ? user.uid : process.getuid?.()
  if (found.isDirectory() && found.uid === owner && (found.mode & 0o077) === 0) return
  throw new Error(`${dir} is not a private folder of the database user. Remove it and start again.`)
}

function prepareSocketDir(cluster: Cluster): string {
  const dir = getSocketDir(cluster.dir)
  try {
    fs.mkdirSync(dir, { mode: 0o700 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  const { user } = cluster
  const found = fs.lstatSync(dir)
  // Only a folder of ours changes its owner: in /tmp another user may have put a link to any file under this name.
  if (user && found.isDirectory() && found.uid === process.getuid?.()) fs.lchownSync(dir, user.uid, user.gid)
  checkSocketDir(cluster, dir)
  return dir
}

export function getConnection(cluster: Cluster, role: Role, database: string): Connection {
  const recorded = readPidFile(cluster)
  const windows = process.platform === 'win32'
  // What the running server says comes first: another terminal may have another TMPDIR.
  const host = windows ? '127.0.0.1' : recorded?.socketDir || getSocketDir(cluster.dir)
  const at = windows ? (recorded?.port ?? port) : port
  return { host, port: at, user: role, password: cluster.passwords[role], database, ssl: false }
}

const absentCodes = new Set(['ENOENT', 'ECONNREFUSED'])
/** Starting up, shutting down, or interrupted in between. */
const transientCodes = new Set(['57P01', '57P02', '57P03', 'ECONNRESET', 'EPIPE'])

/** One attempt to connect as superuser. A server that refuses our password is an error: it is not ours. */
async function tryConnect(cluster: Cluster): Promise<pg.Client | 'absent' | 'passing'> {
  const connection = getConnection(cluster, 'postgres', 'postgres')
  if (process.platform !== 'win32') {
    if (!fs.existsSync(connection.host)) return 'absent'
    checkSocketDir(cluster, connection.host)
  }
  const client = new pg.Client({ ...connection, connectionTimeoutMillis: 10_000, application_name: instanceName })
  // Without a listener the end of the server would end this process.
  client.on('error', () => {})
  try {
    await client.connect()
    return client
  } catch (error) {
    void client.end().catch(() => {})
    const { code, message } = error as NodeJS.ErrnoException
    if (code && absentCodes.has(code)) return 'absent'
    if ((code && transientCodes.has(code)) || message.includes('terminated unexpectedly')) return 'passing'
    throw new Error(`The PostgreSQL server on ${connection.host} cannot be used: ${message}`, { cause: error })
  }
}

/** A superuser connection to the running server; null when none runs. Waits for start-up, recovery and shutdown. */
export async function connectToServer(cluster: Cluster): Promise<pg.Client | null> {
  const deadline = Date.now() + answer_timeout_ms
  for (;;) {
    const answer = await tryConnect(cluster)
    if (answer === 'absent') return null
    if (answer !== 'passing') return answer
    if (Date.now() > deadline) throw new Error(`PostgreSQL does not get ready; see ${cluster.log}`)
    await sleep(50)
  }
}

export async function readServerPid(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ file: string }>("select pg_catalog.pg_read_file('postmaster.pid') as file")
  const pid = Number(rows[0]?.file.split('\n')[0])
  // Zero and negative numbers name process groups, our own among them.
  if (!Number.isInteger(pid) || pid < 2) throw new Error('PostgreSQL does not know its own process id.')
  return pid
}

function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo
      probe.close(() => resolve(port))
    })
  })
}

async function buildServerArguments(
  cluster: Cluster,
  { durable, maxConnections, planOnce }: ServerSettings,
): Promise<string[]> {
  const settings: Record<string, string | number> = {
    max_connections: maxConnections,
    shared_buffers: '128MB',
    max_wal_size: '1GB',
    jit: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    // Start, stop and refused log-ins; failed statements contain data and are logged by the caller.
    log_min_messages: 'log',
    log_checkpoints: 'off',
    ...(planOnce && { plan_cache_mode: 'force_generic_plan' }),
    ...(durable ? {} : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
  }
  if (process.platform === 'win32') {
    // Untested: Windows has no private unix sockets, so only the password protects a local port.
    Object.assign(settings, { listen_addresses: '127.0.0.1', port: await findFreePort() })
  } else {
    // The value is a list: quotes keep a comma in the path from splitting it.
    const socketDir = `"${prepareSocketDir(cluster).replaceAll('"', '""')}"`
    const access = { unix_socket_directories: socketDir, unix_socket_permissions: '0700' }
    Object.assign(settings, { listen_addresses: '', port, ...access })
  }
  return ['-D', cluster.pg, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
}

/**
 * The recorded process id when it belongs to another process by now, as after the restart of a killed container. PostgreSQL
 * would refuse to start, but ignores its grandparent, and still checks that its shared memory is unused.
 */
function findReusedPid(cluster: Cluster): string | null {
  const pid = readPidFile(cluster)?.pid
  try {
    return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(cluster.pg) ? null : String(pid)
  } catch {
    return null
  }
}

/** Detached, in its own session: Ctrl-C in the terminal and the end of this process do not reach it. */
async function spawnServer(cluster: Cluster, binaries: Binaries, settings: ServerSettings): Promise<ChildProcess> {
  const args = await buildServerArguments(cluster, settings)
  const options = processOptions(cluster.user)
  const reused = findReusedPid(cluster)
  const env = reused ? { ...options.env, PG_GRANDPARENT_PID: reused } : options.env
  const log = fs.openSync(cluster.log, 'a', 0o600)
  try {
    const child = spawn(binaries.postgres, args, { ...options, env, detached: true, stdio: ['ignore', log, log] })
    child.on('error', () => {})
    child.unref()
    return child
  } finally {
    fs.closeSync(log)
  }
}

function rotateLog({ log }: Cluster): void {
  const size = fs.statSync(log, { throwIfNoEntry: false })?.size ?? 0
  if (size > log_max_bytes) fs.renameSync(log, `${log}.old`)
}

function hasExited(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null
}

async function stopChild(child: ChildProcess): Promise<void> {
  const deadline = Date.now() + stop_timeout_ms
  child.kill('SIGINT')
  while (!hasExited(child) && Date.now() < deadline) await sleep(20)
  if (!hasExited(child)) child.kill('SIGQUIT')
}

interface LaunchResult {
  readonly client: pg.Client
  /** False when a concurrent start was faster and its server answers. */
  readonly isOurs: boolean
}

/** Waits until the child or a concurrent start answers. Null when the child ended and nobody answers. */
async function waitUntilReady(cluster: Cluster, child: ChildProcess): Promise<LaunchResult | null> {
  const deadline = Date.now() + answer_timeout_ms
  try {
    for (let pause_ms = 5; ; pause_ms = Math.min(pause_ms * 1.5, 200)) {
      const exited = hasExited(child)
      const answer = await tryConnect(cluster)
      if (answer !== 'absent' && answer !== 'passing') {
        return { client: answer, isOurs: (await readServerPid(answer)) === child.pid }
      }
      if (exited && answer === 'absent') return null
      if (Date.now() > deadline) throw new Error(`PostgreSQL does not get ready; see ${cluster.log}`)
      await sleep(pause_ms)
    }
  } catch (error) {
    await stopChild(child)
    throw error
  }
}

/** What the files of a killed server say until its last process has ended. */
const staleServerPattern = /pre-existing shared memory block|lock file ".*" already exists/

export async function launchServer(
  cluster: Cluster,
  binaries: Binaries,
  settings: ServerSettings,
): Promise<LaunchResult> {
  rotateLog(cluster)
  const giveUpAt = Date.now() + retry_ms
  for (;;) {
    const logged_bytes = fs.statSync(cluster.log, { throwIfNoEntry: false })?.size ?? 0
    const child = await spawnServer(cluster, binaries, settings)
    const launched = await waitUntilReady(cluster, child)
    if (launched) return launched
    const said = fs.readFileSync(cluster.log).subarray(logged_bytes).toString('utf8').trim()
    if (!staleServerPattern.test(said) || Date.now() > giveUpAt) {
      throw new Error(`PostgreSQL did not start. ${cluster.log} says:\n${said.split('\n').slice(-10).join('\n')}`)
    }
    await sleep(200)
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** As the database user where that is another: root must not signal any process that a database names. */
function sendInterrupt(pid: number, { user }: Cluster): void {
  if (user) spawnSync('sh', ['-c', 'kill -INT "$1"', 'sh', String(pid)], processOptions(user))
  // On Windows (untried) this is a kill, from which the next start recovers.
  else process.kill(pid, 'SIGINT')
}

/** A fast shutdown: open transactions are rolled back, everything committed is on disk. */
export async function stopServer(cluster: Cluster, client: pg.Client): Promise<void> {
  const pid = await readServerPid(client)
  sendInterrupt(pid, cluster)
  const deadline = Date.now() + stop_timeout_ms
  while (readPidFile(cluster)?.pid === pid && isAlive(pid)) {
    if (Date.now() > deadline) throw new Error(`PostgreSQL (process ${pid}) does not stop; see ${cluster.log}`)
    await sleep(10)
  }
  // The file is removed just before the process ends. In a container without an init the process is not reaped, so this wait is
  // short.
  for (let waits = 0; waits < 50 && isAlive(pid); waits++) await sleep(10)
}
