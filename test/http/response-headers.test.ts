/** What surrounds every answer: headers, request and trace ids, CORS, Allow, and answers to what hardly is HTTP. */

import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { modules } from '#app/modules.ts'
import { createLogSampler } from '#kernel/http/response-headers.ts'
import type { Log } from '#kernel/log.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { formatRequest, sendRaw } from '../support/raw-http.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'
import { createTestModule } from '../support/test-module.ts'

const ORIGIN = 'https://console.example.com'
const rehearsal = createTestModule()
const lines: Record<string, unknown>[] = []
let w: TestApp
let base: string
let token: string

beforeAll(async () => {
  const log: Log = pino({ level: 'info' }, { write: (text: string) => void lines.push(JSON.parse(text)) })
  w = await startTestApp({ cors_origins: [ORIGIN], log, modules: [...modules, rehearsal.module] })
  base = await w.listen()
  token = await w.token()
})
afterAll(() => w.close())

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

describe('every answer', () => {
  const answers: [string, () => Promise<{ headers: Record<string, unknown> }>][] = [
    ['200', () => w.call('GET /auth/me', { token })],
    ['204', () => revoked()],
    ['304', () => w.call('GET /tenant', { token, headers: { 'if-none-match': '*' } })],
    ['400', () => w.call('GET /users?limit=1&limit=1', { token })],
    ['400 of the path', () => w.call('GET /users/%zz', { token })],
    ['401', () => w.call('GET /auth/me')],
    ['404', () => w.call('GET /nowhere')],
    ['405', () => w.call('DELETE /users')],
    ['500', () => w.call('POST /rehearsal/accidents', { token, body: { name: 'accident' } })],
    ['400 of the parser', () => sendRaw(base, 'hello\r\n\r\n')],
    ['431', () => sendRaw(base, formatRequest('GET /api/health HTTP/1.1', { X: 'x'.repeat(20_000) }))],
  ]

  async function revoked() {
    const { json } = await w.call('POST /api-keys', { token, body: { name: 'k', roles: ['viewer'] } })
    return w.call(`DELETE /api-keys/${json.key.key_id}`, { token })
  }

  test.each(answers)('%s is safe to show and names its request', async (_name, ask) => {
    const { headers } = await ask()
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
    })
    expect(headers['x-request-id']).toMatch(UUID)
    expect(headers).not.toHaveProperty('server')
    expect(headers).not.toHaveProperty('x-powered-by')
    expect(headers).not.toHaveProperty('set-cookie')
  })

  test('401 has WWW-Authenticate', async () => {
    const challenge = async (bearer?: string) =>
      (await w.call('GET /auth/me', bearer === undefined ? {} : { token: bearer })).headers['www-authenticate']
    expect(await challenge()).toBe(
      'Bearer realm="probity", resource_metadata="http://localhost/.well-known/oauth-protected-resource/api/mcp"',
    )
    expect(await challenge('bad')).toContain('error="invalid_token"')
    expect((await w.call('GET /.well-known/oauth-protected-resource')).status).toBe(200)
  })
})

describe('request and trace ids', () => {
  test('a UUID sent by the caller is used in header, body and log', async () => {
    const id = uuidv7()
    const { headers, json } = await w.call('GET /nowhere', { headers: { 'x-request-id': id.toUpperCase() } })
    expect(headers['x-request-id']).toBe(id)
    expect(json).toMatchObject({ request_id: id, instance: `urn:uuid:${id}` })
    expect(lines.at(-1)).toMatchObject({ request_id: id, status: 404, code: 'not_found', route: 'unmatched' })
  })

  test('a UUID without dashes is accepted too', async () => {
    const id = uuidv7()
    const { headers, json } = await w.call('GET /nowhere', { headers: { 'x-request-id': id.replaceAll('-', '') } })
    expect([headers['x-request-id'], json.request_id]).toEqual([id, id])
    expect(lines.at(-1)).toMatchObject({ request_id: id })
  })

  test.each(['', 'mine', `${uuidv7()} `.repeat(2), '<script>', 'x'.repeat(500), 'g'.repeat(32), 'a'.repeat(33)])(
    'anything else (%j) is replaced',
    async (id) => {
      const { headers } = await w.call('GET /health', { headers: { 'x-request-id': id } })
      expect(headers['x-request-id']).toMatch(UUID)
    },
  )

  test('two requests have different ids', async () => {
    const ids = await Promise.all(Array.from({ length: 50 }, () => w.call('GET /health')))
    expect(new Set(ids.map(({ headers }) => headers['x-request-id'])).size).toBe(50)
  })

  test('traceparent continues the trace with a new span', async () => {
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
    const sent = `00-${trace}-00f067aa0ba902b7-01`
    const { headers } = await w.call('GET /health', { headers: { traceparent: sent } })
    expect(headers['traceparent']).toMatch(new RegExp(`^00-${trace}-[0-9a-f]{16}-01$`))
    expect(headers['traceparent']).not.toBe(sent)
    expect(lines.at(-1)).toMatchObject({ trace_id: trace })
  })

  test.each(['', '00-zz-00f067aa0ba902b7-01', `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`, 'ff-x', 'junk'.repeat(20)])(
    'a broken traceparent (%j) is dropped, and not logged',
    async (traceparent) => {
      const { headers } = await w.call('GET /health', { headers: { traceparent } })
      expect(headers['traceparent']).toBeUndefined()
      expect(lines.at(-1)).toMatchObject({ request_id: headers['x-request-id'] })
      expect(lines.at(-1)).not.toHaveProperty('trace_id')
    },
  )
})

