/**
 * Requests no client library would send, written to the socket by hand: smuggling, folding, half requests, other protocols.
 * Each gets a documented answer or a closed connection, one request never becomes two, and the next caller is served.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { exchangeRaw, type RawExchange } from '../support/raw-exchange.ts'
import { SeededRandom } from '../support/seeded-random.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'

let w: TestApp
let base: string
let token: string

beforeAll(async () => {
  w = await startTestApp()
  base = await w.listen()
  token = await w.token()
})
afterAll(() => w.close())

/** Whatever was tried: whoever comes next is served. */
afterEach(async () => {
  const { answers } = await exchangeRaw(base, ['GET /api/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'])
  expect(answers.map(({ status }) => status)).toEqual([200])
})

const refusals = [400, 401, 404, 405, 406, 408, 413, 415, 422, 429, 431]

/** Anything from 400 on is a problem with its request id; nothing is above 499. */
function expectDocumented({ answers, text }: RawExchange): void {
  for (const { status, headers, body } of answers) {
    if (status < 400) {
      expect([100, 200, 201, 204]).toContain(status)
      continue
    }
    expect(refusals, text.slice(0, 200)).toContain(status)
    expect(headers['content-type']).toBe('application/problem+json')
    if (body !== '') expect(JSON.parse(body)).toMatchObject({ status, request_id: headers['x-request-id'] })
  }
}

const exchange = 'POST /api/auth/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'
/** What a smuggler hopes to have read as a second request. */
const hidden = 'GET /api/version HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
const health = (headers = '') => `GET /api/health HTTP/1.1\r\nHost: x\r\n${headers}Connection: close\r\n\r\n`

describe('an ambiguous body length', () => {
  test.each<[string, string]>([
    ['length before chunks', `${exchange}Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`],
    [
      'chunks before length',
      `${exchange}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n2\r\n{}\r\n0\r\n\r\n${hidden}`,
    ],
    ['two lengths', `${exchange}Content-Length: 2\r\nContent-Length: ${hidden.length}\r\n\r\n{}${hidden}`],
    ['the same length twice', `${exchange}Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}${hidden}`],
    ['a list of lengths', `${exchange}Content-Length: 2, 2\r\n\r\n{}${hidden}`],
    ['a signed length', `${exchange}Content-Length: +2\r\n\r\n{}${hidden}`],
    ['a hexadecimal length', `${exchange}Content-Length: 0x2\r\n\r\n{}${hidden}`],
    ['a length with a space inside', `${exchange}Content-Length: 2 0\r\n\r\n{}${hidden}`],
    ['a length beyond 2^64', `${exchange}Content-Length: 18446744073709551618\r\n\r\n{}${hidden}`],
    ['an unknown coding', `${exchange}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${hidden}`],
    ['chunked, then another coding', `${exchange}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${hidden}`],
    ['a space before the colon', `${exchange}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${hidden}`],
    ['a vertical tab before the coding', `${exchange}Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n${hidden}`],
    ['two codings', `${exchange}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n${hidden}`],
    [
      'a chunk size that overflows',
      `${exchange}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n{}\r\n0\r\n\r\n${hidden}`,
    ],
    ['a negative chunk', `${exchange}Transfer-Encoding: chunked\r\n\r\n-2\r\n{}\r\n0\r\n\r\n${hidden}`],
    ['a chunk size in bare lines', `${exchange}Transfer-Encoding: chunked\r\n\r\n2\n{}\n0\n\n${hidden}`],
    ['a chunk longer than it says', `${exchange}Transfer-Encoding: chunked\r\n\r\n2\r\n{}{}\r\n0\r\n\r\n${hidden}`],
  ])('%s is refused and the connection closed: one answer, never two', async (_name, text) => {
    const outcome = await exchangeRaw(base, [text])
    expectDocumented(outcome)
    expect(outcome.closed).toBe(true)
    expect(outcome.answers.map(({ status }) => status)).toEqual([400])
    expect(outcome.text).not.toContain('schema_version')
  })
})

