/** `tenant create` on a real database: all of a tenant or nothing that anybody could use, wherever it is broken off. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fullScope } from '#kernel/database/scope.ts'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'
import { insertTenant } from '../queries.ts'
import { checkApprovers } from './approver-check.ts'
import { checkOfficers } from './officer-check.ts'
import { checkRestrictions, grantAccess } from './restriction.ts'
import { createTenantWithKey } from './tenant-create.ts'
import { addUser, reactivateUser } from './user.ts'

let w: TestApp
let superuser: pg.Client
beforeAll(async () => {
  w = await startTestApp()
  superuser = new pg.Client(w.clone.postgres)
  await superuser.connect()
})
afterAll(async () => {
  await superuser.end()
  await w.close()
})

const create = (slug: string, id?: string) => {
  const { seedContext: seeding, steward } = w
  return createTenantWithKey({ seeding, guarded: { app: seeding.app, steward } }, { slug, name: 'Bank', id })
}

const tables = ['approval_policy', 'retention_policy', 'job_schedule', 'api_key', 'audit_event']
async function held(slug: string) {
  const { rows } = await superuser.query('select tenant_id, state from app.tenant where slug = $1', [slug])
  const [tenant] = rows
  const counts: Record<string, number> = {}
  for (const table of tenant ? tables : []) {
    const found = await superuser.query(`select 1 from app.${table} where tenant_id = $1`, [tenant.tenant_id])
    counts[table] = found.rows.length
  }
  return { tenant_id: tenant?.tenant_id, state: tenant?.state, counts }
}
const nothing = Object.fromEntries(tables.map((table) => [table, 0]))
const everything = { approval_policy: 1, retention_policy: 1, job_schedule: 10, api_key: 1, audit_event: 2 }

/** As if the process ended in the middle: PostgreSQL refuses what the command does to this table. */
async function refusing(table: string, body: () => Promise<void>): Promise<void> {
  await superuser.query(`revoke insert on app.${table} from app`)
  try {
    await body()
  } finally {
    await superuser.query(`grant insert on app.${table} to app`)
  }
}

const operator = () => ({
  audit: async () => w.kernel.auditKeys,
  guarded: { app: w.runtime.database, steward: w.steward },
})

describe('a tenant with too few people to approve', () => {
  test('is named by the doctor, and gets going again with a person the operator adds or reactivates', async () => {
    const tenant_id = await w.makeTenant({ four_eyes: true })
    const slug = `t-${tenant_id.slice(-12)}`
    const look = () => checkApprovers(operator().guarded)
    expect((await look()).status).toBe('ok')
    const [ada, bob] = [await w.person(tenant_id, ['tenant_admin']), await w.person(tenant_id, ['tenant_admin'])]
    for (let n = 0; n < 2; n++) await w.person(tenant_id, ['compliance_officer'])
    expect((await look()).status).toBe('ok')
    const invite = (email: string) =>
      w.call('POST /users', { token: ada.token, body: { name: 'New', email, roles: ['tenant_admin'] } })
    await w.call(`POST /users/${bob.user_id}/deactivate`, { token: ada.token })
    expect((await invite('one@example.com')).json.code).toBe('approvers_missing')
    expect(await look()).toMatchObject({
      status: 'warn',
      detail: `${slug}: The action roles needs the approval of 1 other person with the role tenant_admin, and there are none.`,
      remedy: expect.stringContaining('npx probity user add'),
    })

    expect(await reactivateUser(operator(), slug, bob.user_id)).toContain('has access again')
    expect(await reactivateUser(operator(), slug, bob.user_id)).toContain('already')
    expect((await look()).status).toBe('ok')
    expect((await invite('one@example.com')).status).toBe(202)

    await w.call(`POST /users/${bob.user_id}/deactivate`, { token: ada.token })
    const person = { tenant: slug, name: 'Cleo', email: 'cleo@example.com', roles: ['tenant_admin'] as const }
    const user_id = await addUser(operator(), person)
    await expect(addUser(operator(), person)).rejects.toThrow('already')
    expect((await invite('two@example.com')).status).toBe(202)
    const auditor = await w.token({ tenant_id, roles: ['auditor'] })
    const { items } = (await w.call('GET /audit/events?actor=operator:cli', { token: auditor })).json
    const recorded = items.map(({ operation, object_id }: Record<string, string>) => [operation, object_id])
    expect(recorded.slice(0, 2)).toEqual([
      ['createUser', user_id],
      ['reactivateUser', bob.user_id],
    ])
  })
})