describe('the log', () => {
  test('has one line per request with principal, operation and status', async () => {
    const before = lines.length
    await w.call('GET /users?limit=0', { token, address: '203.0.113.7' })
    expect(lines.length).toBe(before + 1)
    expect(lines.at(-1)).toMatchObject({
      method: 'GET',
      route: '/api/users',
      operation: 'listUsers',
      tenant_id: await w.tenant(),
      principal: expect.stringMatching(/^user:/),
      status: 422,
      code: 'validation_failed',
      duration_ms: expect.any(Number),
      client: '203.0.113.7',
    })
  })

  test('holds the address named by trusted proxies only', async () => {
    const forwarded = { 'x-forwarded-for': 'forged, 203.0.113.9' }
    await w.call('GET /health', { headers: forwarded, address: '192.0.2.1' })
    expect(lines.at(-1)).toMatchObject({ client: '192.0.2.1' })
    const heard: Record<string, unknown>[] = []
    const log: Log = pino({ level: 'info' }, { write: (text: string) => void heard.push(JSON.parse(text)) })
    const behind = await startTestApp({ trusted_proxies: 1, log })
    await behind.call('GET /health', { headers: forwarded, address: '192.0.2.1' }).finally(() => behind.close())
    expect(heard.find(({ msg }) => msg === 'request')).toMatchObject({ client: '203.0.113.9' })
  })

  test('has a line for what the parser refused, with the request id', async () => {
    // In a second of many refusals this one may be left out; in a later one it is not.
    await vi.waitFor(
      async () => {
        const { headers } = await sendRaw(base, 'hello\r\n\r\n')
        expect(lines.find(({ request_id }) => request_id === headers['x-request-id'])).toMatchObject({
          msg: 'rejected malformed HTTP',
          code: 'malformed_request',
          client: '127.0.0.1',
          left_out: expect.any(Number),
        })
      },
      { timeout: 60_000, interval: 200 },
    )
  })

  test('is not flooded by what the parser refuses', () => {
    let now_ms = 0
    const sample = createLogSampler(10, () => now_ms)
    const asked = () => Array.from({ length: 25 }, sample).filter((stated) => stated !== undefined)
    expect(asked()).toEqual(Array.from({ length: 10 }, () => ({ left_out: 0 })))
    now_ms = 999
    expect(sample()).toBeUndefined()
    now_ms = 1000
    expect(asked()[0]).toEqual({ left_out: 16 })
  })

  test('has a line for a request over the wire, with 499 for a caller that disconnected', async () => {
    const headers = { authorization: `Bearer ${token}` }
    await (await fetch(`${base}/api/auth/me`, { headers })).json()
    await vi.waitFor(() => expect(lines.at(-1)).toMatchObject({ operation: 'getMe', status: 200 }), { timeout: 60_000 })
    const gate = rehearsal.hold('gone')
    const abort = new AbortController()
    const gone = fetch(`${base}/api/rehearsal/pauses?name=gone`, { headers, signal: abort.signal })
    await gate.arrived
    abort.abort()
    await expect(gone).rejects.toThrow('aborted')
    await vi.waitFor(
      () => expect(lines.at(-1)).toMatchObject({ operation: 'getPause', status: 499, client: '127.0.0.1' }),
      {
        timeout: 60_000,
      },
    )
    gate.release()
  })

  test('never holds tokens, bodies, secrets, queries or real paths', async () => {
    const email = `private-${uuidv7()}@example.com`
    const made = await w.call('POST /api-keys', { token, body: { name: 'quiet', roles: ['viewer'] } })
    await w.call('POST /auth/token', { body: { api_key: made.json.secret } })
    await w.call('POST /users', { token, body: { name: 'Quiet Person', email, roles: [] } })
    const { key_id } = made.json.key
    await w.call(`GET /api-keys/${key_id}/usage?from_on=2026-01-01`, { token })
    const text = JSON.stringify(lines)
    for (const secret of [token, made.json.secret, email, 'Quiet Person', '2026-01-01', `/api-keys/${key_id}`]) {
      expect(text).not.toContain(secret)
    }
  })
})

