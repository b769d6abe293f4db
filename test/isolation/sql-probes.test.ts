/** Suite 5: as each serving role, every table of the register is attacked with SQL; only what the role is for goes through. */
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SYSTEM_TENANT } from '#kernel/uuid.ts'
import { ExampleTenant } from '../support/example-tenant.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'
import { findBreaches, type ProbeTenants, readVictimRows } from './probes.ts'
import {
  attempt,
  buildInsertSql,
  connect,
  type Row,
  readTables,
  selectIsolated,
  setTenantContext,
  type Table,
  withRollback,
} from './support.ts'

let w: TestApp
let clients: Record<'app' | 'worker' | 'steward' | 'postgres', pg.Client>
let tables: Table[]
let rows: ReadonlyMap<string, Row>
let tenants: ProbeTenants

beforeAll(async () => {
  w = await startTestApp()
  const [app, worker, steward, postgres] = await Promise.all(
    (['app', 'worker', 'steward', 'postgres'] as const).map((role) => connect(w.clone[role])),
  )
  clients = { app, worker, steward, postgres } as typeof clients
  const [victim, attacker] = await Promise.all([ExampleTenant.create(w), ExampleTenant.create(w)])
  await victim.insertCanaryRows()
  await attacker.insertCanaryRows()
  tenants = { victim: victim.tenant_id, attacker: attacker.tenant_id, newcomer: await w.makeTenant() }
  tables = selectIsolated(await readTables(clients.postgres))
  rows = await readVictimRows(clients.postgres, tables, tenants.victim)
})
afterAll(async () => {
  await Promise.all(Object.values(clients).map((client) => client.end()))
  await w.close()
})

describe('app', () => {
  test('cannot read, update, delete, insert or reference rows of another tenant', async () => {
    const { tried, breaches } = await withRollback(clients.app, () => findBreaches(clients.app, tables, rows, tenants))
    expect(breaches).toEqual([])
    expect(tried).toBeGreaterThan(tables.length * 10)
  })

  test('the probed rows exist: their owner reads them, and some have foreign keys', async () => {
    const unseen: string[] = []
    for (const table of tables) {
      const seen = await withRollback(clients.app, async () => {
        await setTenantContext(clients.app, tenants.victim)
        return attempt(clients.app, `select 1 from app.${table.name}`)
      })
      if (!(Number(seen) > 0)) unseen.push(`${table.name}: ${seen}`)
    }
    expect(unseen).toEqual([])
    expect(tables.flatMap(({ references }) => references).length).toBeGreaterThan(2)
  })

  test('reads and writes nothing where no tenant is set', async () => {
    const fresh = await connect(w.clone.app)
    const breaches: string[] = []
    await withRollback(fresh, async () => {
      for (const table of tables) {
        const read = await attempt(fresh, `select 1 from app.${table.name}`)
        const planted = await attempt(fresh, buildInsertSql(table), [rows.get(table.name)])
        if (read !== 0 || !['42501', 'PB001'].includes(String(planted)))
          breaches.push(`${table.name}: ${read} ${planted}`)
      }
    })
    await fresh.end()
    expect(breaches).toEqual([])
  })

  test('cannot write shared rows even with a grant on the table', async () => {
    const shared = tables.filter(({ kind }) => kind === 'shared')
    expect(shared.length).toBeGreaterThan(0)
    await withRollback(clients.postgres, async () => {
      for (const { name } of shared) await clients.postgres.query(`grant insert, update, delete on app.${name} to app`)
      await clients.postgres.query('set local role app')
      expect((await findBreaches(clients.postgres, shared, rows, tenants)).breaches).toEqual([])
    })
  })

  test('cannot gain privileges', async () => {
    const table = tables.find(({ kind }) => kind === 'tenant') as Table
    const attempts = [
      'set local role steward',
      'set local role app_owner',
      'set session authorization postgres',
      `alter table app.${table.name} disable row level security`,
      `alter table app.${table.name} no force row level security`,
      `drop policy wall on app.${table.name}`,
      `create policy mine on app.${table.name} using (true)`,
      `create function app.mine() returns int language sql security definer as 'select 1'`,
      `create view app.mine as select * from app.${table.name}`,
      `create or replace function app.tenant_id() returns uuid language sql as $$ select null::uuid $$`,
      `select app.wall('app.${table.name}', 'system')`,
      'create schema mine',
      'set local session_replication_role = replica',
      `copy app.${table.name} to program 'cat'`,
      `select lo_import('/etc/passwd')`,
      `select pg_read_file('/etc/passwd')`,
    ]
    await withRollback(clients.app, async () => {
      for (const text of attempts) {
        await setTenantContext(clients.app, tenants.attacker)
        expect([text, await attempt(clients.app, text)]).toEqual([text, '42501'])
      }
      await clients.app.query('set local row_security = off')
      expect(await attempt(clients.app, `select 1 from app.${table.name}`)).toBe('42501')
    })
  })

  test("sees no values of isolated tables in the planner's statistics", async () => {
    await clients.postgres.query('analyze')
    const all = await clients.postgres.query(
      `select 1 from pg_stats where schemaname = 'app' and tablename <> 'migration'`,
    )
    expect(all.rowCount).toBeGreaterThan(20)
    const names = tables.map(({ name }) => name)
    for (const view of ['pg_stats', 'pg_stats_ext']) {
      const { rows: shown } = await clients.app.query(
        `select tablename from ${view} where schemaname = 'app' and tablename = any ($1)`,
        [names],
      )
      expect(shown).toEqual([])
    }
  })
})

