/** Giving roles needs approval where the policy of the tenant requires it, in every way that roles can be given. */
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Role } from '#kernel/auth/roles.ts'
import { fullScope } from '#kernel/database/scope.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { shareTestApp, type TestApp } from '#test/support/test-app.ts'
import { insertUser, lockApprovalPolicy } from './queries.ts'

interface Caller {
  readonly principal: `user:${string}` | `key:${string}`
  readonly token: string
}

let w: TestApp
let tenant_id: string
/** The first two administrators: one invited by a key of the operator, the other by the first one. */
let ada: Caller
let bob: Caller
let count = 0

beforeAll(async () => {
  w = await shareTestApp()
})
afterAll(() => w.close())
beforeEach(async () => {
  tenant_id = await w.makeTenant({ four_eyes: true })
  ada = await inviteUser(await speaker(`key:${uuidv7()}`))
  bob = await inviteUser(ada)
})

const speaker = async (principal: Caller['principal'], roles: Role[] = ['tenant_admin']): Promise<Caller> => ({
  principal,
  token: await w.token({ tenant_id, principal, roles }),
})
const call = (by: Caller, at: string, body?: unknown, headers: Record<string, string> = {}) =>
  w.call(at, { token: by.token, headers, ...(body !== undefined && { body }) })
const invite = (by: Caller, roles: readonly string[] = ['tenant_admin']) =>
  call(by, 'POST /users', { name: 'Ada', email: `ada-${count++}@example.com`, roles })
const inviteUser = async (by: Caller) => speaker(`user:${(await invite(by)).json.user_id}`)
const newKey = (by: Caller, roles: Role[] = ['tenant_admin'], headers = {}) =>
  call(by, 'POST /api-keys', { name: 'robot', roles }, headers)
const approve = (by: Caller, cr_id: string) => call(by, `POST /change-requests/${cr_id}/approve`, {})
const rotate = (by: Caller, key_id: string) => call(by, `POST /api-keys/${key_id}/rotate`, { overlap_minutes: 0 })
const exchange = (api_key: string) => w.call('POST /auth/token', { body: { api_key } })
const listIds = async (at: string, member: string, by = ada) =>
  (await call(by, at)).json.items.map((item: Record<string, unknown>) => item[member])
const getId = ({ principal }: Caller) => principal.slice(principal.indexOf(':') + 1)

/** Whether another transaction waits for a lock of this one. */
const isLockAwaited = async (tx: Tx): Promise<boolean> =>
  (await tx.query('select 1 from pg_locks where not granted and pg_backend_pid() = any (pg_blocking_pids(pid))'))
    .length > 0

/** A key that was requested, approved and given a secret. */
async function createApprovedKey(by: Caller, approver: Caller): Promise<Caller & { secret: string }> {
  const { cr_id } = (await newKey(by)).json
  expect((await approve(approver, cr_id)).status).toBe(200)
  const { secret } = (await rotate(by, cr_id)).json
  return { principal: `key:${cr_id}`, token: (await exchange(secret)).json.access_token, secret }
}

describe('a user', () => {
  test('with roles is created by the approval, under the id of the change request', async () => {
    const asked = await invite(ada, ['tenant_admin', 'compliance_officer'])
    expect(asked.status).toBe(202)
    expect(asked.json).toMatchObject({ action: 'roles', operation: 'createUser', head: null, state: 'open' })
    const { cr_id } = asked.json
    expect(await listIds('GET /users', 'user_id')).toEqual([getId(ada), getId(bob)])
    expect((await approve(ada, cr_id)).json.code).toBe('approval_own_request')
    expect((await approve(bob, cr_id)).json.state).toBe('approved')
    expect((await call(ada, `GET /users/${cr_id}`)).json).toMatchObject({
      roles: ['tenant_admin', 'compliance_officer'],
      state: 'invited',
      created_by: ada.principal,
    })
  })

  test('without roles is created at once', async () => {
    expect((await invite(ada, [])).status).toBe(201)
  })

  test('returns 409 on approval when the email address was taken meanwhile', async () => {
    const { cr_id, body } = (await invite(ada, ['viewer'])).json
    expect((await call(ada, 'POST /users', { ...body, roles: [] })).status).toBe(201)
    expect((await approve(bob, cr_id)).json.code).toBe('duplicate')
  })

  test('with roles is reactivated by the approval only', async () => {
    const { cr_id } = (await invite(ada, ['analyst'])).json
    await approve(bob, cr_id)
    expect((await call(ada, `POST /users/${cr_id}/reactivate`)).status).toBe(200)
    await call(ada, `POST /users/${cr_id}/deactivate`)
    const asked = await call(ada, `POST /users/${cr_id}/reactivate`)
    expect(asked.json).toMatchObject({ operation: 'reactivateUser', params: { user_id: cr_id }, head: '2' })
    expect((await call(ada, `GET /users/${cr_id}`)).json.state).toBe('inactive')
    await approve(bob, asked.json.cr_id)
    expect((await call(ada, `GET /users/${cr_id}`)).json.state).toBe('active')
    expect((await call(ada, `POST /users/${uuidv7()}/reactivate`)).json.code).toBe('not_found')
  })

  test('without roles is reactivated at once', async () => {
    const { user_id } = (await invite(ada, [])).json
    await call(ada, `POST /users/${user_id}/deactivate`)
    expect((await call(ada, `POST /users/${user_id}/reactivate`)).json.state).toBe('active')
  })
})

