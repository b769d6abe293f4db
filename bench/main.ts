/**
 * `npm run bench`: starts the databases and every server, puts them under load one after the other in interleaved rounds,
 * and writes bench/RESULTS.md. It asserts nothing about time.
 */
import { execFile, execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { demoTenants } from '../src/app/seed.ts'
import type { BareOrder } from './bare.ts'
import { measureBatches } from './batch.ts'
import { type Child, startChild } from './child.ts'
import { type BenchDatabases, MASTER_KEY_HEX, startDatabases } from './database.ts'
import { measureDecisions } from './decision.ts'
import { bareDocuments, evaluationOrder, sampleDocument } from './evaluation.ts'
import { measureJobs } from './job-measures.ts'
import type { KernelFacts, KernelOrder } from './kernel.ts'
import { median } from './median.ts'
import { comparedNode, postgraphileQuery, postgraphileVersion, startPostgraphile } from './postgraphile.ts'
import { readPostgresCpu } from './postgres-cpu.ts'
import { type Comparison, comparisonTable, type MeasuredList, measureRegistry, whole } from './registry.ts'
import { type LoadOrder, type LoadResult, rawRequest, UNIQUE } from './request.ts'
import { figures, type Measured, plain, type Ratio, type Round, ratios } from './table.ts'

const { values: given } = parseArgs({
  options: {
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '32' },
    only: { type: 'string' },
    /** The registry with a list of a million entries as well. */
    large: { type: 'boolean', default: false },
    /** A .build/bench/kernel.mjs of another state of the sources, to be measured in the same rounds. */
    against: { type: 'string' },
    profile: { type: 'string' },
    out: { type: 'string', default: 'bench/RESULTS.md' },
  },
})
const rounds = Number(given.rounds)
const duration_ms = Number(given.seconds) * 1000
const connections = Number(given.connections)
const WARMUP_MS = 500
/** Until the slowest of them, some five hundred requests a second, runs compiled code. */
const FIRST_WARMUP_MS = 10_000

const projectRoot = process.cwd()
const script = (name: string) => path.join(import.meta.dirname, `${name}.mjs`)
const say = (text: string) => process.stderr.write(`${text}\n`)

interface Row extends Measured {
  readonly id: string
  readonly server: Child<{ port: number }> | undefined
  readonly requests: readonly string[]
  readonly expected_status: number
  readonly rounds: Round[]
}

const callers = demoTenants.map((tenant) => ({
  tenant_id: tenant.tenant_id,
  user_id: tenant.users[0]?.user_id as string,
}))
const bearer = (token: string) => ({ authorization: `Bearer ${token}`, accept: 'application/json' })
const children: Child<unknown>[] = []

async function start<F>(id: string, file: string, order: object): Promise<Child<F>> {
  const profile_to = given.profile === id ? path.join(import.meta.dirname, 'profiles') : undefined
  const child = await startChild<F>(path.isAbsolute(file) ? file : script(file), order, {
    profile_to,
    ...(node !== undefined && { node }),
  })
  children.push(child)
  return child
}

async function generate(order: LoadOrder): Promise<LoadResult> {
  const { stdout } = await promisify(execFile)(process.execPath, [script('load'), JSON.stringify(order)])
  return JSON.parse(stdout) as LoadResult
}

async function measure(row: Row, warmup_ms: number, keep: boolean): Promise<void> {
  if (!row.server) return
  const order = { port: row.server.facts.port, connections, requests: row.requests, warmup_ms, duration_ms }
  const before_us = await row.server.cpu_us()
  const postgres_before_us = readPostgresCpu()
  const result = await generate({ ...order, expected_status: row.expected_status })
  const used_us = (await row.server.cpu_us()) - before_us
  const postgres_us = readPostgresCpu() - postgres_before_us
  const wrong = Object.entries(result.unexpected)
  if (wrong.length > 0 || result.answers === 0) {
    throw new Error(
      `${row.label} gave unexpected answers: ${wrong.map(([s, n]) => `${n} × ${s}`).join(', ') || 'none'}`,
    )
  }
  // Warm-up requests used processor time too, at the same rate.
  const all = result.answers * ((duration_ms + warmup_ms) / duration_ms)
  if (keep) row.rounds.push({ ...result, cpu_us: used_us / all, postgres_cpu_us: postgres_us / all })
}

