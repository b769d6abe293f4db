/** Settings of a tenant, retention, and the isolation self-test. */
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { modules } from '#app/modules.ts'
import { fullScope } from '#kernel/database/scope.ts'
import { type JobTestApp, startJobTestApp } from '#test/support/job-test-app.ts'
import { CANARY_TENANT, HOUSEKEEPING } from './index.ts'
import { removeOldImportRejects } from './queries.ts'
import { recordClasses } from './retention.ts'

let w: JobTestApp
let tenant_id: string
let token: string

beforeAll(async () => {
  w = await startJobTestApp()
})
afterAll(() => w.close())
beforeEach(async () => {
  tenant_id = await w.makeTenant()
  token = await w.token({ tenant_id, roles: ['tenant_admin'] })
})

const call = (at: string, body?: unknown) => w.call(at, { token, ...(body !== undefined && { body }) })

describe('the profile', () => {
  test('keeps members that are absent from a change', async () => {
    const before = (await call('GET /tenant')).json
    expect(before).toMatchObject({ tenant_id, state: 'active', demo: false, time_zone: 'UTC', revision: 1 })
    const licences = [
      { authority: 'BaFin', kind: 'bank', reference: '123' },
      { authority: 'FCA', kind: 'payment' },
    ]
    const change = { name: 'Bank', jurisdictions: ['DE', 'FR'], licences, time_zone: 'Europe/Berlin', residency: 'EU' }
    expect((await call('PATCH /tenant', change)).json).toMatchObject({ ...change, slug: before.slug, revision: 2 })
    const cleared = (await call('PATCH /tenant', { residency: null, jurisdictions: [] })).json
    expect(cleared).toMatchObject({ name: 'Bank', residency: null, jurisdictions: [], licences, revision: 3 })
    expect((await call('GET /tenant')).json).toEqual(cleared)
  })

  test.each([
    ['nothing', {}],
    ['a country that is none', { jurisdictions: ['Germany'] }],
    ['a country twice', { jurisdictions: ['DE', 'DE'] }],
    ['what is the operator’s', { slug: 'other' }],
    ['its own suspension', { state: 'active' }],
    ['a licence with more', { licences: [{ authority: 'A', kind: 'b', secret: 1 }] }],
    ['a time zone of another form', { time_zone: '+01:00' }],
  ])('%s is refused', async (_name, change) => {
    expect((await call('PATCH /tenant', change)).json.code).toBe('validation_failed')
  })

  test('refuses an unknown time zone', async () => {
    const { json } = await call('PATCH /tenant', { time_zone: 'Europe/Atlantis' })
    expect(json).toMatchObject({ status: 409, code: 'conflict', detail: expect.stringContaining('Europe/Berlin') })
  })
})

describe('the approval policy', () => {
  const rule = { action: 'roles', approvers: 1, role: 'tenant_admin' }

  test('lists the governed actions and is replaced as a whole', async () => {
    const before = (await call('GET /tenant/approval-policy')).json
    expect(before).toMatchObject({ rules: [], revision: 1 })
    const governed = w.kernel.routes.flatMap((route) => (route.governed ? [route.governed.action] : []))
    expect(before.actions).toEqual([...new Set(governed)].toSorted())
    for (let n = 0; n < 2; n++) await w.person(tenant_id, ['tenant_admin'])
    const { json } = await call('PUT /tenant/approval-policy', { rules: [rule] })
    expect(json).toMatchObject({ rules: [rule], actions: before.actions, revision: 2 })
    expect(json.updated_by).toMatch(/^user:/)
    expect((await call('GET /tenant/approval-policy')).json).toEqual(json)
  })

  test('refuses unknown and repeated actions', async () => {
    const put = async (rules: unknown) => (await call('PUT /tenant/approval-policy', { rules })).json
    expect((await put([rule, rule])).code).toBe('conflict')
    expect((await put([{ ...rule, action: 'nonsense' }])).detail).toContain('nonsense')
    expect((await put([{ ...rule, approvers: 6 }])).code).toBe('validation_failed')
    expect((await put([{ ...rule, role: 'root' }])).code).toBe('validation_failed')
    expect((await call('GET /tenant/approval-policy')).json.revision).toBe(1)
  })

  test('takes effect with the next request', async () => {
    for (let n = 0; n < 2; n++) await w.person(tenant_id, ['tenant_admin'])
    await call('PUT /tenant/approval-policy', { rules: [{ ...rule, action: 'tenant-profile' }] })
    expect((await call('PATCH /tenant', { name: 'Waits' })).status).toBe(202)
  })
})

