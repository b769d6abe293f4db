/** Bodies that are being received: who sends slowly holds nobody up, sends too slowly no longer than allowed, and is counted. */
import http from 'node:http'
import net from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { BodyLimiter, defaultBodyLimits, SlowBodyDetector } from '#kernel/http/request-body.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'

let w: TestApp
let base: string
const open: net.Socket[] = []

beforeAll(async () => {
  w = await startTestApp()
  base = await w.listen()
})
afterAll(() => w.close())
afterEach(async () => {
  for (const socket of open.splice(0)) socket.destroy()
  await vi.waitFor(() => expect(w.server.receivingBodies).toBe(0), patience)
})

const patience = { timeout: 60_000 }

/** A connection on which a request was begun, and what was answered to it. */
async function begin(at: string, headers: Record<string, string>, first = '') {
  const { hostname, port } = new URL(base)
  const socket = net.connect(Number(port), hostname)
  open.push(socket)
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk.toString()
  })
  socket.on('error', () => {})
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => resolve())
  })
  const lines = Object.entries({ host: 'probity', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  const [method, path] = at.split(' ')
  socket.write(`${method} /api${path} HTTP/1.1\r\n${lines.join('')}\r\n${first}`)
  return { socket, closed, answer: () => text }
}

const json = (token: string, length: number) => ({
  authorization: `Bearer ${token}`,
  'content-type': 'application/json',
  'content-length': String(length),
})

describe('slow bodies', () => {
  test('of one principal take no in-flight slot of the tenant and have a limit of their own', async () => {
    const tenant_id = await w.makeTenant()
    const principal = 'user:00000000-0000-7000-8000-000000000001'
    const slow = await w.token({ tenant_id, roles: ['viewer', 'analyst'], principal })
    const other = await w.token({ tenant_id })
    const { count } = defaultBodyLimits.principal
    for (let n = 0; n < count; n++) await begin('POST /subjects', json(slow, 1000), '{')
    await vi.waitFor(() => expect(w.server.receivingBodies).toBe(count), patience)
    const { buckets } = (await w.call('GET /limits', { token: other })).json
    expect(buckets).toContainEqual({ bucket: 'in_flight', limit: 64, remaining: 63, reset_s: 0 })
    expect((await w.call('GET /auth/me', { token: slow })).status).toBe(200)
    const refused = await begin('POST /subjects', json(slow, 1000), '{')
    await vi.waitFor(() => expect(refused.answer()).toContain('"code":"concurrency_limited"'), patience)
    expect(refused.answer()).toMatch(/^HTTP\/1.1 429 [\s\S]*retry-after: 1/)
    const user = { name: 'Ada', email: 'ada@example.com', roles: [] }
    expect((await w.call('POST /users', { token: other, body: user })).status).toBe(201)
  })

  test('release their slot when the client disconnects', async () => {
    const token = await w.token()
    const { socket } = await begin('POST /users', json(token, 1000), '{')
    await vi.waitFor(() => expect(w.server.receivingBodies).toBe(1), patience)
    socket.destroy()
    await vi.waitFor(() => expect(w.server.receivingBodies).toBe(0), patience)
  })

  test('are refused before the body is sent when the tenant has no slot', async () => {
    const tenant_id = await w.makeTenant()
    const token = await w.token({ tenant_id })
    const status = { limits: new Map([['in_flight', { per_second: 1, burst: 1 }]]) } as never
    w.kernel.limits.acquireInFlight(tenant_id, status)
    for (let n = 1; n < 64; n++) w.kernel.limits.acquireInFlight(tenant_id, { limits: new Map() } as never)
    const { answer } = await begin('POST /users', json(token, 1000))
    await vi.waitFor(() => expect(answer()).toContain('"code":"concurrency_limited"'), patience)
    for (let n = 0; n < 64; n++) w.kernel.limits.releaseInFlight(tenant_id)
  })
})

describe('the minimum rate', () => {
  const rate = { grace_ms: 1000, min_bytes_per_s: 100 }

  test('is an average, measured only while the server waits for the client', async () => {
    let now_ms = 0
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now_ms)
    const watch = new SlowBodyDetector(rate)
    let slow = 0
    const events: (() => void)[] = []
    const request = {
      socket: { bytesRead: 50, destroyed: false, destroy: () => {} },
      readableLength: 0,
      complete: false,
      once: (_name: string, listener: () => void) => events.push(listener),
      emit: () => ++slow > 0,
    }
    watch.track(request as never)
    const after = (ms: number, bytes: number) => {
      now_ms += ms
      request.socket.bytesRead += bytes
      watch.sweep()
      return slow
    }
    expect(after(1000, 0)).toBe(0)
    // Steady, if slow: 200 bytes in two seconds.
    expect(after(2000, 200)).toBe(0)
    request.readableLength = 1
    expect(after(60_000, 0)).toBe(0)
    request.readableLength = 0
    expect(after(10, 0)).toBe(1)
    for (const close of events) close()
    expect([after(60_000, 0), watch.size]).toEqual([1, 0])
    watch.track(request as never)
    request.socket.destroyed = true
    expect([after(60_000, 0), watch.size]).toEqual([1, 0])
    watch.close()
    clock.mockRestore()
  })
})

