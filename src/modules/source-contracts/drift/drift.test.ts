/** Drift and lineage over stored payloads, and the proposal of a contract from them. */
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Role } from '#kernel/auth/roles.ts'
import { fullScope } from '#kernel/database/scope.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { companyContract, companyPayload, companyRecord } from '#test/support/company-registry.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { shareTestApp, type TestApp } from '#test/support/test-app.ts'
import { createPayload } from '../fixtures.ts'
import { createDriftJob } from './drift-job.ts'

let w: TestApp
let t: ExampleTenant
const at = '/source-contracts'
const contract_key = 'companies'

beforeAll(async () => {
  w = await shareTestApp()
  t = await ExampleTenant.create(w)
  const definition = companyContract({ personal: [{ at: '/officers/*/role' }] })
  await t.make(`POST ${at}`, { body: { contract_key, title: 'Registry', definition } })
  await t.make(`POST ${at}/${contract_key}/versions/draft/publish`, { body: {} })
  await t.make(`POST ${at}/${contract_key}/activations`, { body: { version: 1, reason: 'reviewed' } })
})
afterAll(() => w.close())

/** Runs the job with windows of two payloads; each payload has 20 records. */
async function collectDrift() {
  const job = createDriftJob({ window_payloads: 2, batch_payloads: 2 })
  const scope = fullScope(t.tenant_id, 'job:test')
  let result: Record<string, unknown> | null = null
  await job.run({
    job_id: uuidv7(),
    tenant_id: t.tenant_id,
    scope,
    payload: {},
    checkpoint: null,
    attempt: 1,
    signal: new AbortController().signal,
    kernel: w.kernel,
    log: w.kernel.log,
    read: (body) => w.runtime.database.read(scope, body),
    write: (body) => w.runtime.database.write(scope, body),
    step: async (body) => void (await w.runtime.database.write(scope, body)),
    visible: {
      read: (body) => w.runtime.database.read(scope, body),
      step: async (body) => void (await w.runtime.database.write(scope, body)),
    },
    finish: async (body) => {
      result = await w.runtime.database.write(scope, body)
    },
    defer: () => {
      throw new Error('this job never defers')
    },
  })
  return result as Record<string, unknown> | null
}

const createBatch = (change: Record<string, unknown> = {}) =>
  createPayload(
    t,
    contract_key,
    companyPayload(Array.from({ length: 20 }, (_, index) => companyRecord(index + 1, change))),
  )

test('compares windows with the baseline of the version and reports each change once', async () => {
  for (let index = 0; index < 3; index++) await createBatch()
  expect(await collectDrift()).toEqual({ versions: 1, payloads: 3, findings: 0 })
  const drifted = [
    await createBatch({ vat: 'GB1' }),
    await createBatch({ vat: 'GB2' }),
    await createBatch({ vat: 'GB3' }),
  ]
  expect(await collectDrift()).toMatchObject({ payloads: 3, findings: 1 })
  const drift = await t.make(`GET ${at}/${contract_key}/drift`)
  expect(drift.items).toMatchObject([
    { kind: 'new_member', pointer: '/vat', first_payload_id: drifted[0], facts: { share: 0.5, declared: false } },
  ])
  expect(
    drift.windows.map(({ state, is_baseline }: { state: string; is_baseline: boolean }) => [state, is_baseline]),
  ).toEqual([
    ['closed', false],
    ['closed', false],
    ['closed', true],
  ])
  expect(await collectDrift()).toMatchObject({ payloads: 0, findings: 0 })
})

test('a finding is acknowledged once, with who, when and a note, and stays as it was', async () => {
  const [finding] = (await t.make(`GET ${at}/${contract_key}/drift?acknowledged=no`)).items
  const path = `POST ${at}/${contract_key}/drift/${finding.finding_id}/acknowledge`
  const send = async (roles: Role[], to = path) =>
    w.call(to, { token: await t.token(roles), body: { note: 'Announced' } })
  expect((await send(['auditor'])).status).toBe(403)
  expect((await send(['policy_editor'], path.replace(contract_key, 'company-registry'))).status).toBe(404)
  const { status, json } = await send(['policy_editor'])
  expect(status).toBe(200)
  const { acknowledged_at, acknowledged_by, acknowledgement_note, ...same } = json
  expect([acknowledged_by, acknowledgement_note]).toEqual([t.caller, 'Announced'])
  expect({ ...same, acknowledged_at: null, acknowledged_by: null, acknowledgement_note: null }).toEqual(finding)
  const again = await send(['compliance_officer'])
  expect([again.status, again.json.code]).toEqual([409, 'transition_not_allowed'])
  expect((await t.make(`GET ${at}/${contract_key}/drift?acknowledged=no`)).items).toEqual([])
  expect((await t.make(`GET ${at}/${contract_key}/drift?acknowledged=yes`)).items).toEqual([json])
  await expect(t.write((tx) => tx.run(`update app.drift_acknowledgement set note = 'x'`, []))).rejects.toThrow()
})

