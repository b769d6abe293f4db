/** Deletion of a tenant on a real database: nothing of it is left, nothing of others is touched, and it goes on wherever it was broken off. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fullScope } from '#kernel/database/scope.ts'
import { SYSTEM_TENANT, uuidv7 } from '#kernel/uuid.ts'
import { verifyChain } from '#modules/audit/chain-reader.ts'
import { chainAllEvents } from '#test/support/audit-chain.ts'
import { BackupFixture } from '#test/support/backup-fixture.ts'
import { runSql } from '#test/support/empty-database.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { createTenantDigest, type TenantDigest } from '#test/support/tenant-digest.ts'
import type { TestApp } from '#test/support/test-app.ts'
import { type DeletionRequest, runDeletion } from '../cli/tenant-delete.ts'
import { updateTenantState } from '../queries.ts'
import { demoTenants, seed } from '../seed.ts'
import { type DeletionStep, deleteTenant } from './delete-tenant.ts'

let b: BackupFixture
let w: TestApp
let one: ExampleTenant
let two: ExampleTenant
let superuser: pg.Client
let digest: (tenant_id: string) => Promise<TenantDigest>
beforeAll(async () => {
  b = await BackupFixture.create()
  ;({ w, one, two } = b)
  await runSql(w.clone.migrator, entangled)
  for (const tenant of [one, two]) await insertKnots(tenant)
  superuser = new pg.Client(w.clone.postgres)
  await superuser.connect()
  digest = await createTenantDigest(superuser)
})
afterAll(async () => {
  await superuser.end()
  await b.close()
})

/** Tables that no code knows: one refers to itself, both to each other, and one is append-only. */
const entangled = `begin; set local role app_owner; set local app.actor = 'operator:test';
  create table app.knot_a (tenant_id uuid not null, a_id bigint not null, b_id bigint, upper_id bigint,
    constraint knot_a_pkey primary key (tenant_id, a_id),
    constraint knot_a_upper_fkey foreign key (tenant_id, upper_id) references app.knot_a (tenant_id, a_id));
  create table app.knot_b (tenant_id uuid not null, b_id bigint not null, a_id bigint not null,
    constraint knot_b_pkey primary key (tenant_id, b_id),
    constraint knot_b_a_fkey foreign key (tenant_id, a_id) references app.knot_a (tenant_id, a_id));
  alter table app.knot_a add constraint knot_a_b_fkey foreign key (tenant_id, b_id) references app.knot_b (tenant_id, b_id);
  select app.wall('app.knot_a', 'append'), app.wall('app.knot_b', 'tenant'); commit`

/** Nine rows in a row, of which three are in a circle. */
const insertKnots = (tenant: ExampleTenant) =>
  tenant.write((tx) =>
    tx.run(
      `with a as (insert into app.knot_a (tenant_id, a_id, b_id, upper_id)
                  select $1, n, case when n <= 3 then n end, case when n < 9 then n + 1 end from generate_series(1, 9) n)
       insert into app.knot_b (tenant_id, b_id, a_id) select $1, n, n from generate_series(1, 5) n`,
      [tx.tenant_id],
    ),
  )

const setState = async (tenant_id: string, state: 'active' | 'suspended') => {
  await w.steward.write(fullScope(tenant_id, 'operator:test'), (tx) => updateTenantState(tx, tenant_id, state))
}
/** As if it had been suspended an hour ago. */
const suspend = async (tenant_id: string) => {
  await setState(tenant_id, 'suspended')
  await superuser.query(`set app.actor = 'operator:test'`)
  await superuser.query(`update app.tenant set suspended_at = now() - interval '1 hour' where tenant_id = $1`, [
    tenant_id,
  ])
}

const options = (tenant_id: string) => ({
  migrator: w.clone.migrator,
  steward: w.steward,
  tenant_id,
  actor: 'operator:test',
  batch_rows: 2,
})

const slugOf = (tenant_id: string): string => `t-${tenant_id.slice(-12)}`
const nameOf = (tenant_id: string): string => `Tenant ${slugOf(tenant_id)}`

async function run(request: Partial<DeletionRequest> & { slug: string }) {
  const [out, notes]: [string[], string[]] = [[], []]
  const terminal = { out: (text: string) => void out.push(text), note: (text: string) => void notes.push(text) }
  const guarded = { app: w.runtime.database, steward: w.steward }
  const code = await runDeletion({ operator: { guarded, connections: w.clone }, terminal, ...request })
  return { code, out: out.join('\n'), notes: notes.join('\n') }
}

