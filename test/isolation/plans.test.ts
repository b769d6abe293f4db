/**
 * Suite 8: every statement the service sends is planned on a large, lopsided database, as the role that sends it and behind
 * row-level security: none scans a large table.
 */
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fullScope } from '#kernel/database/scope.ts'
import { Database, type Scope, type Tx } from '#kernel/database/tx.ts'
import type { Route } from '#kernel/route.ts'
import { SYSTEM_TENANT, uuidv7 } from '#kernel/uuid.ts'
import { ExampleTenant } from '../support/example-tenant.ts'
import { announceSampling, sample } from '../support/sampling.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'
import { inflateTables } from './inflate-tables.ts'
import {
  connect,
  getExample,
  readTables,
  selectIsolated,
  send,
  setTenantContext,
  tenantRoutes,
  withRollback,
} from './support.ts'

const ROWS = 3000
announceSampling('an eighth of the operations for the small tenant, all for the large one')

/** A statement that may read a large table from end to end, by a piece of its text, with the reason. */
interface Exception {
  readonly tables: readonly string[] | 'all'
  readonly text: string
  /** Only where this filter is given. */
  readonly given?: number
  readonly reason: string
}

const accepted: readonly Exception[] = [
  {
    tables: ['revoked_token'],
    text: `'denied', (select coalesce(jsonb_agg(d.id)`,
    reason: 'nearly all rows are wanted: what has expired is removed within the hour',
  },
  { tables: ['user_account'], text: '$3 = any (roles)', given: 3, reason: 'a tenant has thousands of people' },
  { tables: ['user_account'], text: `'tenant_admin' = any (roles)`, reason: 'a tenant has thousands of people' },
  {
    tables: ['user_account'],
    text: `'compliance_officer' = any (roles)`,
    reason: 'a tenant has thousands of people',
  },
  { tables: ['user_account'], text: '$2 = any (u.roles)', reason: 'a tenant has thousands of people' },
  {
    tables: ['user_account', 'api_key'],
    text: `state <> 'inactive' as is_active`,
    reason: 'everybody counts when an approval policy is changed, which is rare',
  },
  { tables: ['job'], text: 'kind = $3', given: 3, reason: 'a rare kind among the jobs that retention keeps' },
  {
    tables: ['job'],
    text: 'from app.dataset_import i left join app.job',
    given: 3,
    reason: 'people and feeds import lists: thousands',
  },
  {
    tables: ['quarantine_item'],
    text: 'from (select contract_key from app.quarantine_item',
    reason: 'at most 10,000 open items are counted, which can be most of the table',
  },
  { tables: ['change_request'], text: 'action = $3', given: 3, reason: 'people propose by hand: thousands' },
  { tables: ['change_approval'], text: 'a.approved_by = $6', given: 6, reason: 'people approve by hand: thousands' },
  {
    tables: ['subject_risk', 'subject'],
    text: 'group by k.band',
    reason: 'reads at most 10,001 rated subjects: larger portfolios are not counted in a request',
  },
  {
    tables: ['subject'],
    text: 'select count(*) as n from (select s.subject_id',
    reason: 'reads at most 10,001 subjects: beyond that the count is capped',
  },
  { tables: ['tool_server'], text: 'from app.tool_server', reason: 'a tenant has dozens of tool servers' },
  {
    tables: ['mcp_approval'],
    text: 'from app.mcp_approval where tenant_id = $1',
    given: 2,
    reason: 'people decide on tool calls by hand: thousands',
  },
  {
    tables: ['mcp_call'],
    text: "(problem is null) = ($4 = 'succeeded')",
    given: 4,
    reason: 'most calls succeed, and those that do not are listed newest first until the page is full',
  },
  { tables: ['user_account'], text: 'set last_seen_at = s.at', reason: 'a tenant has thousands of people' },
  {
    tables: ['change_request'],
    text: `c.state = 'open' and c.created_by = $2`,
    reason: 'people propose by hand: thousands',
  },
  {
    tables: 'all',
    text: 'app.match_erasure(',
    reason: 'an erasure looks for a person in free text, which no index finds; two people decide on each',
  },
  {
    tables: ['subject_bulk_key'],
    text: 'app.subject_bulk_key r ',
    reason: 'an erasure looks for a person in what was uploaded; two people decide on each',
  },
  {
    tables: ['report'],
    text: `case when r.subject_id = m.subject_id then 'id' end`,
    reason: 'an erasure looks through the reports; two people decide on each',
  },
  { tables: ['user_account'], text: 'as is_away from app.user_account', reason: 'a tenant has thousands of people' },
  {
    tables: ['subject_bulk', 'upload', 'upload_chunk'],
    text: 'exists (select 1 from app.subject_bulk b where',
    reason: 'an erasure looks for a person in uploaded files: people upload them, thousands',
  },
  {
    tables: ['alert_suppression'],
    text: 'from app.alert_suppression',
    given: 2,
    reason: 'people propose suppressions by hand: thousands',
  },
  { tables: ['erasure'], text: 'from app.erasure', given: 2, reason: 'people ask for erasures by hand: thousands' },
  {
    tables: ['batch_evaluation'],
    text: 'failed > 0 and finished_at is not null',
    reason: 'people and schedules start batches: thousands',
  },
  {
    tables: ['subject_bulk'],
    text: `(counts ->> 'rejected')::bigint > 0`,
    reason: 'people upload files: thousands',
  },
  { tables: ['api_key'], text: `end as why`, reason: 'a tenant has dozens of keys' },
  {
    tables: ['job'],
    text: `finished_at >= $2 and state = 'failed'`,
    reason: 'failed jobs are rare among those that retention keeps',
  },
  { tables: ['audit_event'], text: 'e.operation = $2', reason: 'a search of the record for what is rare' },
  {
    tables: ['audit_event', 'audit_link'],
    text: 'select min(l.seq) as first',
    reason: 'an export without a range is about the whole record',
  },
  {
    tables: ['audit_event', 'audit_link'],
    text: 'not exists (select 1 from app.audit_link',
    reason: 'a verification reads the whole record',
  },
  {
    tables: ['audit_event', 'audit_link'],
    text: 'order by l.seq limit $3',
    reason: 'a verification reads 2,000 links at a time, which are most of the rows here',
  },
]