async function postgraphileRow(
  databases: BenchDatabases,
  { facts }: Child<KernelFacts>,
  keep_tokens: boolean,
): Promise<Row> {
  const row = {
    id: keep_tokens ? 'postgraphile-kept' : 'postgraphile',
    label: keep_tokens
      ? 'the same with verified tokens kept by hand'
      : `${postgraphileVersion}, same table, role and token`,
    expected_status: 200,
    rounds: [],
    requests: callers.map((caller, n) =>
      rawRequest(
        'POST',
        '/graphql',
        bearer(facts.tokens[n] as string),
        postgraphileQuery(caller.tenant_id, caller.user_id),
      ),
    ),
  }
  try {
    const order = { database: databases.walled('app'), public_keys: facts.public_keys, keep_tokens }
    const server = await startPostgraphile(projectRoot, order)
    children.push(server)
    await expectSameRow(server.facts.port, facts)
    return { ...row, server }
  } catch (error) {
    return { ...row, server: undefined, note: (error as Error).message.split('\n')[0]?.slice(0, 200) as string }
  }
}

async function expectSameRow(port: number, facts: KernelFacts): Promise<void> {
  const [caller] = callers as [(typeof callers)[number]]
  const reply = await fetch(`http://127.0.0.1:${port}/graphql`, {
    method: 'POST',
    headers: { ...bearer(facts.tokens[0] as string), 'content-type': 'application/json' },
    body: postgraphileQuery(caller.tenant_id, caller.user_id),
  })
  const text = await reply.text()
  if (!text.includes(caller.user_id)) throw new Error(`PostGraphile did not give the row: ${text.slice(0, 300)}`)
}

/** The product's own answer to the measured read, for the bare servers to repeat. */
async function sampleAnswer({ facts }: Child<KernelFacts>): Promise<Pick<BareOrder, 'headers' | 'body'>> {
  const url = `http://127.0.0.1:${facts.port}/api/users/${callers[0]?.user_id}`
  const reply = await fetch(url, { headers: bearer(facts.tokens[0] as string) })
  if (reply.status !== 200) throw new Error(`the product answered ${reply.status}: ${await reply.text()}`)
  const own = ['date', 'connection', 'keep-alive']
  const headers = Object.fromEntries([...reply.headers].filter(([name]) => !own.includes(name)))
  return { headers, body: await reply.text() }
}

async function startRows(databases: BenchDatabases): Promise<Row[]> {
  const order = (kind: 'walled' | 'open'): KernelOrder => ({
    app: databases[kind]('app'),
    worker: databases[kind]('worker'),
    master_key_hex: MASTER_KEY_HEX,
    callers,
  })
  const walled = await start<KernelFacts>('read', 'kernel', order('walled'))
  const open = await start<KernelFacts>('open', 'kernel-open', order('open'))
  // A process of its own, so that the two above differ in nothing but the wall.
  const writer = await start<KernelFacts>('write', 'kernel', order('walled'))
  const unrecorded = await start<KernelFacts>('unrecorded', 'kernel-unrecorded', order('walled'))
  const answer = await sampleAnswer(walled)
  await databases.administer(bareDocuments)
  const document = await sampleDocument(walled.facts.port, walled.facts.tokens[0] as string, databases.superuser)
  const bare = (server: BareOrder['server']) =>
    start<{ port: number }>(server, 'bare', {
      server,
      ...answer,
      database: databases[server === 'document' ? 'walled' : 'open']('app'),
      document,
    } satisfies BareOrder)
  const reads = callers.map((caller, n) =>
    rawRequest('GET', `/api/users/${caller.user_id}`, bearer(walled.facts.tokens[n] as string)),
  )
  const invitation = { name: 'Ada Bench', email: `${UNIQUE}@bench.example`, roles: ['viewer'] }
  const writes = (headers: Record<string, string>, withTenant = false) =>
    callers.map((caller, n) =>
      rawRequest(
        'POST',
        '/api/users',
        { ...bearer(walled.facts.tokens[n] as string), ...headers },
        JSON.stringify(withTenant ? { ...invitation, tenant_id: caller.tenant_id } : invitation),
      ),
    )
  const decide = callers.map((_, n) =>
    rawRequest('POST', '/api/evaluations', bearer(walled.facts.tokens[n] as string), evaluationOrder),
  )
  const read = { requests: reads, expected_status: 200 }
  const write = { expected_status: 201 }
  const other = given.against && (await start<KernelFacts>('other', path.resolve(given.against), order('walled')))
  const otherRows = (server: Child<KernelFacts>): Row[] => [
    { id: 'other', label: 'tenant read, other build', server, rounds: [], ...read },
    { id: 'other-write', label: 'POST /api/users, other build', server, rounds: [], requests: writes({}), ...write },
    {
      id: 'other-evaluate',
      label: 'POST /api/evaluations, other build',
      server,
      rounds: [],
      requests: decide,
      ...write,
    },
  ]
  return [
    ...(other ? otherRows(other) : []),
    { id: 'http', label: 'bare node:http, the same bytes', server: await bare('http'), rounds: [], ...read },
    { id: 'fastify', label: 'bare Fastify, the same bytes', server: await bare('fastify'), rounds: [], ...read },
    { id: 'read', label: 'tenant read, whole kernel, row-level security', server: walled, rounds: [], ...read },
    { id: 'open', label: 'the same server and query, no row-level security', server: open, rounds: [], ...read },
    await postgraphileRow(databases, walled, false),
    await postgraphileRow(databases, walled, true),
    {
      id: 'insert',
      label: 'bare insert: Fastify, pg, one transaction',
      server: await bare('insert'),
      rounds: [],
      requests: writes({}, true),
      ...write,
    },
    { id: 'write', label: 'POST /api/users', server: writer, rounds: [], requests: writes({}), ...write },
    {
      id: 'unrecorded',
      label: 'the same server and route, nothing in the audit record',
      server: unrecorded,
      rounds: [],
      requests: writes({}),
      ...write,
    },
    {
      id: 'write-once',
      label: 'POST /api/users with Idempotency-Key',
      server: writer,
      rounds: [],
      requests: writes({ 'idempotency-key': UNIQUE }),
      ...write,
    },
    {
      id: 'document',
      label: `bare insert of ${document.length} bytes, as many as a decision keeps`,
      server: await bare('document'),
      rounds: [],
      requests: decide,
      ...write,
    },
    {
      id: 'evaluate',
      label: 'POST /api/evaluations: decided, explained, recorded',
      server: writer,
      rounds: [],
      requests: decide,
      ...write,
    },
  ]
}

