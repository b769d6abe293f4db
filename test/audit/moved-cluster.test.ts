/** Chains whose positions were counted by another cluster, as after a dump and restore: nothing is left out, nothing is accused. */
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { evaluateChains } from '#app/cli/database-checks.ts'
import { chainTenantEvents } from '#kernel/audit/chain-writer.ts'
import { countMovedChains } from '#kernel/audit/queries.ts'
import { fullScope, type Scope } from '#kernel/database/scope.ts'
import { verifyChain } from '#modules/audit/chain-reader.ts'
import { chainAllEvents } from '../support/audit-chain.ts'
import { ExampleTenant } from '../support/example-tenant.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'

const FAR = 1_000_000_000_000
let w: TestApp
let t: ExampleTenant
let superuser: pg.Client
beforeAll(async () => {
  w = await startTestApp()
  t = await ExampleTenant.create(w)
  superuser = new pg.Client(w.clone.postgres)
  await superuser.connect()
  // As pg_restore and logical replication do it: no trigger fires.
  await superuser.query('set session_replication_role = replica')
  w.runtime.createRunner(1)
})
afterAll(async () => {
  await superuser.end()
  await w.close()
})

const verify = () =>
  w.runtime.database.read(fullScope(t.tenant_id, 'job:test'), (tx) =>
    verifyChain(tx, w.kernel.auditKeys, async () => {}),
  )
const tail = () => w.runtime.createChainWriter().findBacklog()
const counts = () =>
  t.write(
    async (tx) =>
      (
        await tx.query<{ events: number; links: number }>(
          `select (select count(*) from app.audit_event where tenant_id = $1) as events,
                  (select count(*) from app.audit_link where tenant_id = $1) as links`,
          [t.tenant_id],
        )
      )[0] as { events: number; links: number },
  )
const head = async () =>
  (await superuser.query('select last_txid::text, cluster_id from app.audit_head where tenant_id = $1', [t.tenant_id]))
    .rows[0]
/** What the tables of this tenant look like once they were moved here from a cluster that had counted further. */
const moveFrom = async (cluster_id: string | null, shift: number) => {
  await superuser.query('update app.audit_event set txid = txid + $2 where tenant_id = $1', [t.tenant_id, shift])
  await superuser.query(
    'update app.audit_head set last_txid = last_txid + $2, cluster_id = $3 where tenant_id = $1 and last_txid < 9007199254740991',
    [t.tenant_id, shift, cluster_id],
  )
}
const worker = async <T>(body: (client: pg.Client) => Promise<T>): Promise<T> => {
  const client = new pg.Client(w.clone.worker)
  await client.connect()
  try {
    return await body(client)
  } finally {
    await client.end()
  }
}
const moved = () =>
  worker((client) =>
    countMovedChains({ find: async (text: string) => (await client.query(text)).rows[0] } as never).then(
      ({ moved: all, ahead }) => ({ moved: Number(all), ahead: Number(ahead) }),
    ),
  )

test('the identity of the cluster can be read by every serving role', async () => {
  for (const role of ['app', 'worker', 'steward', 'postgres'] as const) {
    const client = new pg.Client(w.clone[role])
    await client.connect()
    const { rows } = await client.query('select app.cluster_id() as id')
    expect(rows[0].id, role).toMatch(/^\d+$/)
    await client.end()
  }
})

test('events of before and after the move are chained, and none is taken for planted', async () => {
  await t.newUser()
  await chainAllEvents(w, t)
  const { cluster_id } = await head()
  expect(cluster_id).toMatch(/^\d+$/)
  // Two are not chained yet when the tables are copied.
  await t.newUser()
  await t.newUser()
  await moveFrom('1234567890', FAR)
  await t.newUser()
  const before = await counts()
  expect(before.events - before.links).toBe(3)
  expect(await tail()).toMatchObject({ events: 3 })
  expect(await verify()).toMatchObject({ intact: true, unsealed: 3 })
  expect(await moved()).toEqual({ moved: 1, ahead: 1 })
  expect(evaluateChains({ moved: 1, ahead: 1 })).toMatchObject({
    status: 'warn',
    detail: expect.stringContaining('1 are ahead of the current transaction id'),
  })

  await chainAllEvents(w, t)
  const after = await counts()
  expect(after.links).toBe(after.events)
  expect(await verify()).toMatchObject({ intact: true, unsealed: 0, events: after.events })
  expect((await head()).cluster_id).toBe(cluster_id)
  expect(Number((await head()).last_txid)).toBeLessThan(FAR)
  expect(await moved()).toEqual({ moved: 0, ahead: 0 })
  await expect.poll(tail).toEqual({ events: 0, age_s: 0 })
})