const excuses = ({ text, given }: Exception, statement: Sent): boolean =>
  statement.text.includes(text) && (given === undefined || statement.values[given - 1] !== null)

type Role = Sent['role'] | 'steward'

interface Sent {
  readonly role: 'app' | 'worker'
  readonly scope: Scope
  readonly text: string
  readonly values: readonly unknown[]
}

let w: TestApp
let superuser: pg.Client
let clients: Record<'app' | 'worker', pg.Client>
let large: Set<string>
const sent = new Map<string, Sent>()

/** Listens to every transaction of every pool: nothing is changed on the way. */
function listen(): () => void {
  const roles = new WeakMap<Database, Promise<Role>>()
  const modes = ['one', 'read', 'write'] as const
  const originals = modes.map((mode) => Database.prototype[mode])
  const roleOf = (database: Database): Promise<Role> => {
    const ask = (tx: Tx) => tx.find<{ name: Role }>('select current_user::text as name')
    const known =
      roles.get(database) ??
      (originals[0] as Database['one'])
        .call(database, fullScope(SYSTEM_TENANT, 'operator:test'), ask)
        .then((row) => (row as { name: Role }).name)
    roles.set(database, known)
    return known
  }
  for (const [i, mode] of modes.entries()) {
    const original = originals[i] as Database['write']
    Database.prototype[mode] = async function <T>(this: Database, scope: Scope, body: (tx: Tx) => Promise<T>) {
      const role = await roleOf(this)
      if (role === 'steward') return original.call(this, scope, body) as Promise<T>
      const note = (text: string, values: readonly unknown[] = []) => {
        // A filter that is null is another question than one that is given.
        const key = JSON.stringify([role, scope.tenant_id, text, values.map((value) => value === null)])
        if (!sent.has(key)) sent.set(key, { role, scope, text, values })
      }
      return original.call(this, scope, (tx) => {
        const heard = (name: 'query' | 'find' | 'run' | 'defer') => (text: string, values: readonly unknown[]) => {
          note(text, values)
          return tx[name](text, values) as never
        }
        const queryAll: Tx['queryAll'] = (statements) => {
          for (const { text, values } of statements) note(text, values)
          return tx.queryAll(statements)
        }
        const ear = { query: heard('query'), find: heard('find'), run: heard('run'), defer: heard('defer'), queryAll }
        return body({ ...tx, ...ear } as Tx)
      }) as Promise<T>
    }
  }
  return () => {
    for (const [i, mode] of modes.entries()) Database.prototype[mode] = originals[i] as never
  }
}

beforeAll(async () => {
  w = await startTestApp()
  superuser = await connect(w.clone.postgres)
  clients = { app: await connect(w.clone.app), worker: await connect(w.clone.worker) }
  // Tables of 3,000 rows are cached: with the cost of a disk that seeks, a scan and an index cost nearly the same here, and
  // which of them is chosen depends on a few rows more or less.
  for (const client of Object.values(clients)) await client.query('set random_page_cost = 1.1')
  const [big, small] = [await ExampleTenant.create(w), await ExampleTenant.create(w)]
  const prepare = async (tenant: ExampleTenant, routes: readonly Route[]) => {
    const examples = []
    for (const route of routes) examples.push({ tenant, route, example: await getExample(route, tenant) })
    return examples
  }
  const ofSmall = sample(tenantRoutes, Math.ceil(tenantRoutes.length / 8), 'operations of the small tenant')
  const calls = (await Promise.all([prepare(big, tenantRoutes), prepare(small, ofSmall)])).flat()
  large = await inflateTables(superuser, selectIsolated(await readTables(superuser)), big.tenant_id, ROWS)
  const stopListening = listen()
  try {
    for (const { tenant, route, example } of calls) {
      w.kernel.tenantStatusCache.invalidate(tenant.tenant_id)
      const reply = await send(tenant, route, example).catch(() => undefined)
      for (const query of findExplainable(route, reply?.json?.next_cursor)) {
        await send(tenant, route, { ...example, query: { ...example.query, ...query } })
      }
    }
    // The examples may have suspended the others, and a worker leaves their jobs alone.
    await work(await ExampleTenant.create(w))
  } finally {
    stopListening()
  }
}, 300_000)
afterAll(async () => {
  await Promise.all([superuser, clients.app, clients.worker].map((client) => client.end()))
  await w.close()
})

