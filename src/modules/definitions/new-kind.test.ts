/**
 * A kind of definition that only this test declares gets drafts, versions, activation, rollback and bitemporal resolution.
 */
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { modules } from '#app/modules.ts'
import { fullScope } from '#kernel/database/scope.ts'
import { buildOpenapiDocument } from '#kernel/openapi.ts'
import { SYSTEM_TENANT, uuidv7 } from '#kernel/uuid.ts'
import { matrixKind } from '#modules/risk-matrices/index.ts'
import { ruleKind } from '#modules/rules/index.ts'
import { installNoticeKind, noticeKind, notices } from '#test/support/notice-kind.ts'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'
import { datasetStore, documentStore, resolver } from './index.ts'

let w: TestApp
let tenant_id: string
let token: string
let owner: pg.Client
beforeAll(async () => {
  w = await startTestApp({ modules: [...modules, notices] })
  owner = new pg.Client(w.clone.postgres)
  await owner.connect()
  await installNoticeKind(w, (sql) => owner.query(sql))
  tenant_id = await w.tenant()
  token = await w.token()
})
afterAll(async () => {
  await owner.end()
  await w.close()
})
const call = (at: string, body?: unknown) => w.call(at, { token, ...(body !== undefined && { body }) })

const paragraph = (name: string, text: string) => ({ name, text })
const opening = paragraph('opening', 'Dear customer,')
const closing = paragraph('closing', 'Yours, the bank')

async function publishNotice(notice_key: string, paragraphs: readonly object[]): Promise<number> {
  const draft = await call(`POST /notices/${notice_key}/versions`, { definition: { paragraphs } })
  expect(draft.status).toBe(201)
  const published = await call(`POST /notices/${notice_key}/versions/draft/publish`, {})
  expect(published.status).toBe(201)
  return published.json.version
}

const createNotice = (notice_key: string, paragraphs: readonly object[]) =>
  call('POST /notices', { notice_key, title: 'Account closed', definition: { paragraphs } })

test('every kind has a row in app.definition_family', async () => {
  const { rows } = await owner.query('select family from app.definition_family')
  const families = rows.map(({ family }) => family)
  expect(families).toEqual(expect.arrayContaining(['list', matrixKind.family, ruleKind.family, noticeKind.family]))
  const declared = w.kernel.modules.flatMap(({ definition_kinds = [] }) => definition_kinds)
  expect(declared.map(({ family }) => family).toSorted()).toEqual(families.toSorted())
})

test('the database refuses a definition whose family has no row', async () => {
  const insert = w.runtime.database.write(fullScope(tenant_id, 'operator:test'), (tx) =>
    datasetStore.insertDataset(tx, {
      dataset_id: uuidv7(),
      family: 'unknown',
      list_key: 'unknown',
      role: 'base',
      type_tenant_id: SYSTEM_TENANT,
      type_key: noticeKind.type_key,
      title: 'Unknown',
    }),
  )
  await expect(insert).rejects.toMatchObject({ constraint: 'dataset_family_fkey' })
})

test('validates a draft by its kind, publishes, compares and activates it', async () => {
  const created = await createNotice('account-closed', [])
  expect([created.status, created.json.subject_types]).toEqual([201, undefined])
  const refused = await call('POST /notices/account-closed/versions/draft/publish', {})
  expect([refused.status, refused.json.code, refused.json.errors[0].pointer]).toEqual([
    409,
    'definition_invalid',
    '#/paragraphs',
  ])
  await call('DELETE /notices/account-closed/versions/draft')
  expect(await publishNotice('account-closed', [opening])).toBe(1)
  expect(await publishNotice('account-closed', [opening, closing])).toBe(2)

  const { json: difference } = await call('GET /notices/account-closed/diff?from=1&to=2')
  expect(difference.items).toEqual([expect.objectContaining({ op: 'added', key: 'closing' })])
  const { json: second } = await call('GET /notices/account-closed/versions/2')
  expect(second).toMatchObject({
    definition: { paragraphs: [opening, closing] },
    reading: [opening.text, closing.text],
    proof: { paragraphs: 2 },
  })

  const activated = await call('POST /notices/account-closed/activations', { version: 2, reason: 'first' })
  expect([activated.status, activated.json.version]).toEqual([201, 2])
  const { json: view } = await call('GET /notices/account-closed')
  expect(view.active).toMatchObject({ version: 2, via: 'tenant-own' })
})

