/** What the restrictions router does. What people without access see is covered by test/isolation/sight.test.ts. */
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { uuidv7 } from '#kernel/uuid.ts'
import { waitUntil } from '#test/support/job-test-app.ts'
import { forge, misuse } from '#test/support/own-trigger.ts'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'

let w: TestApp
let tenant_id: string
type Someone = Awaited<ReturnType<TestApp['person']>>
let owner: Someone
let officer: Someone
let auditor: Someone
beforeAll(async () => {
  w = await startTestApp()
})
afterAll(() => w.close())
beforeEach(async () => {
  tenant_id = await w.makeTenant()
  owner = await w.person(tenant_id, ['compliance_officer'])
  officer = await w.person(tenant_id, ['compliance_officer'])
  auditor = await w.person(tenant_id, ['auditor'])
})

const call = (who: Someone, line: string, body?: object) => w.call(line, { token: who.token, ...(body && { body }) })
const create = async () =>
  (await call(owner, 'POST /restrictions', { purpose: 'Case 17' })).json.restriction_id as string
const propose = (who: Someone, of: Someone, effect: 'designate' | 'end') =>
  call(who, 'POST /mlro-designations', { user_id: of.user_id, effect, reason: 'Decision of the board' })

async function designate(person: Someone): Promise<void> {
  const { designation_id } = (await propose(officer, person, 'designate')).json
  expect((await call(owner, `POST /mlro-designations/${designation_id}/confirm`)).status).toBe(200)
}

