/** Erasure of a subject: who decides, what is kept, what is gone, and what happens when it is interrupted. */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { main } from '#app/main.ts'
import { verifyStatement } from '#kernel/audit/chain.ts'
import { canonicalJson } from '#kernel/canonical-json.ts'
import { fullScope } from '#kernel/database/scope.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { LedgerEntry } from '#kernel/erasure/ledger.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { type JobTestApp, startJobTestApp } from '#test/support/job-test-app.ts'
import { createMemoryLedger } from '#test/support/memory-ledger.ts'
import { runErasure, upsertReplayedErasure } from './erasure/index.ts'
import { insertOverride } from './ratings/queries.ts'

let w: JobTestApp
let superuser: pg.Client
let tenant_id: string
type Someone = Awaited<ReturnType<JobTestApp['person']>>
let officer: Someone
let other: Someone
let analyst: string
const ledger: LedgerEntry[] = []
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'probity-erasure-'))

beforeAll(async () => {
  w = await startJobTestApp({ erasureLedger: createMemoryLedger(ledger), backup_days: 30 })
  superuser = new pg.Client(w.clone.postgres)
  await superuser.connect()
  tenant_id = await w.makeTenant()
  officer = await w.person(tenant_id, ['compliance_officer'])
  other = await w.person(tenant_id, ['compliance_officer'])
  analyst = await w.token({ tenant_id, roles: ['analyst'] })
})
afterAll(async () => {
  await superuser.end()
  await w.close()
  fs.rmSync(folder, { recursive: true, force: true })
})

const call = (who: Someone, line: string, body?: object) => w.call(line, { token: who.token, ...(body && { body }) })
const write = <T>(body: (tx: Tx) => Promise<T>) => w.runtime.database.write(fullScope(tenant_id, 'operator:test'), body)

const createSubject = async (more: object = {}): Promise<string> => {
  const body = { subject_type: 'person', name: 'Ada Lovelace', attributes: { born_on: '1815-12-10' }, ...more }
  return (await w.call('POST /subjects', { token: analyst, body })).json.subject_id
}
const preview = async (subject_id: string) => (await call(officer, `POST /subjects/${subject_id}/erasure-preview`)).json
const request = (who: Someone, subject_id: string) =>
  call(who, `POST /subjects/${subject_id}/erase`, { reason: 'Request of the customer' })
const confirm = (who: Someone, erasure_id: string) => call(who, `POST /erasures/${erasure_id}/confirm`)

async function verifyFile(content: object, ...words: string[]): Promise<[number, string]> {
  const file = path.join(folder, 'certificate.json')
  fs.writeFileSync(file, JSON.stringify(content))
  const out: string[] = []
  const terminal = { out: (text: string) => void out.push(text), note: () => {} }
  return [await main(['verify', 'erasure', file, ...words], {}, terminal), out.join('\n')]
}

async function confirmed(subject_id: string): Promise<{ erasure_id: string; job_id: string }> {
  const { erasure_id } = (await request(officer, subject_id)).json
  const { status, json } = await confirm(other, erasure_id)
  expect(status).toBe(202)
  const { warnings } = (await call(officer, `GET /erasures/${erasure_id}`)).json
  expect(warnings).toEqual(['no_jurisdiction'])
  return { erasure_id, job_id: json.job_id }
}

async function erase(subject_id: string): Promise<string> {
  const { erasure_id, job_id } = await confirmed(subject_id)
  const runner = w.startRunner()
  const ended = await w.ended(tenant_id, job_id)
  await runner.stop(1000)
  expect(ended).toMatchObject({ state: 'succeeded' })
  return erasure_id
}