function wantedRatios(rows: readonly Row[]): Ratio[] {
  const by = (id: string) => rows.find((row) => row.id === id) as Row
  const compared: Ratio[] = [
    { label: 'tenant read, this build ÷ other build', of: [by('read'), by('other')] },
    { label: 'POST, this build ÷ other build', of: [by('write'), by('other-write')] },
    { label: 'POST /api/evaluations, this build ÷ other build', of: [by('evaluate'), by('other-evaluate')] },
  ]
  return [
    ...(given.against ? compared : []),
    { label: 'bare Fastify ÷ bare node:http', of: [by('fastify'), by('http')] },
    { label: 'tenant read ÷ bare Fastify', of: [by('read'), by('fastify')] },
    { label: 'tenant read ÷ no row-level security', of: [by('read'), by('open')], aim: 0.8, floor: 0.65 },
    { label: 'tenant read ÷ PostGraphile', of: [by('read'), by('postgraphile')], aim: 10, floor: 7 },
    { label: 'tenant read ÷ PostGraphile that keeps verified tokens', of: [by('read'), by('postgraphile-kept')] },
    { label: 'POST ÷ bare insert', of: [by('write'), by('insert')] },
    { label: 'POST ÷ POST without the audit record', of: [by('write'), by('unrecorded')], aim: 0.8, floor: 0.65 },
    { label: 'POST with Idempotency-Key ÷ bare insert', of: [by('write-once'), by('insert')] },
    { label: 'POST /api/evaluations ÷ bare insert of the same size', of: [by('evaluate'), by('document')] },
  ]
}

/** Parts that need none of the servers above. */
const OWN_PARTS = ['registry', 'jobs', 'decision', 'batch']
const REGISTRY_ROUNDS = 3
const REGISTRY_SIZES = given.large ? [1_000, 100_000, 1_000_000] : [1_000, 100_000]

/** In the database first, then over HTTP beside the one-row tenant read of the same server. */
async function measureRegistryRows(databases: BenchDatabases): Promise<string> {
  const [caller] = callers as [(typeof callers)[number]]
  const { comparisons, lists } = await measureRegistry(databases, caller.tenant_id, REGISTRY_SIZES, say)
  const resolution = await measureResolution(databases, caller, lists)
  return comparisonTable('registry', 'entries', [...comparisons, ...resolution], plain)
}

