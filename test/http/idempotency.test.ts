/** Safe retries: one effect per key, the same answer byte for byte, and nothing kept of what failed. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { modules } from '#app/modules.ts'
import type { Role } from '#kernel/auth/roles.ts'
import { fullScope } from '#kernel/database/scope.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { type Reply, startTestApp, type TestApp } from '../support/test-app.ts'
import { countMarks, createTestModule } from '../support/test-module.ts'

const rehearsal = createTestModule()
let w: TestApp
let token: string

beforeAll(async () => {
  w = await startTestApp({ modules: [...modules, rehearsal.module] })
  token = await w.token()
})
afterAll(() => w.close())

const mark = (key: string | undefined, name: string, by = token): Promise<Reply> =>
  w.call('POST /rehearsal/marks', {
    token: by,
    body: { name },
    headers: key === undefined ? {} : { 'idempotency-key': key },
  })
const marks = async (name: string, tenant_id?: string) =>
  w.runtime.database.read(fullScope(tenant_id ?? (await w.tenant()), 'operator:test'), (tx) => countMarks(tx, name))
const answers = async (key: string) =>
  w.runtime.database.read(fullScope(await w.tenant(), 'operator:test'), (tx) =>
    tx.query<{ body: string | null; status: number }>(
      'select body, status from app.idempotency where tenant_id = $1 and key = $2',
      [tx.tenant_id, key],
    ),
  )

describe('repeating a request', () => {
  test('returns the same bytes and headers, marks the replay, and changes nothing', async () => {
    const first = await mark('again', 'again')
    const second = await mark('again', 'again')
    expect(first.status).toBe(201)
    expect(first.headers['idempotency-replayed']).toBeUndefined()
    expect(second.status).toBe(201)
    expect(second.text).toBe(first.text)
    expect(second.headers['location']).toBe(first.headers['location'])
    expect(second.headers['content-type']).toBe(first.headers['content-type'])
    expect(second.headers['idempotency-replayed']).toBe('true')
    expect(await marks('again')).toBe(1)
  })

  test('carries the ETag of the first answer', async () => {
    const request = {
      token,
      headers: { 'idempotency-key': 'etag' },
      body: { name: 'Ada', email: 'etag@example.com', roles: [] },
    }
    const first = await w.call('POST /users', request)
    expect(first.headers['etag']).toBe('"1"')
    await w.call(`PATCH /users/${first.json.user_id}`, { token, body: { team: 'moved' } })
    const second = await w.call('POST /users', request)
    expect(second.text).toBe(first.text)
    expect(second.headers['etag']).toBe('"1"')
  })

  test('without a key takes effect again', async () => {
    await mark(undefined, 'twice')
    await mark(undefined, 'twice')
    expect(await marks('twice')).toBe(2)
  })

  test('accepts the same JSON in another spelling', async () => {
    const send = (payload: string) =>
      w.call('POST /users', {
        token,
        payload,
        headers: { 'content-type': 'application/json', 'idempotency-key': 'spelling' },
      })
    const first = await send('{"name":"Ada","email":"spelling@example.com","roles":[]}')
    const second = await send('{ "roles": [], "email": "spelling\\u0040example.com", "name": "Ada" }')
    expect(second.text).toBe(first.text)
  })

  test('with another body is refused without effect', async () => {
    await mark('other', 'one')
    const reused = await mark('other', 'two')
    expect(reused.json.code).toBe('idempotency_key_reused')
    expect(await marks('two')).toBe(0)
  })

  test('under another path is refused', async () => {
    const made = async (email: string) =>
      (await w.call('POST /users', { token, body: { name: 'Ada', email, roles: [] } })).json.user_id
    const [one, two] = [await made('one@example.com'), await made('two@example.com')]
    const headers = { 'idempotency-key': 'path' }
    expect((await w.call(`POST /users/${one}/deactivate`, { token, headers })).status).toBe(200)
    expect((await w.call(`POST /users/${two}/deactivate`, { token, headers })).json.code).toBe('idempotency_key_reused')
  })

  test('after 24 hours is a new request', async () => {
    await mark('old', 'old')
    await w.runtime.database.write(fullScope(await w.tenant(), 'operator:test'), (tx) =>
      tx.run(`update app.idempotency set expires_at = now() - interval '1 s' where tenant_id = $1 and key = 'old'`, [
        tx.tenant_id,
      ]),
    )
    expect((await mark('old', 'new')).status).toBe(201)
    expect((await mark('old', 'new')).headers['idempotency-replayed']).toBe('true')
  })
})

describe('while the first request is running', () => {
  test('the second returns 409 at once and the stored answer afterwards', async () => {
    const gate = rehearsal.hold('slow')
    const running = mark('slow', 'slow')
    await gate.arrived
    const early = await mark('slow', 'slow')
    expect(early.json).toMatchObject({ status: 409, code: 'idempotency_in_progress', retryable: true })
    expect(early.headers['retry-after']).toBe('1')
    gate.release()
    const first = await running
    expect(first.status).toBe(201)
    expect((await mark('slow', 'slow')).text).toBe(first.text)
    expect(await marks('slow')).toBe(1)
  })

  test('one of twenty concurrent requests takes effect', async () => {
    const replies = await Promise.all(Array.from({ length: 20 }, () => mark('crowd', 'crowd')))
    const made = replies.filter(({ status }) => status === 201)
    expect(made.length).toBeGreaterThanOrEqual(1)
    expect(new Set(made.map(({ text }) => text)).size).toBe(1)
    expect(new Set(replies.filter(({ status }) => status !== 201).map(({ json }) => json.code))).toEqual(
      new Set(made.length === 20 ? [] : ['idempotency_in_progress']),
    )
    expect(await marks('crowd')).toBe(1)
  })
})

describe('a failed request', () => {
  test('is not stored: its key can be used for the corrected request', async () => {
    const invite = (email: string) =>
      w.call('POST /users', {
        token,
        headers: { 'idempotency-key': 'fixed' },
        body: { name: 'Ada', email, roles: [] },
      })
    await w.call('POST /users', { token, body: { name: 'Eve', email: 'taken@example.com', roles: [] } })
    expect((await invite('taken@example.com')).json.code).toBe('duplicate')
    expect(await answers('fixed')).toEqual([])
    expect((await invite('free@example.com')).status).toBe(201)
  })

  test('that fails after its effect leaves neither effect nor answer', async () => {
    const request = { token, headers: { 'idempotency-key': 'accident' }, body: { name: 'accident' } }
    expect((await w.call('POST /rehearsal/accidents', request)).json.code).toBe('internal')
    expect(await marks('accident')).toBe(0)
    expect(await answers('accident')).toEqual([])
  })
})

describe('a key belongs to', () => {
  test('its principal', async () => {
    const other = await w.token()
    expect((await mark('mine', 'mine')).status).toBe(201)
    const theirs = await mark('mine', 'theirs', other)
    expect(theirs.status).toBe(201)
    expect(theirs.headers['idempotency-replayed']).toBeUndefined()
  })

  test('its principal under any of their tokens', async () => {
    const principal = `user:${uuidv7()}` as const
    const first = await mark('person', 'person', await w.token({ principal }))
    expect((await mark('person', 'person', await w.token({ principal }))).text).toBe(first.text)
  })

  test('its operation', async () => {
    const headers = { 'idempotency-key': 'shared' }
    expect((await w.call('POST /rehearsal/marks', { token, headers, body: { name: 'op' } })).status).toBe(201)
    expect((await w.call('POST /auth/token/revoke', { token, headers, body: { token_id: 'op' } })).status).toBe(200)
  })

  test('its tenant', async () => {
    const principal = `user:${uuidv7()}` as const
    const tenant_id = await w.makeTenant()
    const here = await mark('tenant', 'tenant', await w.token({ principal }))
    const there = await mark('tenant', 'tenant', await w.token({ principal, tenant_id }))
    expect([here.status, there.status]).toEqual([201, 201])
    expect(there.text).not.toBe(here.text)
    expect(await marks('tenant', tenant_id)).toBe(1)
  })
})

describe('an answer that holds a secret', () => {
  test('is not stored, and its repetition is refused', async () => {
    const roles: Role[] = ['viewer']
    const request = { token, headers: { 'idempotency-key': 'secret' }, body: { name: 'robot', roles } }
    expect((await w.call('POST /api-keys', request)).status).toBe(201)
    expect((await w.call('POST /api-keys', request)).json.code).toBe('idempotency_not_replayable')
    expect(await answers('secret')).toEqual([{ body: null, status: 201 }])
    const other = await w.call('POST /api-keys', { ...request, body: { name: 'other', roles } })
    expect(other.json.code).toBe('idempotency_key_reused')
    const { items } = (await w.call('GET /api-keys', { token })).json
    expect(items.filter(({ name }: { name: string }) => name === 'robot')).toHaveLength(1)
  })
})

describe('the key itself', () => {
  test.each(['', ' ', 'a b', 'a\tb', 'é', 'x'.repeat(256)])('%j is refused', async (key) => {
    expect((await mark(key, 'bad')).json.code).toBe('malformed_request')
    expect(await marks('bad')).toBe(0)
  })

  test('may have up to 255 visible ASCII characters', async () => {
    expect((await mark('!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~', 'visible')).status).toBe(201)
    expect((await mark('x'.repeat(255), 'long')).status).toBe(201)
  })

  test('is ignored on PUT and PATCH', async () => {
    const user = { name: 'Ada', email: 'patch@example.com', roles: [] }
    const { user_id } = (await w.call('POST /users', { token, body: user })).json
    const patch = (team: string) =>
      w.call(`PATCH /users/${user_id}`, { token, headers: { 'idempotency-key': 'patch' }, body: { team } })
    expect((await patch('one')).json.team).toBe('one')
    expect((await patch('two')).json.team).toBe('two')
  })
})
