/** PostgreSQL clusters of a test's own, for what one server cannot show: a dump into another cluster, a standby, a failover. */
import { execFile, spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { prepareDataDir, processOptions } from '#app/embedded/data-dir.ts'

const run = promisify(execFile)
const ROOTS = ['/usr/lib/postgresql', '/usr/pgsql', '/opt/homebrew/opt', '/usr/local/opt']
const TOOLS = ['initdb', 'postgres', 'pg_dump', 'pg_restore']

/** A folder with the server and its client programs, of one version that Probity supports; null where there is none. */
export function findServerTools(): string | null {
  const folders = ROOTS.filter((root) => fs.existsSync(root)).flatMap((root) =>
    fs.readdirSync(root).map((name) => path.join(root, name, 'bin')),
  )
  const isComplete = (folder: string) => TOOLS.every((tool) => fs.existsSync(path.join(folder, tool)))
  const version = (folder: string) => Number(/(\d+)(?=\D*\/bin$)/.exec(folder)?.[1] ?? 0)
  return folders.filter((folder) => isComplete(folder) && version(folder) >= 15).sort()[0] ?? null
}

export interface ServerCluster {
  readonly socket_dir: string
  connection(role: string, database?: string): pg.PoolConfig
  start(): Promise<void>
  /** `kill` ends the server like a loss of power. */
  stop(how?: 'orderly' | 'kill'): Promise<void>
  /** A copy of the stopped cluster that starts as a standby: reached where this one is, or at a socket of its own. */
  copyAsStandby(dir: string, reached?: 'here' | 'there'): ServerCluster
  run(tool: string, args: readonly string[]): Promise<void>
}

/** The server listens on a socket in `socket_dir` alone, and trusts whoever may enter that folder. */
export async function createServerCluster(tools: string, dir: string): Promise<ServerCluster> {
  const { user } = prepareDataDir(dir)
  const own = (made: string) => user && fs.chownSync(made, user.uid, user.gid)
  for (const name of ['pg', 'run']) {
    fs.mkdirSync(path.join(dir, name), { mode: 0o700 })
    own(path.join(dir, name))
  }
  const options = processOptions(user)
  const args = ['-D', path.join(dir, 'pg'), '-U', 'postgres', '-A', 'trust', '--no-sync', '--locale=C', '-E', 'UTF8']
  await run(path.join(tools, 'initdb'), args, options)
  return openCluster(tools, dir, path.join(dir, 'run'), options)
}

function openCluster(
  tools: string,
  dir: string,
  socket_dir: string,
  options: ReturnType<typeof processOptions>,
): ServerCluster {
  const data = path.join(dir, 'pg')
  const connection = (role: string, database = 'probity'): pg.PoolConfig => ({
    host: socket_dir,
    user: role,
    database,
    ssl: false,
  })
  const settings = { listen_addresses: '', unix_socket_directories: socket_dir, fsync: 'off', max_wal_senders: '0' }
  const serverArgs = ['-D', data, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
  let ended: Promise<unknown> = Promise.resolve()
  let pid = 0
  return {
    socket_dir,
    connection,
    start: async () => {
      const log = fs.openSync(path.join(dir, 'server.log'), 'a', 0o600)
      const child = spawn(path.join(tools, 'postgres'), serverArgs, { ...options, stdio: ['ignore', log, log] })
      fs.closeSync(log)
      pid = child.pid as number
      ended = new Promise((resolve) => child.once('exit', resolve))
      for (let tries = 0; !(await acceptsConnections(connection('postgres', 'postgres'))); tries++) {
        if (tries > 600 || child.exitCode !== null)
          throw new Error(fs.readFileSync(path.join(dir, 'server.log'), 'utf8').slice(-2000))
        await sleep(50)
      }
    },
    stop: async (how = 'orderly') => {
      if (pid > 0) process.kill(pid, how === 'orderly' ? 'SIGINT' : 'SIGQUIT')
      pid = 0
      await ended
    },
    copyAsStandby: (target, reached = 'here') => {
      fs.cpSync(data, path.join(target, 'pg'), { recursive: true })
      fs.writeFileSync(path.join(target, 'pg/standby.signal'), '')
      const own_socket = path.join(target, 'run')
      fs.mkdirSync(own_socket, { mode: 0o700 })
      fs.chmodSync(path.join(target, 'pg'), 0o700)
      if (options.uid !== undefined) chownTree(target, options.uid, options.gid as number)
      return openCluster(tools, target, reached === 'here' ? socket_dir : own_socket, options)
    },
    run: async (tool, toolArgs) => void (await run(path.join(tools, tool), [...toolArgs], options)),
  }
}

async function acceptsConnections(connection: pg.PoolConfig): Promise<boolean> {
  const client = new pg.Client(connection)
  client.on('error', () => {})
  return client.connect().then(
    () => client.end().then(() => true),
    () => false,
  )
}

function chownTree(folder: string, uid: number, gid: number): void {
  fs.chownSync(folder, uid, gid)
  for (const entry of fs.readdirSync(folder, { recursive: true, withFileTypes: true }))
    fs.lchownSync(path.join(entry.parentPath, entry.name), uid, gid)
}