describe('CORS', () => {
  const preflight = (origin: string, headers: Record<string, string> = {}) =>
    w.call('OPTIONS /users', { headers: { origin, 'access-control-request-method': 'POST', ...headers } })

  test('a listed origin may send requests and read answers', async () => {
    const { status, headers } = await preflight(ORIGIN)
    expect(status).toBe(204)
    expect(headers).toMatchObject({
      'access-control-allow-origin': ORIGIN,
      'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
      vary: 'origin',
    })
    for (const name of ['authorization', 'content-type', 'idempotency-key', 'if-match', 'if-none-match']) {
      expect(headers['access-control-allow-headers']).toContain(name)
    }
    const read = await w.call('GET /auth/me', { token, headers: { origin: ORIGIN } })
    expect(read.headers['access-control-allow-origin']).toBe(ORIGIN)
    for (const name of [
      'etag',
      'location',
      'link',
      'retry-after',
      'ratelimit',
      'x-request-id',
      'content-disposition',
    ]) {
      expect(read.headers['access-control-expose-headers']).toContain(name)
    }
    const refused = await w.call('GET /auth/me', { headers: { origin: ORIGIN } })
    expect([refused.status, refused.headers['access-control-allow-origin']]).toEqual([401, ORIGIN])
  })

  test.each(['https://evil.example', `${ORIGIN}.evil.example`, ORIGIN.toUpperCase(), 'null', `${ORIGIN}:8443`])(
    'any other (%s) learns nothing',
    async (origin) => {
      const asked = await preflight(origin)
      expect([asked.status, asked.json.code]).toEqual([405, 'method_not_allowed'])
      const read = await w.call('GET /health', { headers: { origin } })
      for (const { headers } of [asked, read]) {
        expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([])
        expect(headers['cross-origin-resource-policy']).toBe('same-origin')
      }
    },
  )

  test('credentials are never allowed: there are no cookies', async () => {
    expect((await preflight(ORIGIN)).headers['access-control-allow-credentials']).toBeUndefined()
  })
})

describe('an unsupported method', () => {
  const others = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'QUERY', 'PROPFIND', 'LINK']

  test('returns 405 with Allow on every path before any other check', async () => {
    const allowed = new Map<string, string[]>()
    for (const { method, url } of w.server.mountedRoutes) allowed.set(url, [...(allowed.get(url) ?? []), method])
    expect(allowed.size).toBeGreaterThan(35)
    for (const [template, methods] of allowed) {
      const url = template.replace(/:[a-z_]+/g, 'anything')
      for (const method of others.filter((name) => !methods.includes(name))) {
        const reply = await w.server.app.inject({ method: method as 'GET', url, payload: '{' })
        expect(`${method} ${url} ${reply.statusCode} ${reply.headers['allow']}`).toBe(
          `${method} ${url} 405 ${methods.toSorted().join(', ')}`,
        )
        expect(reply.headers['content-type']).toBe('application/problem+json')
      }
    }
  })

  test.each(['QUERY', 'TRACE', 'PROPFIND', 'OPTIONS', 'PURGE', 'M-SEARCH', 'SUBSCRIBE'])(
    '%s over the wire',
    async (method) => {
      const { status, headers, body } = await sendRaw(base, formatRequest(`${method} /api/users HTTP/1.1`))
      expect(status).toBe(405)
      expect(headers['allow']).toBe('GET, POST')
      expect(JSON.parse(body).code).toBe('method_not_allowed')
    },
  )

  test('HEAD over the wire has the headers and no body', async () => {
    const { status, headers, body } = await sendRaw(base, formatRequest('HEAD /api/users HTTP/1.1'))
    expect([status, headers['allow'], body]).toEqual([405, 'GET, POST', ''])
  })

  test('CONNECT over the wire', async () => {
    const { status, headers, body } = await sendRaw(base, formatRequest('CONNECT example.com:443 HTTP/1.1'))
    expect([status, headers['content-type']]).toEqual([405, 'application/problem+json'])
    expect(headers['allow']).toBe('GET, POST, PUT, PATCH, DELETE')
    expect(JSON.parse(body).code).toBe('method_not_allowed')
  })
})