describe('the designation of the MLRO', () => {
  test('has no effect until another person confirms it', async () => {
    const restriction_id = await create()
    const read = async () => (await call(officer, `GET /restrictions/${restriction_id}`)).status
    const { designation_id } = (await propose(officer, officer, 'designate')).json
    const own = await call(officer, `POST /mlro-designations/${designation_id}/confirm`)
    expect([own.status, own.json.code, await read()]).toEqual([409, 'approval_own_request', 404])
    await call(owner, `POST /mlro-designations/${designation_id}/confirm`)
    expect(await read()).toBe(200)
  })

  test('is not confirmed by the person who is designated', async () => {
    const { designation_id } = (await propose(owner, officer, 'designate')).json
    const own = await call(officer, `POST /mlro-designations/${designation_id}/confirm`)
    expect([own.status, own.json.code]).toEqual([409, 'approval_own_request'])
    const app = new pg.Client(w.clone.app)
    await app.connect()
    await app.query(`select set_config('app.tenant_id', $1, false), set_config('app.actor', $2, false)`, [
      tenant_id,
      `user:${officer.user_id}`,
    ])
    const confirm = `update app.mlro_designation set state = 'confirmed', decided_at = now(), decided_by = $2 where designation_id = $1`
    await expect(app.query(confirm, [designation_id, `user:${officer.user_id}`])).rejects.toMatchObject({
      code: 'PB002',
      constraint: 'mlro_designation_own_confirmation',
    })
    await app.end()
    const third = await w.person(tenant_id, ['tenant_admin'])
    expect((await call(third, `POST /mlro-designations/${designation_id}/confirm`)).status).toBe(200)
  })

  test('of the last one cannot be ended', async () => {
    await designate(officer)
    const { designation_id } = (await propose(officer, officer, 'end')).json
    const ended = await call(owner, `POST /mlro-designations/${designation_id}/confirm`)
    expect([ended.status, ended.json.code]).toEqual([409, 'transition_not_allowed'])
  })

  test('of both cannot be ended at the same time', async () => {
    await designate(officer)
    await designate(auditor)
    const proposals = await Promise.all([officer, auditor].map((person) => propose(officer, person, 'end')))
    const superuser = new pg.Client(w.clone.postgres)
    await superuser.connect()
    // Both requests wait for the people before either of them writes.
    await superuser.query('begin')
    await superuser.query('select 1 from app.user_account where tenant_id = $1 and is_mlro for update', [tenant_id])
    const confirmed = Promise.all(
      proposals.map(({ json }) => call(owner, `POST /mlro-designations/${json.designation_id}/confirm`)),
    )
    await waitUntil('both requests wait', async () => {
      const { rows } = await superuser.query<{ waiting: number }>(
        `select count(*)::int as waiting from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
      )
      return rows[0]?.waiting === 2
    })
    await superuser.query('commit')
    await superuser.end()
    expect((await confirmed).map(({ status }) => status).sort()).toEqual([200, 409])
  })

  test('ends with the access of the person, and the last one keeps both', async () => {
    await designate(officer)
    const administrator = await w.person(tenant_id, ['tenant_admin'])
    const deactivate = () => call(administrator, `POST /users/${officer.user_id}/deactivate`)
    const refused = await deactivate()
    expect([refused.status, refused.json.code]).toEqual([409, 'transition_not_allowed'])
    await designate(auditor)
    expect((await deactivate()).status).toBe(200)
    expect((await call(administrator, `POST /users/${officer.user_id}/reactivate`)).status).toBe(200)
    const ended = await propose(owner, officer, 'end')
    expect([ended.status, ended.json.detail]).toEqual([409, 'The person is not designated.'])
  })

  test('names an active person', async () => {
    const unknown = await call(owner, 'POST /mlro-designations', {
      user_id: uuidv7(),
      effect: 'designate',
      reason: 'X',
    })
    expect([unknown.status, unknown.json.code]).toEqual([409, 'conflict'])
  })

  test('does not show a restriction that excludes the person', async () => {
    const restriction_id = await create()
    await designate(officer)
    const access = `/restrictions/${restriction_id}/access/${officer.user_id}`
    expect((await call(owner, `PUT ${access}`, { effect: 'exclude' })).status).toBe(200)
    expect((await call(officer, `GET /restrictions/${restriction_id}`)).status).toBe(404)
    expect((await call(officer, 'GET /restrictions')).json.items).toEqual([])
  })
})

describe('access', () => {
  test('ends in the future, and only a grant ends', async () => {
    const restriction_id = await create()
    const put = (body: object) => call(owner, `PUT /restrictions/${restriction_id}/access/${officer.user_id}`, body)
    const useless = await w.person(tenant_id, ['viewer', 'tenant_admin'])
    const refused = await call(owner, `PUT /restrictions/${restriction_id}/access/${useless.user_id}`, {
      effect: 'grant',
    })
    expect([refused.status, refused.json.detail]).toEqual([409, expect.stringContaining('viewer, tenant_admin')])
    const until = (from_now_ms: number) => new Date(Date.now() + from_now_ms).toISOString()
    const past = await put({ effect: 'grant', until: until(-60_000) })
    expect([past.status, past.json.code, past.json.detail]).toEqual([
      409,
      'transition_not_allowed',
      'The end is in the past.',
    ])
    expect((await put({ effect: 'exclude', until: until(60_000) })).json.detail).toBe('Only a grant can end by itself.')
    expect((await put({ effect: 'grant', until: until(60_000) })).status).toBe(200)
  })

  test('is never changed by the person who has it', async () => {
    const own = `/restrictions/${await create()}/access/${owner.user_id}`
    const refused = [await call(owner, `DELETE ${own}`), await call(owner, `PUT ${own}`, { effect: 'exclude' })]
    expect(refused.map(({ status, json }) => [status, json.detail])).toEqual([
      [409, 'Nobody changes their own access; another person with access does.'],
      [409, 'Nobody changes their own access; another person with access does.'],
    ])
  })

  test('is never changed by an API key', async () => {
    const { restriction_id } = (await call(owner, 'POST /restrictions', { purpose: 'Case 18', is_in_force: false }))
      .json
    const token = await w.token({ tenant_id, principal: `key:${uuidv7()}`, roles: ['compliance_officer'] })
    const access = `/restrictions/${restriction_id}/access`
    const refused = [
      await w.call(`PUT ${access}/${officer.user_id}`, { token, body: { effect: 'exclude' } }),
      await w.call(`DELETE ${access}/${owner.user_id}`, { token }),
    ]
    expect(refused.map(({ status, json }) => [status, json.code])).toEqual([
      [403, 'person_required'],
      [403, 'person_required'],
    ])
  })

  test('that does not end is kept by somebody', async () => {
    const body = { purpose: 'Case 18', is_in_force: false }
    const { restriction_id } = (await call(owner, 'POST /restrictions', body)).json
    const access = `/restrictions/${restriction_id}/access`
    const removed = await call(officer, `DELETE ${access}/${owner.user_id}`)
    expect([removed.status, removed.json.detail]).toEqual([409, 'Somebody must keep access that does not end.'])
    expect((await call(owner, `GET /restrictions/${restriction_id}`)).status).toBe(200)
    await designate(auditor)
    expect((await call(officer, `DELETE ${access}/${owner.user_id}`)).status).toBe(204)
  })

  test('that ends changes neither the access of anybody nor the restriction', async () => {
    const restriction_id = await create()
    const at = `/restrictions/${restriction_id}`
    const [inspector, third] = [
      await w.person(tenant_id, ['auditor', 'compliance_officer', 'tenant_admin']),
      await w.person(tenant_id, ['compliance_officer']),
    ]
    await designate(officer)
    await call(owner, `PUT ${at}/access/${third.user_id}`, { effect: 'grant' })
    const acts = async (is_in_force: boolean) => [
      await call(inspector, `PUT ${at}/access/${third.user_id}`, { effect: 'grant' }),
      await call(inspector, `PUT ${at}/access/${officer.user_id}`, { effect: 'exclude' }),
      await call(inspector, `DELETE ${at}/access/${third.user_id}`),
      is_in_force
        ? await call(inspector, `POST ${at}/lift`, { reason: 'x' })
        : await call(inspector, `POST ${at}/impose`),
    ]
    const list = async () => (await call(owner, `GET ${at}/access`)).json.items
    const refused = [409, 'transition_not_allowed', expect.stringContaining('Your access ends by itself')]
    const expectRefused = async (is_in_force: boolean) => {
      const before = await list()
      for (const { status, json } of await acts(is_in_force)) expect([status, json.code, json.detail]).toEqual(refused)
      expect(await list()).toEqual(before)
    }
    const given = { user_id: inspector.user_id, hours: 1, reason: 'Inspection' }
    expect((await call(officer, `POST ${at}/break-glass`, given)).status).toBe(201)
    await expectRefused(true)
    const until = new Date(Date.now() + 600_000).toISOString()
    await call(owner, `PUT ${at}/access/${inspector.user_id}`, { effect: 'grant', until })
    await expectRefused(true)
    await call(owner, `POST ${at}/lift`, { reason: 'No suspicion' })
    await expectRefused(false)
    // It does not keep others from losing theirs with their account, and a grant that does not end allows it all.
    expect((await call(inspector, `POST /users/${third.user_id}/deactivate`)).status).toBe(200)
    expect((await list()).map(({ user_id }: { user_id: string }) => user_id)).not.toContain(third.user_id)
    await call(owner, `PUT ${at}/access/${inspector.user_id}`, { effect: 'grant' })
    expect((await call(inspector, `POST ${at}/impose`)).status).toBe(200)
  })

  test('ends when the person is deactivated, unless nobody else has it', async () => {
    const [shared, own] = [await create(), await create()]
    await call(owner, `PUT /restrictions/${shared}/access/${officer.user_id}`, { effect: 'grant', reason: 'Deputy' })
    const administrator = await w.person(tenant_id, ['tenant_admin'])
    for (const act of ['deactivate', 'reactivate'])
      expect((await call(administrator, `POST /users/${officer.user_id}/${act}`)).status).toBe(200)
    expect((await call(officer, `GET /restrictions/${shared}`)).status).toBe(404)
    const { items } = (await call(owner, `GET /restrictions/${shared}/access?include=ended`)).json
    expect(items.at(-1)).toMatchObject({
      ...{ user_id: officer.user_id, reason: 'Deputy' },
      ended_by: `user:${administrator.user_id}`,
    })
    for (const act of ['deactivate', 'reactivate'])
      expect((await call(administrator, `POST /users/${owner.user_id}/${act}`)).status).toBe(200)
    expect((await call(owner, `GET /restrictions/${own}`)).status).toBe(200)
  })

  test('changes the entity tag of the restriction', async () => {
    const restriction_id = await create()
    const read = () => call(owner, `GET /restrictions/${restriction_id}`)
    const before = (await read()).headers.etag
    await call(owner, `PUT /restrictions/${restriction_id}/access/${officer.user_id}`, { effect: 'grant' })
    expect((await read()).headers.etag).not.toBe(before)
  })

  test('is counted with the MLROs who have it, and without the one who is excluded', async () => {
    const restriction_id = await create()
    const count = async () => (await call(owner, `GET /restrictions/${restriction_id}`)).json.people
    expect(await count()).toEqual({ granted: 1, excluded: 0, mlros: 0 })
    await designate(officer)
    expect(await count()).toEqual({ granted: 1, excluded: 0, mlros: 1 })
    await call(owner, `PUT /restrictions/${restriction_id}/access/${officer.user_id}`, { effect: 'exclude' })
    expect(await count()).toEqual({ granted: 1, excluded: 1, mlros: 0 })
  })

  test('is not given in an emergency to people who are no auditors, are excluded or have it', async () => {
    await designate(officer)
    const restriction_id = await create()
    const give = async (user_id: string) => {
      const body = { user_id, hours: 1, reason: 'Inspection' }
      return (await call(officer, `POST /restrictions/${restriction_id}/break-glass`, body)).json.detail
    }
    const admin = await w.token({ tenant_id, roles: ['tenant_admin'] })
    const newUser = async (roles: string[]) =>
      (await w.call('POST /users', { token: admin, body: { name: 'X', email: `${uuidv7()}@example.com`, roles } })).json
        .user_id as string
    expect(await give(await newUser(['analyst']))).toBe('Access in an emergency is for auditors.')
    const excluded = await newUser(['auditor'])
    await call(owner, `PUT /restrictions/${restriction_id}/access/${excluded}`, { effect: 'exclude' })
    expect(await give(excluded)).toBe('The person is excluded from this restriction.')
    const member = await newUser(['auditor'])
    expect(await give(member)).toBeUndefined()
    expect(await give(member)).toBe('The person has access already.')
  })

  test('is not taken by a person who is excluded', async () => {
    const body = { purpose: 'Case 19', is_in_force: false }
    const { restriction_id } = (await call(owner, 'POST /restrictions', body)).json
    await call(owner, `PUT /restrictions/${restriction_id}/access/${officer.user_id}`, { effect: 'exclude' })
    const imposed = await call(officer, `POST /restrictions/${restriction_id}/impose`)
    expect([imposed.status, imposed.json.detail]).toEqual([409, 'You are excluded from this restriction.'])
  })

  test('for an auditor is given by the MLRO only, and ends within eight hours', async () => {
    const restriction_id = await create()
    const body = { user_id: auditor.user_id, hours: 8, reason: 'Inspection' }
    const give = (who: Someone) => call(who, `POST /restrictions/${restriction_id}/break-glass`, body)
    expect((await give(owner)).json.code).toBe('role_required')
    await designate(officer)
    const given = await give(officer)
    expect([given.status, given.json.break_glass]).toEqual([201, true])
    expect(Date.parse(given.json.until) - Date.parse(given.json.granted_at)).toBeLessThanOrEqual(8 * 3_600_000)
    expect((await call(auditor, `GET /restrictions/${restriction_id}`)).status).toBe(200)
  })

  test('that was revoked or replaced is kept with its reason, and listed on request', async () => {
    const restriction_id = await create()
    await designate(officer)
    const access = `/restrictions/${restriction_id}/access`
    const given = { user_id: auditor.user_id, hours: 1, reason: 'Inspection by the supervisor' }
    await call(officer, `POST /restrictions/${restriction_id}/break-glass`, given)
    expect((await call(owner, `DELETE ${access}/${auditor.user_id}`)).status).toBe(204)
    await call(owner, `PUT ${access}/${auditor.user_id}`, { effect: 'exclude', reason: 'Knows the customer' })
    await call(owner, `PUT ${access}/${auditor.user_id}`, { effect: 'grant' })
    const list = async (query: string) =>
      (await call(owner, `GET ${access}${query}`)).json.items.filter(
        ({ user_id }: { user_id: string }) => user_id === auditor.user_id,
      )
    expect(await list('')).toMatchObject([{ effect: 'grant', reason: null, ended_at: null, ended_by: null }])
    const ended = { ended_at: expect.any(String), ended_by: `user:${owner.user_id}` }
    expect(await list('?include=ended')).toMatchObject([
      { effect: 'grant', break_glass: true, reason: 'Inspection by the supervisor', ...ended },
      { effect: 'exclude', reason: 'Knows the customer', ...ended },
      { effect: 'grant', ended_at: null },
    ])
    const [first] = (await call(owner, `GET ${access}?include=ended&limit=1`)).json.items
    expect(first.user_id).toBe(owner.user_id)
    const app = new pg.Client(w.clone.app)
    await app.connect()
    await app.query(
      `select set_config('app.tenant_id', $1, false), set_config('app.actor', 'user:test', false), set_config('app.sight', 'all', false)`,
      [tenant_id],
    )
    const forged = `insert into app.restriction_access_ended select * from app.restriction_access_ended`
    for (const statement of [forged, `update app.restriction_access_ended set reason = 'x'`])
      await expect(app.query(statement)).rejects.toMatchObject({ code: 'PB002' })
    await expect(app.query('delete from app.restriction_access_ended')).rejects.toMatchObject({ code: '42501' })
    await app.end()
  })

  test('is logged, reads included', async () => {
    const restriction_id = await create()
    await call(owner, `GET /restrictions/${restriction_id}`)
    const { items } = (await call(owner, `GET /restrictions/${restriction_id}/access-log`)).json
    expect(items.map(({ operation }: { operation: string }) => operation)).toEqual([
      'getRestriction',
      'createRestriction',
    ])
  })
})

describe('the rows that decide about sight', () => {
  test('are written by triggers only', async () => {
    await create()
    const app = new pg.Client(w.clone.app)
    await app.connect()
    await app.query(`select set_config('app.tenant_id', $1, false), set_config('app.actor', 'user:test', false)`, [
      tenant_id,
    ])
    for (const table of ['restriction_force', 'restriction_person', 'restriction_list']) {
      expect((await app.query(`select 1 from app.${table}`)).rowCount).toBeGreaterThan(0)
      await expect(app.query(`delete from app.${table}`)).rejects.toMatchObject({ code: 'PB002' })
    }
    await app.end()
  })

  test('say what they are copied from, also when they are written by triggers of others', async () => {
    const imposed = await create()
    const body = { purpose: 'Case 20', is_in_force: false }
    const prepared = (await call(owner, 'POST /restrictions', body)).json.restriction_id as string
    await call(owner, `PUT /restrictions/${imposed}/access/${auditor.user_id}`, { effect: 'exclude' })
    const app = new pg.Client(w.clone.app)
    await app.connect()
    const here = (
      sight: string,
    ) => `select set_config('app.tenant_id', '${tenant_id}', false), set_config('app.actor', 'user:test', false),
      set_config('app.sight', '${sight}', false), set_config('app.restoring', 'on', false)`
    const rows = async () => {
      await app.query(here('all'))
      const list = 'select jsonb_object_keys(ids) from app.restriction_list order by 1'
      const force = 'select restriction_id::text from app.restriction_force order by 1'
      const access = 'select principal, effect, until from app.restriction_access order by 1, 2'
      const person = 'select principal, effect, until from app.restriction_person order by 1, 2'
      const read = (text: string) => app.query({ text, rowMode: 'array' }).then((found) => found.rows)
      return [await read(list), await read(force), await read(person), await read(access)] as const
    }
    const before = await rows()
    expect(before).toEqual([[[imposed]], [[imposed]], before[3], before[3]])
    const person = `'${tenant_id}', '${imposed}', 'user:${auditor.user_id}'`
    // The list is always computed again; the other two cannot be written.
    const LIST = `update app.restriction_list set ids = '{}'`
    const elsewhere = `set_config('app.tenant_id', '${uuidv7()}', true)`
    for (const sight of ['all', 'none']) {
      await app.query(here(sight))
      expect(
        [
          await forge(app, LIST),
          await forge(app, LIST, ['drop domain if exists pg_temp.text', 'create domain pg_temp.text as varchar(1)']),
          await misuse(app, {
            ...{ like: 'restriction_force', with: 'list_restriction' },
            ...{ row: `values ('${tenant_id}', '${imposed}')`, then: 'delete from copy' },
          }),
        ],
        sight,
      ).toEqual([null, null, null])
      await app.query('drop domain pg_temp.text')
      expect(
        [
          await forge(app, 'delete from app.restriction_list'),
          await forge(app, 'delete from app.restriction_force'),
          await forge(app, `update app.restriction_force set restriction_id = '${prepared}'`),
          await forge(app, `insert into app.restriction_force values ('${tenant_id}', '${prepared}')`),
          await forge(app, 'delete from app.restriction_person'),
          await forge(app, `update app.restriction_person set effect = 'grant' where effect = 'exclude'`),
          await forge(app, `insert into app.restriction_person values (${person}, 'grant') on conflict do nothing`),
          await misuse(app, {
            ...{ like: 'restriction', with: 'copy_restriction' },
            row: `select r.tenant_id, '${prepared}', 'x', true from app.restriction r limit 1`,
          }),
          await misuse(app, {
            ...{ like: 'restriction_access', with: 'copy_restriction_access' },
            row: `values (${person}, 'grant', false, null, null, now(), 'x')`,
          }),
        ].filter((code) => code !== 'PB002' && code !== '23502'),
        sight,
      ).toEqual([])
    }
    // A tenant that does not exist would look like one that is being restored.
    const away = `set ids = (select '{}'::jsonb from ${elsewhere} as s (x) where s.x is not null)`
    expect(await forge(app, `update app.restriction_list ${away}`)).not.toBeNull()
    await app.query(here('all'))
    expect(await forge(app, `delete from app.restriction_force where ${elsewhere} is not null`)).not.toBeNull()
    expect(await rows()).toEqual(before)
    await app.end()
  })

  test('show each sight exactly what the definition says, also to those who impose and lift at the same time', async () => {
    await designate(officer)
    const ids = await Promise.all(Array.from({ length: 6 }, create))
    const [lifted, prepared, excluding, granting, ending] = ids as [string, string, string, string, string, string]
    await call(owner, `POST /restrictions/${lifted}/lift`, { reason: 'x' })
    const open = (await call(owner, 'POST /restrictions', { purpose: 'Case 18', is_in_force: false })).json
    for (const id of [excluding, prepared])
      await call(owner, `PUT /restrictions/${id}/access/${officer.user_id}`, { effect: 'exclude' })
    await call(owner, `POST /restrictions/${prepared}/lift`, { reason: 'x' })
    for (const id of [granting, ending])
      await call(owner, `PUT /restrictions/${id}/access/${auditor.user_id}`, { effect: 'grant' })
    const superuser = new pg.Client(w.clone.postgres)
    const app = new pg.Client(w.clone.app)
    await Promise.all([superuser.connect(), app.connect()])
    await superuser.query(`set session_replication_role = replica`)
    await superuser.query(
      `update app.restriction_person set until = now() - interval '1 minute' where restriction_id = $1 and principal = $2`,
      [ending, `user:${auditor.user_id}`],
    )
    const people = [owner, officer, auditor].map(({ user_id }) => `principal:user:${user_id}`)
    const sights = [...people, `restriction:${granting}`, 'none', 'all', '', `principal:key:${uuidv7()}`, 'principal:x']
    const list = async (client: pg.Client, text: string) =>
      (await client.query<{ id: string }>(text)).rows.map(({ id }) => id)
    const shown: Record<string, readonly string[]> = {}
    for (const sight of sights) {
      const setting = `select set_config('app.tenant_id', '${tenant_id}', false), set_config('app.sight', '${sight}', false)`
      await Promise.all([app.query(setting), superuser.query(setting)])
      shown[sight] = await list(app, 'select restriction_id as id from app.restriction order by 1')
      expect(shown[sight], sight).toEqual(
        await list(
          superuser,
          `select restriction_id as id from app.restriction where tenant_id = '${tenant_id}' and (app.has_full_sight()
             or restriction_id = any (app.granted_restrictions(app.sight()))
             or coalesce(restriction_id <> all (app.officer_exclusions(app.sight())), false)
             or not app.is_in_force(restriction_id)) order by 1`,
        ),
      )
    }
    await Promise.all([superuser.end(), app.end()])
    const visible = [lifted, prepared, open.restriction_id].sort()
    expect(shown['none']).toEqual(visible)
    expect(shown[people[1] as string]).toEqual([...ids, open.restriction_id].filter((id) => id !== excluding).sort())
    expect(shown[people[2] as string]).toEqual([...visible, granting].sort())
    expect(shown['all']).toHaveLength(7)
  })

  test('are not asked for those who see everything, also when a row was changed meanwhile', async () => {
    const restriction_id = await create()
    const { job_id } = (await call(auditor, 'POST /audit/verify', {})).json
    const superuser = new pg.Client(w.clone.postgres)
    await superuser.connect()
    await superuser.query(`select set_config('app.actor', 'operator:test', false)`)
    await superuser.query('update app.job set restriction_id = $1 where job_id = $2', [restriction_id, job_id])
    await superuser.end()
    const [app, worker] = [new pg.Client(w.clone.app), new pg.Client(w.clone.worker)]
    await Promise.all([app.connect(), worker.connect()])
    for (const client of [app, worker])
      await client.query(
        `select set_config('app.tenant_id', $1, false), set_config('app.actor', 'job:test', false), set_config('app.sight', 'all', false)`,
        [tenant_id],
      )
    const touch = (client: pg.Client) =>
      client.query(
        'update app.job set lease_until = lease_until, revision = revision + 1 where tenant_id = $1 and job_id = $2',
        [tenant_id, job_id],
      )
    await app.query('begin')
    await touch(app)
    const waiting = touch(worker)
    await waitUntil('the other one waits', async () => {
      const { rows } = await app.query(`select 1 from pg_locks where not granted`)
      return rows.length > 0
    })
    await app.query('commit')
    expect((await waiting).rowCount).toBe(1)
    await Promise.all([app.end(), worker.end()])
  })
})