describe('limits on bodies being received', () => {
  const limit = (count: number, bytes: number) => ({ count, bytes })
  const limits = { principal: limit(2, 10), tenant: limit(3, 20), process: limit(4, 30) }

  test('count requests per principal, tenant and process', () => {
    const bodies = new BodyLimiter(limits)
    const places = [bodies.acquire('a1', 'a'), bodies.acquire('a1', 'a')]
    expect(() => bodies.acquire('a1', 'a')).toThrow('concurrency_limited')
    places.push(bodies.acquire('a2', 'a'))
    expect(() => bodies.acquire('a3', 'a')).toThrow('concurrency_limited')
    places.push(bodies.acquire('x', null))
    expect(() => bodies.acquire('b1', 'b')).toThrow('overloaded')
    for (const place of places) place.release()
    for (const place of places) place.release()
    expect([bodies.count, bodies.keys]).toEqual([0, 0])
  })

  test('count bytes, which are released with the slot', () => {
    const bodies = new BodyLimiter(limits)
    const first = bodies.acquire('a1', 'a')
    first.addBytes(10)
    expect(() => first.addBytes(1)).toThrow('concurrency_limited')
    const second = bodies.acquire('b1', 'b')
    second.addBytes(10)
    const third = bodies.acquire('c1', 'c')
    third.addBytes(9)
    const fourth = bodies.acquire('x', null)
    expect(() => fourth.addBytes(2)).toThrow('overloaded')
    first.release()
    fourth.addBytes(2)
    expect(() => fourth.addBytes(9)).toThrow('rate_limited')
  })
})

describe('a slow but steady upload', () => {
  test('succeeds and does not count as in flight while it arrives', async () => {
    const tenant_id = await w.makeTenant()
    const token = await w.token({ tenant_id })
    const headers = { ...json(token, 6), 'content-type': 'application/octet-stream' }
    const { socket, answer } = await begin('POST /uploads?file_name=x', headers)
    const inFlight = async () =>
      (await w.call('GET /limits', { token })).json.buckets.find(
        (each: { bucket: string }) => each.bucket === 'in_flight',
      )
    for (const byte of 'steady') {
      expect((await inFlight()).remaining).toBe(63)
      socket.write(byte)
    }
    await vi.waitFor(() => expect(answer()).toMatch(/^HTTP\/1.1 201 [\s\S]*"size_bytes":6/), patience)
  })
})

