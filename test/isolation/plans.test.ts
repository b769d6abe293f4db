/**
 * Suite 8: every statement the service sends is planned on a large, lopsided database, as the role that sends it and behind
 * the walls: none reads a large table from end to end.
 */
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Database, type Scope, type Tx } from '../../src/kernel/database/tx.ts'
import { SYSTEM_TENANT } from '../../src/kernel/uuid.ts'
import { ExampleTenant } from '../support/example-tenant.ts'
import { type World, world } from '../support/world.ts'
import { connect, exampleFor, readTables, send, speakFor, tenantRoutes, undone, walled } from './support.ts'
import { swell } from './swell.ts'

const ROWS = 20_000

/** Statements that may read a large table from end to end, by a piece of their text, with the reason. */
const accepted: readonly { readonly table: string; readonly text: string; readonly reason: string }[] = []

interface Sent {
  readonly role: 'app' | 'worker'
  readonly scope: Scope
  readonly text: string
  readonly values: readonly unknown[]
}

let w: World
let superuser: pg.Client
let clients: Record<'app' | 'worker', pg.Client>
let large: Set<string>
const sent = new Map<string, Sent>()

/** Listens to every transaction of every pool: nothing is changed on the way. */
function listen(): () => void {
  const roles = new WeakMap<Database, Promise<'app' | 'worker'>>()
  const modes = ['one', 'read', 'write'] as const
  const originals = modes.map((mode) => Database.prototype[mode])
  const roleOf = (database: Database): Promise<'app' | 'worker'> => {
    const ask = (tx: Tx) => tx.find<{ name: 'app' | 'worker' }>('select current_user::text as name')
    const known =
      roles.get(database) ??
      (originals[0] as Database['one'])
        .call(database, { tenant_id: SYSTEM_TENANT, actor: 'operator:test' }, ask as never)
        .then((row) => (row as { name: 'app' | 'worker' }).name)
    roles.set(database, known)
    return known
  }
  for (const [i, mode] of modes.entries()) {
    const original = originals[i] as Database['write']
    Database.prototype[mode] = async function <T>(this: Database, scope: Scope, body: (tx: Tx) => Promise<T>) {
      const role = await roleOf(this)
      const note = (text: string, values: readonly unknown[] = []) => {
        const key = `${role} ${scope.tenant_id} ${text}`
        if (!sent.has(key)) sent.set(key, { role, scope, text, values })
      }
      return original.call(this, scope, (tx) => {
        const heard = (name: 'query' | 'find' | 'run' | 'defer') => (text: string, values: readonly unknown[]) => {
          note(text, values)
          return tx[name](text, values) as never
        }
        const ear = { query: heard('query'), find: heard('find'), run: heard('run'), defer: heard('defer') }
        return body({ ...tx, ...ear } as Tx)
      }) as Promise<T>
    }
  }
  return () => {
    for (const [i, mode] of modes.entries()) Database.prototype[mode] = originals[i] as never
  }
}

beforeAll(async () => {
  w = await world()
  superuser = await connect(w.clone.postgres)
  clients = { app: await connect(w.clone.app), worker: await connect(w.clone.worker) }
  const [big, small] = [await ExampleTenant.create(w), await ExampleTenant.create(w)]
  const prepare = async (tenant: ExampleTenant) => {
    const examples = []
    for (const route of tenantRoutes) examples.push({ tenant, route, example: await exampleFor(route, tenant) })
    return examples
  }
  const calls = [...(await prepare(big)), ...(await prepare(small))]
  large = await swell(superuser, walled(await readTables(superuser)), big.tenant_id, ROWS)
  const stopListening = listen()
  for (const { tenant, route, example } of calls) {
    w.kernel.standings.forget(tenant.tenant_id)
    await send(tenant, route, example).catch(() => {})
  }
  await work(big)
  stopListening()
}, 60_000)
afterAll(async () => {
  await Promise.all([superuser, clients.app, clients.worker].map((client) => client.end()))
  await w.close()
})

/** What workers send: claims, heartbeats, reaping, schedules, sealing, and the body of a job. */
async function work(tenant: ExampleTenant): Promise<void> {
  const job_id = await tenant.newJob()
  const token = await tenant.token()
  const runner = w.runtime.createRunner(1, { heartbeat_ms: 5 })
  runner.start()
  await w.runtime.createSealer().pass()
  for (let i = 0; i < 10; i++) {
    const { json } = await w.call(`GET /jobs/${job_id}?wait=5`, { token })
    if (!['queued', 'running'].includes(json.state)) break
  }
  await runner.stop(5000)
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

async function plansOf({ role, scope, text, values }: Sent): Promise<Node[]> {
  const client = clients[role]
  return undone(client, async () => {
    await speakFor(client, scope.tenant_id, scope.actor)
    const plans: Node[] = []
    // With its values, as the first executions are planned; and without, as a prepared statement may be later on.
    for (const [options, bound] of [
      ['', values],
      ['generic_plan, ', []],
    ] as const) {
      const { rows } = await client.query(`explain (${options}format json) ${text}`, [...bound])
      plans.push(rows[0]['QUERY PLAN'][0].Plan)
    }
    return plans
  })
}

const isQuery = ({ text }: Sent): boolean => /^\s*(select|insert|update|delete|with)\b/i.test(text)

describe('plans', () => {
  test('there is something to plan', () => {
    expect(large.size).toBeGreaterThan(15)
    const texts = [...sent.values()].filter(isQuery)
    expect(new Set(texts.filter(({ role }) => role === 'app').map(({ text }) => text)).size).toBeGreaterThan(50)
    expect(new Set(texts.filter(({ role }) => role === 'worker').map(({ text }) => text)).size).toBeGreaterThan(4)
  })

  test('no statement reads a large table from end to end', async () => {
    const offences: string[] = []
    const used = new Set<object>()
    for (const statement of [...sent.values()].filter(isQuery)) {
      for (const [i, plan] of (await plansOf(statement)).entries()) {
        for (const table of scansIn(plan)) {
          const excuse = accepted.find((entry) => entry.table === table && statement.text.includes(entry.text))
          if (excuse) used.add(excuse)
          else
            offences.push(
              `${table} (${i ? 'generic' : 'custom'}, ${statement.role}): ${statement.text.replace(/\s+/g, ' ')}`,
            )
        }
      }
    }
    expect([...new Set(offences)].sort()).toEqual([])
    expect(accepted.filter((entry) => !used.has(entry)).map(({ text }) => text)).toEqual([])
  })
})
