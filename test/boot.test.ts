/** The real program as a person runs it: started, used, stopped, killed and started again, on an embedded database of its own. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import net from 'node:net'
import path from 'node:path'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { projectRoot } from './support/database.ts'
import { createDatabaseFolder } from './support/database-folder.ts'

const READY = 'Ctrl-C stops everything.'
const folders: string[] = []
const children: Run[] = []

interface Run {
  readonly child: ChildProcess
  readonly said: { out: string; note: string }
  /** The exit code; null when a signal ended it. */
  readonly ended: Promise<number | null>
}

function newFolder(): string {
  const folder = createDatabaseFolder('probity-boot-')
  folders.push(folder)
  return folder
}

async function freePort(): Promise<number> {
  const probe = net.createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as net.AddressInfo
  probe.close()
  return port
}

/** `through`: words in front of the program's own, as npm puts a shell there. */
function run(argv: readonly string[], env: Record<string, string>, through: readonly string[] = []): Run {
  const inherited = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^PROBITY_|DATABASE_URL$/.test(name)),
  )
  const [command, ...words] = [...through, process.execPath, 'bin/probity.mjs', ...argv]
  const child = spawn(command as string, words, {
    cwd: projectRoot,
    env: { ...inherited, NODE_ENV: 'development', PROBITY_METRICS_PORT: '0', PROBITY_DEMO_DATA: 'off', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said = { out: '', note: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said.out += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said.note += text
  })
  const started = { child, said, ended: once(child, 'close').then(([code]) => code as number | null) }
  children.push(started)
  return started
}

async function start(env: Record<string, string>, through: readonly string[] = []): Promise<Run> {
  const started = run(['start'], env, through)
  const ready = vi.waitUntil(() => started.said.out.includes(READY), { timeout: 60_000, interval: 20 })
  const failed = started.ended.then((code) => {
    throw new Error(`start ended with ${code}:\n${started.said.out}${started.said.note}`)
  })
  await Promise.race([ready, failed])
  return started
}

async function finish(started: Run): Promise<{ code: number | null; out: string; note: string }> {
  return { code: await started.ended, ...started.said }
}

const postmaster = (folder: string) =>
  Number(fs.readFileSync(path.join(folder, 'pg/postmaster.pid'), 'utf8').split('\n')[0])

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  // In a container without an init nobody buries what its parent left behind.
  const stat = `/proc/${pid}/stat`
  return !fs.existsSync(stat) || !/\) Z /.test(fs.readFileSync(stat, 'utf8'))
}

afterAll(async () => {
  for (const { child } of children) child.kill('SIGKILL')
  for (const folder of folders) {
    // What a killed start left running, by the process id of its own data folder.
    const pid = fs.existsSync(path.join(folder, 'pg/postmaster.pid')) ? postmaster(folder) : 0
    if (pid > 0 && isAlive(pid)) process.kill(pid, 'SIGQUIT')
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }
})