describe('an erasure', () => {
  test('is requested by one person and confirmed by another', async () => {
    const subject_id = await createSubject()
    const requested = await request(officer, subject_id)
    expect([requested.status, requested.json.state]).toEqual([201, 'requested'])
    const { erasure_id } = requested.json
    expect((await request(other, subject_id)).json.code).toBe('duplicate')
    expect((await confirm(officer, erasure_id)).json.code).toBe('approval_own_request')
    expect((await call(officer, `GET /erasures/${erasure_id}/certificate`)).json.code).toBe('not_finished')
    const key = await w.token({ tenant_id, roles: ['compliance_officer'], principal: `key:${uuidv7()}` })
    const keyed = await w.call(`POST /erasures/${erasure_id}/withdraw`, { token: key })
    expect(keyed.json.code).toBe('person_required')
    const withdrawn = await call(officer, `POST /erasures/${erasure_id}/withdraw`)
    expect(withdrawn.json.state).toBe('withdrawn')
    expect((await confirm(other, erasure_id)).json.code).toBe('transition_not_allowed')
  })

  test('overwrites the record, and of an offboarded subject too', async () => {
    const subject_id = await createSubject({ external_id: 'customer-1815', segment: 'private' })
    await w.call(`POST /subjects/${subject_id}/offboard`, { token: analyst, body: { reason: 'Ada moved away' } })
    const erasure_id = await erase(subject_id)
    const subject = (await w.call(`GET /subjects/${subject_id}`, { token: analyst })).json
    expect(subject).toMatchObject({
      name: 'erased',
      external_id: null,
      segment: null,
      attributes: {},
      state: 'offboarded',
      offboard_reason: null,
    })
    expect(subject.erased_at).not.toBeNull()
    expect(
      (await w.call('GET /subjects?name=lovelace', { token: analyst })).json.items.map(
        (one: { subject_id: string }) => one.subject_id,
      ),
    ).not.toContain(subject_id)
    expect((await request(officer, subject_id)).json).toMatchObject({ status: 410, code: 'erased' })
    const done = (await call(officer, `GET /erasures/${erasure_id}`)).json
    expect(done).toMatchObject({
      state: 'done',
      reason: null,
      requested_by: officer.principal,
      confirmed_by: other.principal,
    })
  })

  test('voids an open change request of the subject, which stays readable without its content', async () => {
    const subject_id = await createSubject()
    await w.setApprovalRules(tenant_id, [{ action: 'risk-override', approvers: 1, role: 'compliance_officer' }])
    const expires_at = new Date(Date.now() + 30 * 86_400_000).toISOString()
    const body = { band: 'high', reason: 'Ada was in the news', expires_at }
    const { cr_id } = (await call(officer, `POST /subjects/${subject_id}/risk-override`, body)).json
    await w.setApprovalRules(tenant_id, [])
    await erase(subject_id)
    const { status, json } = await call(officer, `GET /change-requests/${cr_id}`)
    expect([status, json.state, json.body]).toEqual([200, 'void', null])
    const { items } = (await call(officer, 'GET /change-requests?state=void')).json
    expect(items.map((one: { cr_id: string }) => one.cr_id)).toEqual([cr_id])
    expect((await call(other, `POST /change-requests/${cr_id}/approve`, {})).status).toBe(409)
  })

  test('has a certificate that can be verified without the service', async () => {
    const erasure_id = await erase(await createSubject())
    const { signature, annexes, ...content } = (await call(officer, `GET /erasures/${erasure_id}/certificate`)).json
    expect(annexes).toEqual([])
    const { public_key } = w.kernel.auditKeys
    expect(verifyStatement('erasure-certificate', canonicalJson(content), signature, public_key)).toBe(true)
    expect(
      verifyStatement(
        'erasure-certificate',
        canonicalJson({ ...content, subject_id: uuidv7() }),
        signature,
        public_key,
      ),
    ).toBe(false)
    expect(content.ledger).toEqual({ seq: ledger.length, hash: ledger.at(-1)?.hash })
    const gone_by = new Date(Date.parse(content.erased_at) + 30 * 86_400_000).toISOString().slice(0, 10)
    expect(content.backups).toEqual({ kept_days: 30, last_expires_on: gone_by })
    const certificate = { ...content, annexes, signature }
    const genuine = await verifyFile(certificate, '--key', public_key)
    expect(genuine).toEqual([0, expect.stringContaining(`expires by ${gone_by}`)])
    const later = { ...certificate, backups: { kept_days: 1, last_expires_on: '2020-01-01' } }
    for (const [altered, ...words] of [
      [later],
      [{ ...certificate, annexes: [{ ...certificate, format: 'probity-erasure-annex/2' }] }],
      [certificate, '--key', 'x'.repeat(43)],
    ] as const)
      expect(await verifyFile(altered, ...words)).toEqual([1, expect.stringMatching(/^NOT GENUINE/)])
    await write(async (tx) => {
      const stored = await tx.find<{ certificate: object }>(
        'select certificate from app.erasure where erasure_id = $1',
        [erasure_id],
      )
      expect(stored?.certificate).toEqual({ ...content, signature })
    })
  })
})

