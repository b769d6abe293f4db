/**
 * A change writes exactly one event in its own transaction; failed and repeated requests write none. That every operation does
 * is tested with all of them in test/isolation/endpoints.test.ts.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chainTenantEvents } from '#kernel/audit/chain-writer.ts'
import { deferEvent } from '#kernel/audit/queries.ts'
import { fullScope } from '#kernel/database/scope.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { chainAllEvents } from '../support/audit-chain.ts'
import { ExampleTenant } from '../support/example-tenant.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'

let w: TestApp
let t: ExampleTenant
beforeAll(async () => {
  w = await startTestApp()
  t = await ExampleTenant.create(w)
})
afterAll(() => w.close())

interface Event {
  readonly operation: string
  readonly object_type: string
  readonly object_id: string
  readonly actor: string
  readonly request_id: string
  readonly detail: Record<string, unknown>
}
/** In the order they were recorded. */
const events = (): Promise<Event[]> =>
  t.write((tx) =>
    tx.query<Event>(
      'select operation, object_type, object_id, actor, request_id, detail::json as detail from app.audit_event where tenant_id = $1 order by event_id',
      [t.tenant_id],
    ),
  )

describe('audit events', () => {
  test('are not written for a refused or failed request', async () => {
    const before = (await events()).length
    const token = await t.token()
    expect((await w.call('POST /users', { token, body: { name: 'x' } })).status).toBe(422)
    expect((await w.call(`DELETE /api-keys/${t.tenant_id}`, { token })).status).toBe(404)
    const email = 'twice@example.com'
    expect((await w.call('POST /users', { token, body: { name: 'x', email, roles: [] } })).status).toBe(201)
    expect((await w.call('POST /users', { token, body: { name: 'x', email, roles: [] } })).status).toBe(409)
    expect((await events()).length).toBe(before + 1)
  })

  test('are written once for a repeated request', async () => {
    const before = (await events()).length
    const options = {
      token: await t.token(),
      body: { name: 'k', roles: ['viewer'] },
      headers: { 'idempotency-key': 'again' },
    }
    const email = 'repeated@example.com'
    const body = { name: 'x', email, roles: [] }
    await w.call('POST /users', { ...options, body })
    expect((await w.call('POST /users', { ...options, body })).headers['idempotency-replayed']).toBe('true')
    expect((await events()).length).toBe(before + 1)
  })

  test('hold changed configuration in clear text and personal data as keyed hashes', async () => {
    const token = await t.token()
    await w.call('PATCH /tenant', { token, body: { residency: 'EU' } })
    const [profile] = (await events()).slice(-1)
    expect(profile?.detail).toMatchObject({ diff: [{ member: 'residency', after: 'EU' }] })
    const user_id = await t.newUser()
    await w.call(`PATCH /users/${user_id}`, { token, body: { name: 'Very Personal Name' } })
    const [person] = (await events()).slice(-1)
    expect(person).toMatchObject({ operation: 'updateUser', object_type: 'users', object_id: user_id })
    expect(JSON.stringify(person)).not.toContain('Very Personal')
    expect(person?.detail['before_hash']).not.toBe(person?.detail['after_hash'])
  })

  test('mark a proposal, and name the approvers of its execution', async () => {
    const user_id = await t.newUser()
    await t.setApprovalRules([{ action: 'roles', approvers: 2, role: 'tenant_admin' }])
    const approvers = [`user:${uuidv7()}`, `user:${uuidv7()}`] as const
    const author = await t.token(undefined, t.author)
    const asked = await w.call(`PUT /users/${user_id}/roles`, { token: author, body: { roles: ['analyst'] } })
    await t.setApprovalRules([])
    const { cr_id } = asked.json
    for (const by of approvers) {
      const token = await t.token(undefined, by)
      expect((await w.call(`POST /change-requests/${cr_id}/approve`, { token, body: {} })).status).toBe(200)
    }
    const recorded = async (path: string) =>
      (await t.make(`GET /audit/${path}`)).items.map((event: Record<string, unknown>) => [
        event['operation'],
        event['outcome'],
        event['cr_id'],
        event['approved_by'],
        event['actor'],
      ])
    const proposed = ['updateUserRoles', 'proposed', cr_id, [], t.author]
    const done = ['updateUserRoles', 'executed', cr_id, [...approvers], approvers[1]]
    const made = ['createUser', 'done', null, [], t.caller]
    expect(await recorded(`objects/users/${user_id}`)).toEqual([done, proposed, made])
    expect(await recorded(`events?object_id=${user_id}&object_type=users`)).toEqual([done, proposed, made])
    const approvals = await recorded(`objects/change-requests/${cr_id}`)
    expect(approvals).toEqual([
      ['approveChangeRequest', 'done', null, [], approvers[1]],
      ['approveChangeRequest', 'done', null, [], approvers[0]],
    ])
    const [{ event_id, detail }] = (await t.make(`GET /audit/objects/users/${user_id}`)).items
    expect(detail).toMatchObject({ proposed_by: t.author, diff: [{ member: 'roles', after: ['analyst'] }] })
    expect(await t.make(`GET /audit/events/${event_id}`)).toMatchObject({ outcome: 'executed', cr_id })
  })

  test('have JSON as detail', async () => {
    const at = '2020-01-01T00:00:00.000000Z'
    const record = (detail: string) =>
      t.write(async (tx) => {
        const event_id = uuidv7()
        const facts = { operation: 'x', object_type: 'x', object_id: 'x', request_id: null, detail }
        deferEvent(
          tx,
          { tenant_id: t.tenant_id, event_id, recorded_at: at, actor: 'user:x', ...facts },
          { mac: 'unused', restriction_id: null },
        )
      })
    for (const detail of ['', '{', "{'a':1}", '{"a":1}}']) await expect(record(detail), detail).rejects.toThrow()
  })

  test('need an actor', async () => {
    const write = (actor: string) =>
      w.runtime.database.write(fullScope(t.tenant_id, actor), (tx) =>
        tx.run("delete from app.revoked_token where tenant_id = $1 and token_id = 'none'", [t.tenant_id]),
      )
    for (const actor of ['', 'user', 'user:', 'users:1', ' user:1', 'nobody:1', 'USER:1', 'x\nuser:1'])
      await expect(write(actor), actor).rejects.toThrow()
    for (const actor of ['user:1', 'key:1', 'job:1', 'operator:1', 'seed:1', 'user:\n', 'user::'])
      await expect(write(actor), actor).resolves.toBe(0)
  })

  test('cannot be changed or deleted through the service', async () => {
    await expect(t.write((tx) => tx.run(`update app.audit_event set actor = 'user:other'`))).rejects.toThrow()
    await expect(t.write((tx) => tx.run('delete from app.audit_event'))).rejects.toThrow()
  })

  test('are chained once, also by two concurrent workers', async () => {
    const seal = () =>
      w.runtime.database.write(fullScope(t.tenant_id, 'job:audit-chain'), (tx) =>
        chainTenantEvents(tx, w.kernel.auditKeys),
      )
    await Promise.all([seal(), seal(), seal()])
    await chainAllEvents(w, t)
    const total = (await events()).length
    const rows = await t.write((tx) =>
      tx.query<{ seq: number; prev_hash: string; hash: string }>(
        'select seq, prev_hash, hash from app.audit_link where tenant_id = $1 order by seq',
        [t.tenant_id],
      ),
    )
    expect(rows.map(({ seq }) => seq)).toEqual(Array.from({ length: total }, (_, i) => i + 1))
    for (let i = 1; i < rows.length; i++) expect(rows[i]?.prev_hash).toBe(rows[i - 1]?.hash)
  })

  test('are chained by a worker that returns to a tenant another worker had locked', async () => {
    const chainWriter = w.runtime.createChainWriter()
    const unsealed = () =>
      t.write((tx) =>
        tx.query(
          `select from app.audit_event e where tenant_id = $1
              and not exists (select from app.audit_link l where l.tenant_id = $1 and l.event_id = e.event_id)`,
          [t.tenant_id],
        ),
      )
    const passed = async () => {
      await chainWriter.runOnce()
      return (await unsealed()).length
    }
    await expect.poll(passed).toBe(0)
    await t.newUser()
    await t.write(async (tx) => {
      await tx.query("select pg_advisory_xact_lock(hashtextextended('audit:' || $1, 0))", [t.tenant_id])
      await chainWriter.runOnce()
    })
    expect(await unsealed()).toHaveLength(1)
    await expect.poll(passed).toBe(0)
  })
})