describe('a policy without a rule for itself', () => {
  const rules = [
    { action: 'tenant-profile', approvers: 1, role: 'tenant_admin' },
    { action: 'activation', approvers: 2, role: 'compliance_officer' },
  ]
  const officer = (name: string) =>
    call('POST /users', { name, email: `${name}@bank.example`, roles: ['compliance_officer'] })

  beforeEach(async () => {
    for (let n = 0; n < 2; n++) await w.person(tenant_id, ['tenant_admin'])
    await w.person(tenant_id, ['policy_editor'])
  })

  test('is accepted once there are enough approvers, and then needs approval to be emptied', async () => {
    await officer('ann')
    const early = await call('PUT /tenant/approval-policy', { rules })
    expect([early.status, early.json.missing]).toEqual([
      409,
      [{ action: 'activation', role: 'compliance_officer', needed: 2, available: 1 }],
    ])
    await officer('bob')
    expect((await call('PUT /tenant/approval-policy', { rules })).status).toBe(200)
    const { status, json } = await call('PUT /tenant/approval-policy', { rules: [] })
    expect([status, json.action, json.required_role, json.approvers]).toEqual([
      202,
      'approval-policy',
      'compliance_officer',
      2,
    ])
    expect((await call('GET /tenant/approval-policy')).json.rules).toMatchObject(rules)
  })

  test('is answered without a request where the same rules are sent again', async () => {
    const byAdmins = ['tenant-profile', 'approval-policy'].map((action) => ({
      action,
      approvers: 1,
      role: 'tenant_admin',
    }))
    const put = (changed: readonly object[]) => call('PUT /tenant/approval-policy', { rules: changed })
    const { json: policy } = await put(byAdmins)
    const { status, json } = await put(byAdmins.map((rule) => ({ ...rule, require_impact: false })).toReversed())
    expect([status, json]).toEqual([200, policy])
    expect((await call('GET /change-requests')).json.items).toEqual([])
    expect((await put(byAdmins.slice(1))).status).toBe(202)
  })

  test('is replaced at once while it requires no approvers', async () => {
    await officer('ann')
    await officer('bob')
    expect((await call('PUT /tenant/approval-policy', { rules: [] })).status).toBe(200)
    expect((await call('PUT /tenant/approval-policy', { rules })).status).toBe(200)
    expect((await call('PUT /tenant/approval-policy', { rules: [] })).status).toBe(202)
  })
})

describe('the retention policy', () => {
  test('starts with the defaults, and is replaced as a whole', async () => {
    const before = (await call('GET /tenant/retention-policy')).json
    const names = before.classes.map(({ record_class }: { record_class: string }) => record_class)
    expect(names).toEqual(['jobs', 'import-rejects', 'provider-payloads', 'documents', 'reports', 'events', 'audit'])
    const classes = [
      { record_class: 'jobs', keep_days: 7, basis: 'Decided.' },
      { record_class: 'audit', keep_days: null, basis: 'For ever.' },
    ]
    const { json } = await call('PUT /tenant/retention-policy', { classes })
    expect(json).toMatchObject({ classes, revision: 2 })
    expect((await call('GET /tenant/retention-policy')).json).toEqual(json)
  })

  test('needs each class once, with a basis and at least one day', async () => {
    const kept = { record_class: 'jobs', keep_days: 7, basis: 'Decided.' }
    const put = async (classes: unknown) => (await call('PUT /tenant/retention-policy', { classes })).json.code
    expect(await put([kept, kept])).toBe('conflict')
    expect(await put([{ ...kept, keep_days: 0 }])).toBe('validation_failed')
    expect(await put([{ ...kept, basis: '' }])).toBe('validation_failed')
    expect(await put([{ ...kept, record_class: 'Jobs' }])).toBe('validation_failed')
  })
})