describe('start', () => {
  const data = newFolder()
  let env: Record<string, string>
  let url: string
  let first: Run
  let second: Run
  let first_token: string
  const user = { email: 'kept@demo.example', name: 'Kept', roles: ['viewer'] }

  const ask = async (at: string, token: string, body?: unknown) => {
    const reply = await fetch(`${url}${at}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        ...(token && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: reply.status, body: (await reply.json()) as Record<string, unknown> }
  }
  /** One click on the sign-in page. */
  const signIn = async (name: string) => {
    const { items } = (await ask('/api/auth/demo-people', '')).body as {
      items: { people: { user_id: string; name: string }[] }[]
    }
    const [{ people }] = items as [(typeof items)[number]]
    const user_id = people.find((person) => person.name === name)?.user_id
    const { body } = await ask('/api/auth/demo-sessions', '', { user_id })
    return (body as { access_token: string }).access_token
  }
  const emails = async (token: string) => {
    const { items } = (await ask('/api/users?limit=200', token)).body as { items: { email: string }[] }
    return items.map(({ email }) => email)
  }

  test('creates everything in an empty folder and prints where it is', async () => {
    const port = await freePort()
    url = `http://localhost:${port}`
    env = { PROBITY_DATA_DIR: data, PORT: String(port) }
    first = await start(env)
    const { out } = first.said
    expect(out.split('\n')[0]).toMatch(/^Probity \S+ is starting; its console will be at /)
    expect(out.split('\n')[0]).toContain(url)
    const ready = out.slice(out.indexOf('Console')).split('\n')
    expect(ready.slice(0, 4)).toEqual([
      `Console    ${url}`,
      '',
      '  Open it and choose a person of a demo tenant: no password is needed on this machine.',
      '  A token for the API:  npx probity token --tenant demo --role analyst',
    ])
    expect(out).not.toContain('eyJ')
    // The arguments with which its server runs.
    expect(fs.readFileSync(path.join(data, 'pg/postmaster.opts'), 'utf8')).toContain(
      'plan_cache_mode=force_generic_plan',
    )
    for (const line of [`${url}/api-docs`, `${url}/api/health/ready`, `Log        ${data}/service.log`]) {
      expect(out).toContain(line)
    }
    expect(out).toContain('Creating the database')
    expect(out).toMatch(/Applied \d+ migrations/)
    expect((await ask('/api/health/ready', '')).body).toMatchObject({ status: 'ready' })
    const metrics = /Metrics\s+(\S+)/.exec(out)?.[1] as string
    expect(await (await fetch(metrics)).text()).toContain('http_server_request_duration_seconds')
    const mode = (name: string) => fs.statSync(path.join(data, name)).mode & 0o777
    expect([mode('master.key'), mode('service.log')]).toEqual([0o600, 0o600])
    expect(fs.readFileSync(path.join(data, 'service.log'), 'utf8')).not.toContain('eyJ')
  })

  test('signs in as a person of a demo tenant, on this machine only', async () => {
    first_token = await signIn('Tara Admin')
    const me = await ask('/api/auth/me', first_token)
    expect(me).toMatchObject({ status: 200, body: { tenant: { slug: 'demo' }, roles: ['tenant_admin'] } })
    const foreign = { origin: 'https://attacker.example', 'content-type': 'application/json' }
    const refused = await fetch(`${url}/api/auth/demo-sessions`, { method: 'POST', headers: foreign, body: '{}' })
    expect(refused.status).toBe(404)
  })

  test('prints a token by command while it runs', async () => {
    const { code, out } = await finish(run(['token', '--tenant', 'demo-two', '--role', 'auditor'], env))
    expect(code).toBe(0)
    expect(out).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/)
    const me = await ask('/api/auth/me', out.trim())
    expect(me.body).toMatchObject({ tenant: { slug: 'demo-two' }, roles: ['auditor'], name: 'Udo Auditor' })
    const own = (me.body as { principal: string }).principal.slice('user:'.length)
    expect(await ask(`/api/users/${own}`, out.trim())).toMatchObject({ status: 200, body: { roles: ['auditor'] } })
  })

  test('prints a token for two roles of a demo user who has both', async () => {
    const { code, out } = await finish(
      run(['token', '--tenant', 'demo', '--role', 'analyst', '--role', 'auditor'], env),
    )
    expect(code).toBe(0)
    expect(out).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/)
    const me = await ask('/api/auth/me', out.trim())
    expect(me.body).toMatchObject({ tenant: { slug: 'demo' }, roles: ['analyst', 'auditor'] })
    const own = (me.body as { principal: string }).principal.slice('user:'.length)
    const user = await ask(`/api/users/${own}`, out.trim())
    expect(user).toMatchObject({ status: 200, body: { roles: ['analyst', 'auditor'], state: 'active' } })
  })

  test('refuses a second instance on the same data, and a port that is taken', async () => {
    const elsewhere = newFolder()
    const [same, taken] = await Promise.all([
      finish(run(['start'], { ...env, PORT: '0' })),
      finish(run(['start'], { ...env, PROBITY_DATA_DIR: elsewhere })),
    ])
    expect(same.note).toContain(`Probity is already running on ${data} (process ${first.child.pid}). Stop it first`)
    expect(taken.note).toContain(`Probity is already running on port ${env['PORT']}: stop it first, or choose another`)
    expect([same.code, taken.code]).toEqual([1, 1])
    expect(fs.readdirSync(elsewhere)).toEqual([])
    expect((await ask('/api/health/ready', '')).status).toBe(200)
  })

  test('restarts a killed database', async () => {
    const pid = postmaster(data)
    process.kill(pid, 'SIGKILL')
    await vi.waitUntil(() => first.said.out.split('Starting PostgreSQL').length === 3, { timeout: 20_000 })
    await vi.waitUntil(async () => (await ask('/api/health/ready', '')).status === 200, { timeout: 20_000 })
    expect(postmaster(data)).not.toBe(pid)
  })

  test('stops everything on SIGTERM', async () => {
    expect((await ask('/api/users', first_token, user)).status).toBe(201)
    const pid = postmaster(data)
    first.child.kill('SIGTERM')
    const { code, out, note } = await finish(first)
    expect(out).toMatch(/Finishing open requests\n.*Stopping the jobs\n.*Stopping PostgreSQL\n.*Stopped\n$/)
    expect({ code, note: note.replace(/built .*\n/g, '') }).toEqual({ code: 0, note: '' })
    expect(isAlive(pid)).toBe(false)
    expect(fs.existsSync(path.join(data, 'pg/postmaster.pid'))).toBe(false)
  })

  test('keeps the data for the second start', async () => {
    second = await start(env)
    expect(second.said.out).toContain('The schema is up to date')
    expect(await emails(await signIn('Tara Admin'))).toContain(user.email)
    // Signed before the restart, by a key that the master key still opens.
    expect((await ask('/api/auth/me', first_token)).status).toBe(200)
  })

  test('recovers after it was killed, and Ctrl-C stops what was left running', async () => {
    const pid = postmaster(data)
    second.child.kill('SIGKILL')
    await second.ended
    expect(isAlive(pid)).toBe(true)
    const third = await start(env)
    expect(third.said.out).toContain('Attaching to the PostgreSQL that is already running')
    expect(await emails(await signIn('Tara Admin'))).toContain(user.email)
    third.child.kill('SIGINT')
    expect(await third.ended).toBe(0)
    expect(isAlive(pid)).toBe(false)
  })

  test.skipIf(process.platform === 'win32')(
    'stops when npm receives a signal, although its shell passes nothing on',
    async () => {
      const shell = ['sh', '-c', '"$@"; exit $?', 'sh']
      const fourth = await start({ ...env, npm_lifecycle_event: 'start' }, shell)
      fourth.child.kill('SIGTERM')
      const { out } = await finish(fourth)
      expect(out).toMatch(/Stopping PostgreSQL\n.*Stopped\n$/)
      expect(fs.existsSync(path.join(data, 'pg/postmaster.pid'))).toBe(false)
    },
  )

  test('leaves no database running when it cannot start, and does not replace a lost master key', async () => {
    fs.renameSync(path.join(data, 'master.key'), path.join(data, 'away'))
    const { code, note } = await finish(run(['start'], env))
    expect(code).toBe(1)
    expect(note).toMatch(/The master key file \S+master\.key is missing\. Restore it from a backup\./)
    expect(note).not.toContain('    at ')
    expect(fs.existsSync(path.join(data, 'pg/postmaster.pid'))).toBe(false)
    expect(fs.existsSync(path.join(data, 'master.key'))).toBe(false)
  })
})