describe('an API key', () => {
  test('is created by the approval, and only the requester gets its secret', async () => {
    const asked = await newKey(ada, ['service'])
    expect(asked.status).toBe(202)
    expect(asked.text).not.toContain('pk_')
    const { cr_id } = asked.json
    expect(await listIds('GET /api-keys', 'key_id')).toEqual([])
    const approved = await approve(bob, cr_id)
    expect(approved.json.state).toBe('approved')
    expect(approved.text).not.toContain('pk_')
    const [key] = (await call(ada, 'GET /api-keys')).json.items
    expect(key).toMatchObject({ key_id: cr_id, roles: ['service'], created_by: ada.principal, last_used_at: null })
    expect((await rotate(bob, cr_id)).json.code).toBe('transition_not_allowed')
    const { secret } = (await rotate(ada, cr_id)).json
    expect((await exchange(secret)).json.roles).toEqual(['service'])
  })

  test('requested again with the same Idempotency-Key gives the same change request', async () => {
    const ask = () => newKey(ada, ['service'], { 'idempotency-key': 'one-key' })
    const [first, again] = [await ask(), await ask()]
    expect(again.headers['idempotency-replayed']).toBe('true')
    expect([again.status, again.text]).toEqual([202, first.text])
    expect(await listIds('GET /change-requests?state=open', 'cr_id')).toEqual([first.json.cr_id])
  })

  test('rotates its own secret, but not that of another key', async () => {
    const robot = await createApprovedKey(ada, bob)
    expect((await rotate(bob, getId(robot))).json.code).toBe('transition_not_allowed')
    const { secret } = (await rotate(robot, getId(robot))).json
    expect((await exchange(secret)).status).toBe(200)
  })

  test('cannot propose what its requester then approves, even through several keys', async () => {
    const robot = await createApprovedKey(ada, bob)
    const { cr_id } = (await invite(robot)).json
    const own = (await approve(ada, cr_id)).json
    expect([own.code, own.detail]).toEqual(['approval_own_request', 'A key that you asked for proposed this change.'])
    const second = await createApprovedKey(robot, bob)
    const further = (await invite(second)).json.cr_id
    expect((await approve(ada, further)).json.code).toBe('approval_own_request')
    for (const request of [cr_id, further]) expect((await approve(bob, request)).json.state).toBe('approved')
  })
})

