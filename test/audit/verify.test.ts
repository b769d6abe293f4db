/** The chain in the database: what a superuser does to it behind the service's back is found, with its place. */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import readline from 'node:readline'
import pg from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ChainVerification } from '#kernel/audit/chain-verifier.ts'
import { verifyExport } from '#kernel/audit/export-verifier.ts'
import { recordEvent } from '#kernel/audit/record.ts'
import { fullScope } from '#kernel/database/scope.ts'
import { createKeyring } from '#kernel/encryption/keyring.ts'
import { verifyChain } from '#modules/audit/chain-reader.ts'
import { HOUSEKEEPING } from '#modules/tenant/index.ts'
import { chainAllEvents } from '../support/audit-chain.ts'
import { TEST_MASTER_KEY } from '../support/database.ts'
import { ExampleTenant } from '../support/example-tenant.ts'
import { startSecondProcess } from '../support/second-process.ts'
import { tamper, tamperings } from '../support/tampering.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'

let w: TestApp
let t: ExampleTenant
let superuser: pg.Client
const lines: Record<string, unknown>[] = []
beforeAll(async () => {
  const log = pino({ level: 'error' }, { write: (text: string) => void lines.push(JSON.parse(text)) })
  w = await startTestApp({ log })
  t = await ExampleTenant.create(w)
  for (let i = 0; i < 12; i++) await t.newUser()
  superuser = new pg.Client(w.clone.postgres)
  await superuser.connect()
})
afterAll(async () => {
  await superuser.end()
  await w.close()
})

const sealAll = () => chainAllEvents(w, t)

async function runJob(at: string, body: unknown = {}) {
  const token = await t.token()
  const started = await w.call(at, { token, body })
  expect(started.status).toBe(202)
  const runner = w.runtime.createRunner(1)
  runner.start()
  let job = started.json
  while (job.state === 'queued' || job.state === 'running')
    job = (await w.call(`GET /jobs/${job.job_id}?wait=8`, { token })).json
  await runner.stop(5000)
  expect(job.state, JSON.stringify(job.problem)).toBe('succeeded')
  return { job, resource: (await w.call(`GET ${started.json.resource}`, { token })).json }
}
const verify = async (): Promise<ChainVerification> => (await runJob('POST /audit/verify')).resource.report

