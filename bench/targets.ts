/** What is put under load, and which of it is compared with which. */
import path from 'node:path'
import { demoTenants } from '#app/seed.ts'
import type { BareServerOptions } from './bare.ts'
import type { Child } from './child.ts'
import { type BenchDatabases, MASTER_KEY_HEX } from './database.ts'
import { createDocumentTableSql, evaluationRequestBody, fetchSampleDocument } from './evaluation.ts'
import type { ProductServerInfo, ProductServerOptions } from './kernel.ts'
import { buildRawRequest, UNIQUE_PLACEHOLDER } from './load-protocol.ts'
import { postgraphileQuery, postgraphileVersion, startPostgraphile } from './postgraphile.ts'
import type { BenchTarget, Servers } from './servers.ts'

export const callers = demoTenants.map((tenant) => ({
  tenant_id: tenant.tenant_id,
  user_id: tenant.users[0]?.user_id as string,
}))
export const bearerHeaders = (token: string) => ({ authorization: `Bearer ${token}`, accept: 'application/json' })

/** Two rows whose ratio is wanted. */
export interface TargetPair {
  readonly label: string
  readonly of: readonly [BenchTarget | undefined, BenchTarget | undefined]
  readonly aim?: number
  readonly floor?: number
}

async function postgraphileRow(
  databases: BenchDatabases,
  servers: Servers,
  { facts }: Child<ProductServerInfo>,
  keep_tokens: boolean,
): Promise<BenchTarget> {
  const row = {
    id: keep_tokens ? 'postgraphile-kept' : 'postgraphile',
    label: keep_tokens
      ? 'the same with verified tokens kept by hand'
      : `${postgraphileVersion}, same table, role and token`,
    expected_status: 200,
    rounds: [],
    requests: callers.map((caller, n) =>
      buildRawRequest(
        'POST',
        '/graphql',
        bearerHeaders(facts.tokens[n] as string),
        postgraphileQuery(caller.tenant_id, caller.user_id),
      ),
    ),
  }
  try {
    const order = { database: databases.isolated('app'), public_keys: facts.public_keys, keep_tokens }
    const server = servers.register(await startPostgraphile(process.cwd(), order))
    await assertSameRow(server.facts.port, facts)
    return { ...row, server }
  } catch (error) {
    return { ...row, server: undefined, note: (error as Error).message.split('\n')[0]?.slice(0, 200) as string }
  }
}

async function assertSameRow(port: number, facts: ProductServerInfo): Promise<void> {
  const [caller] = callers as [(typeof callers)[number]]
  const reply = await fetch(`http://127.0.0.1:${port}/graphql`, {
    method: 'POST',
    headers: { ...bearerHeaders(facts.tokens[0] as string), 'content-type': 'application/json' },
    body: postgraphileQuery(caller.tenant_id, caller.user_id),
  })
  const text = await reply.text()
  if (!text.includes(caller.user_id)) throw new Error(`PostGraphile did not give the row: ${text.slice(0, 300)}`)
}

/** The product's own answer to the measured read, for the bare servers to repeat. */
async function fetchSampleResponse({
  facts,
}: Child<ProductServerInfo>): Promise<Pick<BareServerOptions, 'headers' | 'body'>> {
  const url = `http://127.0.0.1:${facts.port}/api/users/${callers[0]?.user_id}`
  const reply = await fetch(url, { headers: bearerHeaders(facts.tokens[0] as string) })
  if (reply.status !== 200) throw new Error(`the product answered ${reply.status}: ${await reply.text()}`)
  const own = ['date', 'connection', 'keep-alive']
  const headers = Object.fromEntries([...reply.headers].filter(([name]) => !own.includes(name)))
  return { headers, body: await reply.text() }
}