describe('a new tenant', () => {
  beforeEach(async () => {
    tenant_id = await w.makeTenant({ four_eyes: true })
  })

  test('creates users and keys at once until somebody else could approve', async () => {
    const founder = await speaker(`key:${uuidv7()}`)
    expect((await newKey(founder, ['service'])).status).toBe(201)
    expect((await invite(founder, ['compliance_officer'])).status).toBe(201)
    const first = await inviteUser(founder)
    expect((await invite(founder)).status).toBe(202)
    // Nobody else could approve yet, so the next administrator is created at once; the one after that is not.
    const { key } = (await newKey(first, ['service'])).json
    expect((await rotate(first, key.key_id)).status).toBe(200)
    expect((await invite(first)).status).toBe(201)
    expect((await invite(first)).status).toBe(202)
    expect((await newKey(first, ['viewer'])).status).toBe(202)
  })

  test('creates only one of two concurrent administrators without approval', async () => {
    const first = await inviteUser(await speaker(`key:${uuidv7()}`))
    const scope = fullScope(tenant_id, first.principal)
    const { pending } = await w.runtime.database.write(scope, async (tx) => {
      const person = { issuer: 'test', subject: 'second', email: null, name: 'Second', team: null, locale: null }
      const rights = { roles: ['tenant_admin'], origin: 'built_in', state: 'invited' } as const
      await lockApprovalPolicy(tx)
      await insertUser(tx, { user_id: uuidv7(), ...person, ...rights })
      let isAnswered = false
      const pending = invite(first).finally(() => {
        isAnswered = true
      })
      await vi.waitUntil(async () => isAnswered || (await isLockAwaited(tx)), { timeout: 20_000 })
      return { pending }
    })
    expect((await pending).status).toBe(202)
  })

  test('needs no approval until there are as many others as the rule requires', async () => {
    const rules = [{ action: 'roles', approvers: 2, role: 'compliance_officer' }]
    await w.runtime.database.write(fullScope(tenant_id, 'operator:test'), (tx) =>
      tx.run('update app.approval_policy set rules = $2::jsonb where tenant_id = $1', [
        tenant_id,
        JSON.stringify(rules),
      ]),
    )
    const founder = await speaker(`key:${uuidv7()}`)
    for (let n = 0; n < 2; n++) expect((await invite(founder, ['compliance_officer'])).status).toBe(201)
    expect((await invite(founder, ['viewer'])).status).toBe(202)
  })

  test('still needs approval after everybody else is deactivated', async () => {
    const one = await inviteUser(await speaker(`key:${uuidv7()}`))
    const two = await inviteUser(one)
    expect((await call(one, `POST /users/${getId(two)}/deactivate`)).status).toBe(200)
    const refused = [await invite(one), await newKey(one), await call(one, `POST /users/${getId(two)}/reactivate`)]
    for (const { status, json } of refused) expect([status, json.code]).toEqual([409, 'approvers_missing'])
    expect(refused[0]?.json).toMatchObject({
      detail: expect.stringMatching(/1 other person with the role tenant_admin, and there are none.*npx probity user/),
      missing: [{ action: 'roles', role: 'tenant_admin', needed: 1, available: 0 }],
    })
    expect(await listIds('GET /change-requests?state=open', 'cr_id', one)).toEqual([])
  })

  test('still needs approval after roles are removed, also through keys', async () => {
    const one = await inviteUser(await speaker(`key:${uuidv7()}`))
    const two = await inviteUser(one)
    const robot = await createApprovedKey(one, two)
    const asked = await call(one, `PUT /users/${getId(two)}/roles`, { roles: ['viewer'] })
    expect((await approve(two, asked.json.cr_id)).json.state).toBe('approved')
    for (const by of [one, robot]) expect((await invite(by)).json.code).toBe('approvers_missing')
    expect((await rotate(two, getId(robot))).status).toBe(403)
    const policy = await call(one, 'PUT /tenant/approval-policy', { rules: [] })
    expect([policy.status, policy.json.code]).toEqual([409, 'approvers_missing'])
  })
})

describe('a stricter policy', () => {
  const rule = (approvers: number, role = 'tenant_admin', action = 'roles') => ({ action, approvers, role })
  const put = (by: Caller, ...rules: object[]) => call(by, 'PUT /tenant/approval-policy', { rules })
  /** The policy has no rule for changing itself, so its strictest rule applies. */
  const govern = (...rules: object[]) => w.setApprovalRules(tenant_id, rules)

  test('is refused while there are too few approvers, naming the missing role', async () => {
    await govern(rule(1))
    const refused = await put(ada, rule(2), rule(1, 'compliance_officer', 'activation'))
    expect([refused.status, refused.json.code]).toEqual([409, 'approvers_missing'])
    expect(refused.json.missing).toEqual([
      { action: 'roles', role: 'tenant_admin', needed: 2, available: 1 },
      { action: 'activation', role: 'compliance_officer', needed: 1, available: 0 },
    ])
    expect(refused.json.detail).toContain('2 other people with the role tenant_admin, and there is 1')
    expect((await invite(ada)).status).toBe(202)
  })

  test('is accepted once there are enough approvers, and then applies', async () => {
    await govern(rule(1))
    const third = (await invite(ada)).json.cr_id
    await approve(bob, third)
    const cleo = await speaker(`user:${third}`)
    const asked = await put(ada, rule(2))
    expect(asked.status).toBe(202)
    expect((await approve(bob, asked.json.cr_id)).status).toBe(200)
    const { cr_id } = (await invite(ada)).json
    expect((await approve(bob, cr_id)).json.state).toBe('open')
    expect((await approve(cleo, cr_id)).json.state).toBe('approved')
    // Two of four leave; two approvers are still required.
    await call(ada, `POST /users/${third}/deactivate`)
    await call(ada, `POST /users/${cr_id}/deactivate`)
    expect((await invite(ada)).json.missing).toEqual([
      { action: 'roles', role: 'tenant_admin', needed: 2, available: 1 },
    ])
  })

  test('does not prevent a change of other rules', async () => {
    await govern(rule(4), rule(1, 'tenant_admin', 'approval-policy'))
    const asked = await put(ada, rule(4), rule(1, 'tenant_admin', 'approval-policy'), rule(1, 'tenant_admin', 'types'))
    expect(asked.status).toBe(202)
    expect((await approve(bob, asked.json.cr_id)).status).toBe(200)
  })
})
