/** Change requests: a governed change waits for approval by somebody else and is executed exactly as proposed, or not at all. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Role } from '#kernel/auth/roles.ts'
import { fullScope } from '#kernel/database/scope.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import {
  type Caller,
  createKeyCaller,
  createPrincipal,
  insertApprovalRow,
} from '#test/support/change-request-callers.ts'
import { shareTestApp, type TestApp } from '#test/support/test-app.ts'

let w: TestApp
let tenant_id: string
let author: Caller
let checker: Caller
let user_id: string

beforeAll(async () => {
  w = await shareTestApp()
})
afterAll(() => w.close())
beforeEach(async () => {
  tenant_id = await w.makeTenant({ four_eyes: true })
  author = await caller()
  checker = await caller()
  const body = { name: 'Ada', email: 'ada@example.com', roles: ['viewer'] }
  user_id = (await w.call('POST /users', { token: author.token, body })).json.user_id
})

const caller = (roles?: Role[], kind?: 'user' | 'key'): Promise<Caller> => createPrincipal(w, tenant_id, roles, kind)
const createKey = () => createKeyCaller(w, tenant_id, author.principal)

const setRoles = (roles: unknown, by = author, headers: Record<string, string> = {}) =>
  w.call(`PUT /users/${user_id}/roles`, { token: by.token, body: { roles }, headers })
const propose = async (roles: readonly Role[] = ['analyst']): Promise<string> => (await setRoles(roles)).json.cr_id
const decide = (cr_id: string, verb: 'approve' | 'reject' | 'withdraw', by: Caller, body: object = {}) =>
  w.call(`POST /change-requests/${cr_id}/${verb}`, { token: by.token, body })
const read = async (cr_id: string) => (await w.call(`GET /change-requests/${cr_id}`, { token: author.token })).json
const user = async () => (await w.call(`GET /users/${user_id}`, { token: author.token })).json
const list = async (query = '', by = author) =>
  (await w.call(`GET /change-requests${query}`, { token: by.token })).json.items as { cr_id: string; state: string }[]
const asApp = <T>(body: Parameters<typeof w.runtime.database.write<T>>[1], actor = checker.principal as string) =>
  w.runtime.database.write<T>(fullScope(tenant_id, actor), body)

describe('proposing', () => {
  test('returns 202 with the change request and changes nothing', async () => {
    const before = await user()
    const { status, headers, json } = await setRoles(['analyst', 'viewer'])
    expect(status).toBe(202)
    expect(headers['location']).toBe(`/api/change-requests/${json.cr_id}`)
    expect(json).toMatchObject({
      action: 'roles',
      operation: 'updateUserRoles',
      params: { user_id },
      body: { roles: ['analyst', 'viewer'] },
      head: '1',
      state: 'open',
      required_role: 'tenant_admin',
      approvers: 1,
      approvals: [],
      created_by: author.principal,
      decided_at: null,
      decided_by: null,
      revision: 1,
    })
    expect(json.content_hash).toMatch(/^[0-9a-f]{64}$/)
    expect(await user()).toEqual(before)
    expect((await w.call(`GET ${headers['location']}`, { token: author.token })).json).toEqual(json)
  })

  test('refuses at once what could not be executed, and stores no change request', async () => {
    const missing = { token: author.token, body: { roles: ['viewer'] } }
    expect((await w.call(`PUT /users/${uuidv7()}/roles`, missing)).json.code).toBe('not_found')
    expect((await setRoles(['root'])).json.code).toBe('validation_failed')
    expect((await setRoles(['viewer'], author, { 'if-match': '"9"' })).json.code).toBe('precondition_failed')
    const stale = { token: author.token, body: { roles: ['viewer'], expected_revision: 9 } }
    expect((await w.call(`PUT /users/${user_id}/roles`, stale)).json.code).toBe('revision_stale')
    expect((await setRoles(['viewer'], await caller(['viewer']))).json.code).toBe('role_required')
    const unknown = { rules: [{ action: 'nonsense', approvers: 1, role: 'compliance_officer' }] }
    const policy = { token: author.token, body: unknown }
    expect((await w.call('PUT /tenant/approval-policy', policy)).json.code).toBe('conflict')
    expect(await list()).toEqual([])
  })

  test('executes at once what the policy does not name', async () => {
    expect((await w.call(`PATCH /users/${user_id}`, { token: author.token, body: { team: 'x' } })).status).toBe(200)
    expect((await w.call('PATCH /tenant', { token: author.token, body: { name: 'New' } })).status).toBe(200)
    expect((await w.call('PUT /tenant/approval-policy', { token: author.token, body: { rules: [] } })).status).toBe(202)
  })

  test('executes at once when the rule requires no approvers', async () => {
    const open = await w.makeTenant()
    const token = await w.token({ tenant_id: open, roles: ['tenant_admin'] })
    const rules = [{ action: 'tenant-profile', approvers: 0, role: 'tenant_admin' }]
    await w.call('PUT /tenant/approval-policy', { token, body: { rules } })
    expect((await w.call('PATCH /tenant', { token, body: { name: 'Free' } })).status).toBe(200)
  })

  test('answers the open request where its author proposes the same again, until it is decided', async () => {
    const first = await setRoles(['analyst'])
    expect(first.json).toMatchObject({ via: 'http', client: null })
    expect(first.json).not.toHaveProperty('existing')
    // At the same time too.
    const again = await Promise.all([setRoles(['analyst']), setRoles(['analyst'])])
    for (const { status, json, headers } of again) {
      expect([status, json]).toEqual([202, { ...first.json, existing: true }])
      expect(headers['location']).toBe(first.headers['location'])
    }
    const others = [await setRoles(['auditor']), await setRoles(['analyst'], checker)]
    const together = await Promise.all([setRoles(['viewer', 'auditor']), setRoles(['viewer', 'auditor'])])
    expect(new Set(together.map(({ json }) => json.cr_id)).size).toBe(1)
    expect(await list()).toHaveLength(4)
    for (const { json } of others) expect(json).not.toHaveProperty('existing')
    await decide(first.json.cr_id, 'withdraw', author)
    const later = await setRoles(['analyst'])
    expect(later.json.cr_id).not.toBe(first.json.cr_id)
    expect(later.json).not.toHaveProperty('existing')
  })

  test('accepts a proposal by an API key', async () => {
    const robot = await caller(['tenant_admin'], 'key')
    const { json } = await setRoles([], robot)
    expect(json.created_by).toBe(robot.principal)
    expect((await decide(json.cr_id, 'approve', checker)).json.state).toBe('approved')
  })
})

describe('what approvers are shown', () => {
  test('names each member before and after, also once the change was executed', async () => {
    const cr_id = await propose()
    const changes = [{ member: 'roles', before: ['viewer'], after: ['analyst'] }]
    expect((await read(cr_id)).changes).toEqual(changes)
    await decide(cr_id, 'approve', checker)
    expect(await read(cr_id)).toMatchObject({ state: 'approved', changes })
  })

  test('lists the gates of an open request and whether each holds', async () => {
    const gates = async (cr_id: string, by = checker) =>
      (await w.call(`GET /change-requests/${cr_id}/gates`, { token: by.token })).json
    const [one, two] = [await propose(), await propose(['auditor'])]
    expect((await gates(one)).items).toMatchObject([
      { gate: 'unchanged', holds: true },
      { gate: 'author', holds: true },
    ])
    await decide(one, 'approve', checker)
    expect((await gates(one)).items).toEqual([])
    // Nothing else would help.
    expect((await gates(two)).items).toEqual([
      { gate: 'unchanged', holds: false, detail: expect.stringContaining('has changed since') },
    ])
    expect((await gates(two, await caller(['viewer']))).code).toBe('role_required')
    expect((await gates(two, await caller(['analyst']))).code).toBe('not_found')
  })
})

describe('approving', () => {
  test('by another person executes the change', async () => {
    const cr_id = await propose()
    const { status, headers, json } = await decide(cr_id, 'approve', checker, { note: 'fine' })
    expect(status).toBe(200)
    expect(headers['etag']).toBe('"2"')
    expect(json).toMatchObject({
      state: 'approved',
      decided_by: checker.principal,
      decision_note: 'fine',
      approvals: [{ approved_by: checker.principal, note: 'fine' }],
      revision: 2,
    })
    expect(await user()).toMatchObject({ roles: ['analyst'], revision: 2 })
    expect((await decide(cr_id, 'approve', await caller())).json.code).toBe('transition_not_allowed')
  })

  test('returns 409 for the author, with any token', async () => {
    const cr_id = await propose()
    const again = { principal: author.principal, token: await w.token({ tenant_id, principal: author.principal }) }
    for (const by of [author, again])
      expect((await decide(cr_id, 'approve', by)).json.code).toBe('approval_own_request')
    expect((await decide(cr_id, 'reject', author, { reason: 'no' })).json.code).toBe('approval_own_request')
    expect((await read(cr_id)).state).toBe('open')
    expect((await user()).roles).toEqual(['viewer'])
  })

  test('returns 409 for an API key, also when it rejects', async () => {
    const cr_id = await propose()
    const robot = await caller(['tenant_admin'], 'key')
    expect((await decide(cr_id, 'approve', robot)).json.code).toBe('approval_own_request')
    expect((await decide(cr_id, 'reject', robot, { reason: 'no' })).json.code).toBe('approval_own_request')
  })

  test('needs the role the policy named', async () => {
    const cr_id = await propose()
    const officer = await caller(['compliance_officer'])
    expect((await decide(cr_id, 'approve', officer)).json.code).toBe('role_required')
    expect((await decide(cr_id, 'approve', await caller(['analyst']))).json.code).toBe('role_required')
    const policy = (await w.call('PUT /tenant/approval-policy', { token: author.token, body: { rules: [] } })).json
    expect((await decide(policy.cr_id, 'approve', checker)).json.code).toBe('role_required')
    expect((await decide(policy.cr_id, 'approve', officer)).json.state).toBe('approved')
    expect((await setRoles(['auditor'])).status).toBe(200)
  })

  test.each([
    ['lost the role', `roles = '{viewer}'`],
    ['was deactivated', `state = 'inactive'`],
  ])('returns 409 when the author %s, and the request can be rejected', async (_, change) => {
    const person = await w.person(tenant_id, ['tenant_admin'])
    const { cr_id } = (await setRoles(['analyst'], person)).json
    const sql = `update app.user_account set ${change} where tenant_id = $1 and user_id = $2`
    expect(await asApp((tx) => tx.run(sql, [tenant_id, person.user_id]))).toBe(1)
    const refused = await decide(cr_id, 'approve', checker)
    expect([refused.status, refused.json.code]).toEqual([409, 'author_not_permitted'])
    expect(refused.json.detail).toBe(
      `The author ${person.principal} no longer has a role that may propose updateUserRoles.`,
    )
    expect((await user()).roles).toEqual(['viewer'])
    expect(await read(cr_id)).toMatchObject({ state: 'open', approvals: [] })
    expect((await decide(cr_id, 'reject', checker, { reason: 'Left the bank.' })).json.state).toBe('rejected')
  })

  test('executes what a user proposed who still has the role', async () => {
    const person = await w.person(tenant_id, ['tenant_admin'])
    const { cr_id } = (await setRoles(['analyst'], person)).json
    expect((await decide(cr_id, 'approve', checker)).json.state).toBe('approved')
  })

  test.each([
    ['was revoked', `state = 'revoked'`],
    ['lost the role', `roles = '{service}'`],
    ['expired', `expires_at = now() - interval '1 s'`],
  ])('returns 409 when the API key that proposed the change %s', async (_, change) => {
    const { key_id, ...key } = await createKey()
    const { cr_id } = (await setRoles(['analyst'], key)).json
    const sql = `update app.api_key set ${change} where tenant_id = $1 and key_id = $2`
    expect(await asApp((tx) => tx.run(sql, [tenant_id, key_id]))).toBe(1)
    const refused = await decide(cr_id, 'approve', checker)
    expect([refused.status, refused.json.code]).toEqual([409, 'author_not_permitted'])
    expect((await user()).roles).toEqual(['viewer'])
    expect(await read(cr_id)).toMatchObject({ state: 'open', approvals: [] })
  })

  test('executes what an API key proposed that still has the role', async () => {
    const { cr_id } = (await setRoles(['analyst'], await createKey())).json
    expect((await decide(cr_id, 'approve', checker)).json.state).toBe('approved')
    expect((await user()).roles).toEqual(['analyst'])
  })

  test('returns 409 when the target has changed since the proposal, and changes nothing', async () => {
    const cr_id = await propose()
    await w.call(`PATCH /users/${user_id}`, { token: author.token, body: { team: 'moved' } })
    expect((await decide(cr_id, 'approve', checker)).json.code).toBe('approval_void')
    expect(await user()).toMatchObject({ roles: ['viewer'], team: 'moved' })
    expect(await read(cr_id)).toMatchObject({ state: 'open', approvals: [] })
    expect((await decide(cr_id, 'withdraw', author)).json.state).toBe('withdrawn')
  })

  test('returns 409 when the stored request was altered', async () => {
    const cr_id = await propose()
    await asApp((tx) =>
      tx.run(`update app.change_request set body = '{"roles":["tenant_admin"]}' where tenant_id = $1 and cr_id = $2`, [
        tenant_id,
        cr_id,
      ]),
    )
    expect((await decide(cr_id, 'approve', checker)).json.code).toBe('approval_void')
    expect((await user()).roles).toEqual(['viewer'])
  })

  test('returns 409 for the second of two proposals for the same state', async () => {
    const [one, two] = [await propose(), await propose(['auditor'])]
    expect((await decide(one, 'approve', checker)).status).toBe(200)
    expect((await decide(two, 'approve', checker)).json.code).toBe('approval_void')
  })

  test('stores no approval when the change can no longer be executed', async () => {
    const token = author.token
    const invite = async (name: string, by: string) =>
      (
        await w.call('POST /users', {
          token: by,
          body: { name, email: `${name}@example.com`, roles: ['tenant_admin'] },
        })
      ).json
    const one = await invite('one', token)
    // Nobody could approve the second administrator yet.
    const two = await invite('two', await w.token({ tenant_id, principal: `user:${one.user_id}` }))
    const { cr_id } = (await w.call(`PUT /users/${one.user_id}/roles`, { token, body: { roles: [] } })).json
    await w.call(`POST /users/${two.user_id}/deactivate`, { token })
    const { items } = (await w.call(`GET /change-requests/${cr_id}/gates`, { token })).json
    expect(items.slice(2)).toMatchObject([{ gate: 'last_administrator', holds: false }])
    expect((await decide(cr_id, 'approve', checker)).json.code).toBe('last_administrator')
    expect(await read(cr_id)).toMatchObject({ state: 'open', approvals: [] })
  })

  test('needs as many people as the policy requires, each once', async () => {
    const rules = [{ action: 'tenant-profile', approvers: 2, role: 'tenant_admin' }]
    const open = await caller(['tenant_admin'])
    await asApp((tx) =>
      tx.run('update app.approval_policy set rules = $2::jsonb where tenant_id = $1', [
        tenant_id,
        JSON.stringify(rules),
      ]),
    )
    const { cr_id } = (await w.call('PATCH /tenant', { token: author.token, body: { name: 'Four' } })).json
    expect((await decide(cr_id, 'approve', checker)).json).toMatchObject({ state: 'open', revision: 2 })
    expect((await decide(cr_id, 'approve', checker)).json.code).toBe('duplicate')
    expect((await w.call('GET /tenant', { token: author.token })).json.name).not.toBe('Four')
    const last = await decide(cr_id, 'approve', open)
    expect(last.json).toMatchObject({ state: 'approved', revision: 3 })
    expect(last.json.approvals.map(({ approved_by }: { approved_by: string }) => approved_by)).toEqual([
      checker.principal,
      open.principal,
    ])
    expect((await w.call('GET /tenant', { token: author.token })).json.name).toBe('Four')
  })

  test('executes once when many approve concurrently', async () => {
    const cr_id = await propose()
    const people = await Promise.all(Array.from({ length: 4 }, () => caller()))
    const codes = await Promise.all(people.map(async (by) => (await decide(cr_id, 'approve', by)).json.code))
    expect(codes.filter((code) => code === undefined)).toHaveLength(1)
    expect(codes.filter((code) => code === 'transition_not_allowed')).toHaveLength(3)
    expect((await user()).revision).toBe(2)
  })
})

describe('constraints of the database', () => {
  const insert = (cr_id: string, created_by: string, approved_by: string) =>
    asApp((tx) => insertApprovalRow(tx, { cr_id, created_by, approved_by }))
  const breaks = (constraint: string) => expect.objectContaining({ cause: expect.objectContaining({ constraint }) })

  test('refuse the author, an API key and a wrong author', async () => {
    const cr_id = await propose()
    await expect(insert(cr_id, author.principal, author.principal)).rejects.toEqual(
      breaks('change_approval_four_eyes_ck'),
    )
    await expect(insert(cr_id, author.principal, `key:${uuidv7()}`)).rejects.toEqual(
      breaks('change_approval_person_ck'),
    )
    await expect(insert(cr_id, `user:${uuidv7()}`, author.principal)).rejects.toMatchObject({
      constraint: 'change_approval_request_fkey',
    })
    expect(await insert(cr_id, author.principal, checker.principal)).toBe(1)
  })

  test('refuse to change or remove an approval', async () => {
    const cr_id = await propose()
    await decide(cr_id, 'approve', checker)
    await expect(asApp((tx) => tx.run(`update app.change_approval set approved_by = 'x'`))).rejects.toMatchObject({
      code: '42501',
    })
    // Only an erasure removes a note.
    for (const note of [`'x'`, 'null'])
      await expect(asApp((tx) => tx.run(`update app.change_approval set note = ${note}`))).rejects.toMatchObject({
        code: 'PB002',
      })
    await expect(asApp((tx) => tx.run('delete from app.change_approval'))).rejects.toMatchObject({ code: '42501' })
  })
})

describe('rejecting and withdrawing', () => {
  test('an approver rejects with a reason', async () => {
    const cr_id = await propose()
    expect((await decide(cr_id, 'reject', checker)).json.code).toBe('validation_failed')
    const { json } = await decide(cr_id, 'reject', checker, { reason: 'not agreed' })
    expect(json).toMatchObject({ state: 'rejected', decision_note: 'not agreed', decided_by: checker.principal })
    expect((await user()).roles).toEqual(['viewer'])
    for (const verb of ['approve', 'withdraw'] as const) {
      expect((await decide(cr_id, verb, verb === 'approve' ? checker : author)).json.code).toBe(
        'transition_not_allowed',
      )
    }
  })

  test('only the author withdraws', async () => {
    const cr_id = await propose()
    expect((await decide(cr_id, 'withdraw', checker)).json.code).toBe('transition_not_allowed')
    expect((await decide(cr_id, 'withdraw', author, { note: 'mistake' })).json).toMatchObject({
      state: 'withdrawn',
      decision_note: 'mistake',
      decided_by: author.principal,
    })
    expect((await decide(cr_id, 'approve', checker)).json.code).toBe('transition_not_allowed')
    expect((await decide(uuidv7(), 'withdraw', author)).json.code).toBe('not_found')
  })
})

describe('the queue', () => {
  const inbox = async (by: Caller) =>
    (await w.call('GET /change-requests/inbox', { token: by.token })).json.items.map(
      ({ cr_id }: { cr_id: string }) => cr_id,
    )

  test('inbox and list say that a request can no longer be approved, until it is rejected', async () => {
    const [one, two] = [await propose(), await propose(['auditor'])]
    expect((await inbox(checker)).sort()).toEqual([one, two].sort())
    expect(await list('?state=open')).toMatchObject([{ is_outdated: false }, { is_outdated: false }])
    await decide(one, 'approve', checker)
    expect((await w.call('GET /change-requests/inbox', { token: checker.token })).json.items).toMatchObject([
      { cr_id: two, is_outdated: true },
    ])
    expect(await list('?state=open')).toMatchObject([{ cr_id: two, is_outdated: true }])
    await decide(two, 'reject', checker, { reason: 'Another change came first' })
    expect(await inbox(checker)).toEqual([])
  })

  test('inbox lists what the caller may approve', async () => {
    const officer = await caller(['compliance_officer'])
    const cr_id = await propose()
    const policy = (await w.call('PUT /tenant/approval-policy', { token: author.token, body: { rules: [] } })).json
    expect(await inbox(checker)).toEqual([cr_id])
    expect(await inbox(officer)).toEqual([policy.cr_id])
    expect(await inbox(author)).toEqual([])
    expect(await inbox(await caller(['tenant_admin', 'compliance_officer']))).toEqual([policy.cr_id, cr_id])
    await decide(cr_id, 'approve', checker)
    expect(await inbox(checker)).toEqual([])
  })

  test('is filtered by state and action, newest first', async () => {
    const [one, two] = [await propose(), await propose(['auditor'])]
    await decide(one, 'withdraw', author)
    expect((await list()).map(({ cr_id }) => cr_id)).toEqual([two, one])
    expect((await list('?state=withdrawn')).map(({ cr_id }) => cr_id)).toEqual([one])
    expect(await list('?action=approval-policy')).toEqual([])
    expect(await list('?action=roles&state=open')).toHaveLength(1)
  })

  test('holds the requests of one tenant only', async () => {
    const cr_id = await propose()
    const token = await w.token({ tenant_id: await w.makeTenant({ four_eyes: true }) })
    expect((await w.call('GET /change-requests', { token })).json.items).toEqual([])
    for (const at of [`GET /change-requests/${cr_id}`, `POST /change-requests/${cr_id}/approve`]) {
      const body = at.startsWith('POST') ? { body: {} } : {}
      expect((await w.call(at, { token, ...body })).json.code).toBe('not_found')
    }
  })
})
