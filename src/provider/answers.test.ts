/** What responses mean, when attempts are repeated, how pages follow each other, and what a token endpoint answers. */
import { describe, expect, test } from 'vitest'
import { egressFaults } from '#kernel/egress/faults.ts'
import { exampleManifest } from '#test/support/example-manifest.ts'
import { hostileNames, listHostileUrls } from '#test/support/hostile-urls.ts'
import { type OAuth2, readTokenResponse, renderTokenRequest } from './access-token.ts'
import { checkInput } from './check-input.ts'
import { classifyResponse, getMediaType, parseRetryAfter } from './classify-response.ts'
import { fillCredentials, toStoredRequest } from './fill-credentials.ts'
import { getMaxBytes, getTimeoutMs, type HttpCapability, toCapabilityPromise } from './manifest.ts'
import { findNextPage, joinPages, toPageRequest } from './pages.ts'
import { type FailedAttempt, planRetry } from './plan-retry.ts'
import { findFixture } from './recorded-answers.ts'
import { renderRequest } from './render-request.ts'

const NOW_MS = Date.parse('2026-01-01T00:00:00Z')
const lookup = exampleManifest.capabilities['company.lookup'] as HttpCapability
const response = (status: number, headers: Record<string, string> = {}, body = '{}') => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
  body: Buffer.from(body),
})
const classify = (...given: Parameters<typeof response>) => classifyResponse(lookup, response(...given), NOW_MS)

describe('a response', () => {
  test('is an answer when its status and media type are expected; bad JSON is left to the contract', () => {
    expect(classify(200)).toEqual({ kind: 'ok', status: 200, media_type: 'application/json' })
    expect(classify(200, {}, 'not json')).toMatchObject({ kind: 'ok' })
    expect(classify(404, {}, '')).toMatchObject({ kind: 'not_found' })
  })

  test('fails with a word otherwise', () => {
    expect(classify(200, { 'content-type': 'text/html' })).toMatchObject({
      kind: 'failed',
      fault: 'media_type_unexpected',
    })
    expect(classify(200, { 'content-type': '' })).toMatchObject({ fault: 'media_type_unexpected' })
    expect(classify(200, {}, '')).toMatchObject({ kind: 'failed', fault: 'body_empty' })
    for (const status of [201, 204, 304, 400, 409, 418, 500, 503]) {
      expect(classify(status), `${status}`).toMatchObject({ kind: 'failed', fault: 'status_unexpected', status })
    }
    expect(classify(429, { 'retry-after': '7' })).toMatchObject({ fault: 'rate_limited', retry_after_s: 7 })
  })

  test('refuses the credential with 401 and 403', () => {
    for (const status of [401, 403])
      expect(classify(status)).toEqual({ kind: 'refused', status, fault: 'unauthorized' })
  })

  test('has defaults where the manifest is silent', () => {
    const plain = classifyResponse({}, response(200), NOW_MS)
    expect(plain).toMatchObject({ kind: 'ok' })
    expect(classifyResponse({}, response(404), NOW_MS)).toMatchObject({ kind: 'not_found' })
    expect([getMaxBytes({}), getTimeoutMs({})]).toEqual([2_097_152, 15_000])
  })

  test('names a media type only if it is well formed', () => {
    expect(getMediaType({ 'content-type': ' Application/Problem+JSON ;a=b' })).toBe('application/problem+json')
    for (const type of ['', 'json', 'a/b/c', 'a b/c']) {
      expect(getMediaType({ 'content-type': type })).toBe('application/octet-stream')
    }
  })

  test('says how long to wait in seconds or as a date', () => {
    expect(parseRetryAfter('120', NOW_MS)).toBe(120)
    expect(parseRetryAfter('1000000000', NOW_MS)).toBe(1_000_000_000)
    expect(parseRetryAfter('Thu, 01 Jan 2026 00:02:00 GMT', NOW_MS)).toBe(120)
    expect(parseRetryAfter('Wed, 31 Dec 2025 00:00:00 GMT', NOW_MS)).toBe(0)
    for (const text of [undefined, '', '-1', '1.5', 'soon', '1e9', '9'.repeat(16), '2026-01-01']) {
      expect(parseRetryAfter(text, NOW_MS), text).toBeNull()
    }
  })
})