describe('what is kept', () => {
  test('a hold comes first', async () => {
    const subject_id = await createSubject()
    const { erasure_id } = (await request(officer, subject_id)).json
    const body = { object_kind: 'subject', object_id: subject_id, reason: 'Court order' }
    const { hold_id } = (await call(officer, 'POST /holds', body)).json
    expect((await confirm(other, erasure_id)).json.code).toBe('legal_hold')
    const { can_erase, classes } = await preview(subject_id)
    expect(can_erase).toBe(false)
    expect(new Set(classes.map(({ rule }: { rule: string }) => rule))).toEqual(new Set(['hold']))
    await call(other, `POST /holds/${hold_id}/release`, { reason: 'Closed' })
    expect((await preview(subject_id)).can_erase).toBe(true)
  })

  test('a hold and an erasure exclude each other', async () => {
    const subject_id = await createSubject()
    const { erasure_id, job_id } = await confirmed(subject_id)
    const hold = { object_kind: 'subject', object_id: subject_id, reason: 'Court order' }
    const late = await call(officer, 'POST /holds', hold)
    expect([late.status, late.json.code]).toEqual([410, 'erased'])
    // Nor does one person stop what two have decided, not even behind the API.
    const cancelled = await call(officer, `POST /jobs/${job_id}/cancel`)
    expect([cancelled.status, cancelled.json.code]).toEqual([409, 'transition_not_allowed'])
    const cancel = write((tx) => tx.run('update app.job set cancel_requested_at = now() where job_id = $1', [job_id]))
    await expect(cancel).rejects.toMatchObject({ code: 'transition_not_allowed' })
    expect((await call(officer, `GET /jobs/${job_id}`)).json).toMatchObject({
      state: 'queued',
      cancel_requested: false,
    })
    expect((await call(officer, `GET /erasures/${erasure_id}`)).json.state).toBe('executing')
    const held = await createSubject()
    const waiting = (await request(officer, held)).json.erasure_id
    await call(officer, 'POST /holds', { ...hold, object_id: held })
    const set = `state = 'executing', confirmed_at = now(), confirmed_by = 'user:b', decision = '{}'`
    const behind = write((tx) => tx.run(`update app.erasure set ${set} where erasure_id = $1`, [waiting]))
    await expect(behind).rejects.toMatchObject({ code: 'legal_hold' })
  })

  test('a retention period of the jurisdiction, and of the group it belongs to, comes before the request', async () => {
    const elsewhere = await w.makeTenant()
    const admin = await w.person(elsewhere, ['tenant_admin', 'policy_editor', 'compliance_officer'])
    const token = await w.token({ tenant_id: elsewhere, roles: ['analyst'] })
    const body = { subject_type: 'person', name: 'Grace Hopper' }
    const { subject_id } = (await w.call('POST /subjects', { token, body })).json
    const look = async () => (await call(admin, `POST /subjects/${subject_id}/erasure-preview`)).json
    expect(await look()).toMatchObject({ can_erase: true, jurisdictions: [], warnings: ['no_jurisdiction'] })
    await call(admin, 'PATCH /tenant', { jurisdictions: ['BR'] })
    expect(await look()).toMatchObject({ jurisdictions: ['BR'], warnings: ['no_retention_period'] })
    await call(admin, 'PATCH /tenant', { jurisdictions: ['DE'] })
    const active = await look()
    expect(active).toMatchObject({ can_erase: false, jurisdictions: ['DE'], warnings: [] })
    const record = (answer: { classes: { class: string }[] }) => answer.classes.find((one) => one.class === 'subject')
    expect(record(active)).toMatchObject({
      outcome: 'keep',
      rule: 'retention',
      keep_until: null,
      clock: { jurisdiction: 'EU', keep_months: 60 },
    })
    await w.call(`POST /subjects/${subject_id}/offboard`, { token, body: { reason: 'Closed' } })
    expect(record(await look())).toMatchObject({ keep_until: expect.stringMatching(/^20/) })
    const refused = await call(admin, `POST /subjects/${subject_id}/erase`, { reason: 'Request' })
    expect([refused.status, refused.json.code]).toEqual([409, 'retention'])
    expect(refused.json.kept[0].clock.legal_basis).toContain('Article')
    // Six years later.
    await superuser.query('set session_replication_role = replica')
    await superuser.query(`update app.subject set offboarded_at = now() - interval '6 years' where subject_id = $1`, [
      subject_id,
    ])
    await superuser.query('set session_replication_role = origin')
    expect(await look()).toMatchObject({ can_erase: true, retention_clocks: { version: 1 } })
    // The tenant keeps records longer than the shared list asks for.
    const entries = [{ key: 'EU|due-diligence', op: 'merge', value: { keep_months: 96 } }]
    const at = '/reference-data/datasets/retention-clocks/overlay'
    const overlay = await w.call(`PUT ${at}`, { token: admin.token, body: { entries, reason: 'House rule' } })
    expect(overlay.status, JSON.stringify(overlay.json)).toBe(200)
    expect(await look()).toMatchObject({ can_erase: false })
  })
})