async function measureResolution(
  databases: BenchDatabases,
  caller: (typeof callers)[number],
  lists: readonly MeasuredList[],
): Promise<Comparison[]> {
  const order: KernelOrder = {
    app: databases.walled('app'),
    worker: databases.walled('worker'),
    master_key_hex: MASTER_KEY_HEX,
    callers: [caller],
  }
  const server = await start<KernelFacts>('registry', 'kernel', order)
  const get = (url: string) => rawRequest('GET', url, bearer(server.facts.tokens[0] as string))
  const row = (id: string, label: string, requests: readonly string[]): Row => ({
    id,
    label,
    server,
    rounds: [],
    requests,
    expected_status: 200,
  })
  const read = row('tenant-read', 'tenant read', [get(`/api/users/${caller.user_id}`)])
  const compared = lists.flatMap(({ list_key, entries, keys }) => {
    const url = `/api/reference-data/resolve/${list_key}`
    return [
      { entries, row: row('resolve', 'resolve a list, over HTTP', [get(url)]), aim: 0.8, floor: 0.8 },
      {
        entries,
        row: row(
          'look-up',
          'resolve a list and look a key up, over HTTP',
          keys.map((key) => get(`${url}/entry?key=${key}`)),
        ),
      },
    ]
  })
  const rows = [read, ...compared.map((each) => each.row)]
  for (const each of rows) await measure(each, WARMUP_MS, false)
  for (let round = 0; round < Math.min(rounds, REGISTRY_ROUNDS); round++) {
    for (const each of round % 2 === 0 ? rows : rows.toReversed()) await measure(each, WARMUP_MS, true)
  }
  await server.stop()
  const rateOf = ({ rounds: of }: Row) => median(of.map(({ per_second }) => per_second))
  return compared.map(({ entries, row: measured, ...wanted }) => ({
    what: measured.label,
    entries,
    ours: `${whole(rateOf(measured))}/s`,
    beside: `tenant read ${whole(rateOf(read))}/s`,
    ratio: median(measured.rounds.map((round, n) => round.per_second / (read.rounds[n]?.per_second as number))),
    ...wanted,
  }))
}

const BATCH_SIZES = [10_000, 100_000]
const measureBatchRows = (databases: BenchDatabases): Promise<Comparison[]> =>
  measureBatches(databases, callers[0]?.tenant_id as string, BATCH_SIZES, say)

const node = await comparedNode()
const node_version = execFileSync(node ?? process.execPath, ['--version'], { encoding: 'utf8' }).trim()
const databases = await startDatabases(projectRoot)
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void databases.stop().finally(() => process.exit(1)))
}
try {
  const chosen = given.only?.split(',')
  const wants = (id: string) => !chosen || chosen.includes(id)
  const all = chosen?.every((id) => OWN_PARTS.includes(id)) ? [] : await startRows(databases)
  const rows = all.filter((row) => wants(row.id))
  for (const row of rows) await measure(row, FIRST_WARMUP_MS, false)
  for (let round = 0; rows.length > 0 && round < rounds; round++) {
    say(`round ${round + 1} of ${rounds}`)
    // There and back again: what drifts during a run does not favour the same row every time.
    for (const row of round % 2 === 0 ? rows : rows.toReversed()) await measure(row, WARMUP_MS, true)
  }
  for (const child of children) await child.stop()
  const tables: string[] = []
  // Shown as they are made: should a later part fail, nothing of the earlier ones is lost.
  const add = (table: string) => {
    tables.push(table)
    process.stdout.write(`${table}\n\n`)
  }
  if (all.length > 0) add(figures(all))
  if (all.length > 0) add(ratios(wantedRatios(all)))
  if (wants('jobs')) {
    const tenant_ids = callers.map((caller) => caller.tenant_id)
    add(await measureJobs(databases, script('jobs'), tenant_ids, say))
  }
  if (wants('registry')) add(await measureRegistryRows(databases))
  if (wants('decision')) add(comparisonTable('decision', 'rows', await measureDecisions(), plain))
  if (wants('batch')) add(comparisonTable('batch', 'items', await measureBatchRows(databases), plain))
  if (!chosen) fs.writeFileSync(path.join(projectRoot, given.out), `${preamble()}\n\n${tables.join('\n\n')}\n`)
} finally {
  for (const child of children) await child.stop()
  await databases.stop()
}

function preamble(): string {
  const cores = os.availableParallelism()
  return `# Results

Written by \`npm run bench\`; do not edit. ${cores} cores shared by servers, PostgreSQL (embedded, durable) and load generator; all servers on Node ${node_version}.
${connections} keep-alive connections in a closed loop from a process of its own, two tenants, ${rounds} interleaved rounds of ${duration_ms / 1000} s, medians.
Absolute figures say what this machine did; only the ratios are meant to be compared.`
}