describe('a retry', () => {
  const failed = (change: Partial<FailedAttempt>): FailedAttempt => ({
    attempt: 1,
    cause: 503,
    sent: true,
    retry_after_s: null,
    ...change,
  })

  test('waits longer each time, half of it at random, up to the last attempt', () => {
    const delays = [1, 2].map((attempt) =>
      [0, 1].map((random) => planRetry(lookup, failed({ attempt }), random)?.delay_ms),
    )
    expect(delays).toEqual([
      [250, 500],
      [500, 1000],
    ])
    expect(planRetry(lookup, failed({ attempt: 3 }))).toBeNull()
    const many = { ...lookup, retry: { attempts: 10, base_ms: 60_000, max_ms: 100_000 } }
    expect(planRetry(many, failed({ attempt: 9 }), 1)).toEqual({ kind: 'retry', delay_ms: 100_000 })
  })

  test('follows what the provider asks for, and is put off where that is long, by a day at most', () => {
    expect(planRetry(lookup, failed({ retry_after_s: 60 }), 1)).toEqual({ kind: 'retry', delay_ms: 60_000 })
    expect(planRetry(lookup, failed({ retry_after_s: 0 }), 1)).toEqual({ kind: 'retry', delay_ms: 500 })
    expect(planRetry(lookup, failed({ retry_after_s: 61 }))).toEqual({ kind: 'defer', delay_ms: 61_000 })
    for (const retry_after_s of [86_400, 86_401, 1e9, 1e15]) {
      expect(planRetry(lookup, failed({ cause: 429, retry_after_s }))).toEqual({ kind: 'defer', delay_ms: 86_400_000 })
    }
    expect(planRetry(lookup, failed({ attempt: 3, retry_after_s: 3600 }))).toMatchObject({ kind: 'defer' })
  })

  test('is made for what the manifest lists, and for faults of the network that pass', () => {
    const causes = [...Object.keys(egressFaults), 400, 404, 429, 500, 502, 503, 504] as FailedAttempt['cause'][]
    const repeated = causes.filter((cause) => planRetry({ safe: true }, failed({ cause })))
    expect(repeated).toEqual([
      'overloaded',
      'dns_failed',
      'connect_failed',
      'connect_timeout',
      'proxy_failed',
      'headers_timeout',
      'idle_timeout',
      'timeout',
      'connection_reset',
      429,
      502,
      503,
      504,
    ])
    const few = { safe: true, retry: { on: [500, 'reset' as const] } }
    expect(causes.filter((cause) => planRetry(few, failed({ cause })))).toEqual(['connection_reset', 500])
  })

  test('a request with the promise "once" is retried only if nothing was sent', () => {
    const once = { retry: { on: [503, 'connect' as const, 'timeout' as const] } }
    expect(toCapabilityPromise(once as object)).toBe('once')
    expect(planRetry(once, failed({ cause: 'timeout', sent: true }))).toBeNull()
    expect(planRetry(once, failed({ cause: 503, sent: true, retry_after_s: 3600 }))).toBeNull()
    expect(planRetry(once, failed({ cause: 'connect_failed', sent: false }))).not.toBeNull()
    const keyed = { ...once, idempotency_header: 'Idempotency-Key' }
    expect(toCapabilityPromise(keyed)).toBe('keyed')
    expect(planRetry(keyed, failed({ cause: 'timeout', sent: true }))).not.toBeNull()
    expect(toCapabilityPromise({ safe: true })).toBe('free')
  })
})