/** Every table of the catalogue with a tenant, whatever the code knows of it. */
async function countAll(tenant_id: string): Promise<Record<string, number>> {
  const { rows } = await superuser.query<{ name: string }>(
    `select c.relname::text as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id'
      where c.relnamespace = 'app'::regnamespace and c.relkind in ('r', 'p') order by 1`,
  )
  const counts: Record<string, number> = {}
  for (const { name } of rows) {
    const found = await superuser.query(`select count(*)::int as rows from app.${name} where tenant_id = $1`, [
      tenant_id,
    ])
    if (found.rows[0].rows > 0) counts[name] = found.rows[0].rows
  }
  return counts
}

const findDeletion = async (tenant_id: string) =>
  (await superuser.query('select * from app.tenant_deletion where deleted_tenant_id = $1', [tenant_id])).rows[0]

describe('a deletion is refused', () => {
  test('of a tenant that is in use, that was suspended just now, or whose name is not given', async () => {
    const tenant_id = await w.makeTenant()
    const [slug, confirm] = [slugOf(tenant_id), nameOf(tenant_id)]
    await expect(run({ slug, confirm })).rejects.toThrow(`${slug} is not suspended`)
    await setState(tenant_id, 'suspended')
    await expect(run({ slug, confirm })).rejects.toThrow(/was suspended \d s ago/)
    await suspend(tenant_id)
    await expect(run({ slug, confirm: slug })).rejects.toThrow(`--confirm must be the name of ${slug}`)
    await expect(run({ slug: 'nobody', confirm })).rejects.toThrow('There is no tenant "nobody"')
    await expect(run({ slug: 'canary', confirm: 'Isolation canary' })).rejects.toThrow('There is no tenant "canary"')
    expect(await findDeletion(tenant_id)).toBeUndefined()
    expect((await digest(tenant_id))['approval_policy']).toMatch(/^1:/)
  })

  test('while a worker runs a job of it', async () => {
    const tenant_id = await w.makeTenant()
    await suspend(tenant_id)
    await w.runtime.database.write(fullScope(tenant_id, 'operator:test'), async (tx) => {
      await tx.run(
        `insert into app.job (tenant_id, job_id, kind, payload, created_by, max_attempts, state, attempts, lease_token, lease_until, started_at)
         values ($1, $2, 'busy', '{}', 'operator:test', 1, 'running', 1, $2, now() + interval '1 minute', now())`,
        [tenant_id, uuidv7()],
      )
    })
    const request = { slug: slugOf(tenant_id), confirm: nameOf(tenant_id) }
    await expect(run(request)).rejects.toThrow('1 of its jobs is still running')
    expect(await findDeletion(tenant_id)).toBeUndefined()
  })

  test('while a legal hold is in force, by the command and by the database', async () => {
    await suspend(one.tenant_id)
    const request = { slug: slugOf(one.tenant_id), confirm: nameOf(one.tenant_id) }
    await expect(run(request)).rejects.toThrow('1 legal hold is in force; release them first.')
    await expect(deleteTenant(options(one.tenant_id))).rejects.toThrow('a legal hold keeps the tenant')
    await setState(one.tenant_id, 'active')
    await one.write(async (tx) => {
      await tx.run(`select set_config('app.actor', 'user:other', true)`)
      await tx.run(
        `update app.hold set state = 'released', released_at = now(), released_by = 'user:other', release_reason = 'over'
          where tenant_id = $1`,
        [tx.tenant_id],
      )
    })
    expect((await countAll(one.tenant_id))['hold_in_force']).toBeUndefined()
  })

  test('without the role that owns the tables', async () => {
    const tenant_id = await w.makeTenant()
    await suspend(tenant_id)
    const operator = { guarded: { app: w.runtime.database, steward: w.steward }, connections: { migrator: null } }
    const request = { operator, slug: slugOf(tenant_id), confirm: nameOf(tenant_id) }
    await expect(run(request)).rejects.toThrow('MIGRATOR_DATABASE_URL is missing')
  })

  test('by a dry run, which counts every table and changes nothing', async () => {
    const before = await digest(one.tenant_id)
    const { out, notes } = await run({ slug: slugOf(one.tenant_id), is_dry_run: true })
    const shown = Object.fromEntries(
      out
        .split('\n')
        .slice(1)
        .map((line) => line.split(/\s+/))
        .map(([table, rows]) => [table, Number(rows)]),
    )
    const { tenant, ...rest } = await countAll(one.tenant_id)
    expect(tenant).toBe(1)
    expect(shown).toEqual(rest)
    expect(notes).toContain('is not suspended')
    expect(await digest(one.tenant_id)).toEqual(before)
  })
})

