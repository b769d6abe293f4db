/** Changes that undo or weaken an approved change need approval too, and another person reviews an emergency. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { fullScope } from '#kernel/database/scope.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { shareTestApp, type TestApp } from '#test/support/test-app.ts'

interface Caller {
  readonly principal: string
  readonly token: string
}

let w: TestApp
let tenant_id: string
let editor: Caller
let officer: Caller
let second: Caller
let third: Caller
let list_key: string
let at: string
let count = 0

const rule = (action: string) => ({ action, approvers: 1, role: 'compliance_officer' })
const govern = (...actions: string[]) => w.setApprovalRules(tenant_id, actions.map(rule))
const call = (by: Caller, path: string, body?: object) => w.call(path, { token: by.token, ...(body && { body }) })
const tomorrow = () => new Date(Date.now() + 86_400_000).toISOString()
const ok = async (by: Caller, path: string, body?: object) => {
  const reply = await call(by, path, body)
  expect([path, reply.status, reply.text]).toMatchObject([path, expect.toBeOneOf([200, 201]), expect.anything()])
  return reply.json
}
const activate = (version: number, more: object = {}) =>
  ok(officer, `POST ${at}/activations`, { version, reason: 'reviewed', ...more })
const inForce = async () => (await ok(officer, `GET ${at}`)).active.version
const rollBack = (by: Caller, body: object = {}) => call(by, `POST ${at}/rollback`, { reason: 'wrong data', ...body })
const emergency = { break_glass: { reason: 'customers are blocked' } }
const reviews = async (by: Caller) => (await ok(by, 'GET /break-glass-reviews/inbox')).items

beforeAll(async () => {
  w = await shareTestApp()
})
afterAll(() => w.close())

/** A list with three versions: the first was in force, the second is, the third never was. */
beforeEach(async () => {
  if (count === 0) {
    tenant_id = await w.makeTenant()
    editor = await w.person(tenant_id, ['policy_editor'])
    officer = await w.person(tenant_id, ['compliance_officer'])
    second = await w.person(tenant_id, ['compliance_officer'])
    third = await w.person(tenant_id, ['compliance_officer'])
    const schema = { type: 'object', properties: { code: { type: 'string' } }, required: ['code'] }
    const type = { type_key: 'codes', title: 'Codes', schema, key_pointers: ['/code'], examples: [{ code: 'A' }] }
    await ok(editor, 'POST /reference-data/types', { ...type, description: 'Codes.', fields: {} })
  }
  await govern()
  list_key = `codes-${++count}`
  at = `/reference-data/datasets/${list_key}`
  await ok(editor, 'POST /reference-data/datasets', { list_key, type_key: 'codes', title: 'Codes' })
  for (const data of [[{ code: 'A' }], [{ code: 'B' }], [{ code: 'C' }]]) {
    await ok(editor, `POST ${at}/versions`, { data })
  }
  await activate(1)
  await activate(2)
})

test('a new type version that waits for approval is void when another list version is in force', async () => {
  await govern('types')
  const schema = { type: 'object', properties: { code: { type: 'string', enum: ['A', 'B'] } }, required: ['code'] }
  const next = {
    title: 'Codes',
    description: 'Codes.',
    schema,
    key_pointers: ['/code'],
    fields: {},
    examples: [{ code: 'A' }],
  }
  const propose = () => call(editor, 'POST /reference-data/types/codes/versions', next)
  const { status, json } = await propose()
  expect(status).toBe(202)
  await activate(3)
  const approved = await call(officer, `POST /change-requests/${json.cr_id}/approve`, {})
  expect([approved.status, approved.json.code]).toEqual([409, 'approval_void'])
  expect((await propose()).json).toMatchObject({ code: 'type_incompatible', breaks: [{ list_key, version: 3 }] })
})