describe('malformed HTTP', () => {
  test.each<[string, string, number[]]>([
    ['a folded header', health('X-Long: one\r\n two\r\n'), [200, 400]],
    ['a folded length', `${exchange}Content-Length:\r\n 2\r\n\r\n{}${hidden}`, [400, 422]],
    ['bare line feeds', 'GET /api/health HTTP/1.1\nHost: x\nConnection: close\n\n', [400]],
    ['bare carriage returns', 'GET /api/health HTTP/1.1\rHost: x\r\r', [400]],
    ['NUL in a value', health('X-A: a\0b\r\n'), [400]],
    ['NUL in a name', health('X\0A: b\r\n'), [400]],
    ['NUL in the path', `GET /api/\0health HTTP/1.1\r\nHost: x\r\n\r\n`, [400]],
    ['an escape character in a value', health('X-A: \x1b[31m\r\n'), [200, 400]],
    ['bytes above 127 in a value', health('X-A: \xff\xfe\r\n'), [200, 400]],
    ['bytes above 127 in the path', 'GET /api/\xff HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', [400, 404]],
    ['a header with no name', health(': value\r\n'), [400]],
    ['a header with no colon', health('nothing\r\n'), [400]],
    ['a space in a name', health('X A: b\r\n'), [400]],
    ['a quote in a name', health('"X": b\r\n'), [400]],
    ['HTTP/0.9', 'GET /api/health\r\n\r\n', [200, 400]],
    ['HTTP/1.9', 'GET /api/health HTTP/1.9\r\nHost: x\r\n\r\n', [400]],
    ['HTTP/3.0', 'GET /api/health HTTP/3.0\r\nHost: x\r\n\r\n', [400]],
    ['a lower-case protocol', 'GET /api/health http/1.1\r\nHost: x\r\n\r\n', [400]],
    ['the HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0', [400]],
    ['a TLS greeting', '\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03\r\n\r\n', [400]],
    ['SSH', 'SSH-2.0-OpenSSH_9.6\r\n', [400]],
    ['PostgreSQL', '\0\0\0\x08\x04\xd2\x16\x2f', [400]],
    ['a PROXY line', `PROXY TCP4 10.0.0.1 10.0.0.2 1 2\r\n${health()}`, [400]],
    ['CONNECT', 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n', [405]],
    ['a method nobody knows', 'BREW /api/health HTTP/1.1\r\nHost: x\r\n\r\n', [400]],
    ['a lower-case method', 'get /api/health HTTP/1.1\r\nHost: x\r\n\r\n', [400]],
    ['a method a path does not have', 'PURGE /api/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', [405]],
    ['no path', 'GET  HTTP/1.1\r\nHost: x\r\n\r\n', [400]],
    ['a relative path', 'GET api/health HTTP/1.1\r\nHost: x\r\n\r\n', [400]],
    ['an asterisk', 'OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', [400, 404, 405]],
    ['a backslash', 'GET \\api\\health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', [400, 404]],
    ['two slashes', 'GET //api/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', [404]],
    ['a path that climbs', 'GET /api/../api/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', [404]],
    [
      'a path that climbs in disguise',
      'GET /api/%2e%2e/api/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
      [404],
    ],
    ['a fragment', 'GET /api/health#x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', [200, 400, 404]],
    ['an absolute URL', 'GET http://other.example/api/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', [200]],
    [
      'a URL of another scheme',
      'GET gopher://x/api/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
      [200, 400, 404],
    ],
    [
      'an absolute URL with a name and password',
      'GET http://a:b@x/api/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
      [200, 400, 404],
    ],
    ['no Host', 'GET /api/health HTTP/1.1\r\nConnection: close\r\n\r\n', [400]],
    ['two Hosts', health('Host: y\r\n'), [400]],
    [
      'two tokens',
      `GET /api/auth/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\nConnection: close\r\n\r\n`,
      [400],
    ],
    ['an unknown expectation', health('Expect: the-impossible\r\n'), [200]],
    ['an upgrade to HTTP/2', health('Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n'), [200]],
    ['one giant header', health(`X-Big: ${'x'.repeat(100_000)}\r\n`), [431]],
    ['ten thousand headers', health('A: b\r\n'.repeat(10_000)), [431]],
    ['a giant path', `GET /api/${'x'.repeat(100_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, [431]],
    ['a giant method', `${'G'.repeat(100_000)} / HTTP/1.1\r\n\r\n`, [400]],
  ])('%s', async (_name, text, expected) => {
    const outcome = await exchangeRaw(base, [text])
    expectDocumented(outcome)
    expect(outcome.closed).toBe(true)
    expect(outcome.answers).toHaveLength(1)
    expect(expected).toContain(outcome.answers[0]?.status)
  })
})

describe('slow requests', () => {
  test('get 408 when headers arrive too slowly', async () => {
    // The product's own limit is ten seconds; the sweep that applies it runs every second.
    const { server } = w.server.app
    const usual_ms = server.headersTimeout
    server.headersTimeout = 500
    try {
      const outcome = await exchangeRaw(base, ['GET /api/health HTTP/1.1\r\n', 'Host: x\r\n'], { pause_ms: 100 })
      expectDocumented(outcome)
      expect([outcome.closed, outcome.answers[0]?.status]).toEqual([true, 408])
    } finally {
      server.headersTimeout = usual_ms
    }
  })

  test('are accepted byte by byte', async () => {
    const { answers } = await exchangeRaw(base, [...health()])
    expect(answers.map(({ status }) => status)).toEqual([200])
  })

  test('pipelined requests are answered in order, each with its own id', async () => {
    const ids = Array.from({ length: 8 }, (_, n) => `00000000-0000-7000-8000-00000000000${n}`)
    const asked = ids.map((id, n) => {
      const last = n === ids.length - 1 ? 'Connection: close\r\n' : ''
      const path = n % 2 ? '/api/health' : '/api/tenant'
      return `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nX-Request-Id: ${id}\r\n${last}\r\n`
    })
    const { answers } = await exchangeRaw(base, [asked.join('')])
    expect(answers.map(({ headers }) => headers['x-request-id'])).toEqual(ids)
    expect(answers.every(({ status }) => status === 200)).toBe(true)
  })

  test('requests pipelined after a refusal are not answered', async () => {
    const { answers } = await exchangeRaw(base, [`GET /api/health HTTP/1.1\r\nHost: x\r\nBroken\r\n\r\n${hidden}`])
    expect(answers.map(({ status }) => status)).toEqual([400])
  })

  test.each<[string, string]>([
    ['in the request line', 'GET /api/he'],
    ['in the headers', 'GET /api/health HTTP/1.1\r\nHost: x\r\nX-'],
    ['before the body', `${exchange}Content-Length: 100\r\n\r\n`],
    ['in the body', `${exchange}Content-Length: 100\r\n\r\n{"api_key":`],
    ['in a chunk', `${exchange}Transfer-Encoding: chunked\r\n\r\nff\r\n{"api`],
    ['instead of going on after 100', `${exchange}Expect: 100-continue\r\nContent-Length: 100\r\n\r\n`],
    ['before the answer', health()],
  ])('a caller who leaves %s harms nobody', async (_name, text) => {
    await Promise.all(Array.from({ length: 20 }, () => exchangeRaw(base, [text], { leave: true })))
  })

  test('no request stays counted as in flight', async () => {
    const { json } = await w.call('GET /limits', { token })
    expect(json.buckets).toContainEqual(expect.objectContaining({ bucket: 'in_flight', remaining: 63 }))
  })
})

describe('a valid request with some bytes changed', () => {
  const SEED = 20_261_115

  test('is answered as documented, closed, or kept waiting for more', async () => {
    const random = new SeededRandom(SEED)
    const good = [
      Buffer.from(health('Accept: */*\r\n')),
      Buffer.from(`${exchange}Content-Length: 14\r\nConnection: close\r\n\r\n{"api_key":"x"}`),
      Buffer.from(`${exchange}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n2\r\n{}\r\n0\r\n\r\n`),
    ]
    const damaged = Array.from({ length: 400 }, () => {
      const bytes = Buffer.from(random.pick(good))
      for (let n = random.between(1, 4); n > 0; n--) bytes[random.below(bytes.length)] = random.below(256)
      return bytes
    })
    const statuses = new Set<number>()
    const player = async () => {
      for (let bytes = damaged.pop(); bytes; bytes = damaged.pop()) {
        const outcome = await exchangeRaw(base, [bytes], { patience_ms: 250 })
        expectDocumented(outcome)
        for (const { status } of outcome.answers) statuses.add(status)
      }
    }
    await Promise.all(Array.from({ length: 16 }, player))
    expect([...statuses]).toEqual(expect.arrayContaining([200, 400]))
  })
})