describe('worker', () => {
  test('reads the granted columns of the queue, never a payload, and inserts or deletes nothing', async () => {
    const breaches: string[] = []
    let refused = 0
    await withRollback(clients.worker, async () => {
      await setTenantContext(clients.worker, SYSTEM_TENANT, 'job:worker')
      for (const table of tables) {
        const may = (observed: number | string, what: string) => {
          if (observed === '42501') refused++
          else breaches.push(`${table.name}: ${what} → ${observed}`)
        }
        may(await attempt(clients.worker, `select * from app.${table.name}`), 'whole rows')
        may(await attempt(clients.worker, buildInsertSql(table), [rows.get(table.name)]), 'insert')
        may(await attempt(clients.worker, `delete from app.${table.name}`), 'delete')
        const isOpen = ['queue', 'ledger', 'directory'].includes(table.kind)
        const closed = table.columns.filter(({ name, type }) =>
          isOpen ? ['json', 'jsonb', 'bytea'].includes(type) : name === 'tenant_id',
        )
        for (const { name } of closed)
          may(await attempt(clients.worker, `select "${name}" from app.${table.name}`), `read ${name}`)
      }
    })
    expect(breaches).toEqual([])
    expect(refused).toBeGreaterThan(tables.length * 3)
  })

  test('reads the queue of every tenant', async () => {
    await withRollback(clients.worker, async () => {
      await setTenantContext(clients.worker, SYSTEM_TENANT, 'job:worker')
      const seen = await clients.worker.query('select distinct tenant_id from app.job')
      expect(seen.rows.map(({ tenant_id }) => tenant_id)).toEqual(
        expect.arrayContaining([tenants.victim, tenants.attacker]),
      )
    })
  })
})

describe('steward', () => {
  test('reads and writes shared rows and the directory, and nothing of a tenant', async () => {
    const breaches: string[] = []
    await withRollback(clients.steward, async () => {
      for (const as of [SYSTEM_TENANT, tenants.victim]) {
        await setTenantContext(clients.steward, as, 'operator:probe')
        for (const table of tables.filter(({ kind }) => kind !== 'shared' && kind !== 'directory')) {
          const tries = [
            `select 1 from app.${table.name}`,
            `select tenant_id from app.${table.name}`,
            `update app.${table.name} set tenant_id = tenant_id`,
            `delete from app.${table.name}`,
            `insert into app.${table.name} (tenant_id) values (gen_random_uuid())`,
          ]
          for (const text of tries) {
            const observed = await attempt(clients.steward, text)
            if (observed !== '42501') breaches.push(`${text} → ${observed}`)
          }
        }
      }
    })
    expect(breaches).toEqual([])
  })

  /** Imports of shared lists are the operator's, and none was made yet. The operator wraps tenant keys again; the system has none. */
  const sharedWithoutRows = ['dataset_import', 'dataset_import_reject', 'definition_fact', 'tenant_key']
  test('writes shared rows only as the system tenant', async () => {
    for (const table of tables.filter(({ kind }) => kind === 'shared')) {
      const touch = `update app.${table.name} set tenant_id = tenant_id`
      await withRollback(clients.steward, async () => {
        await setTenantContext(clients.steward, SYSTEM_TENANT, 'operator:probe')
        // What never changes is not changed by it either.
        const observed = await attempt(clients.steward, touch)
        if (typeof observed === 'number' && !sharedWithoutRows.includes(table.name)) expect(observed).toBeGreaterThan(0)
        else if (typeof observed === 'string')
          expect([table.name, observed]).toEqual([table.name, expect.stringMatching(/^(42501|PB002)$/)])
        await setTenantContext(clients.steward, tenants.attacker, 'operator:probe')
        const others = await attempt(clients.steward, `${touch} where tenant_id <> $1`, [tenants.attacker])
        expect([0, '42501', 'PB002']).toContain(others)
        await setTenantContext(clients.steward, null, 'operator:probe')
        expect(await attempt(clients.steward, `select 1 from app.${table.name}`)).toBe(0)
      })
    }
  })
})