describe('append-only rows stay', () => {
  const inTenant = (tenant_id: string, deleting: string) =>
    `set local app.actor = 'operator:test'; set local app.sight = 'all'; set local app.tenant_id = '${tenant_id}';
     set local app.deleting_tenant = '${deleting}'`
  const attempt = (role: keyof typeof w.clone, ...statements: string[]) =>
    runSql(w.clone[role] as pg.ClientConfig, `begin; ${statements.join('; ')}; commit`)
  const remove = 'delete from app.audit_event'

  test('for every role but the owner, and for the owner outside a deletion', async () => {
    const id = two.tenant_id
    const record = `set local role app_owner; insert into app.tenant_deletion (tenant_id, deleted_tenant_id, started_by, audit_seq, audit_hash, row_counts)
      values (app.system_tenant(), '${id}', 'operator:test', 0, repeat('0', 64), '{}')`
    for (const role of ['app', 'steward', 'worker'] as const) {
      await expect(attempt(role, inTenant(id, id), remove)).rejects.toThrow('permission denied')
      await expect(attempt(role, `set role app_owner`)).rejects.toThrow('permission denied')
    }
    const kept = /never changed or removed/
    await expect(attempt('migrator', 'set local role app_owner', inTenant(id, id), remove)).rejects.toThrow(kept)
    // The owner cannot write rows of the system tenant, so it cannot record a deletion itself.
    await expect(attempt('migrator', inTenant(SYSTEM_TENANT, id), record)).rejects.toThrow('row-level security')
    await superuser.query('begin')
    try {
      await superuser.query(record.replace('set local role app_owner;', `set local app.actor = 'operator:test';`))
      await superuser.query(`set local role app_owner; ${inTenant(id, id)}`)
      await superuser.query('savepoint before')
      await expect(superuser.query(remove), 'the tenant is active').rejects.toThrow(kept)
      await superuser.query('rollback to before')
    } finally {
      await superuser.query('rollback')
    }
  })

  test('and a tenant neither becomes deleting nor goes by hand', async () => {
    const id = two.tenant_id
    const toDeleting = `update app.tenant set state = 'deleting' where tenant_id = '${id}'`
    await expect(attempt('steward', inTenant(id, id), toDeleting)).rejects.toThrow(
      'is suspended and its deletion recorded',
    )
    const gone = `delete from app.tenant where tenant_id = '${id}'`
    await expect(attempt('steward', inTenant(id, id), gone)).rejects.toThrow('removed after everything')
    await expect(attempt('app', inTenant(id, id), toDeleting)).rejects.toThrow('permission denied')
  })
})