describe('a rollback', () => {
  test.each([{}, emergency])('only accepts a version that was in force before: %j', async (more) => {
    const never = await rollBack(officer, { to_version: 3, ...more })
    expect([never.status, never.json.code]).toEqual([409, 'version_never_in_force'])
    expect(never.json.detail).toContain('Version 3')
    expect((await rollBack(officer, { to_version: 9, ...more })).json.code).toBe('conflict')
    expect(await inForce()).toBe(2)
    expect((await rollBack(officer, { to_version: 1, ...more })).status).toBe(201)
    expect(await inForce()).toBe(1)
  })

  test('refuses a version that another one replaced before its start', async () => {
    const schedule = `insert into app.activation (tenant_id, activation_id, family, list_key, layer, kind, dataset_tenant_id,
         dataset_id, version, effective_from, reason, actor, seq, recorded_at, retroactive, prev_hash, hash)
       select tenant_id, $3, 'list', list_key, 'base', 'activate', tenant_id, dataset_id, $4,
              transaction_timestamp() + interval '1 second', 'x', 'x', 0, now(), false, '', ''
         from app.dataset where tenant_id = $1 and list_key = $2 and family = 'list'`
    await w.runtime.database.write(fullScope(tenant_id, 'operator:test'), async (tx) => {
      for (const version of [3, 1]) await tx.run(schedule, [tenant_id, list_key, uuidv7(), version])
    })
    await expect.poll(inForce, { timeout: 20_000 }).toBe(1)
    expect((await rollBack(officer, { to_version: 3 })).json.code).toBe('version_never_in_force')
    expect((await rollBack(officer, { to_version: 2 })).status).toBe(201)
  })

  test('refuses a version that was scheduled and cancelled before its start', async () => {
    const effective_from = tomorrow()
    const { activation_id } = await activate(3, { effective_from })
    expect((await rollBack(officer, { to_version: 3, keep_scheduled: true })).json.code).toBe('version_never_in_force')
    await ok(officer, `DELETE ${at}/activations/${activation_id}`)
    expect((await rollBack(officer, { to_version: 3 })).json.code).toBe('version_never_in_force')
  })

  test('refuses a withdrawn version and the version in force', async () => {
    expect((await rollBack(officer, { to_version: 2 })).json.code).toBe('transition_not_allowed')
    await ok(officer, `PATCH ${at}/versions/1`, { state: 'withdrawn', reason: 'wrong' })
    expect((await rollBack(officer, { to_version: 1, ...emergency })).json.code).toBe('transition_not_allowed')
    const unnamed = await rollBack(officer)
    expect([unnamed.status, unnamed.json.code]).toEqual([409, 'transition_not_allowed'])
  })

  test('to a version that was never in force is refused by the database too', async () => {
    const insert = (version: number) =>
      w.runtime.database.write(fullScope(tenant_id, 'operator:test'), (tx) =>
        tx.run(
          `insert into app.activation (tenant_id, activation_id, family, list_key, layer, kind, dataset_tenant_id, dataset_id,
             version, reason, actor, seq, recorded_at, retroactive, prev_hash, hash)
           select tenant_id, $3, 'list', list_key, 'base', 'rollback', tenant_id, dataset_id, $4, 'x', 'x', 0, now(), false, '', ''
             from app.dataset where tenant_id = $1 and list_key = $2 and family = 'list'`,
          [tenant_id, list_key, uuidv7(), version],
        ),
      )
    await expect(insert(3)).rejects.toMatchObject({ code: 'PB006' })
    await expect(insert(1)).resolves.toBe(1)
  })

  test('in an emergency needs a person: an API key gets 403', async () => {
    const robot = await w.token({ tenant_id, roles: ['compliance_officer'], principal: `key:${uuidv7()}` })
    const refused = await rollBack({ principal: 'key', token: robot }, { to_version: 1, ...emergency })
    expect([refused.status, refused.json.code]).toEqual([403, 'person_required'])
    expect(await inForce()).toBe(2)
    expect((await rollBack({ principal: 'key', token: robot }, { to_version: 1 })).status).toBe(201)
  })

  test('that cancels scheduled activations needs the same approval as they did', async () => {
    await activate(3, { effective_from: tomorrow() })
    await govern('activation')
    const proposal = await rollBack(officer, { to_version: 1 })
    expect([proposal.status, proposal.json.action]).toEqual([202, 'rollback'])
    expect((await rollBack(officer, { to_version: 1, keep_scheduled: true })).status).toBe(201)
  })
})