describe('the database', () => {
  test('changes an offboarded subject only in the transaction of a step', async () => {
    const subject_id = await createSubject()
    await w.call(`POST /subjects/${subject_id}/offboard`, { token: analyst, body: { reason: 'Closed' } })
    const { erasure_id } = await confirmed(subject_id)
    const set = `name = 'erased', external_id = null, segment = null, attributes = '{}', offboard_reason = null, erased_at = now()`
    const overwrite = (tx: Tx) => tx.run(`update app.subject set ${set} where subject_id = $1`, [subject_id])
    const setting = (tx: Tx, id = erasure_id) => tx.run(`select set_config('app.erasing', $1, true)`, [id])
    const insertStep = (tx: Tx, of = subject_id) =>
      tx.run(`insert into app.erasure_step (tenant_id, erasure_id, step, subject_id) values ($1, $2, 'probe', $3)`, [
        tenant_id,
        erasure_id,
        of,
      ])
    await expect(write(overwrite)).rejects.toMatchObject({ code: 'PB002' })
    // The setting alone is not enough, and a step of an earlier transaction neither.
    await expect(
      write(async (tx) => {
        await setting(tx)
        await overwrite(tx)
      }),
    ).rejects.toMatchObject({ code: 'PB002' })
    await write((tx) => insertStep(tx))
    await expect(
      write(async (tx) => {
        await setting(tx)
        await overwrite(tx)
      }),
    ).rejects.toMatchObject({ code: 'PB002' })
    await expect(write((tx) => insertStep(tx, uuidv7()))).rejects.toMatchObject({ code: 'PB002' })
    // Nor does a step of one subject erase another.
    const bystander = await createSubject()
    const both = write(async (tx) => {
      await tx.run(
        `insert into app.erasure_step (tenant_id, erasure_id, step, subject_id) values ($1, $2, 'probe-2', $3)`,
        [tenant_id, erasure_id, subject_id],
      )
      await setting(tx)
      await tx.run(
        `update app.subject set name = 'erased', erased_at = now(), attributes = '{}', state = 'offboarded', offboarded_at = now() where subject_id = $1`,
        [bystander],
      )
    })
    await expect(both).rejects.toMatchObject({ code: 'PB002' })
  })

  test('keeps ratings, and lets only an erasure remove their reasons', async () => {
    const subject_id = await createSubject()
    const body = { band: 'high', reason: 'Adverse media', expires_at: new Date(Date.now() + 86_400_000).toISOString() }
    expect((await w.call(`POST /subjects/${subject_id}/risk-override`, { token: analyst, body })).status).toBe(201)
    const change = (text: string) =>
      write((tx) =>
        tx.run(`update app.rating set ${text} where tenant_id = $1 and subject_id = $2`, [tenant_id, subject_id]),
      )
    await expect(change(`reason = 'x'`)).rejects.toMatchObject({ code: 'PB002' })
    await expect(change(`band = 'low'`)).rejects.toMatchObject({ code: '42501' })
    await erase(subject_id)
    const { items } = (await w.call(`GET /subjects/${subject_id}/risk-history`, { token: analyst })).json
    expect(items).toMatchObject([{ band: 'high', reason: 'erased' }])
    const late = { rating_id: uuidv7(), subject_id, band: 'low', reason: 'Cleared', expires_at: body.expires_at }
    await expect(write((tx) => insertOverride(tx, late))).rejects.toMatchObject({ code: 'erased' })
  })

  test('lets only the operator replay the ledger', async () => {
    const subject_id = await createSubject()
    const scope = { tenant_id, actor: officer.principal, sight: `principal:${officer.principal}` } as const
    const replay = w.runtime.database.write(scope, (tx) =>
      upsertReplayedErasure(tx, {
        ...{ erasure_id: uuidv7(), subject_id, requested_by: 'user:a', confirmed_by: 'user:b' },
        confirmed_at: new Date().toISOString(),
      }),
    )
    await expect(replay).rejects.toMatchObject({ code: 'PB002' })
  })

  test('confirms nothing with one person, and carries out nothing that was not confirmed', async () => {
    const subject_id = await createSubject()
    const { erasure_id } = (await request(officer, subject_id)).json
    const update = (by: string) =>
      write((tx) =>
        tx.run(
          `update app.erasure set state = 'executing', confirmed_at = now(), confirmed_by = $2, decision = '{}' where erasure_id = $1`,
          [erasure_id, by],
        ),
      )
    for (const by of [officer.principal, 'key:a'])
      await expect(update(by)).rejects.toMatchObject({ code: 'approval_own_request' })
    const step = write((tx) =>
      tx.run(`insert into app.erasure_step (tenant_id, erasure_id, step, subject_id) values ($1, $2, 'probe', $3)`, [
        tenant_id,
        erasure_id,
        subject_id,
      ]),
    )
    await expect(step).rejects.toMatchObject({ code: 'PB002' })
  })
})

