/**
 * L9: from the command to ready, with an empty data folder and with a migrated one; then five processes at once on one
 * empty database, which must agree on schema, keys and seed. The program is run as a person runs it.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { type Connection, startEmbedded } from '#app/embedded/launcher.ts'
import { readProject } from '#app/project.ts'
import { createMasterKeyFile } from '#kernel/encryption/keyring.ts'

const MAX_EMPTY_START_MS = 20_000
const MAX_MIGRATED_START_MS = 5000
const START_TIMEOUT_MS = 120_000
const PROCESSES = 5

interface StartedProcess {
  readonly url: string
  readonly ready_ms: number
  readonly said: () => string
  /** What it wrote, where it has ended although nobody stopped it. */
  readonly findEarlyEnd: () => string | undefined
  /** Something was built on the way: then the time says nothing. */
  readonly built: () => boolean
  stop(): Promise<void>
}

async function freePort(): Promise<number> {
  const probe = net.createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as net.AddressInfo
  probe.close()
  return port
}

const inheritedEnv = () =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^PROBITY_|DATABASE_URL$/.test(name)))

async function start(root: string, env: Record<string, string>): Promise<StartedProcess> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const started_ms = performance.now()
  const child: ChildProcess = spawn(process.execPath, ['bin/probity.mjs', 'start'], {
    cwd: root,
    env: {
      ...inheritedEnv(),
      NODE_ENV: 'development',
      PROBITY_METRICS_PORT: '0',
      PROBITY_DEMO_DATA: 'off',
      HOST: '127.0.0.1',
      PORT: String(port),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  let noted = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    noted += text
  })
  const ended = once(child, 'close')
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
    await ended
  }
  for (;;) {
    const reply = await fetch(`${url}/api/health/ready`).catch(() => undefined)
    if (reply?.status === 200) break
    if (child.exitCode !== null || performance.now() - started_ms > START_TIMEOUT_MS) {
      await stop()
      throw new Error(`start did not become ready:\n${said}${noted}`)
    }
    await sleep(20)
  }
  const ready_ms = Math.round(performance.now() - started_ms)
  const findEarlyEnd = () =>
    child.exitCode === null && child.signalCode === null
      ? undefined
      : `ended with ${child.exitCode ?? child.signalCode} after it was ready:\n${said}${noted}`
  return { url, ready_ms, said: () => said, findEarlyEnd, built: () => noted.includes('built '), stop }
}

const urlOf = ({ host, port, user, password, database }: Connection): string =>
  `postgres://${user}:${encodeURIComponent(password)}@${encodeURIComponent(host)}:${port}/${database}`

const COUNT_SEEDED_SQL = `
  select (select count(*)::int from app.migration) as migrations,
         (select count(distinct version)::int from app.migration) as versions,
         (select count(*)::int from app.signing_key) as signing_keys,
         (select count(*)::int from app.tenant) as tenants,
         (select count(distinct slug)::int from app.tenant) as slugs,
         (select count(*)::int from app.user_account) as users,
         (select count(distinct (tenant_id, email))::int from app.user_account) as people`

/** The token of a person of a demo tenant; empty when the server refuses. */
async function signInAsDemo(url: string): Promise<string> {
  const people = await fetch(`${url}/api/auth/demo-people`)
  if (!people.ok) return ''
  const { items } = (await people.json()) as { items: { people: { user_id: string }[] }[] }
  const body = JSON.stringify({ user_id: items[0]?.people[0]?.user_id })
  const headers = { 'content-type': 'application/json' }
  const session = await fetch(`${url}/api/auth/demo-sessions`, { method: 'POST', headers, body })
  return session.ok ? ((await session.json()) as { access_token: string }).access_token : ''
}

