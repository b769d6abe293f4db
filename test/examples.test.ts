/**
 * Every `sh` and `ts` example of the README files and of docs/ is executed, in order, against a server started as a reader
 * would start it. The `sh` examples of one page are one script, its `ts` examples one program; the programs of all pages are
 * type-checked together first. Other languages are not run; what a page says in a `json printed` block must have been printed. An example that cannot be run says why beside its language:
 * ```sh not run: it needs a cluster.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import fs from 'node:fs'
import net, { type AddressInfo } from 'node:net'
import path from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { apiGroups } from '#app/api-groups.ts'
import { readDemoFiles } from '#app/demo/demo-files.ts'
import { demoTenants } from '#app/seed.ts'
import { CountingProvider, type ProviderReply, type ReceivedRequest } from './support/counting-provider.ts'
import { projectRoot } from './support/database.ts'
import { createDatabaseFolder } from './support/database-folder.ts'
import { announceSampling, sample } from './support/sampling.ts'

const run = promisify(execFile)
const scratch = path.join(projectRoot, '.build/examples')
const pages = ['README.md', 'client/README.md', ...markdownIn('docs'), ...markdownIn('docs/recipes')]
let data_dir: string
let server: ChildProcess
let url: string
let env: NodeJS.ProcessEnv
let programsChecked: Promise<void>
/** The invented provider of docs/connect-a-provider.md. */
const PROVIDER_HOST = 'api.northgate.example'
let provider: CountingProvider

const companies: Readonly<Record<string, object>> = {
  1001: { number: '1001', name: 'Example Farm Ltd', state: 'active', country: 'GB' },
  1007: { number: '1007', name: 'Example Mill Ltd', state: 'dissolved', country: 'IE' },
  1009: { number: '1009', name: 'Example Quarry Ltd', state: 'liquidation', country: 'GB' },
}

const offeredTool = {
  name: 'lookup_company',
  title: 'Look up a company',
  description: 'Gives the entry of a company in the register.',
  inputSchema: { type: 'object', required: ['number'], properties: { number: { type: 'string' } } },
  outputSchema: { type: 'object', required: ['number', 'state'], properties: { state: { type: 'string' } } },
  annotations: { readOnlyHint: true },
}

/** The tool server of the same provider, in the present revision of the protocol. */
function answerAsToolServer(body: string): ProviderReply {
  const { id, method, params } = JSON.parse(body) as { id: unknown; method: string; params: Record<string, never> }
  const complete = { resultType: 'complete', ttlMs: 300_000, cacheScope: 'private' }
  const results: Readonly<Record<string, object>> = {
    'server/discover': { ...complete, supportedVersions: ['2026-07-28'], capabilities: { tools: {} } },
    'tools/list': { ...complete, tools: [offeredTool] },
    'tools/call': {
      ...complete,
      content: [],
      structuredContent: companies[params['arguments']?.['number'] ?? ''] ?? {},
    },
  }
  return { body: { jsonrpc: '2.0', id, result: results[method] } }
}

/** Refuses other keys, and breaks the connection when something is ordered. */
function answerAsProvider({ method, path: at, headers, body }: ReceivedRequest): ProviderReply {
  if (headers['x-api-key'] !== 'as-issued-by-northgate') return { status: 401, body: {} }
  if (at === '/mcp') return answerAsToolServer(body)
  if (method === 'POST') return { reset: true }
  const company = companies[at.split('/').at(-1) ?? '']
  return company ? { body: company } : { status: 404, body: {} }
}

function markdownIn(folder: string): string[] {
  const names = fs.readdirSync(path.join(projectRoot, folder))
  return names.filter((name) => name.endsWith('.md')).map((name) => `${folder}/${name}`)
}

interface Block {
  readonly language: string
  /** Why it is not run; empty when it is. */
  readonly reason: string
  readonly code: string
}

function blocksOf(page: string): Block[] {
  const text = fs.readFileSync(path.join(projectRoot, page), 'utf8')
  return [...text.matchAll(/^ *```(\w+)([^\n]*)\n(.*?)^ *```$/gms)].map(([, language = '', mark = '', code = '']) => {
    const [, reason] = /^ not run: (.+)$/.exec(mark) ?? []
    // Other languages may name a block for a test of their own.
    const is_run = language === 'sh' || language === 'ts'
    if (is_run && mark !== '' && reason === undefined)
      throw new Error(`${page}: "${language}${mark}" is not understood`)
    return { language, reason: reason ?? '', code }
  })
}

interface Examples {
  readonly shell: string
  readonly program: string
}

/** What the page says that its commands print: some members of one line of the output each. */
const printedBlocks = (page: string): object[] => {
  const text = fs.readFileSync(path.join(projectRoot, page), 'utf8')
  return [...text.matchAll(/^```json printed\n(.*?)^```$/gms)].map(([, json = '']) => JSON.parse(json))
}

function expectPrinted(page: string, output: string): void {
  const replies = output.split('\n').filter((line) => line.startsWith('{'))
  for (const stated of printedBlocks(page)) {
    const matching = replies.filter((line) => isMatch(JSON.parse(line), stated))
    expect(matching.length, `${page} states ${JSON.stringify(stated)}\n${output}`).toBeGreaterThan(0)
  }
}

