/** Runs one commit's program on a data folder, then the present one on the same folder, and compares what both say. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import net from 'node:net'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createDatabaseFolder } from '../../support/database-folder.ts'

const START_TIMEOUT_MS = 180_000

/** The sources of a commit with its server bundle; packages are those installed here. */
function checkOut(root: string, commit: string, folder: string): void {
  fs.mkdirSync(folder)
  const archive = execFileSync('git', ['archive', '--format=tar', commit], { cwd: root, maxBuffer: 2 ** 30 })
  execFileSync('tar', ['-x', '-C', folder], { input: archive })
  fs.symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'))
  buildBundle(folder)
}

function buildBundle(root: string): void {
  execFileSync(process.execPath, ['scripts/build.mjs', 'bundle'], { cwd: root, stdio: ['ignore', 2, 2] })
}

async function freePort(): Promise<number> {
  const probe = net.createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as net.AddressInfo
  probe.close()
  return port
}

/** A build of Probity on a data folder: `start`, and commands beside it. */
class Program {
  readonly #root: string
  readonly #data: string
  #child: ChildProcess | undefined
  #output = ''
  #base = ''

  constructor(root: string, data: string) {
    this.#root = root
    this.#data = data
  }

  #spawn(argv: readonly string[], env: Record<string, string> = {}): ChildProcess {
    const script = `import('./dist/probity.mjs').then(async ({ main }) => { process.exitCode = await main(process.argv.slice(1)) })`
    const inherited = Object.entries(process.env).filter(([name]) => !/^PROBITY_|DATABASE_URL$/.test(name))
    return spawn(process.execPath, ['--input-type=module', '--eval', script, ...argv], {
      cwd: this.#root,
      env: {
        ...Object.fromEntries(inherited),
        NODE_ENV: 'development',
        HOST: '127.0.0.1',
        PROBITY_METRICS_PORT: '0',
        PROBITY_DEMO_DATA: 'off',
        PROBITY_DATA_DIR: this.#data,
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  }

  async start(): Promise<void> {
    const port = await freePort()
    this.#base = `http://127.0.0.1:${port}/api`
    this.#child = this.#spawn(['start'], { PORT: String(port) })
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#output += text
      })
    }
    const until_ms = performance.now() + START_TIMEOUT_MS
    for (;;) {
      const reply = await fetch(`${this.#base}/health/ready`).catch(() => undefined)
      if (reply?.status === 200) return
      if (this.#child.exitCode !== null || performance.now() > until_ms) {
        await this.stop()
        throw new Error(`${this.#root} did not become ready:\n${this.#output}`)
      }
      await sleep(100)
    }
  }

  async stop(): Promise<void> {
    const child = this.#child
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'close')
    child.kill('SIGTERM')
    await ended
  }

  async printToken(roles: readonly string[]): Promise<string> {
    const child = this.#spawn(['token', '--tenant', 'demo', ...roles.flatMap((role) => ['--role', role])])
    let output = ''
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
    await once(child, 'close')
    return output.trim()
  }

  // biome-ignore lint/suspicious/noExplicitAny: replies of two versions are compared as they come.
  async call(token: string, at: string, body?: object): Promise<any> {
    const [method, url] = at.split(' ') as [string, string]
    const reply = await fetch(`${this.#base}${url}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await reply.text()
    if (!reply.ok) throw new Error(`${at} returned ${reply.status}: ${text.slice(0, 500)}`)
    return JSON.parse(text)
  }
}

const INPUTS = {
  residence_country: 'DE',
  nationalities: ['DE'],
  products: ['salary-account'],
  channel: 'branch',
  annual_turnover: '60000.00',
  years_known: 5,
  source_of_funds: 'salary',
  adverse_media: 'none',
  screening: 'clear',
}
const READER_ROLES = ['analyst', 'auditor']

interface FilledState {
  readonly evaluation_id: string
  readonly document_hash: string
  readonly lists: string[]
}

async function fill(program: Program): Promise<FilledState> {
  const token = await program.printToken(READER_ROLES)
  const made = await program.call(token, 'POST /evaluations', { matrix_key: 'customer-risk-person', inputs: INPUTS })
  return { ...(await readState(program, token, made.evaluation_id)) }
}

async function readState(program: Program, token: string, evaluation_id: string): Promise<FilledState> {
  const evaluation = await program.call(token, `GET /evaluations/${evaluation_id}`)
  const lists = await program.call(token, 'GET /reference-data/datasets?limit=200')
  return {
    evaluation_id,
    document_hash: evaluation.document_hash,
    lists: lists.items.map((list: { list_key: string }) => list.list_key).sort(),
  }
}

async function verifyChain(program: Program, token: string): Promise<boolean> {
  const job = await program.call(token, 'POST /audit/verify', {})
  for (let state = 'queued'; state === 'queued' || state === 'running'; ) {
    state = (await program.call(token, `GET /jobs/${job.job_id}?wait=8`)).state
  }
  return (await program.call(token, `GET ${job.resource.replace('/api', '')}`)).report?.intact === true
}

async function check(program: Program, before: FilledState) {
  const token = await program.printToken(READER_ROLES)
  const after = await readState(program, token, before.evaluation_id)
  const { verdict } = await program.call(token, `POST /evaluations/${before.evaluation_id}/replay`)
  const missing_lists = before.lists.filter((key) => !after.lists.includes(key))
  const chain_intact = await verifyChain(program, token)
  const decided = await program.call(token, 'POST /evaluations', { matrix_key: 'customer-risk-person', inputs: INPUTS })
  return {
    lists: after.lists.length,
    missing_lists,
    same_document: after.document_hash === before.document_hash,
    verdict,
    chain_intact,
    decides: typeof decided.evaluation_id === 'string',
    passed:
      missing_lists.length === 0 &&
      before.lists.length > 0 &&
      after.document_hash === before.document_hash &&
      verdict === 'identical' &&
      chain_intact,
  }
}

export async function runUpgrade(root: string, commit: string) {
  const folder = createDatabaseFolder('probity-upgrade-')
  // As root the database runs as somebody else, who must be able to enter.
  fs.chmodSync(folder, 0o755)
  const data = path.join(folder, 'data')
  const earlier = new Program(path.join(folder, 'earlier'), data)
  const present = new Program(root, data)
  try {
    checkOut(root, commit, path.join(folder, 'earlier'))
    await earlier.start()
    const before = await fill(earlier)
    await earlier.stop()
    buildBundle(root)
    await present.start()
    return await check(present, before)
  } finally {
    await earlier.stop()
    await present.stop()
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }
}
