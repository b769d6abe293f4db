import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { build } from 'esbuild'
import pg from 'pg'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import { createDatabaseFolder } from '#test/support/database-folder.ts'
import { findDatabaseUser, processOptions } from './data-dir.ts'
import { connectEmbedded, EmbeddedInUseError, type EmbeddedServer, startEmbedded } from './launcher.ts'
import { type Connection, getSocketDir } from './postgres-process.ts'

const projectRoot = path.resolve(import.meta.dirname, '../../..')
const folders: string[] = []
const started: EmbeddedServer[] = []
const children: ChildProcess[] = []

function newFolder(): string {
  const folder = createDatabaseFolder('probity-test-')
  fs.chmodSync(folder, 0o755)
  folders.push(folder)
  return folder
}

async function start(dataDir: string): Promise<EmbeddedServer> {
  const embedded = await startEmbedded({ dataDir, durable: false, maxConnections: 20 })
  started.push(embedded)
  return embedded
}

async function ask(connection: Connection, ...sql: string[]): Promise<unknown[]> {
  const client = new pg.Client(connection)
  client.on('error', () => {})
  await client.connect()
  try {
    let rows: unknown[][] = []
    for (const text of sql) rows = (await client.query<unknown[]>({ text, rowMode: 'array' })).rows
    return rows.flat()
  } finally {
    await client.end()
  }
}

function postmaster(dataDir: string): number {
  return Number(fs.readFileSync(path.join(dataDir, 'pg/postmaster.pid'), 'utf8').split('\n')[0])
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

function mode(file: string): string {
  return (fs.lstatSync(file).mode & 0o777).toString(8)
}

/** A second process that starts the same launcher and holds it until it is killed. */
async function startInChild(dataDir: string): Promise<{ child: ChildProcess; said: string }> {
  const script = path.join(newFolder(), 'child.mjs')
  await build({
    stdin: {
      contents: `import { startEmbedded } from './launcher.ts'
        startEmbedded({ dataDir: process.argv[2], projectRoot: process.argv[3], durable: false }).then(
          () => console.log('started'), (error) => { console.log(error.name); process.exit(1) })`,
      resolveDir: import.meta.dirname,
    },
    banner: { js: "import * as module from 'node:module'; const require = module.createRequire(import.meta.url);" },
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile: script,
    logLevel: 'error',
  })
  const child = spawn(process.execPath, [script, dataDir, projectRoot], {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  const said = await Promise.race([once(child.stdout as NodeJS.ReadableStream, 'data'), once(child, 'exit')])
  return { child, said: String(said[0]).trim() }
}

afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  for (const embedded of started.splice(0)) await embedded.stop()
})

afterAll(() => {
  for (const folder of folders) fs.rmSync(folder, { recursive: true, force: true })
})

describe('one embedded server', { timeout: 60_000 }, () => {
  const dataDir = path.join(newFolder(), 'data')

  it('starts in an empty folder, private to its user, with a database for each role', async () => {
    const embedded = await start(dataDir)
    expect(embedded.attached).toBe(false)
    for (const role of ['app', 'worker', 'steward', 'migrator'] as const) {
      const sql = "select current_user::text, current_database()::text, current_setting('search_path')"
      expect(await ask(embedded.url(role), sql)).toEqual([role, 'probity', 'pg_catalog'])
    }
    expect(await ask(embedded.url('postgres'), "select current_setting('listen_addresses')")).toEqual([''])
    const owner = 'select datdba::regrole::text from pg_database where datname = current_database()'
    expect(await ask(embedded.url('postgres'), owner)).toEqual(['app_owner'])

    expect(mode(path.join(dataDir, 'passwords.json'))).toBe('600')
    expect(mode(path.join(dataDir, 'postgres.log'))).toBe('600')
    expect(mode(path.join(dataDir, 'pg'))).toBe('700')
    expect(mode(getSocketDir(dataDir))).toBe('700')
    expect(mode(dataDir)).toMatch(/^7[01]0$/)
    expect(new Set(Object.values(JSON.parse(fs.readFileSync(path.join(dataDir, 'passwords.json'), 'utf8')))).size).toBe(
      5,
    )
  })

  it('refuses a wrong password', async () => {
    const embedded = await start(dataDir)
    for (const role of ['app', 'postgres'] as const) {
      await expect(ask({ ...embedded.url(role), password: 'guess' }, 'select 1')).rejects.toThrow(/password/)
    }
  })

  it('stops without leaving a process, as often as it is asked to', async () => {
    const embedded = await start(dataDir)
    const pid = postmaster(dataDir)
    expect((await connectEmbedded(dataDir))?.url('app')).toEqual(embedded.url('app'))
    await Promise.all([embedded.stop(), embedded.stop()])
    await embedded.stop()
    expect(isAlive(pid)).toBe(false)
    expect(await connectEmbedded(dataDir)).toBeNull()
  })

  it('refuses a second instance by name, and goes on', async () => {
    const embedded = await start(dataDir)
    const refusal = await start(dataDir).catch((error) => error)
    expect(refusal).toBeInstanceOf(EmbeddedInUseError)
    expect(refusal.message).toContain(`already running on ${dataDir} (process ${process.pid})`)
    expect((await startInChild(dataDir)).said).toBe('EmbeddedInUseError')
    expect(await ask(embedded.url('app'), 'select 1')).toEqual([1])
  })

  it('outlives a killed Probity, and the next one attaches', async () => {
    const { child, said } = await startInChild(dataDir)
    expect(said).toBe('started')
    const pid = postmaster(dataDir)
    // Its whole process group, as Ctrl-C in a terminal would: the server must not be in it.
    process.kill(-(child.pid as number), 'SIGKILL')
    await once(child, 'exit')
    const embedded = await start(dataDir)
    expect(embedded.attached).toBe(true)
    expect(postmaster(dataDir)).toBe(pid)
    await embedded.stop()
    expect(await connectEmbedded(dataDir)).toBeNull()
  })

  it('survives a killed PostgreSQL, and the next start recovers it', async () => {
    const first = await start(dataDir)
    await ask(first.url('postgres'), 'set synchronous_commit = on', 'create table public.kept as select 42 as answer')
    // A busy process of the server does not notice the kill until it is done, and keeps the shared memory so long.
    const busy = ask(first.url('postgres'), 'select count(*) from generate_series(1, 5000000)').catch(() => [])
    const isBusy = "select count(*)::int from pg_stat_activity where state = 'active' and pid <> pg_backend_pid()"
    await vi.waitUntil(async () => (await ask(first.url('postgres'), isBusy))[0] === 1, { timeout: 60_000 })
    process.kill(postmaster(dataDir), 'SIGKILL')
    const second = await start(dataDir)
    await busy
    expect(second.attached).toBe(false)
    await first.stop()
    expect(await ask(second.url('postgres'), 'select answer from public.kept')).toEqual([42])
  })

  it.runIf(process.platform === 'linux')(
    'recovers when the killed server left a process id that is now another',
    async () => {
      const first = await start(dataDir)
      const pid = postmaster(dataDir)
      process.kill(pid, 'SIGKILL')
      await vi.waitUntil(() => !isAlive(pid), { timeout: 60_000 })
      const other = spawn('sleep', ['60'], processOptions(findDatabaseUser(dataDir)))
      children.push(other)
      for (const file of [path.join(dataDir, 'pg/postmaster.pid'), `${getSocketDir(dataDir)}/.s.PGSQL.5432.lock`]) {
        fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace(String(pid), String(other.pid)))
      }
      const second = await start(dataDir)
      expect(await ask(second.url('app'), 'select 1')).toEqual([1])
      expect(isAlive(other.pid as number)).toBe(true)
      await first.stop()
    },
  )

  it('says why the server does not start', async () => {
    const version = path.join(dataDir, 'pg/PG_VERSION')
    const kept = fs.readFileSync(version)
    fs.writeFileSync(version, '9.6\n')
    await expect(start(dataDir)).rejects.toThrow(/did not start[\s\S]*initialized by PostgreSQL version 9\.6/)
    fs.writeFileSync(version, kept)
    expect((await start(dataDir)).attached).toBe(false)
  })

  it('leaves no server behind when it fails after starting one', async () => {
    const embedded = await start(dataDir)
    await ask(embedded.url('postgres'), 'alter role worker createdb')
    await embedded.stop()
    await expect(start(dataDir)).rejects.toThrow(/must not have: worker/)
    expect(await connectEmbedded(dataDir)).toBeNull()
    expect(fs.existsSync(path.join(dataDir, 'pg/postmaster.pid'))).toBe(false)
  })

  it('does not start without the passwords of an existing cluster', async () => {
    const file = path.join(dataDir, 'passwords.json')
    fs.renameSync(file, `${file}-away`)
    await expect(start(dataDir)).rejects.toThrow(/passwords.json is missing/)
    fs.renameSync(`${file}-away`, file)
  })
})