type Property = { readonly enum?: string[]; readonly format?: string; readonly minimum?: number }

/** A value for a filter, as its schema wants it. */
function sampleOf({ enum: values, format, minimum }: Property): string {
  if (values) return values[0] as string
  if (format === 'uuid') return uuidv7()
  if (format === 'date-time') return new Date().toISOString()
  if (format === 'date') return new Date().toISOString().slice(0, 10)
  return String(minimum ?? 'sample')
}

/** The further questions a listing can be asked: its next page, and each of its filters. */
function findExplainable(route: Route, next_cursor?: string | null): Record<string, string>[] {
  const { properties = {} } = (route.query ?? {}) as { properties?: Record<string, Property> }
  const filters = Object.entries(properties).filter(([name]) => !['limit', 'cursor', 'wait'].includes(name))
  return [
    ...(next_cursor ? [{ cursor: next_cursor }] : []),
    ...filters.map(([name, schema]) => ({ [name]: sampleOf(schema) })),
  ]
}

/** What the examples do not reach: the last administrator, and what workers send. */
async function work(tenant: ExampleTenant): Promise<void> {
  const token = await tenant.token()
  const admin = { name: 'Till', email: `${uuidv7()}@example.com`, roles: ['tenant_admin'] }
  const { json: user } = await w.call('POST /users', { token, body: admin })
  await w.call(`POST /users/${user.user_id}/deactivate`, { token })
  const job_id = await tenant.newJob()
  await w.runtime.createChainWriter().runOnce()
  for (const job of [{ job_id, state: 'queued' }, await tenant.make('POST /audit/verify', { body: {} })]) {
    const { state } = await tenant.runToEnd(job)
    if (state !== 'succeeded') throw new Error(`The job ${job.job_id} ended as ${state}`)
  }
}

interface Node {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly Plans?: readonly Node[]
}

const scansIn = (node: Node): string[] => [
  ...(node['Node Type'] === 'Seq Scan' && large.has(node['Relation Name'] ?? '')
    ? [node['Relation Name'] as string]
    : []),
  ...(node.Plans ?? []).flatMap(scansIn),
]

/** What an import stages its rows in; gone with the transaction. */
const STAGED = `create temporary table stage (key text collate "C", op text, hash bytea, base_hash bytea, data text, row bigint, line bigint);
  create temporary table delta (key text collate "C", what text)`

/** With its values, as the first executions are planned; and without, as a prepared statement may be later on. */
async function plansOf({ role, scope, text, values }: Sent): Promise<Node[]> {
  const client = clients[role]
  const explain = async (options: string, bound: readonly unknown[]): Promise<Node> =>
    (await client.query(`explain (${options}) ${text}`, [...bound])).rows[0]['QUERY PLAN'][0].Plan
  return withRollback(client, async () => {
    await setTenantContext(client, scope.tenant_id, scope.actor)
    if (text.includes('pg_temp.')) await client.query(STAGED)
    return [await explain('format json', values), await explain('generic_plan, format json', [])]
  }).catch((error: { code?: string }) => {
    // Some statements are sent to be refused: the isolation self-test tries what it must not get.
    if (error.code === '42501') return []
    throw error
  })
}

describe('plans', () => {
  const queries: Sent[] = []

  test('covers statements of every serving role', () => {
    queries.push(...[...sent.values()].filter(({ text }) => /^\s*(select|insert|update|delete|with)\b/i.test(text)))
    const textsOf = (role: string) => new Set(queries.filter((query) => query.role === role).map(({ text }) => text))
    expect(large.size).toBeGreaterThan(15)
    expect(textsOf('app').size).toBeGreaterThan(50)
    expect(textsOf('worker').size).toBeGreaterThan(4)
  })

  test('no statement scans a large table', async () => {
    const offences = new Set<string>()
    for (const statement of queries) {
      const exceptions = accepted.filter((entry) => excuses(entry, statement))
      const isExcused = (table: string) => exceptions.some(({ tables }) => tables === 'all' || tables.includes(table))
      for (const [i, plan] of (await plansOf(statement)).entries()) {
        for (const table of scansIn(plan)) {
          if (isExcused(table)) continue
          const shown = `${statement.text.replace(/\s+/g, ' ')} ${JSON.stringify(statement.values)}`
          offences.add(`${table} (${statement.role}, ${i === 0 ? 'custom' : 'generic'} plan): ${shown}`)
        }
      }
    }
    expect([...offences]).toEqual([])
  })

  test('every listed exception is still needed', () => {
    const stale = accepted.filter((entry) => !queries.some((statement) => excuses(entry, statement)))
    expect(stale).toEqual([])
  })
})