test('rolls back, and resolves by valid time and known time', async () => {
  await createNotice('fees', [opening])
  await call('DELETE /notices/fees/versions/draft')
  await publishNotice('fees', [opening])
  await publishNotice('fees', [closing])
  await call('POST /notices/fees/activations', { version: 1, reason: 'first' })
  const between = new Date().toISOString()
  await call('POST /notices/fees/activations', { version: 2, reason: 'second' })
  const rolledBack = await call('POST /notices/fees/rollback', { reason: 'wrong text' })
  expect([rolledBack.status, rolledBack.json.activation.version]).toEqual([201, 1])
  const never = await call('POST /notices/fees/rollback', { to_version: 3, reason: 'wrong text' })
  expect(never.status).toBe(409)

  const resolve = (clocks: resolver.Clocks) =>
    w.kernel.transactions.read(
      fullScope(tenant_id, 'operator:test'),
      async (tx) => (await resolver.findPointersInForce(tx, ['fees'], clocks, 'notice')).get('fees')?.version,
    )
  expect(await resolve({})).toBe(1)
  expect(await resolve({ valid_at: between })).toBe(1)
  const { json: asOf } = await call(`GET /audit/as-of?at=${new Date().toISOString()}&family=notice`)
  expect(asOf.items.map(({ key }: { key: string }) => key)).toEqual(expect.arrayContaining(['account-closed', 'fees']))
})

test('stores the lists that a version reads, and refuses a list that is not in force', async () => {
  const missing = { ...opening, list_key: 'no-such-list' }
  await createNotice('lists', [missing])
  const refused = await call('POST /notices/lists/versions/draft/publish', {})
  expect([refused.status, refused.json.errors[0].keyword]).toEqual([409, 'list_not_in_force'])
  await call('DELETE /notices/lists/versions/draft')
  await publishNotice('lists', [{ ...opening, list_key: 'jurisdiction-risk' }])
  const { json } = await call('GET /notices/lists/dependencies')
  expect(json.items).toEqual([
    expect.objectContaining({
      list_key: 'jurisdiction-risk',
      read_at: [expect.objectContaining({ pointer: '/paragraphs/0/list_key' })],
    }),
  ])
  const readers = await w.kernel.transactions.read(fullScope(tenant_id, 'operator:test'), (tx) =>
    documentStore.listReferencingDefinitions(tx, 'jurisdiction-risk'),
  )
  expect(readers).toContainEqual({ family: 'notice', key: 'lists' })
  await call('POST /notices/lists/activations', { version: 1, reason: 'first' })
  const dependents = await call('GET /reference-data/datasets/jurisdiction-risk/dependents')
  expect(dependents.status).toBe(200)
  expect(dependents.json.items).toContainEqual(expect.objectContaining({ kind: 'notice', key: 'lists', version: 1 }))
})

test('is in every section of the overview, and its change requests are described', async () => {
  await createNotice('overdue', [opening])
  expect((await call('GET /analytics/overview')).json.policy_editor.drafts).toContainEqual(
    expect.objectContaining({ family: 'notice', key: 'overdue' }),
  )
  expect((await call('POST /notices/overdue/versions/draft/publish', {})).status).toBe(201)
  await publishNotice('overdue', [opening, closing])
  expect((await call('POST /notices/overdue/activations', { version: 1, reason: 'first' })).status).toBe(201)
  const { revision: expected_revision } = (await call('GET /notices/overdue')).json
  const changed = await call('PATCH /notices/overdue', { review_every_days: 1, expected_revision })
  expect(changed.status).toBe(200)
  await w.setApprovalRules(tenant_id, [{ action: 'activation', approvers: 1, role: 'compliance_officer' }])
  const proposed = await call('POST /notices/overdue/activations', { version: 2, reason: 'second' })
  await w.setApprovalRules(tenant_id, [])
  expect(proposed.status).toBe(202)

  const { status, json } = await call('GET /analytics/overview')
  expect(status).toBe(200)
  expect(json.definitions_due).toContainEqual(expect.objectContaining({ family: 'notice', key: 'overdue' }))
  expect(json.auditor.policy_changes).toContainEqual(
    expect.objectContaining({ family: 'notice', key: 'overdue', summary: 'Account closed: version 1 put in force' }),
  )
  expect(json.proposals).toContainEqual(
    expect.objectContaining({ summary: expect.stringMatching(/^Account closed: version 1 → 2, parts: 1 added/) }),
  )
})

test('its family is among those that the API documentation names', () => {
  const document = buildOpenapiDocument({ modules: w.kernel.modules, version: '1', server_url: null })
  const { schemas } = document['components'] as { schemas: Readonly<Record<string, { examples?: unknown }>> }
  expect(schemas['DefinitionFamily']?.examples).toEqual(expect.arrayContaining(['list', 'matrix', 'notice']))
})

test('returns 404 for the definition of another tenant', async () => {
  await createNotice('private', [opening])
  const foreign = await w.token({ tenant_id: await w.makeTenant() })
  const seen = await w.call('GET /notices/private', { token: foreign })
  expect(seen.status).toBe(404)
})