describe('a restriction whose last person with access was deactivated', () => {
  test('is counted by the doctor, and the operator gives access to it and to no other', async () => {
    const tenant_id = await w.makeTenant()
    const tenant = `t-${tenant_id.slice(-12)}`
    const [member, mlro, officer] = await Promise.all(
      [1, 2, 3].map(() => w.person(tenant_id, ['compliance_officer', 'tenant_admin'])),
    )
    if (!member || !mlro || !officer) throw new Error('people are missing')
    const call = (who: { token: string }, line: string, body?: object) =>
      w.call(line, { token: who.token, ...(body && { body }) })
    const designation = { user_id: mlro.user_id, effect: 'designate', reason: 'Decision of the board' }
    const { designation_id } = (await call(member, 'POST /mlro-designations', designation)).json
    expect((await call(officer, `POST /mlro-designations/${designation_id}/confirm`)).status).toBe(200)
    const look = () => checkRestrictions(operator().guarded)
    const { restriction_id: restriction } = (await call(member, 'POST /restrictions', { purpose: 'Case' })).json
    const read = async (who: { token: string }) => (await call(who, `GET /restrictions/${restriction}`)).status
    await call(member, `PUT /restrictions/${restriction}/access/${mlro.user_id}`, { effect: 'exclude' })
    const grant = (user: string) => grantAccess(operator(), { tenant, restriction, user, reason: 'Board' })
    // While somebody has access, the operator gives none to anybody.
    await expect(grant(officer.user_id)).rejects.toMatchObject({ code: 'PB002' })
    expect((await look()).status).toBe('ok')
    expect((await call(mlro, `POST /users/${member.user_id}/deactivate`)).status).toBe(200)
    expect(await look()).toMatchObject({ status: 'warn', detail: expect.stringContaining(tenant) })
    await expect(grant(mlro.user_id)).rejects.toMatchObject({ code: 'PB002' })
    expect([await read(mlro), await read(officer)]).toEqual([404, 404])
    expect(await grant(officer.user_id)).toContain(restriction)
    expect([await read(mlro), await read(officer), (await look()).status]).toEqual([404, 200, 'ok'])
    const { items } = (await call(officer, `GET /restrictions/${restriction}/access-log`)).json
    expect(items).toContainEqual(
      expect.objectContaining({ actor: 'operator:cli', operation: 'updateRestrictionAccess' }),
    )
    const auditor = await w.token({ tenant_id, roles: ['auditor'] })
    expect((await w.call('GET /audit/events?actor=operator:cli', { token: auditor })).json.items).toEqual([])
  })
})

describe('a tenant with one compliance officer', () => {
  test('is warned when a case is opened and by the doctor, and the officer the operator adds is recorded', async () => {
    const tenant_id = await w.makeTenant()
    const slug = `t-${tenant_id.slice(-12)}`
    const look = () => checkOfficers(operator().guarded)
    const [officer, analyst] = [
      await w.person(tenant_id, ['compliance_officer']),
      await w.person(tenant_id, ['analyst', 'auditor']),
    ]
    const person = { subject_type: 'person', name: 'Ada Lovelace' }
    const { subject_id } = (await w.call('POST /subjects', { token: analyst.token, body: person })).json
    const open = async () => {
      const body = { subject_id, playbook_key: 'edd-person' }
      return (await w.call('POST /investigations', { token: officer.token, body })).json.warnings
    }
    expect(await open()).toEqual([{ code: 'one_officer', detail: expect.stringContaining('second officer') }])
    expect(await look()).toMatchObject({
      status: 'warn',
      detail: expect.stringContaining(slug),
      remedy: expect.stringContaining('npx probity user add'),
    })
    const added = { tenant: slug, name: 'Second', email: 'second@example.com', roles: ['compliance_officer'] as const }
    const user_id = await addUser(operator(), added)
    expect(await open()).toEqual([])
    expect((await look()).detail).not.toContain(slug)
    const { items } = (await w.call('GET /audit/events?operation=createUser', { token: analyst.token })).json
    expect(items).toMatchObject([
      { actor: 'operator:cli', object_id: user_id, detail: { roles: ['compliance_officer'] } },
    ])
  })
})

const tokenFor = (api_key: string) => w.call('POST /auth/token', { body: { api_key } })

describe('tenant create', () => {
  test('makes all of it, and its key is good', async () => {
    const { tenant_id, api_key } = await create('whole')
    expect(await held('whole')).toEqual({ tenant_id, state: 'active', counts: everything })
    expect((await tokenFor(api_key)).status).toBe(200)
    await expect(create('whole')).rejects.toThrow('"whole" exists already')
    await expect(create('other', tenant_id)).rejects.toThrow('exists already ("whole")')
    expect((await held('whole')).counts).toEqual(everything)
  })

  test.each(tables)('broken off at %s leaves nothing of it, and goes on when it is given again', async (table) => {
    const slug = `broken-${table.replace('_', '-')}`
    await refusing(table, async () => expect(create(slug)).rejects.toThrow())
    const left = await held(slug)
    expect(left).toMatchObject({ state: 'suspended', counts: nothing })
    const { tenant_id, api_key } = await create(slug)
    expect(tenant_id).toBe(left.tenant_id)
    expect(await held(slug)).toEqual({ tenant_id, state: 'active', counts: everything })
    expect((await tokenFor(api_key)).status).toBe(200)
  })

  test('another id than that of what was left is refused, its own is taken', async () => {
    await refusing('api_key', async () => expect(create('by-id')).rejects.toThrow())
    const { tenant_id } = await held('by-id')
    await expect(create('by-id', '00000000-0000-7000-8000-00000000abcd')).rejects.toThrow('exists already')
    expect((await create('by-id', tenant_id)).tenant_id).toBe(tenant_id)
  })

  test('of two at once one makes it, and the other says so', async () => {
    await refusing('api_key', async () => expect(create('twice')).rejects.toThrow())
    const both = await Promise.allSettled([create('twice'), create('twice')])
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(await held('twice')).toMatchObject({ state: 'active', counts: everything })
  })

  test('a tenant that is there and active is never gone on with, however empty', async () => {
    const tenant = { tenant_id: '00000000-0000-7000-8000-00000000abce', slug: 'empty', name: 'Empty' }
    await w.steward.write(fullScope(tenant.tenant_id, 'operator:test'), (tx) =>
      insertTenant(tx, { ...tenant, demo: false, state: 'active' }),
    )
    await expect(create('empty')).rejects.toThrow('exists already')
    expect((await held('empty')).counts).toEqual(nothing)
  })
})