describe('verification', () => {
  test('reports an untouched record as intact and counts its unchained events', async () => {
    await sealAll()
    const report = await verify()
    // The request for the verification itself came after the sealing.
    expect(report).toMatchObject({ intact: true, faults: [], unsealed: 1 })
    expect(report.events).toBeGreaterThanOrEqual(13)
    expect(report.checkpoints).toBeGreaterThan(0)
  })

  test.each(tamperings)('detects and locates: %s', async (kind) => {
    await sealAll()
    const undo = await tamper(superuser, t.tenant_id, kind, 5)
    const report = await verify()
    expect(report.intact, kind).toBe(false)
    expect(report.faults[0]).toMatchObject({ detail: expect.any(String) })
    expect(report.faults.some(({ seq, event_id }) => seq !== null || event_id !== null)).toBe(true)
    await undo()
    expect((await verify()).intact, `${kind} was undone`).toBe(true)
  })

  test('raises an alarm with tenant and place for a broken record only', async () => {
    const alarms = async () =>
      (await w.runtime.metrics.alarms.get()).values.find(({ labels }) => labels.reason === 'audit_broken')
    await sealAll()
    const before = (await alarms())?.value ?? Number.NaN
    lines.length = 0
    const undo = await tamper(superuser, t.tenant_id, 'edit an actor', 5)
    const { job, resource } = await runJob('POST /audit/verify')
    await undo()
    expect(await alarms()).toEqual({ labels: { reason: 'audit_broken' }, value: before + 1 })
    expect(lines.filter(({ msg }) => msg === 'the audit record is broken')).toEqual([
      expect.objectContaining({
        msg: 'the audit record is broken',
        level: 50,
        tenant_id: t.tenant_id,
        run_id: job.resource.split('/').at(-1),
        faults_total: resource.report.faults_total,
        first: expect.objectContaining({ seq: 5, fault: 'event_not_authentic' }),
      }),
    ])
    expect((await verify()).intact).toBe(true)
    expect((await alarms())?.value).toBe(before + 1)
  })

  test('runs once a day by schedule and raises an alarm when the record is broken', async () => {
    const of = await ExampleTenant.create(w)
    for (let i = 0; i < 6; i++) await of.newUser()
    await chainAllEvents(w, of)
    const token = await of.token()
    const list = async () => (await w.call('GET /audit/verifications', { token })).json.items
    const dayPasses = async (many: number) => {
      await of.write((tx) =>
        tx.run(`update app.job_schedule set next_run_at = now() where tenant_id = $1 and name = 'audit-verification'`, [
          of.tenant_id,
        ]),
      )
      const runner = w.runtime.createRunner(1)
      runner.start()
      await expect.poll(async () => (await list()).length).toBe(many)
      await runner.stop(5000)
    }
    expect(await list()).toEqual([])
    await dayPasses(1)
    const [first] = await list()
    expect(first).toMatchObject({ state: 'succeeded', intact: true, faults_total: 0 })
    expect(first.created_by).toBe(`job:${first.job_id}`)
    lines.length = 0
    await tamper(superuser, of.tenant_id, 'edit an actor', 3)
    await dayPasses(2)
    const [second] = await list()
    expect(second).toMatchObject({ state: 'succeeded', intact: false })
    const whole = await w.call(`GET /audit/verifications/${second.verification_id}`, { token })
    expect(whole.json.report.faults[0]).toMatchObject({ seq: 3 })
    expect(lines.filter(({ msg }) => msg === 'the audit record is broken')).toMatchObject([
      { tenant_id: of.tenant_id, run_id: second.verification_id },
    ])
    const page = (await w.call('GET /audit/verifications?limit=1', { token })).json
    expect(page.items).toEqual([second])
    const rest = await w.call(`GET /audit/verifications?limit=1&cursor=${page.next_cursor}`, { token })
    expect(rest.json.items).toEqual([first])
  })

  test('housekeeping adds the schedule to older tenants and keeps a changed one', async () => {
    const of = await ExampleTenant.create(w)
    const schedule = () =>
      of.write((tx) =>
        tx.query(`select every_s, enabled from app.job_schedule where tenant_id = $1 and name = 'audit-verification'`, [
          of.tenant_id,
        ]),
      )
    const runHousekeeping = async () => {
      const job = await of.write((tx) => w.kernel.jobs.enqueue(tx, { kind: HOUSEKEEPING, payload: {} }))
      expect(await of.runToEnd(job)).toMatchObject({ state: 'succeeded' })
    }
    await of.write((tx) =>
      tx.run(`delete from app.job_schedule where tenant_id = $1 and name = 'audit-verification'`, [of.tenant_id]),
    )
    await runHousekeeping()
    expect(await schedule()).toEqual([{ every_s: 86_400, enabled: true }])
    await of.write((tx) =>
      tx.run(
        `update app.job_schedule set every_s = 3600, enabled = false where tenant_id = $1 and name = 'audit-verification'`,
        [of.tenant_id],
      ),
    )
    await runHousekeeping()
    expect(await schedule()).toEqual([{ every_s: 3600, enabled: false }])
  })

  test('a chain writer started later chains what an earlier one missed', async () => {
    await t.newUser()
    await sealAll()
    const unsealed = await t.write((tx) =>
      tx.query(
        'select 1 from app.audit_event e where tenant_id = $1 and not exists (select 1 from app.audit_link l where l.tenant_id = $1 and l.event_id = e.event_id)',
        [t.tenant_id],
      ),
    )
    expect(unsealed).toHaveLength(0)
  })

  test('does not chain past an event of a running transaction', async () => {
    let release: () => void = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    let opened: () => void = () => {}
    const isOpen = new Promise<void>((resolve) => {
      opened = resolve
    })
    // Takes its transaction number now, writes its event when it commits.
    const slow = t.write(async (tx) => {
      await tx.run('update app.tenant set name = name where tenant_id = $1', [t.tenant_id])
      tx.defer(
        `insert into app.audit_event (tenant_id, event_id, recorded_at, actor, operation, object_type, object_id, detail, mac)
         select tenant_id, gen_random_uuid(), recorded_at, actor, 'slow', object_type, object_id, detail, mac from app.audit_event where tenant_id = $1 limit 1`,
        [t.tenant_id],
      )
      opened()
      await held
    })
    await isOpen
    const other = await ExampleTenant.create(w)
    await other.newUser()
    await w.runtime.createChainWriter().runOnce()
    const links = await other.write((tx) =>
      tx.query('select 1 from app.audit_link where tenant_id = $1', [other.tenant_id]),
    )
    expect(links).toHaveLength(0)
    release()
    await slow
    await chainAllEvents(w, other)
    await sealAll()
    const later = await other.write((tx) =>
      tx.query('select 1 from app.audit_link where tenant_id = $1', [other.tenant_id]),
    )
    expect(later.length).toBeGreaterThan(0)
    // The event planted above has no valid code, and verification says so.
    expect((await verify()).faults).toContainEqual(expect.objectContaining({ fault: 'event_not_authentic' }))
  })
})