describe('retention of records', () => {
  const write = (text: string) =>
    w.runtime.database.write(fullScope(tenant_id, 'operator:test'), (tx) => tx.run(text, [tenant_id]))
  const count = async (table: string) =>
    w.runtime.database.one(fullScope(tenant_id, 'operator:test'), async (tx) => {
      return (await tx.query(`select 1 from app.${table} where tenant_id = $1`, [tenant_id])).length
    })
  const runHousekeeping = async () => {
    const { job_id } = await w.runtime.database.write(fullScope(tenant_id, 'operator:test'), (tx) =>
      w.kernel.jobs.enqueue(tx, { kind: HOUSEKEEPING, payload: {} }),
    )
    return (await w.ended(tenant_id, job_id)).result as Record<string, number>
  }
  const put = (classes: unknown) => call('PUT /tenant/retention-policy', { classes })
  /** Without their schedules: housekeeping that is due would remove rows before the run that the test starts. */
  const insertRecords = async () => {
    await w.runtime.database.write(fullScope(tenant_id, 'operator:test'), async (tx) => {
      for (const module of modules) await module.canary(tx)
      await tx.run('delete from app.job_schedule where tenant_id = $1', [tenant_id])
    })
  }

  test('accepts only classes that have an executor or are kept for ever', async () => {
    const names = recordClasses.map(({ record_class }) => record_class)
    const stored = (await call('GET /tenant/retention-policy')).json.classes
    expect(stored.map(({ record_class }: { record_class: string }) => record_class)).toEqual(names)
    for (const known of recordClasses) {
      const keep = (keep_days: number | null) =>
        put([{ record_class: known.record_class, keep_days, basis: 'Decided.' }])
      expect((await keep(null)).status).toBe(200)
      if ('executors' in known) expect(known.executors.length).toBeGreaterThan(0)
      expect((await keep(30)).status).toBe('kept_for_ever' in known ? 409 : 200)
    }
    for (const record_class of ['screening-hits', 'anything-else']) {
      const { json } = await put([{ record_class, keep_days: 30, basis: 'Decided.' }])
      expect(json).toMatchObject({ status: 409, code: 'conflict' })
      expect(json.detail).toContain('Nothing acts on record class number')
    }
    const behind = write(
      `update app.retention_policy set classes = '[{"record_class": "screening-hits", "keep_days": 1, "basis": "x"}]'
        where tenant_id = $1`,
    )
    await expect(behind).rejects.toMatchObject({ code: 'conflict' })
  })

  test('rejected rows are removed after their own period, and each removal is recorded', async () => {
    w.startRunner()
    await insertRecords()
    const tables = ['dataset_import_reject', 'subject_bulk_reject'] as const
    const kept = () => Promise.all(tables.map(count))
    expect(await kept()).toEqual([1, 1])
    const age = async (days: number) => {
      for (const table of ['dataset_import', 'subject_bulk']) {
        await write(
          `update app.${table} set created_at = now() - interval '1000 days', finished_at = now() - interval '${days} days'
            where tenant_id = $1`,
        )
      }
    }
    await put([
      { record_class: 'jobs', keep_days: 1, basis: 'Decided.' },
      { record_class: 'import-rejects', keep_days: 90, basis: 'Decided.' },
    ])
    await write(
      `update app.job set finished_at = now() - interval '50 days' where tenant_id = $1 and finished_at is not null`,
    )
    await age(89)
    expect(await runHousekeeping()).toMatchObject({ 'import-rejects': 0 })
    expect(await kept()).toEqual([1, 1])
    await age(91)
    expect(await runHousekeeping()).toMatchObject({ 'import-rejects': 2 })
    expect(await kept()).toEqual([0, 0])
    const events = await w.runtime.database.one(fullScope(tenant_id, 'operator:test'), (tx) =>
      tx.query<{ detail: string }>(`select detail from app.audit_event where operation = 'job:housekeeping'`),
    )
    const text = JSON.stringify(events)
    expect(text).toContain('import-rejects')
    await put([])
    expect(await runHousekeeping()).toMatchObject({ 'import-rejects': 0, jobs: 0 })
  })

  test('bytes of payloads and pages of answers are removed after their period, and their rows stay', async () => {
    w.startRunner()
    expect((await put([{ record_class: 'provider-payloads', keep_days: 30, basis: 'Decided.' }])).status).toBe(200)
    await insertRecords()
    const kept = () => Promise.all(['source_payload', 'source_payload_content', 'provider_page'].map(count))
    const before = await kept()
    expect(before.every((rows) => rows > 0)).toBe(true)
    // The canary payload is of 2020, its page of today.
    expect(await runHousekeeping()).toMatchObject({ 'provider-payloads': before[1] })
    expect(await kept()).toEqual([before[0], 0, before[2]])
    const owner = new pg.Client(w.clone.postgres)
    await owner.connect()
    await owner.query(`set app.actor = 'operator:test'`)
    await owner.query(`update app.provider_page set received_at = now() - interval '31 days' where tenant_id = $1`, [
      tenant_id,
    ])
    await owner.end()
    expect(await runHousekeeping()).toMatchObject({ 'provider-payloads': before[2] })
    expect(await kept()).toEqual([before[0], 0, 0])
  })

  test('removes everything that expired in bounded batches', async () => {
    const scope = fullScope(tenant_id, 'operator:test')
    await insertRecords()
    await write(
      `insert into app.dataset_import_reject (tenant_id, import_id, seq, code, pointer, location, message)
       select tenant_id, import_id, n, 'x', '', '{}', 'x' from app.dataset_import, generate_series(100, 109) n where tenant_id = $1`,
    )
    await write(`update app.dataset_import set finished_at = now() - interval '9 days' where tenant_id = $1`)
    const removals: number[] = []
    for (let count = 4; count === 4; ) {
      const [rows] = await w.runtime.database.write(scope, (tx) => removeOldImportRejects(tx, 8, 4))
      count = rows?.removed ?? 0
      removals.push(count)
    }
    expect(removals).toEqual([4, 4, 3])
  })
})