test('goes on by number afterwards, also across numbers that the other cluster had given out', async () => {
  await t.newUser()
  await chainAllEvents(w, t)
  // Chained events of the other cluster whose numbers this one is about to reach.
  const { rows } = await superuser.query<{ next: string }>('select pg_current_xact_id()::text as next')
  const next = Number(rows[0]?.next)
  await superuser.query('update app.audit_event set txid = $2 where tenant_id = $1 and txid >= $3', [
    t.tenant_id,
    next + 3,
    FAR,
  ])
  for (let n = 0; n < 6; n++) await superuser.query('select pg_current_xact_id()')
  await t.newUser()
  await chainAllEvents(w, t)
  // A tenant without anything new is passed too, and then no longer counts as behind.
  const chainWriter = w.runtime.createChainWriter()
  const settled = async () => {
    await chainWriter.runOnce()
    return tail()
  }
  await expect.poll(settled).toEqual({ events: 0, age_s: 0 })
  const { events, links } = await counts()
  expect(links).toBe(events)
  expect(await verify()).toMatchObject({ intact: true, unsealed: 0 })
})

test('a position of before the upgrade names no cluster, and is compared once', async () => {
  await moveFrom(null, 0)
  await t.newUser()
  expect(await verify()).toMatchObject({ intact: true, unsealed: 1 })
  await chainAllEvents(w, t)
  expect((await head()).cluster_id).toMatch(/^\d+$/)
  expect(await verify()).toMatchObject({ intact: true, unsealed: 0 })
})

test('an event without a link before a position of this cluster is still found', async () => {
  await chainAllEvents(w, t)
  await superuser.query('begin')
  await superuser.query(
    `delete from app.audit_link where tenant_id = $1 and seq = (select max(seq) from app.audit_link where tenant_id = $1)`,
    [t.tenant_id],
  )
  await superuser.query('commit')
  expect((await verify()).faults.map(({ fault }) => fault)).toContain('event_planted')
})

test('one process scans at a time, and a tenant with nothing to chain is not visited', async () => {
  const other = await ExampleTenant.create(w)
  await chainAllEvents(w, other)
  const visited: string[] = []
  const counting = {
    write: (scope: Scope, body: Parameters<typeof w.runtime.database.write>[1]) => {
      visited.push(scope.tenant_id)
      return w.runtime.database.write(scope, body)
    },
  }
  const chainWriter = w.runtime.createChainWriter({ transactions: counting as never })
  const scan = async () => {
    visited.length = 0
    const isDone = await chainWriter.runOnce()
    return isDone ? [...visited] : null
  }
  await expect.poll(scan).toEqual([])
  await other.newUser()
  expect(await scan()).toEqual([other.tenant_id])

  await superuser.query('begin')
  await superuser.query(`select pg_advisory_xact_lock(hashtextextended('audit scan', 0))`)
  await other.newUser()
  expect(await scan()).toBeNull()
  await superuser.query('commit')
  await expect.poll(async () => (await scan()) !== null).toBe(true)
})

test('chains more than one batch of a moved record, and two workers do not disturb each other', async () => {
  const big = await ExampleTenant.create(w)
  await chainAllEvents(w, big)
  await superuser.query(
    `insert into app.audit_event (tenant_id, event_id, txid, recorded_at, actor, operation, object_type, object_id, detail, mac)
     select $1, gen_random_uuid(), $2, now(), 'user:x', 'x', 'x', 'x', '{}', 'x' from generate_series(1, 4100)`,
    [big.tenant_id, FAR],
  )
  await superuser.query(`update app.audit_head set cluster_id = '1' where tenant_id = $1`, [big.tenant_id])
  const scope = fullScope(big.tenant_id, 'job:test')
  const chain = (catch_up?: Parameters<typeof chainTenantEvents>[2]) =>
    w.runtime.database.write(scope, (tx) => chainTenantEvents(tx, w.kernel.auditKeys, catch_up))
  const first = await chain()
  expect(first).toMatchObject({ chained: 2000, more: true })
  // Another worker begins from the start, and leaves off half-way.
  expect(await chain()).toMatchObject({ chained: 2000, more: true })
  expect(await chain(first?.catch_up)).toMatchObject({ chained: 100, more: false })
  expect(await chain()).toMatchObject({ chained: 0 })
  const { rows } = await superuser.query<{ unlinked: string; heads: string }>(
    `select (select count(*) from app.audit_event where tenant_id = $1) - (select count(*) from app.audit_link where tenant_id = $1) as unlinked,
            (select cluster_id from app.audit_head where tenant_id = $1) as heads`,
    [big.tenant_id],
  )
  expect(rows[0]?.unlinked).toBe('0')
  expect(rows[0]?.heads).not.toBe('1')
})