describe('pages', () => {
  const first = 'https://api.acme.example/v2/companies?page=1'
  const next = (link: unknown, urls = [first]) =>
    findNextPage(lookup, { hosts: exampleManifest.hosts, urls }, { links: { next: link } })

  test('follow links on listed hosts, absolute or relative', () => {
    expect(next('https://api.acme.example/v2/companies?page=2')).toEqual({
      kind: 'next',
      url: 'https://api.acme.example/v2/companies?page=2',
    })
    expect(next('?page=2')).toEqual({ kind: 'next', url: 'https://api.acme.example/v2/companies?page=2' })
    expect(next('/v2/other#part')).toEqual({ kind: 'next', url: 'https://api.acme.example/v2/other' })
    expect(next('https://auth.acme.example/x')).toMatchObject({ kind: 'next' })
  })

  test('end where there is no link', () => {
    for (const link of [undefined, null, '']) expect(next(link)).toEqual({ kind: 'last' })
    for (const body of [null, 'x', [], { links: null }, { links: [] }]) {
      expect(findNextPage(lookup, { hosts: [], urls: [first] }, body)).toEqual({ kind: 'last' })
    }
    expect(findNextPage({}, { hosts: [], urls: [first] }, { links: { next: first } })).toEqual({ kind: 'last' })
  })

  test('never lead to another host, back, or on without end', () => {
    expect(next(first)).toEqual({ kind: 'refused', reason: 'repeated' })
    expect(next(5)).toEqual({ kind: 'refused', reason: 'not_a_url' })
    expect(next('//evil.example/x')).toEqual({ kind: 'refused', reason: 'host_not_listed' })
    expect(next('http://api.acme.example/x')).toEqual({ kind: 'refused', reason: 'host_not_listed' })
    expect(next('?page=11', Array(10).fill(first))).toEqual({ kind: 'refused', reason: 'too_many' })
    const listed = new Set(['api.acme.example'])
    for (const url of listHostileUrls(8443)) {
      const found = next(url)
      const host = found.kind === 'next' ? new URL(found.url).hostname : 'api.acme.example'
      expect(listed.has(host), url).toBe(true)
    }
    expect(Object.keys(hostileNames)).toContain('api.acme.example')
  })

  test('are read with the headers of the first, and joined byte for byte', () => {
    const rendered = renderRequest(exampleManifest, lookup, { number: '1' })
    const page = toPageRequest(rendered, `${first}&page=2`)
    expect(page).toMatchObject({ method: 'GET', body: null, headers: rendered.headers })
    expect(joinPages([Buffer.from('{"a": 1.0}'), Buffer.from('[2]')]).toString()).toBe('[{"a": 1.0},[2]]')
    expect(joinPages([Buffer.from('{}')]).toString()).toBe('[{}]')
  })
})

describe('a token', () => {
  const auth: OAuth2 = {
    kind: 'oauth2_client_credentials',
    token_url: 'https://auth.acme.example/token',
    scope: 'read write',
    audience: 'https://api.acme.example',
  }
  const members = { client_id: 'a:b c', client_secret: 'p&q=ß' }

  test('is asked for with Basic authentication, or with the credential in the form', () => {
    const basic = renderTokenRequest(auth)
    const sent = fillCredentials(basic, { members })
    expect(Buffer.from(sent.headers['authorization']?.slice(6) ?? '', 'base64').toString()).toBe(
      'a%3Ab+c:p%26q%3D%C3%9F',
    )
    expect([...new URLSearchParams(sent.body?.toString())]).toEqual([
      ['grant_type', 'client_credentials'],
      ['scope', 'read write'],
      ['audience', 'https://api.acme.example'],
    ])
    const post = renderTokenRequest({ ...auth, client_auth: 'post', scope: null, audience: null })
    expect([...new URLSearchParams(fillCredentials(post, { members }).body?.toString())]).toEqual([
      ['grant_type', 'client_credentials'],
      ['client_id', 'a:b c'],
      ['client_secret', 'p&q=ß'],
    ])
    expect(toStoredRequest(post).body).toBe(
      'grant_type=client_credentials&client_id={{credential.client_id}}&client_secret={{credential.client_secret}}',
    )
  })

  const read = (status: number, body: unknown) =>
    readTokenResponse({
      status,
      headers: {},
      body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
    })
  const good = { access_token: 'abc', token_type: 'Bearer', expires_in: 3600 }

  test('is read strictly', () => {
    expect(read(200, good)).toEqual({ kind: 'token', text: 'abc', lifetime_s: 3600 })
    expect(read(200, { ...good, token_type: 'bearer', expires_in: '60' })).toMatchObject({ lifetime_s: 60 })
    expect(read(200, { ...good, expires_in: undefined })).toMatchObject({ lifetime_s: 300 })
    expect(read(200, { ...good, expires_in: 1e9 })).toMatchObject({ lifetime_s: 86_400 })
    const invalid = { kind: 'failed', fault: 'token_response_invalid' }
    const bodies: unknown[] = [
      '',
      'x',
      '[]',
      'null',
      {},
      { ...good, access_token: '' },
      { ...good, access_token: 5 },
      { ...good, access_token: 'a\r\nX: 1' },
      { ...good, access_token: 'a b' },
      { ...good, access_token: 'a'.repeat(8193) },
      { ...good, token_type: 'mac' },
      { ...good, token_type: undefined },
      { ...good, expires_in: 0 },
      { ...good, expires_in: -1 },
      { ...good, expires_in: 'soon' },
      { ...good, padding: 'x'.repeat(65_536) },
    ]
    for (const body of bodies) expect(read(200, body), JSON.stringify(body).slice(0, 60)).toEqual(invalid)
  })

  test('is rejected when the client is not accepted, and failed when the endpoint is', () => {
    expect(read(401, '')).toEqual({ kind: 'rejected' })
    expect(read(400, { error: 'invalid_client' })).toEqual({ kind: 'rejected' })
    expect(read(403, { error: 'unauthorized_client' })).toEqual({ kind: 'rejected' })
    for (const [status, body] of [
      [400, { error: 'invalid_scope' }],
      [400, 'x'],
      [403, {}],
      [500, good],
      [302, good],
      [201, good],
    ] as const) {
      expect(read(status, body), `${status}`).toEqual({ kind: 'failed', fault: 'token_endpoint_failed' })
    }
  })
})