describe('a new folder', { timeout: 60_000 }, () => {
  it('is won by exactly one of two racing starts', async () => {
    const dataDir = path.join(newFolder(), 'data')
    const outcomes = await Promise.allSettled([start(dataDir), start(dataDir)])
    const lost = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
    expect(lost).toEqual([expect.any(EmbeddedInUseError)])
    const [winner] = started
    expect(await ask((winner as EmbeddedServer).url('app'), 'select 1')).toEqual([1])
  })

  it('recovers from a start that was killed half-way, in a path full of odd characters', async () => {
    const dataDir = path.join(newFolder(), `it's, "ünï" `)
    fs.mkdirSync(path.join(dataDir, 'initdb-killed/data/base'), { recursive: true, mode: 0o755 })
    fs.writeFileSync(path.join(dataDir, 'initdb-killed/data/PG_VERSION'), '18\n')
    fs.writeFileSync(path.join(dataDir, 'passwords.json.killed'), '{')
    const embedded = await start(dataDir)
    expect(embedded.url('app').host).toBe(path.join(dataDir, 'run'))
    expect(await ask(embedded.url('app'), 'select 1')).toEqual([1])
    expect(fs.readdirSync(dataDir).sort()).toEqual(['passwords.json', 'pg', 'postgres.log', 'run'])
  })

  it('may have a path too long for a socket', async () => {
    const dataDir = path.join(newFolder(), 'x'.repeat(100))
    folders.push(getSocketDir(dataDir))
    const embedded = await start(dataDir)
    expect(path.dirname(embedded.url('app').host)).toBe(os.tmpdir())
    expect(mode(embedded.url('app').host)).toBe('700')
    expect(await ask(embedded.url('app'), 'select 1')).toEqual([1])
  })

  it('never uses a socket folder that others can enter', async () => {
    const dataDir = path.join(newFolder(), 'x'.repeat(100))
    const planted = getSocketDir(dataDir)
    folders.push(planted)
    fs.mkdirSync(planted)
    fs.chmodSync(planted, 0o777)
    await expect(start(dataDir)).rejects.toThrow(/not a private folder/)
  })

  it('is not claimed by a look from outside', async () => {
    const folder = newFolder()
    expect(await connectEmbedded(path.join(folder, 'none'))).toBeNull()
    expect(fs.readdirSync(folder)).toEqual([])
  })
})