describe('after a rotation of the master key', () => {
  test('earlier events, links and checkpoints still verify, and the chain continues', async () => {
    const tenant = await ExampleTenant.create(w)
    const scope = fullScope(tenant.tenant_id, 'operator:test')
    await tenant.newUser()
    await chainAllEvents(w, tenant)
    const after = await startSecondProcess(w, { keyring: createKeyring([Buffer.alloc(32, 9), TEST_MASTER_KEY]) })
    const verifyBy = ({ database, kernel }: TestApp['runtime']) =>
      database.read(scope, (tx) => verifyChain(tx, kernel.auditKeys, async () => {}))
    try {
      const before = await verifyBy(after.runtime)
      expect(before).toMatchObject({ intact: true, faults: [], unsealed: 0 })
      const facts = {
        operation: 'after',
        object_type: 'x',
        object_id: 'x',
        request_id: null,
        restriction_id: null,
        detail: {},
      }
      await after.runtime.database.write(scope, async (tx) => recordEvent(tx, after.runtime.kernel.auditKeys, facts))
      await chainAllEvents({ ...w, runtime: after.runtime }, tenant)
      expect(await verifyBy(after.runtime)).toMatchObject({ intact: true, events: before.events + 1 })
      // The keys of the record are rows: a process that still starts with the old master key takes all of it for ours.
      expect(await verifyBy(w.runtime)).toMatchObject({ intact: true, events: before.events + 1 })
    } finally {
      await after.close()
    }
  })
})

describe('export', () => {
  test('verifies offline and detects changes of the file', async () => {
    const fresh = await ExampleTenant.create(w)
    for (let i = 0; i < 5; i++) await fresh.newUser()
    t = fresh
    await sealAll()
    const { resource } = await runJob('POST /audit/exports')
    const token = await t.token()
    const content = await w.call(`GET ${resource.content}`, { token })
    expect(content.status).toBe(200)
    const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'audit-')), 'audit.ndjson')
    fs.writeFileSync(file, content.text)
    const lines = () => readline.createInterface({ input: fs.createReadStream(file) })
    const { public_key } = (await w.call('GET /audit/checkpoints', { token })).json
    const report = await verifyExport(lines(), public_key)
    expect(report).toMatchObject({ intact: true, tenant_id: t.tenant_id })
    expect(report.events).toBeGreaterThanOrEqual(5)
    fs.writeFileSync(file, content.text.replace('"operation":"createUser"', '"operation":"deleteUser"'))
    expect((await verifyExport(lines())).faults[0]).toMatchObject({ fault: 'event_altered' })
    expect(content.text).not.toContain('mac')
  })
})