describe('fixtures', () => {
  test('answer the first input they fit, with a response or a fault', () => {
    const find = (input: Record<string, unknown>, name = 'company.lookup') => findFixture(exampleManifest, name, input)
    const found = find({ number: '00000006', country: 'DE' })
    expect(found).toMatchObject({ kind: 'response', response: { status: 200 } })
    if (found?.kind === 'response')
      expect(classifyResponse(lookup, found.response, NOW_MS)).toMatchObject({ kind: 'ok' })
    expect(find({ number: 'TIMEOUT' }, 'company.order')).toEqual({ kind: 'fault', fault: 'timeout', sent: true })
    expect(find({ number: 'other' })).toBeNull()
    expect(find({ number: '00000006' }, 'company.order')).toBeNull()
    const fixtures = [{ fault: 'dns_failed' }, { status: 404, headers: { 'Content-Type': 'text/plain' } }]
    expect(findFixture({ fixtures }, 'any', {})).toEqual({ kind: 'fault', fault: 'dns_failed', sent: false })
    expect(findFixture({ fixtures: fixtures.slice(1) }, 'any', {})).toMatchObject({
      response: { status: 404, headers: { 'content-type': 'text/plain' } },
    })
  })
})

describe('an input', () => {
  const faults = (input: unknown) =>
    checkInput(lookup.input, input).map(({ pointer, keyword }) => `${pointer} ${keyword}`)

  test('fits its schema', () => {
    expect(faults({ number: '1' })).toEqual([])
    expect(faults({ number: '1', country: 'DE', limit: 100 })).toEqual([])
  })

  test('has each fault at its place, without the value', () => {
    expect(faults({})).toEqual(['/number required'])
    expect(faults({ number: '', country: 'XX', limit: 101, other: 1 })).toEqual([
      '/number minLength',
      '/country enum',
      '/limit maximum',
      '/other additionalProperties',
    ])
    expect(faults({ number: '1'.repeat(21), limit: 0 })).toEqual(['/number maxLength', '/limit minimum'])
    expect(faults({ number: 5, limit: 1.5 })).toEqual(['/number type', '/limit type'])
    expect(faults({ number: 'a\0' })).toEqual(['/number type'])
    expect(faults({ number: '\ud800' })).toEqual(['/number type'])
    expect(faults(JSON.parse('{"number":"1","__proto__":{"x":1}}'))).toEqual(['/__proto__ additionalProperties'])
    for (const input of [null, 1, 'x', []]) expect(faults(input)).toEqual([' type'])
    expect(JSON.stringify(checkInput(lookup.input, { number: 'Jane Doe of 12 High Street' }))).not.toContain('Jane')
  })

  test('has real dates', () => {
    const dates = {
      type: 'object',
      properties: { on: { type: 'string', format: 'date' } },
      additionalProperties: false,
    } as const
    expect(checkInput(dates, { on: '2024-02-29' })).toEqual([])
    for (const on of ['2023-02-29', '2023-13-01', '2023-1-1', 'today']) {
      expect(
        checkInput(dates, { on }).map(({ keyword }) => keyword),
        on,
      ).toEqual(['format'])
    }
  })
})