/** Five at once; every start is waited for, so that a failure leaves nothing running. */
async function startConcurrently(root: string, folder: string) {
  const embedded = await startEmbedded({ dataDir: path.join(folder, 'shared'), projectRoot: root, maxConnections: 200 })
  const key_file = path.join(folder, 'master-key')
  createMasterKeyFile(key_file)
  const env = {
    DATABASE_URL: urlOf(embedded.url('app')),
    WORKER_DATABASE_URL: urlOf(embedded.url('worker')),
    STEWARD_DATABASE_URL: urlOf(embedded.url('steward')),
    MIGRATOR_DATABASE_URL: urlOf(embedded.url('migrator')),
    PROBITY_MASTER_KEY_FILE: key_file,
    PROBITY_DEMO: 'on',
  }
  const outcomes = await Promise.allSettled(
    Array.from({ length: PROCESSES }, (_, n) =>
      start(root, { ...env, PROBITY_DATA_DIR: path.join(folder, `home-${n}`) }),
    ),
  )
  const running = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
  const failures = outcomes.flatMap((outcome) =>
    outcome.status === 'rejected' ? [String(outcome.reason).slice(0, 1500)] : [],
  )
  const admin = new pg.Client({ ...embedded.url('postgres') })
  admin.on('error', () => {})
  try {
    const ask = async (url: string, token?: string) => {
      try {
        const reply = await fetch(url, token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } })
        return `${reply.status} ${await reply.text()}`
      } catch (error) {
        return `no answer: ${(error as Error).message}`
      }
    }
    const keys = await Promise.all(running.map(({ url }) => ask(`${url}/api/auth/jwks`)))
    const versions = await Promise.all(running.map(({ url }) => ask(`${url}/api/version`)))
    const tokens = (await Promise.all(running.map(({ url }) => signInAsDemo(url)))).filter((token) => token !== '')
    const welcomes = await Promise.all(
      tokens.flatMap((token) => running.map(async ({ url }) => (await ask(`${url}/api/auth/me`, token)).slice(0, 3))),
    )
    await admin.connect()
    const { rows } = await admin.query(COUNT_SEEDED_SQL)
    const [seeded] = rows
    failures.push(...running.flatMap(({ findEarlyEnd }) => findEarlyEnd()?.slice(0, 1500) ?? []))
    const one = (texts: readonly string[]) => new Set(texts).size === 1
    const agree =
      failures.length === 0 &&
      one(keys) &&
      one(versions) &&
      tokens.length === PROCESSES &&
      welcomes.every((status) => status === '200') &&
      seeded.migrations === seeded.versions &&
      seeded.signing_keys === 1 &&
      seeded.tenants === seeded.slugs &&
      seeded.users === seeded.people
    return {
      ready_ms: running.map(({ ready_ms }) => ready_ms),
      built: running.some(({ built }) => built()),
      agree,
      seeded,
      failures,
    }
  } finally {
    await admin.end()
    await Promise.all(running.map(({ stop }) => stop()))
    await embedded.stop()
  }
}

export async function runStartup({ seed }: { seed: number }) {
  const { root } = readProject()
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'probity-startup-')))
  // As root the database runs as somebody else, who must be able to enter.
  fs.chmodSync(folder, 0o755)
  try {
    const build = spawn(process.execPath, ['scripts/build.mjs'], { cwd: root, stdio: ['ignore', 2, 2] })
    await once(build, 'close')
    const data = { PROBITY_DATA_DIR: path.join(folder, 'own') }
    const first = await start(root, data)
    await first.stop()
    const second = await start(root, data)
    await second.stop()
    const five = await startConcurrently(root, folder)
    const voided = first.built() || second.built() || five.built
    return {
      seed,
      from_empty_ms: first.ready_ms,
      migrated_ms: second.ready_ms,
      five_at_once_ms: five.ready_ms,
      agree: five.agree,
      seeded: five.seeded,
      failures: five.failures,
      void: voided,
      passed: !voided && first.ready_ms <= MAX_EMPTY_START_MS && second.ready_ms <= MAX_MIGRATED_START_MS && five.agree,
    }
  } finally {
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }
}
