/** Nobody overwrites what they have not seen: revisions, strong ETags, If-Match, If-None-Match and expected_revision. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { getExample, getRequestLine, routes } from '../isolation/support.ts'
import { ExampleTenant } from '../support/example-tenant.ts'
import { type Reply, startTestApp, type TestApp } from '../support/test-app.ts'

let w: TestApp
let token: string
let count = 0

beforeAll(async () => {
  w = await startTestApp()
  token = await w.token()
})
afterAll(() => w.close())

async function newUser(): Promise<Reply> {
  const body = { name: 'Ada', email: `ada-${count++}@example.com`, roles: [] }
  return w.call('POST /users', { token, body })
}
const change = (user_id: string, body: object, headers: Record<string, string> = {}) =>
  w.call(`PATCH /users/${user_id}`, { token, body, headers })
const brief = ({ status, json }: Reply) => `${status} ${json?.code}`

describe('a revision', () => {
  test('starts at one, rises with each change, and is the ETag', async () => {
    const made = await newUser()
    expect(made.json.revision).toBe(1)
    expect(made.headers['etag']).toBe('"1"')
    const changed = await change(made.json.user_id, { team: 'north' })
    expect(changed.json.revision).toBe(2)
    expect(changed.headers['etag']).toBe('"2"')
    const read = await w.call(`GET /users/${made.json.user_id}`, { token })
    expect(read.headers['etag']).toBe('"2"')
  })

  test('is in the reply of every revisioned operation', async () => {
    const marked = routes.filter(({ revisioned }) => revisioned)
    const withoutRevision = marked.filter(({ reply }) => {
      const schema = reply[1] as { properties?: object; anyOf?: { properties: object }[] }
      const shapes = schema.anyOf ?? [schema as { properties: object }]
      return !shapes.some(({ properties }) => Object.hasOwn(properties, 'revision'))
    })
    expect(marked.length).toBeGreaterThan(10)
    expect(withoutRevision.map(({ id }) => id)).toEqual([])
  })

  test('does not change when a change is refused', async () => {
    const { user_id } = (await newUser()).json
    await change(user_id, { team: 'x', expected_revision: 9 })
    await change(user_id, { team: 'x' }, { 'if-match': '"9"' })
    const { json } = await w.call(`GET /users/${user_id}`, { token })
    expect(json).toMatchObject({ revision: 1, team: null })
  })
})

describe('expected_revision', () => {
  test('accepts the current revision and returns 409 for any other', async () => {
    const { user_id } = (await newUser()).json
    expect((await change(user_id, { team: 'a', expected_revision: 1 })).status).toBe(200)
    const stale = await change(user_id, { team: 'b', expected_revision: 1 })
    expect(brief(stale)).toBe('409 revision_stale')
    expect(stale.json.detail).toContain('current revision is 2')
    expect(brief(await change(user_id, { team: 'b', expected_revision: 3 }))).toBe('409 revision_stale')
  })

  test('lets one of two concurrent changes succeed', async () => {
    const { user_id } = (await newUser()).json
    const replies = await Promise.all(
      ['a', 'b', 'c', 'd'].map((team) => change(user_id, { team, expected_revision: 1 })),
    )
    expect(replies.map(brief).toSorted()).toEqual(['200 undefined', ...Array(3).fill('409 revision_stale')])
  })
})

describe('If-Match', () => {
  test.each([
    ['the current ETag', '"1"', 200],
    ['any', '*', 200],
    ['a list with the current one', '"7", "1"', 200],
    ['another', '"2"', 412],
    ['a weak one, since a change needs a strong match', 'W/"1"', 412],
    ['one without quotes', '1', 412],
    ['an empty one', '', 412],
  ])('%s', async (_name, etag, status) => {
    const { user_id } = (await newUser()).json
    const reply = await change(user_id, { team: 'a' }, { 'if-match': etag })
    expect(reply.status).toBe(status)
    if (status === 412) expect(reply.json.code).toBe('precondition_failed')
  })

  test('is checked before expected_revision', async () => {
    const { user_id } = (await newUser()).json
    expect(brief(await change(user_id, { team: 'a', expected_revision: 9 }, { 'if-match': '"9"' }))).toBe(
      '412 precondition_failed',
    )
  })

  const changes = routes.filter((route) => route.revisioned && route.method !== 'GET' && route.reply[0] !== 201)

  /** A dismissal is proposed, by the first change of an alert, before it is confirmed or returned; a release follows an assignment. */
  const revisions: Readonly<Record<string, number>> = {
    ...{ confirmAlertDismissal: 2, returnAlertDismissal: 2, wakeAlert: 2, releaseAlert: 2 },
    ...{ closeInvestigation: 2, returnInvestigationProposal: 2, withdrawInvestigationProposal: 2 },
    ...{ reopenInvestigation: 3, resumeInvestigation: 2 },
  }

  test('is supported by several operations', () => expect(changes.length).toBeGreaterThan(8))

  test.each(changes.map((route) => [route.id, route] as const))('is honoured by %s', async (_id, route) => {
    const t = await ExampleTenant.create(w)
    const example = await getExample(route, t)
    const by = await t.token(undefined, example.principal)
    const body = example.body === undefined ? {} : { body: example.body }
    const request = (etag: string) =>
      w.call(getRequestLine(route, example), { token: by, headers: { 'if-match': etag }, ...body })
    expect(brief(await request('"99"'))).toBe('412 precondition_failed')
    expect((await request(`"${revisions[route.id] ?? 1}"`)).status).toBe(route.reply[0])
  })
})

describe('If-None-Match', () => {
  const read = (user_id: string, etag: string) =>
    w.call(`GET /users/${user_id}`, { token, headers: { 'if-none-match': etag } })

  test.each([
    ['the current ETag', '"1"', 304],
    ['a weak one, since a read needs only a weak match', 'W/"1"', 304],
    ['any', '*', 304],
    ['a list with the current one', '"7", "1"', 304],
    ['another', '"2"', 200],
    ['one without quotes', '1', 200],
  ])('%s', async (_name, etag, status) => {
    const { user_id } = (await newUser()).json
    const reply = await read(user_id, etag)
    expect(reply.status).toBe(status)
    expect(reply.headers['etag']).toBe('"1"')
    if (status === 304) expect(reply.text).toBe('')
  })

  test('returns a changed resource in full', async () => {
    const { user_id } = (await newUser()).json
    await change(user_id, { team: 'a' })
    expect((await read(user_id, '"1"')).status).toBe(200)
    expect((await read(user_id, '"2"')).status).toBe(304)
  })

  test('each of several approvals changes the ETag of the change request', async () => {
    const tenant_id = await w.makeTenant()
    const person = () => w.token({ tenant_id, roles: ['tenant_admin'] })
    const [author, first, second] = [await person(), await person(), await person()]
    const rules = [{ action: 'tenant-profile', approvers: 2, role: 'tenant_admin' }]
    await w.setApprovalRules(tenant_id, rules)
    const { cr_id } = (await w.call('PATCH /tenant', { token: author, body: { name: 'Two Eyes More' } })).json
    const etag = async () => (await w.call(`GET /change-requests/${cr_id}`, { token: author })).headers['etag']
    const seen = [await etag()]
    for (const checker of [first, second]) {
      await w.call(`POST /change-requests/${cr_id}/approve`, { token: checker, body: {} })
      seen.push(await etag())
    }
    expect(seen).toEqual(['"1"', '"2"', '"3"'])
    expect((await w.call('GET /tenant', { token: author })).json.name).toBe('Two Eyes More')
  })
})