describe('unusual HTTP', () => {
  const json = { 'Content-Type': 'application/json' }

  test.each<[string, string]>([
    ['garbage', 'hello\r\n\r\n'],
    ['a method nobody knows', formatRequest('BREW /api/health HTTP/1.1')],
    ['HTTP/2 without TLS', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a TLS greeting', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n'],
    ['no Host', 'GET /api/health HTTP/1.1\r\nConnection: close\r\n\r\n'],
    [
      'two tokens',
      formatRequest('GET /api/auth/me HTTP/1.1', { Authorization: 'Bearer a', authorization: 'Bearer b' }),
    ],
    ['a header without a colon', 'GET /api/health HTTP/1.1\r\nHost: x\r\nbroken\r\n\r\n'],
    ['a space in the path', formatRequest('GET /api/he alth HTTP/1.1')],
    ['two lengths', `POST /api/auth/token HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}`],
    [
      'a length and chunks',
      formatRequest('POST /api/auth/token HTTP/1.1', {
        ...json,
        'Content-Length': '2',
        'Transfer-Encoding': 'chunked',
      }),
    ],
    ['a negative length', formatRequest('POST /api/auth/token HTTP/1.1', { ...json, 'Content-Length': '-1' })],
    [
      'a chunk that is none',
      `${formatRequest('POST /api/auth/token HTTP/1.1', { ...json, 'Transfer-Encoding': 'chunked' })}zz\r\n`,
    ],
    ['a path that is not UTF-8', formatRequest('GET /api/users/%ff HTTP/1.1')],
  ])('%s is 400 as a problem', async (_name, text) => {
    const { status, headers, body } = await sendRaw(base, text)
    expect(status).toBe(400)
    expect(headers['content-type']).toBe('application/problem+json')
    expect(headers['connection']?.toLowerCase()).toBe('close')
    expect(headers['x-request-id']).toMatch(UUID)
    expect(JSON.parse(body)).toMatchObject({
      code: 'malformed_request',
      status: 400,
      request_id: headers['x-request-id'],
    })
  })

  test('headers beyond 16 KiB return 431 as a problem', async () => {
    const { status, headers, body } = await sendRaw(
      base,
      formatRequest('GET /api/health HTTP/1.1', { X: 'x'.repeat(17_000) }),
    )
    expect([status, headers['content-type']]).toEqual([431, 'application/problem+json'])
    expect(JSON.parse(body).code).toBe('headers_too_large')
  })

  test('an unknown expectation is ignored, and 100-continue is answered', async () => {
    const health = formatRequest('GET /api/health HTTP/1.1', { Expect: 'the-impossible' })
    expect((await sendRaw(base, health)).status).toBe(200)
    const exchange = { ...json, Expect: '100-continue', 'Content-Length': '2' }
    const { status, body } = await sendRaw(base, `${formatRequest('POST /api/auth/token HTTP/1.1', exchange)}{}`)
    expect(status).toBe(100)
    expect(body).toContain('HTTP/1.1 422')
  })

  test('an absolute URL and HTTP/1.0 are served', async () => {
    expect((await sendRaw(base, formatRequest('GET http://probity/api/health HTTP/1.1'))).status).toBe(200)
    expect((await sendRaw(base, 'GET /api/health HTTP/1.0\r\n\r\n')).status).toBe(200)
  })

  test('an unsupported upgrade is answered as a plain request', async () => {
    const upgrade = { Connection: 'close, upgrade', Upgrade: 'websocket' }
    expect((await sendRaw(base, formatRequest('GET /api/health HTTP/1.1', upgrade))).status).toBe(200)
  })

  test('other requests are served afterwards', async () => {
    expect((await fetch(`${base}/api/health`)).status).toBe(200)
    expect((await w.call('GET /limits', { token })).json.buckets).toContainEqual(
      expect.objectContaining({ bucket: 'in_flight', remaining: 63 }),
    )
  })
})