describe('an interrupted erasure', () => {
  test('is continued from every point, with one entry in the ledger', async () => {
    const subject_id = await createSubject({ name: 'Mary Somerville' })
    const { erasure_id } = await confirmed(subject_id)
    const before = ledger.length
    const read = <T>(body: (tx: Tx) => Promise<T>) => write(body)
    const state = async () => (await call(officer, `GET /erasures/${erasure_id}`)).json.state
    const attempt = async (commits: number, when: 'before' | 'after') => {
      let left = commits
      const failing = async (body: (tx: Tx) => Promise<void>) => {
        if (left === 0 && when === 'before') throw new Error('the process died')
        await write(async (tx) => {
          await body(tx)
          if (left === 0) throw new Error('the process died')
        })
        left--
      }
      await runErasure(w.kernel, { read, write: failing }, { tenant_id, erasure_id })
    }
    let commits = 0
    for (; (await state()) !== 'done'; commits++) {
      for (const when of ['before', 'after'] as const) {
        const outcome = await attempt(commits, when).catch((error: Error) => error.message)
        if (outcome === undefined) break
        expect(outcome).toBe('the process died')
        expect(ledger.length).toBe(before + 1)
        const subject = (await w.call(`GET /subjects/${subject_id}`, { token: analyst })).json
        // Until the last transaction commits, the key and the record are there together.
        expect(subject.name).toBe('Mary Somerville')
      }
      if (commits > 50) throw new Error('it never ends')
    }
    expect(commits).toBeGreaterThan(5)
    expect((await w.call(`GET /subjects/${subject_id}`, { token: analyst })).json.name).toBe('erased')
  })
})
