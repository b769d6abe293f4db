/** What the database itself refuses about designations, and about the restriction that something was written with. */
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'

type Someone = Awaited<ReturnType<TestApp['person']>>
let w: TestApp
let app: pg.Client
let tenant_id: string
let owner: Someone
let officer: Someone
let auditor: Someone
beforeAll(async () => {
  w = await startTestApp()
  app = new pg.Client(w.clone.app)
  await app.connect()
})
afterAll(async () => {
  await app.end()
  await w.close()
})
beforeEach(async () => {
  tenant_id = await w.makeTenant()
  owner = await w.person(tenant_id, ['compliance_officer'])
  officer = await w.person(tenant_id, ['compliance_officer'])
  auditor = await w.person(tenant_id, ['auditor'])
})

const actAs = ({ user_id }: Someone) =>
  app.query(
    `select set_config('app.tenant_id', $1, false), set_config('app.actor', $2, false), set_config('app.sight', 'all', false)`,
    [tenant_id, `user:${user_id}`],
  )
const call = async (who: Someone, line: string, body?: object) => {
  const { status, json } = await w.call(line, { token: who.token, ...(body && { body }) })
  expect(status).toBeLessThan(300)
  return json
}
const propose = async (who: Someone, of: Someone): Promise<string> => {
  const body = { user_id: of.user_id, effect: 'designate', reason: 'Decision of the board' }
  return (await call(who, 'POST /mlro-designations', body)).designation_id
}
const flag = ({ user_id }: Someone, is_mlro: boolean) =>
  `update app.user_account set is_mlro = ${is_mlro} where user_id = '${user_id}'`
const decide = (designation_id: string, by: Someone, state = 'confirmed') =>
  `update app.mlro_designation set state = '${state}', decided_at = now(), decided_by = 'user:${by.user_id}'
    where designation_id = '${designation_id}'`
const insertDesignation = (state: string, proposer: Someone, decider: string) =>
  `insert into app.mlro_designation (tenant_id, designation_id, user_id, effect, reason, state, proposed_by, decided_at, decided_by)
   values ('${tenant_id}', gen_random_uuid(), '${auditor.user_id}', 'designate', 'x', '${state}', 'user:${proposer.user_id}', ${decider})`

async function expectRefused(statements: readonly string[], constraint?: string): Promise<void> {
  for (const statement of statements) {
    const error = await app.query(statement).then(
      () => null,
      (refusal: pg.DatabaseError) => refusal,
    )
    expect([statement, error?.code, constraint && error?.constraint]).toEqual([statement, 'PB002', constraint])
  }
}

test('nobody becomes MLRO, or ceases to be, without a designation that somebody else confirms', async () => {
  const confirmed = await propose(officer, officer)
  await call(owner, `POST /mlro-designations/${confirmed}/confirm`)
  await actAs(owner)
  const created = `insert into app.user_account (tenant_id, user_id, issuer, subject, name, roles, origin, state, is_mlro, created_by)
    values ('${tenant_id}', gen_random_uuid(), 'x', 'x', 'x', '{auditor}', 'external', 'active', true, 'user:x')`
  await expectRefused([flag(auditor, true), flag(officer, false), created], 'user_account_mlro_designation')
  await expectRefused([
    insertDesignation('confirmed', officer, `now(), 'user:${owner.user_id}'`),
    insertDesignation('waiting', officer, 'null, null'),
    // A designation that took effect does not serve again.
    decide(confirmed, owner),
    decide(confirmed, owner, 'withdrawn'),
  ])

  const waiting = await propose(officer, auditor)
  await expectRefused([
    `update app.mlro_designation set user_id = '${owner.user_id}' where designation_id = '${waiting}'`,
    decide(waiting, officer),
  ])
  await app.query('begin')
  await app.query(decide(waiting, owner))
  await app.query('savepoint confirmed')
  await expectRefused([flag(owner, true)], 'user_account_mlro_designation')
  await app.query('rollback to savepoint confirmed')
  await app.query(flag(auditor, true))
  await app.query('commit')
  // Later in another transaction neither the designation nor its end can be taken from it.
  await expectRefused([flag(auditor, false)], 'user_account_mlro_designation')
})

test('a job and a stored response keep the restriction they were written with', async () => {
  const ids: string[] = []
  for (const purpose of ['Case 17', 'Case 18'])
    ids.push((await call(owner, 'POST /restrictions', { purpose })).restriction_id)
  await actAs(owner)
  await app.query('begin')
  await app.query(
    `insert into app.job (tenant_id, job_id, kind, payload, created_by, run_at, restriction_id)
     values ($1, gen_random_uuid(), 'test', '{}', 'user:test', now(), $2)`,
    [tenant_id, ids[0]],
  )
  await app.query(
    `insert into app.idempotency (tenant_id, principal, operation, key, fingerprint, status, expires_at, object_restriction_id,
                                  object_also_restriction_id, object_named_restriction_ids)
     values ($1, 'user:test', 'test', 'kept', 'x', 200, now() + interval '1 day', $2, $2, array[$2::uuid])`,
    [tenant_id, ids[0]],
  )
  await app.query('savepoint written')
  for (const column of ['job set ', 'idempotency set object_', 'idempotency set object_also_'])
    for (const value of ['null', `'${ids[1]}'`]) {
      await expectRefused([`update app.${column}restriction_id = ${value} where tenant_id = '${tenant_id}'`])
      await app.query('rollback to savepoint written')
    }
  const named = `update app.idempotency set object_named_restriction_ids = '{${ids[1]}}' where tenant_id = '${tenant_id}'`
  await expectRefused([named])
  await app.query('rollback')
})

test("whoever has access that ends changes nobody's access and no restriction", async () => {
  const { restriction_id } = await call(owner, 'POST /restrictions', { purpose: 'Case 17' })
  const until = new Date(Date.now() + 600_000).toISOString()
  await call(owner, `PUT /restrictions/${restriction_id}/access/${auditor.user_id}`, { effect: 'grant', until })
  const ofOwner = `restriction_id = '${restriction_id}' and principal = 'user:${owner.user_id}'`
  const own = `restriction_id = '${restriction_id}' and principal = 'user:${auditor.user_id}'`
  const insert = (who: Someone, effect: string) =>
    `insert into app.restriction_access (tenant_id, restriction_id, principal, effect, granted_by)
     values ('${tenant_id}', '${restriction_id}', 'user:${who.user_id}', '${effect}', 'user:${auditor.user_id}')`
  await actAs(auditor)
  for (const statement of [
    `update app.restriction_access set until = null where ${own}`,
    `delete from app.restriction_access where ${own}`,
    `delete from app.restriction_access where ${ofOwner}`,
    `update app.restriction_access set effect = 'exclude' where ${ofOwner}`,
    insert(officer, 'grant'),
    insert(officer, 'exclude'),
    `update app.restriction set is_in_force = false, lifted_at = now(), lifted_by = 'x', lift_reason = 'x' where restriction_id = '${restriction_id}'`,
  ])
    await expect(app.query(statement), statement).rejects.toMatchObject({ code: 'PB010' })
  await actAs(owner)
  expect((await app.query(`delete from app.restriction_access where ${own}`)).rowCount).toBe(1)
})