describe('the isolation self-test', () => {
  test('probes every table and reports the results', async () => {
    const { status, json } = await call('POST /tenant/isolation-checks')
    expect(status).toBe(200)
    expect(json).toMatchObject({
      passed: true,
      failed: 0,
      tenant_id,
      canary_tenant_id: CANARY_TENANT,
      database_role: { name: 'app', superuser: false, bypasses_row_security: false, owns_tables: false },
      policies_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    const registered = await w.runtime.database.read(fullScope(tenant_id, 'operator:test'), (tx) =>
      tx.query<{ table_name: string }>(`select table_name from app.wall_register where kind <> 'system' order by 1`),
    )
    expect(json.tables.map(({ table }: { table: string }) => table)).toEqual(
      registered.map(({ table_name }) => table_name),
    )
    for (const { probes } of json.tables) {
      expect(probes.map(({ probe }: { probe: string }) => probe)).toEqual([
        'read',
        'change',
        'remove',
        'plant',
        'no_tenant',
      ])
    }
    expect(json.probes).toBe(json.tables.length * 5)
  })

  test('leaves no rows behind and gives the same result again', async () => {
    const before = (await call('GET /tenant')).json
    const first = (await call('POST /tenant/isolation-checks')).json
    const second = (await call('POST /tenant/isolation-checks')).json
    expect({ ...second, checked_at: null }).toEqual({ ...first, checked_at: null })
    expect((await call('GET /tenant')).json).toEqual(before)
  })
})