describe('a transfer coding', () => {
  const send = (headers: Record<string, string>, body = '{}', path = '/users') =>
    new Promise<{ status: number; headers: http.IncomingHttpHeaders; text: string }>((resolve, reject) => {
      const request = http.request(`${base}/api${path}`, { method: 'POST', headers }, (reply) => {
        let text = ''
        reply.on('data', (chunk) => {
          text += chunk
        })
        reply.on('end', () => resolve({ status: reply.statusCode ?? 0, headers: reply.headers, text }))
      })
      request.on('error', reject)
      request.end(body)
    })

  test.each([
    ['/users', 'application/json'],
    ['/uploads', 'application/octet-stream'],
  ])('is refused with 415 at %s, whether its content or its characters are coded', async (path, type) => {
    const authorization = `Bearer ${await w.token()}`
    for (const encoding of ['gzip', 'br', 'identity, gzip', 'x']) {
      const reply = await send({ authorization, 'content-type': type, 'content-encoding': encoding }, '{}', path)
      expect([reply.status, reply.headers['accept-encoding']]).toEqual([415, 'identity'])
      expect(reply.text).toContain('"code":"media_type_unsupported"')
    }
    for (const charset of ['utf-16', 'ISO-8859-1', '"windows-1252"', 'us-ascii', '']) {
      const reply = await send({ authorization, 'content-type': `${type}; charset=${charset}` }, '{}', path)
      expect([charset, reply.status]).toEqual([charset, 415])
    }
    for (const good of ['charset=utf-8', 'charset="UTF-8"', 'Charset=utf8', 'boundary=x']) {
      const reply = await send({ authorization, 'content-type': `${type}; ${good}` }, '{', path)
      expect([good, reply.status]).toEqual([good, path === '/users' ? 400 : 201])
    }
    const identity = { authorization, 'content-type': type, 'content-encoding': 'Identity' }
    expect((await send(identity, '{', path)).status).toBe(path === '/users' ? 400 : 201)
  })

  test('other than chunked is refused', async () => {
    const authorization = `Bearer ${await w.token()}`
    const headers = { authorization, 'content-type': 'application/octet-stream', 'transfer-encoding': 'gzip, chunked' }
    const { answer } = await begin('POST /uploads', headers, '5\r\nbytes\r\n0\r\n\r\n')
    await vi.waitFor(() => expect(answer()).toMatch(/^HTTP\/1.1 400 /), patience)
  })

  test('is checked after the role and before the content', async () => {
    const viewer = `Bearer ${await w.token({ roles: ['viewer'] })}`
    const coded = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    expect((await send({ ...coded, authorization: viewer })).status).toBe(403)
    expect((await send(coded)).status).toBe(401)
    const admin = `Bearer ${await w.token()}`
    expect((await send({ ...coded, authorization: admin, accept: 'image/png' })).status).toBe(406)
    expect((await send({ ...coded, authorization: admin }, 'not JSON')).status).toBe(415)
  })
})

// The last: afterwards the clock of the server would go back.
describe('a body slower than the minimum rate', () => {
  // A mock is restored before the next test, and a clock only goes forward.
  let now_ms = Math.ceil(performance.now())
  beforeEach(() => {
    now_ms = Math.max(now_ms, Math.ceil(performance.now()))
    vi.spyOn(performance, 'now').mockImplementation(() => now_ms)
  })

  test.each([
    ['JSON', 'POST /users', 'application/json', '{'],
    ['an upload', 'POST /uploads', 'application/octet-stream', 'bytes'],
  ])('is answered 408 and its connection closed: %s', async (_what, at, type, first) => {
    const headers = { ...json(await w.token(), 100_000), 'content-type': type }
    const { answer, closed } = await begin(at, headers, first)
    await vi.waitFor(() => expect(w.server.receivingBodies).toBe(1), patience)
    now_ms += 60_000
    await closed
    expect(answer()).toMatch(/^HTTP\/1.1 408 [\s\S]*connection: close[\s\S]*"code":"request_timeout"/)
  })

  test('that nobody reads closes its connection', async () => {
    const headers = { 'content-type': 'application/json', 'content-length': '100000' }
    const { answer, closed } = await begin('POST /users', headers, '{')
    await vi.waitFor(() => expect(answer()).toContain('"code":"token_missing"'), patience)
    now_ms += 60_000
    await closed
  })
})
