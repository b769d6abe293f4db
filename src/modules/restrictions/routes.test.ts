/** What the restrictions router does. What people without access see is covered by test/isolation/sight.test.ts. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
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
  const { designation_id } = (await propose(owner, person, 'designate')).json
  expect((await call(officer, `POST /mlro-designations/${designation_id}/confirm`)).status).toBe(200)
}

describe('the designation of the MLRO', () => {
  test('has no effect until another person confirms it', async () => {
    const restriction_id = await create()
    const read = async () => (await call(officer, `GET /restrictions/${restriction_id}`)).status
    const { designation_id } = (await propose(owner, officer, 'designate')).json
    const own = await call(owner, `POST /mlro-designations/${designation_id}/confirm`)
    expect([own.status, own.json.code, await read()]).toEqual([409, 'approval_own_request', 404])
    await call(officer, `POST /mlro-designations/${designation_id}/confirm`)
    expect(await read()).toBe(200)
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
    const ended = await Promise.all(
      proposals.map(({ json }) => call(owner, `POST /mlro-designations/${json.designation_id}/confirm`)),
    )
    expect(ended.map(({ status }) => status).sort()).toEqual([200, 409])
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
    const restriction_id = await create()
    const removed = await call(owner, `DELETE /restrictions/${restriction_id}/access/${owner.user_id}`)
    expect([removed.status, removed.json.code]).toEqual([409, 'transition_not_allowed'])
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