const isMatch = (reply: unknown, stated: unknown): boolean => {
  if (typeof stated !== 'object' || stated === null) return reply === stated
  if (typeof reply !== 'object' || reply === null) return false
  if (Array.isArray(stated)) {
    if (!Array.isArray(reply) || (stated.length === 0 && reply.length > 0)) return false
    return stated.every((value) => reply.some((one) => isMatch(one, value)))
  }
  return Object.entries(stated).every(([name, value]) => isMatch((reply as Record<string, unknown>)[name], value))
}

function examplesOf(page: string): Examples {
  const run = blocksOf(page).filter(({ reason }) => reason === '')
  const join = (wanted: string) => run.flatMap(({ language, code }) => (language === wanted ? [code] : [])).join('\n')
  return { shell: join('sh'), program: join('ts') }
}

async function freePort(): Promise<string> {
  const probe = net.createServer()
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve))
  const { port } = probe.address() as AddressInfo
  await new Promise((resolve) => probe.close(resolve))
  return String(port)
}

async function isReady(): Promise<boolean> {
  if (server.exitCode !== null) throw new Error(`the server ended with ${server.exitCode}`)
  return fetch(`${url}/api/health/ready`).then(
    (answer) => answer.ok,
    () => false,
  )
}

/** The rules of the demo data: what a reader's server requires before an approval, it requires here too. */
async function applyDemoPolicy(): Promise<void> {
  const [tenant] = demoTenants as [(typeof demoTenants)[number]]
  const user_id = tenant.users.find(({ roles }) => roles.includes('tenant_admin'))?.user_id
  const json = { 'content-type': 'application/json' }
  const session = await fetch(`${url}/api/auth/demo-sessions`, {
    method: 'POST',
    headers: json,
    body: JSON.stringify({ user_id }),
  })
  const { access_token } = (await session.json()) as { access_token: string }
  const { approval_rules } = readDemoFiles(projectRoot).policy
  const headers = { ...json, authorization: `Bearer ${access_token}` }
  const body = JSON.stringify({ rules: approval_rules })
  const applied = await fetch(`${url}/api/tenant/approval-policy`, { method: 'PUT', headers, body })
  expect(applied.status).toBe(200)
}

beforeAll(async () => {
  fs.rmSync(scratch, { recursive: true, force: true })
  fs.mkdirSync(scratch, { recursive: true })
  data_dir = createDatabaseFolder('probity-ex-')
  provider = await CountingProvider.start()
  provider.respond = answerAsProvider
  const PORT = await freePort()
  // The examples count on a tenant that only they use; test/demo-data.test.ts covers the demo data.
  const settings = { PORT, PROBITY_DATA_DIR: data_dir, PROBITY_METRICS_PORT: await freePort(), NODE_ENV: '' }
  // docs/plugins.md says to allow the host of its provider.
  const reached = {
    PROBITY_EGRESS_EXEMPT: `127.0.0.1:${provider.port}`,
    PROBITY_PLUGIN_HOSTS: 'registry.example',
  }
  env = { ...process.env, ...settings, ...reached, PROBITY_DEMO_DATA: 'off' }
  url = `http://127.0.0.1:${PORT}`
  const command = [path.join(projectRoot, 'bin/probity.mjs'), 'start']
  server = spawn(process.execPath, command, { cwd: projectRoot, env, stdio: 'ignore' })
  // While the server starts.
  programsChecked = checkPrograms()
  programsChecked.catch(() => undefined)
  await vi.waitUntil(isReady, { timeout: 90_000, interval: 200 })
  await applyDemoPolicy()
}, 100_000)
afterAll(async () => {
  if (server?.exitCode === null) {
    const ended = new Promise((resolve) => server.once('exit', resolve))
    server.kill('SIGTERM')
    await ended
  }
  await provider?.close()
  fs.rmSync(data_dir, { recursive: true, force: true })
})

async function hasCurl(): Promise<boolean> {
  return run('curl', ['--version']).then(
    () => true,
    () => false,
  )
}

/** What `npx probity` starts. npm itself takes longer than most commands: the examples of README.md go through it. */
const startsProbity = `npx() { [ "$1" = probity ] && shift && node ${path.join(projectRoot, 'bin/probity.mjs')} "$@"; }`

/** As written, except for the port, and that a refusal fails the example although curl alone would not say so. */
async function runPage(page: string, { shell, program }: Examples): Promise<string> {
  const curl = (await hasCurl()) ? 'command curl' : `node ${path.join(projectRoot, 'test/support/curl.mjs')}`
  const script = ['set -eu', `curl() { ${curl} --fail-with-body "$@"; }`]
  if (page !== 'README.md') script.push(startsProbity)
  script.push(onThisPort(shell))
  if (program !== '') script.push(`node ${await compile(page)}`)
  const { stdout } = await run('sh', ['-c', script.join('\n')], { cwd: projectRoot, env }).catch((error) => {
    throw new Error(`${error.message}\nIt printed:\n${error.stdout}`)
  })
  return stdout
}
const onThisPort = (text: string): string =>
  text
    .replaceAll('http://localhost:8000', url)
    .replaceAll('/backups/', `${scratch}/`)
    .replaceAll(`https://${PROVIDER_HOST}`, `http://127.0.0.1:${provider.port}`)
    .replaceAll(`"${PROVIDER_HOST}"`, '"127.0.0.1"')