test('a finding names its first payload to whoever may see the payload', async () => {
  const outsider = await w.person(t.tenant_id, ['auditor'])
  const read = async () => (await w.call(`GET ${at}/${contract_key}/drift`, { token: outsider.token })).json.items[0]
  const { first_payload_id, ...finding } = await read()
  expect(first_payload_id).not.toBeNull()
  const officer = await w.person(t.tenant_id, ['compliance_officer'])
  const body = { purpose: 'Case 1', is_in_force: true }
  const { restriction_id } = (await w.call('POST /restrictions', { token: officer.token, body })).json
  const superuser = new pg.Client(w.clone.postgres)
  await superuser.connect()
  const setRestriction = (id: string | null) =>
    superuser.query('update app.source_payload set restriction_id = $1 where payload_id = $2', [id, first_payload_id])
  await superuser.query('set session_replication_role = replica')
  await setRestriction(restriction_id)
  expect(await read()).toEqual({ ...finding, first_payload_id: null })
  await setRestriction(null)
  expect(await read()).toEqual({ ...finding, first_payload_id })
  await superuser.end()
})

test('lineage names what is collected, which facts it gives, and personal data that nothing reads', async () => {
  const { items, personal_unread, records } = await t.make(`GET ${at}/${contract_key}/lineage`)
  expect(records).toBe(120)
  const find = (pointer: string) => items.find((item: { pointer: string }) => item.pointer === pointer)
  expect(find('/address/country')).toMatchObject({
    declared: true,
    collected: 1,
    facts: ['country'],
    verdict: 'enforced',
  })
  expect(find('/dates/dissolution')).toMatchObject({ verdict: 'enforced', facts: ['dissolved_on'] })
  expect(find('/dates/incorporation')).toMatchObject({ verdict: 'enforced', facts: ['incorporated_on'] })
  expect(find('/number')).toMatchObject({ collected: 1, facts: [], verdict: 'kept_only' })
  expect(find('/vat')).toMatchObject({ declared: false, collected: 0.5, verdict: 'undeclared' })
  expect(personal_unread).toEqual(['/officers/*/name', '/officers/*/role'])
})

test('counts the payloads that break one place, with the first of them', async () => {
  const samples = [await createBatch({ status: 'x' }), await createBatch({ status: 'y' })]
  const { violations } = await t.make(`GET ${at}/${contract_key}/drift`)
  expect(violations).toMatchObject([{ pointer: '/status', keyword: 'enum', violations: 2, samples }])
})

test('proposes a contract from stored payloads, from a file and from samples alike', async () => {
  const recent = await t.make(`POST ${at}/infer`, { body: { recent: { contract_key, payloads: 3 } } })
  expect(recent).toMatchObject({ records: 60, definition: { records_at: '/result/items' } })
  const payloads = [1, 2].map((first) =>
    companyPayload(Array.from({ length: 60 }, (_, index) => companyRecord(first * 100 + index))),
  )
  const inline = await t.make(`POST ${at}/infer`, { body: { payloads } })
  expect(inline.findings.filter(({ severity }: { severity: string }) => severity === 'error')).toEqual([])
  expect(inline.definition.facts).toContainEqual({
    name: 'address_country',
    at: '/address/country',
    type: 'enum',
    one_of: { list_key: 'countries' },
  })
  const payload = payloads.map((each) => JSON.stringify(each)).join('\n')
  const headers = { 'content-type': 'application/octet-stream' }
  const { upload_id } = await t.make('POST /uploads?file_name=samples.ndjson', { payload, headers })
  expect((await t.make(`POST ${at}/infer`, { body: { upload_id } })).definition).toEqual(inline.definition)
})

test('a version is written as ODCS 3.1 and turned into the same draft again', async () => {
  const document = await t.make(`GET ${at}/${contract_key}/versions/1/odcs`)
  const converted = await t.make(`POST ${at}/convert-odcs`, { body: { document } })
  const { definition } = await t.make(`GET ${at}/${contract_key}/versions/1`)
  expect(converted).toEqual({ definition, unmapped: [], findings: [] })
})