describe('an emergency', () => {
  const open = async () =>
    (await reviews(second)).length + (await reviews(third)).length + (await reviews(officer)).length

  test('is listed for every other approver until one of them acknowledges it', async () => {
    await govern('rollback')
    const rolledBack = await rollBack(officer, { to_version: 1, ...emergency })
    expect(rolledBack.status).toBe(201)
    expect(await reviews(officer)).toEqual([])
    expect(await reviews(editor).catch(() => 'refused')).toBe('refused')
    const [item] = await reviews(second)
    expect(rolledBack.json.review_id).toBe(item.review_id)
    expect(item).toMatchObject({
      operation: 'rollBackDataset',
      action: 'rollback',
      params: { list_key },
      reason: 'customers are blocked',
      required_role: 'compliance_officer',
      state: 'open',
      created_by: officer.principal,
      acknowledged_by: null,
    })
    expect(await reviews(third)).toEqual([item])
    const path = `/break-glass-reviews/${item.review_id}`
    const own = await call(officer, `POST ${path}/acknowledge`, {})
    expect([own.json.code, own.json.detail]).toEqual([
      'approval_own_request',
      'Nobody acknowledges an emergency change of their own; somebody else must.',
    ])
    expect((await call(editor, `POST ${path}/acknowledge`, {})).status).toBe(403)
    const done = await ok(second, `POST ${path}/acknowledge`, { note: 'right' })
    expect(done).toMatchObject({ state: 'acknowledged', acknowledged_by: second.principal, note: 'right' })
    expect(await reviews(third)).toEqual([])
    expect((await call(third, `POST ${path}/acknowledge`, {})).json.code).toBe('transition_not_allowed')
    expect(await ok(officer, `GET ${path}`)).toEqual(done)
    const auditor = await w.person(tenant_id, ['auditor'])
    expect((await ok(auditor, 'GET /break-glass-reviews?state=acknowledged')).items).toEqual([done])
    const { items } = await ok(auditor, `GET /audit/events?object_id=${item.review_id}&object_type=break-glass-reviews`)
    expect(items.map(({ operation }: { operation: string }) => operation)).toEqual(['acknowledgeBreakGlassReview'])
  })

  test('creates no review when the policy requires no approval or the rollback failed', async () => {
    expect((await rollBack(officer, { to_version: 1, ...emergency })).status).toBe(201)
    await govern('rollback')
    expect((await rollBack(officer, { to_version: 3, ...emergency })).status).toBe(409)
    expect(await open()).toBe(0)
  })

  test('cannot be acknowledged by its author or by a machine: the database refuses both', async () => {
    await govern('rollback')
    await rollBack(officer, { to_version: 1, ...emergency })
    const acknowledge = (by: string) =>
      w.runtime.database.write(fullScope(tenant_id, 'operator:test'), (tx) =>
        tx.run(
          `update app.break_glass_review set state = 'acknowledged', acknowledged_by = $2, acknowledged_at = now()
            where tenant_id = $1 and state = 'open'`,
          [tenant_id, by],
        ),
      )
    await expect(acknowledge(officer.principal)).rejects.toMatchObject({ code: 'approval_own_request' })
    await expect(acknowledge('key:1')).rejects.toMatchObject({ code: 'approval_own_request' })
    await expect(acknowledge(second.principal)).resolves.toBe(1)
  })
})

describe('with approval', () => {
  test('cancelling a scheduled activation needs a second person', async () => {
    const { activation_id } = await activate(3, { effective_from: tomorrow() })
    await govern('activation')
    const proposal = await call(officer, `DELETE ${at}/activations/${activation_id}?reason=late`)
    expect([proposal.status, proposal.json.action, proposal.json.operation]).toEqual([
      202,
      'activation',
      'deleteActivation',
    ])
    expect((await ok(officer, `GET ${at}`)).pending).toHaveLength(1)
    await ok(second, `POST /change-requests/${proposal.json.cr_id}/approve`, {})
    expect((await ok(officer, `GET ${at}`)).pending).toEqual([])
  })

  test('changing guards and limits needs a second person, changing the title does not', async () => {
    await govern('datasets')
    expect((await call(editor, `PATCH ${at}`, { title: 'Other', guards: {}, stale_after_days: null })).status).toBe(200)
    for (const change of [{ guards: { min_entries: 0 } }, { stale_after_days: 30 }, { review_every_days: 30 }]) {
      const proposal = await call(editor, `PATCH ${at}`, change)
      expect([proposal.status, proposal.json.action]).toEqual([202, 'datasets'])
      await ok(second, `POST /change-requests/${proposal.json.cr_id}/approve`, {})
    }
    await govern('activation')
    const weaker = await call(editor, `PATCH ${at}`, { guards: { min_entries: 1 } })
    expect([weaker.status, weaker.json.action]).toEqual([202, 'datasets'])
    expect(await ok(editor, `GET ${at}`)).toMatchObject({ title: 'Other', stale_after_days: 30, review_every_days: 30 })
  })
})

describe('a version that is in force or scheduled', () => {
  const withdraw = (version: number) =>
    call(officer, `PATCH ${at}/versions/${version}`, { state: 'withdrawn', reason: 'wrong' })

  test('cannot be withdrawn until another one replaces it', async () => {
    const { activation_id } = await activate(3, { effective_from: tomorrow() })
    for (const version of [2, 3]) {
      const refused = await withdraw(version)
      expect([refused.status, refused.json.code]).toEqual([409, 'version_in_force'])
    }
    await ok(officer, `DELETE ${at}/activations/${activation_id}`)
    expect((await withdraw(3)).status).toBe(200)
    expect((await rollBack(officer, { to_version: 1 })).status).toBe(201)
    expect((await withdraw(2)).status).toBe(200)
    expect((await withdraw(1)).json.code).toBe('version_in_force')
  })

  test('cannot be withdrawn in the database either', async () => {
    const set = (version: number) =>
      w.runtime.database.write(fullScope(tenant_id, 'operator:test'), (tx) =>
        tx.run(
          `update app.dataset_version v set state = 'withdrawn' from app.dataset d
            where v.tenant_id = $1 and d.tenant_id = v.tenant_id and d.dataset_id = v.dataset_id and d.list_key = $2 and v.version = $3`,
          [tenant_id, list_key, version],
        ),
      )
    await expect(set(2)).rejects.toMatchObject({ code: 'PB007' })
    await expect(set(1)).resolves.toBe(1)
  })
})