const sourceOf = (page: string): string => path.join(scratch, `${page.replaceAll(/\W/g, '-')}.ts`)

/** All at once: most of a check is reading the types of the client. */
async function checkPrograms(): Promise<void> {
  for (const page of pages) {
    const { program } = examplesOf(page)
    if (program !== '') fs.writeFileSync(sourceOf(page), `${onThisPort(program)}\nexport {}\n`)
  }
  const settings = { extends: '../../tsconfig.json', include: ['*.ts'] }
  fs.writeFileSync(path.join(scratch, 'tsconfig.json'), JSON.stringify(settings))
  const tsc = path.join(projectRoot, 'node_modules/typescript/bin/tsc')
  await run(process.execPath, [tsc, '-p', '.'], { cwd: scratch }).catch(({ stdout }) => {
    throw new Error(`The examples do not pass the type check:\n${stdout}`)
  })
}

async function compile(page: string): Promise<string> {
  await programsChecked
  const outfile = sourceOf(page).replace(/\.ts$/, '.mjs')
  const options = { bundle: true, platform: 'node', format: 'esm', target: 'node20' } as const
  await build({ entryPoints: [sourceOf(page)], outfile, ...options })
  return outfile
}

/** What a newcomer reads first is always run. */
const FIRST = ['README.md', 'client/README.md']
const withExamples = pages.filter((page) => Object.values(examplesOf(page)).some((code) => code.trim() !== ''))
const others = withExamples.filter((page) => !FIRST.includes(page))
const chosen = [...FIRST, ...sample(others, Math.ceil(others.length / 10), 'pages with examples')]
announceSampling('a tenth of the pages with examples')

describe('examples', () => {
  test('lists the examples that are not run, with reasons', () => {
    const all = pages.flatMap((page) => blocksOf(page).map((block) => ({ page, ...block })))
    const examples = all.filter(({ language }) => language === 'sh' || language === 'ts')
    expect(examples.filter(({ reason }) => reason === '').length).toBeGreaterThan(14)
    const left = examples.filter(({ reason }) => reason !== '').map(({ page, reason }) => `${page}: ${reason}`)
    const programs = "docs/operations.md: it needs PostgreSQL's own client programs"
    expect(left).toEqual([
      'README.md: test/boot.test.ts starts it',
      'README.md: it needs the demo data; test/demo-data.test.ts reads and verifies the same archive and report',
      'README.md: it is this very run',
      programs,
      'docs/operations.md: passwords and host are yours',
      'docs/operations.md: it writes to /etc',
      'docs/operations.md: password and host are yours',
      'docs/operations.md: they serve until they are stopped',
      'docs/operations.md: the key is the one that was printed',
      'docs/operations.md: it needs Docker and a cluster',
      programs,
      'docs/operations.md: password and hosts are yours',
      'docs/operations.md: test/sbom.test.ts runs and checks it',
      `${programs}; src/app/backup/backup.test.ts restores`,
      'docs/operations.md: it needs a database that was restored; src/app/erasures/replay.test.ts does it',
      'docs/operations.md: the people are yours',
      'docs/operations.md: the people are yours',
      'docs/operations.md: it waits for a minute; src/app/tenant-deletion/delete-tenant.test.ts deletes one',
      'docs/plugins.md: the server runs already',
      'docs/proofs.md: it needs Python',
    ])
    for (const named of left.join(' ').match(/(src|test)\/\S+\.test\.ts/g) ?? []) {
      expect(fs.existsSync(path.join(projectRoot, named)), named).toBe(true)
    }
  })

  test('every area has three recipes, each in curl and the typed client', () => {
    for (const page of markdownIn('docs/recipes')) {
      const text = fs.readFileSync(path.join(projectRoot, page), 'utf8')
      const [, preparation = '', ...recipes] = text.split(/^## .*$/m)
      expect([page, recipes.length]).toEqual([page, 3])
      for (const recipe of [preparation, ...recipes]) {
        expect([...recipe.matchAll(/^```(\w+)$/gm)].map(([, language]) => language)).toEqual(['sh', 'ts'])
      }
    }
    const documented = apiGroups.flatMap(({ tags }) => tags.map(({ description }) => description)).join()
    const linked = new Set([...documented.matchAll(/\/api\/docs\/recipes\/([a-z]+)\.md/g)].map(([, name]) => name))
    const names = markdownIn('docs/recipes').map((page) => path.basename(page, '.md'))
    expect([...linked].toSorted()).toEqual(names.toSorted())
  })

  test.each(chosen)(
    '%s',
    async (page) => {
      const output = await runPage(page, examplesOf(page))
      expect(output).not.toBe('')
      expectPrinted(page, output)
    },
    // One program after the other, each starting up: it takes as long as it takes.
    300_000,
  )
})