describe('a deletion', () => {
  const steps: DeletionStep[] = []
  let three: ExampleTenant
  let before: readonly TenantDigest[]
  let counted: Record<string, number>
  let token: string

  const digestOthers = () => Promise.all([two, three].map(({ tenant_id }) => digest(tenant_id)))
  beforeAll(async () => {
    // The others have a chain as the isolation canary has it, which no event is added to.
    three = await ExampleTenant.create(w)
    await three.user()
    await chainAllEvents(w, three)
    before = await digestOthers()
    token = await one.token()
    expect((await w.call('GET /auth/me', { token })).status).toBe(200)
    await suspend(one.tenant_id)
    const { tenant: _, ...counts } = await countAll(one.tenant_id)
    counted = counts
  })

  test('goes on after it was broken off, after each step of its own kind and between the rows', async () => {
    class Killed extends Error {}
    const onStep = (step: DeletionStep) => {
      steps.push(step)
      const isSecond = step.step === 'recorded' && steps.length === 2
      if (!isSecond && (step.step !== 'rows' || steps.length % 10 === 0)) throw new Killed()
    }
    for (let runs = 1; ; runs++) {
      const isDone = await deleteTenant({ ...options(one.tenant_id), onStep }).then(
        () => true,
        (error) => {
          if (!(error instanceof Killed)) throw error
          return false
        },
      )
      if (steps.at(-1)?.step === 'locked') await checkLocked()
      if (!isDone) continue
      expect(runs).toBeGreaterThan(15)
      break
    }
    // Broken off before the tenant is locked, it counts again.
    expect(steps.slice(0, 3).map(({ step }) => step)).toEqual(['recorded', 'recorded', 'locked'])
    expect(steps.slice(-2).map(({ step }) => step)).toEqual(['tenant', 'finished'])
  })

  /** Nobody is served, nothing runs, and there is no way back. */
  async function checkLocked(): Promise<void> {
    w.kernel.tenantStatusCache.invalidate(one.tenant_id)
    expect((await w.call('GET /auth/me', { token })).json.code).toBe('tenant_suspended')
    await expect(setState(one.tenant_id, 'active')).rejects.toThrow()
    await expect(run({ slug: slugOf(one.tenant_id), confirm: 'another name' })).rejects.toThrow('--confirm')
  }

  test('removes the keys before anything else', () => {
    const tables = steps.filter(({ step }) => step === 'rows').map(({ table }) => table)
    expect([...new Set(tables)].slice(0, 2)).toEqual(['owner_key', 'tenant_key'])
  })

  test('leaves no row of the tenant in any table, and had one in each', async () => {
    expect(await countAll(one.tenant_id)).toEqual({})
    expect(Object.keys(counted)).toEqual(expect.arrayContaining(['knot_a', 'knot_b', 'audit_event', 'evaluation']))
    const removed = new Map<string, number>()
    for (const { table, rows } of steps) if (table) removed.set(table, (removed.get(table) ?? 0) + (rows ?? 0))
    expect([...removed.keys()].filter((name) => counted[name] === undefined)).toEqual([])
    w.kernel.tenantStatusCache.invalidate(one.tenant_id)
    expect((await w.call('GET /auth/me', { token })).status).toBe(401)
  })

  test('leaves every row of other tenants as it was, and their chain verifies', async () => {
    expect(await digestOthers()).toEqual(before)
    const verified = await w.runtime.database.read(fullScope(three.tenant_id, 'operator:test'), (tx) =>
      verifyChain(tx, w.kernel.auditKeys, async () => {}),
    )
    expect(verified).toMatchObject({ intact: true })
  })

  test('keeps one row about it, which neither changes nor goes', async () => {
    const kept = await findDeletion(one.tenant_id)
    expect(kept).toMatchObject({ tenant_id: SYSTEM_TENANT, started_by: 'operator:test', row_counts: counted })
    expect(kept.audit_hash).toBe('canary')
    expect(kept.finished_at.getTime()).toBeGreaterThan(kept.started_at.getTime())
    const context = `set local app.actor = 'operator:test'; set local app.tenant_id = '${SYSTEM_TENANT}'`
    for (const change of ['set finished_at = now()', 'set finished_at = null', `set row_counts = '{}'`]) {
      const statement = `begin; ${context}; update app.tenant_deletion ${change} where deleted_tenant_id = '${one.tenant_id}'; commit`
      await expect(runSql(w.clone.steward, statement)).rejects.toThrow('never changes')
    }
    const removal = `begin; ${context}; delete from app.tenant_deletion; commit`
    await expect(runSql(w.clone.steward, removal)).rejects.toThrow('permission denied')
  })

  test('given again changes nothing, and removes what was written late', async () => {
    const late = uuidv7()
    await w.runtime.database.write(fullScope(one.tenant_id, 'operator:test'), (tx) =>
      tx.run(
        `insert into app.upload (tenant_id, upload_id, state, media_type, expires_at, created_by) values ($1, $2, 'receiving', 'text/plain', now(), 'operator:test')`,
        [one.tenant_id, late],
      ),
    )
    const kept = await findDeletion(one.tenant_id)
    expect(await run({ slug: one.tenant_id, confirm: 'whatever' })).toMatchObject({ code: 0 })
    expect(await countAll(one.tenant_id)).toEqual({})
    expect(await findDeletion(one.tenant_id)).toEqual(kept)
    expect(await digestOthers()).toEqual(before)
  })

  test('does not let the id be used again', async () => {
    const again = w.steward.write(fullScope(SYSTEM_TENANT, 'operator:test'), (tx) =>
      tx.run(`insert into app.tenant (tenant_id, slug, name) values ($1, 'again', 'Again')`, [one.tenant_id]),
    )
    await expect(again).rejects.toThrow()
  })

  test('of a demo tenant is not undone by the next start', async () => {
    const { tenant_id, slug, name } = demoTenants[1] as (typeof demoTenants)[number]
    await suspend(tenant_id)
    expect(await run({ slug, confirm: name })).toMatchObject({ code: 0 })
    await seed(w.seedContext, { demo: true })
    expect(await countAll(tenant_id)).toEqual({})
  })
})
