/** PgBouncer in transaction mode in front of the tests' PostgreSQL, so that the suites can be run through it unchanged. */
import { spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { findDatabaseUser, processOptions } from '#app/embedded/data-dir.ts'
import type { Connection } from '#app/embedded/launcher.ts'

export interface PgBouncer {
  readonly version: string
  readonly through: (connection: Connection) => Connection
  stop(): Promise<void>
}

/** Few enough that the clients of one test must share them, and a setting left behind would be met by somebody else. */
const POOL_SIZE = 4
const PORT = 6432
const START_LIMIT_MS = 10_000

/** Null when there is no such program. */
export function getPgBouncerVersion(program: string): string | null {
  const { stdout } = spawnSync(program, ['--version'], { encoding: 'utf8' })
  return /^PgBouncer (\d+\.\d+\.\d+)/m.exec(stdout ?? '')?.[1] ?? null
}

/** From 1.21 on PgBouncer knows which server connection has which named statement. */
export function tracksStatements(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > 1 || minor >= 21
}

const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`

export async function startPgBouncer(
  program: string,
  dataDir: string,
  connections: readonly Connection[],
): Promise<PgBouncer> {
  const version = getPgBouncerVersion(program)
  if (version === null) throw new Error(`${program} is not PgBouncer.`)
  const [{ host, port }] = connections as [Connection]
  // The socket of the database is private to its user, and PgBouncer refuses to run as root.
  const user = findDatabaseUser(dataDir)
  const dir = path.join(dataDir, 'bouncer')
  const settings = {
    listen_addr: '',
    listen_port: PORT,
    unix_socket_dir: dir,
    unix_socket_mode: '0700',
    auth_type: 'scram-sha-256',
    auth_file: path.join(dir, 'users.txt'),
    pool_mode: 'transaction',
    default_pool_size: POOL_SIZE,
    max_client_conn: 2000,
    log_connections: 0,
    log_disconnections: 0,
    ...(tracksStatements(version) && { max_prepared_statements: 500 }),
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`)
  const files = {
    'users.txt': connections.map((one) => `${quoted(one.user)} ${quoted(one.password)}\n`).join(''),
    'bouncer.ini': `[databases]\n* = host=${host} port=${port}\n\n[pgbouncer]\n${lines.join('\n')}\n`,
  }
  fs.mkdirSync(dir, { mode: 0o700 })
  for (const [name, text] of Object.entries(files)) fs.writeFileSync(path.join(dir, name), text, { mode: 0o600 })
  if (user) for (const made of [...Object.keys(files), '.']) fs.chownSync(path.join(dir, made), user.uid, user.gid)

  const log = fs.openSync(path.join(dataDir, 'bouncer.log'), 'a', 0o600)
  const child = spawn(program, [path.join(dir, 'bouncer.ini')], {
    ...processOptions(user),
    stdio: ['ignore', log, log],
  })
  fs.closeSync(log)
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const giveUpAt_ms = performance.now() + START_LIMIT_MS
  while (!fs.existsSync(path.join(dir, `.s.PGSQL.${PORT}`))) {
    if (child.exitCode !== null || performance.now() > giveUpAt_ms) {
      child.kill('SIGKILL')
      throw new Error(`PgBouncer did not start:\n${fs.readFileSync(path.join(dataDir, 'bouncer.log'), 'utf8')}`)
    }
    await sleep(20)
  }
  return {
    version,
    through: (connection) => ({ ...connection, host: dir, port: PORT }),
    stop: async () => {
      child.kill('SIGTERM')
      await exited
    },
  }
}