/** `against`: a kernel.mjs of another state of the sources, beside ours. */
export async function startTargets(
  databases: BenchDatabases,
  servers: Servers,
  against?: string,
): Promise<BenchTarget[]> {
  const order = (kind: 'isolated' | 'open'): ProductServerOptions => ({
    app: databases[kind]('app'),
    worker: databases[kind]('worker'),
    master_key_hex: MASTER_KEY_HEX,
    callers,
  })
  const isolated = await servers.start<ProductServerInfo>('read', 'kernel', order('isolated'))
  const open = await servers.start<ProductServerInfo>('open', 'kernel-open', order('open'))
  // A process of its own, so that the two above differ in nothing but row-level security.
  const writer = await servers.start<ProductServerInfo>('write', 'kernel', order('isolated'))
  const unrecorded = await servers.start<ProductServerInfo>('unrecorded', 'kernel-unrecorded', order('isolated'))
  const plain = await servers.start<ProductServerInfo>('plain', 'kernel-plain', order('isolated'))
  const answer = await fetchSampleResponse(isolated)
  await databases.runAsAdmin(createDocumentTableSql)
  const document = await fetchSampleDocument(isolated.facts.port, isolated.facts.tokens[0] as string)
  const bare = (server: BareServerOptions['server']) =>
    servers.start<{ port: number }>(server, 'bare', {
      server,
      ...answer,
      database: databases[server === 'document' ? 'isolated' : 'open']('app'),
      document,
    } satisfies BareServerOptions)
  const reads = callers.map((caller, n) =>
    buildRawRequest('GET', `/api/users/${caller.user_id}`, bearerHeaders(isolated.facts.tokens[n] as string)),
  )
  const invitation = { name: 'Ada Bench', email: `${UNIQUE_PLACEHOLDER}@bench.example`, roles: ['viewer'] }
  const writes = (headers: Record<string, string>, withTenant = false) =>
    callers.map((caller, n) =>
      buildRawRequest(
        'POST',
        '/api/users',
        { ...bearerHeaders(isolated.facts.tokens[n] as string), ...headers },
        JSON.stringify(withTenant ? { ...invitation, tenant_id: caller.tenant_id } : invitation),
      ),
    )
  const decide = callers.map((_, n) =>
    buildRawRequest(
      'POST',
      '/api/evaluations',
      bearerHeaders(isolated.facts.tokens[n] as string),
      evaluationRequestBody,
    ),
  )
  const read = { requests: reads, expected_status: 200 }
  const write = { expected_status: 201 }
  const other = against && (await servers.start<ProductServerInfo>('other', path.resolve(against), order('isolated')))
  const otherRows = (server: Child<ProductServerInfo>): BenchTarget[] => [
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
    { id: 'read', label: 'tenant read, whole kernel, row-level security', server: isolated, rounds: [], ...read },
    { id: 'open', label: 'the same server and query, no row-level security', server: open, rounds: [], ...read },
    await postgraphileRow(databases, servers, isolated, false),
    await postgraphileRow(databases, servers, isolated, true),
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
      requests: writes({ 'idempotency-key': UNIQUE_PLACEHOLDER }),
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
    {
      id: 'evaluate-plain',
      label: 'the same server and route, the decision stored as plain text',
      server: plain,
      rounds: [],
      requests: decide,
      ...write,
    },
  ]
}

export function listPairs(rows: readonly BenchTarget[]): TargetPair[] {
  const by = (id: string) => rows.find((row) => row.id === id)
  const compared: TargetPair[] = [
    { label: 'tenant read, this build ÷ other build', of: [by('read'), by('other')] },
    { label: 'POST, this build ÷ other build', of: [by('write'), by('other-write')] },
    { label: 'POST /api/evaluations, this build ÷ other build', of: [by('evaluate'), by('other-evaluate')] },
  ]
  return [
    ...(by('other') ? compared : []),
    { label: 'bare Fastify ÷ bare node:http', of: [by('fastify'), by('http')] },
    { label: 'tenant read ÷ bare Fastify', of: [by('read'), by('fastify')] },
    { label: 'tenant read ÷ no row-level security', of: [by('read'), by('open')], aim: 0.8, floor: 0.65 },
    { label: 'tenant read ÷ PostGraphile', of: [by('read'), by('postgraphile')], aim: 10, floor: 7 },
    { label: 'tenant read ÷ PostGraphile that keeps verified tokens', of: [by('read'), by('postgraphile-kept')] },
    { label: 'POST ÷ bare insert', of: [by('write'), by('insert')] },
    { label: 'POST ÷ POST without the audit record', of: [by('write'), by('unrecorded')], aim: 0.8, floor: 0.65 },
    { label: 'POST with Idempotency-Key ÷ bare insert', of: [by('write-once'), by('insert')] },
    { label: 'POST /api/evaluations ÷ bare insert of the same size', of: [by('evaluate'), by('document')] },
    {
      label: 'POST /api/evaluations ÷ the decision stored as plain text',
      of: [by('evaluate'), by('evaluate-plain')],
      aim: 0.75,
      floor: 0.75,
    },
  ]
}
