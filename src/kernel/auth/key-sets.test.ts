/** Keys of an issuer across rotation, outage and misbehaviour, against a real HTTP server on this machine. */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import type { JWK } from 'jose'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { createCertificate } from '#test/support/certificates.ts'
import { startFaultyProvider } from '#test/support/faulty-provider.ts'
import { CountingCache } from '../cache/caches.ts'
import { createEgress, type Egress } from '../egress/egress.ts'
import { defaultEgressSettings, type PrivateHost } from '../egress/settings.ts'
import { createKeySet, type KeySetOptions, type KeySource } from './key-sets.ts'
import { createTokenMinter, generateSigningKey } from './token-minter.ts'
import { createTokenVerifier, verifiedTokens } from './token-verifier.ts'

type Handler = (response: ServerResponse) => void
const egress = createEgress()
afterAll(() => egress.close())

const stops: (() => unknown)[] = []
afterEach(() => {
  for (const stop of stops.splice(0)) stop()
})

/** Serves whatever `pages` holds at the moment and counts what was asked for. */
async function startIssuer() {
  const pages = new Map<string, Handler>()
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(`${request.url}`)
    const page = pages.get(`${request.url}`) ?? ((r: ServerResponse) => r.writeHead(404).end())
    page(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.push(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const json = (path: string, body: unknown) => pages.set(path, (response) => response.end(JSON.stringify(body)))
  return { url, pages, requests, json }
}

function keySet(source: KeySource, options: KeySetOptions = {}) {
  const clock = { now_ms: 1000 }
  const failures: string[] = []
  const on_failure = (error: unknown) => failures.push(error instanceof Error ? error.message : String(error))
  const set = createKeySet(source, { now: () => clock.now_ms, on_failure, egress, ...options })
  const knows = async (kid: string | undefined) => (await set.find('ES256', kid)) !== undefined
  return { set, knows, clock, failures }
}

/** Lets a refresh that nobody waits for come to its end. */
async function settle(finished: () => boolean) {
  while (!finished()) await new Promise((resolve) => setTimeout(resolve, 5))
}

const [first, second, third] = await Promise.all([generateSigningKey(), generateSigningKey(), generateSigningKey()])

describe('a JWKS address', () => {
  test('a rotation is picked up by the unknown kid, once per cool-down', async () => {
    const issuer = await startIssuer()
    issuer.json('/jwks', { keys: [first.public_jwk] })
    const { knows, clock } = keySet({ kind: 'jwks', url: `${issuer.url}/jwks` })
    expect(await knows(first.kid)).toBe(true)
    expect(issuer.requests).toEqual(['/jwks'])

    issuer.json('/jwks', { keys: [first.public_jwk, second.public_jwk] })
    clock.now_ms += 29_999
    for (let n = 0; n < 20; n += 1) expect(await knows(second.kid)).toBe(false)
    expect(issuer.requests).toHaveLength(1)
    clock.now_ms += 1
    expect(await knows(second.kid)).toBe(true)
    for (let n = 0; n < 20; n += 1) expect(await knows(`forged ${n}`)).toBe(false)
    expect(issuer.requests).toHaveLength(2)
    clock.now_ms += 30_000
    for (let n = 0; n < 20; n += 1) await knows(`forged ${n}`)
    expect(issuer.requests).toHaveLength(3)
  })

  test('many at once are served by one request', async () => {
    const issuer = await startIssuer()
    issuer.json('/jwks', { keys: [first.public_jwk] })
    const { knows, clock } = keySet({ kind: 'jwks', url: `${issuer.url}/jwks` })
    expect(await Promise.all(Array.from({ length: 50 }, () => knows(first.kid)))).not.toContain(false)
    expect(issuer.requests).toHaveLength(1)
    clock.now_ms += 30_000
    issuer.json('/jwks', { keys: [second.public_jwk] })
    expect(await Promise.all(Array.from({ length: 50 }, () => knows(second.kid)))).not.toContain(false)
    expect(issuer.requests).toHaveLength(2)
  })

  test('after ten minutes keys are renewed behind the caller, and a withdrawn key goes', async () => {
    const issuer = await startIssuer()
    issuer.json('/jwks', { keys: [first.public_jwk, second.public_jwk] })
    const { knows, clock } = keySet({ kind: 'jwks', url: `${issuer.url}/jwks` })
    await knows(first.kid)
    let answer: (() => void) | undefined
    issuer.pages.set('/jwks', (response) => {
      answer = () => response.end(JSON.stringify({ keys: [second.public_jwk] }))
    })
    clock.now_ms += 599_999
    expect(await knows(first.kid)).toBe(true)
    expect(issuer.requests).toHaveLength(1)
    clock.now_ms += 1
    // The server has not answered: whoever asks meanwhile is not kept waiting.
    expect(await knows(first.kid)).toBe(true)
    await settle(() => answer !== undefined)
    expect(await knows(second.kid)).toBe(true)
    answer?.()
    while (await knows(first.kid)) await new Promise((resolve) => setTimeout(resolve, 5))
    expect(await knows(second.kid)).toBe(true)
    expect(issuer.requests).toHaveLength(2)
  })

  test('after twenty quiet minutes the caller waits for the renewal', async () => {
    const issuer = await startIssuer()
    issuer.json('/jwks', { keys: [first.public_jwk] })
    const { knows, clock } = keySet({ kind: 'jwks', url: `${issuer.url}/jwks` })
    await knows(first.kid)
    issuer.json('/jwks', { keys: [second.public_jwk] })
    clock.now_ms += 1_200_000
    expect(await knows(first.kid)).toBe(false)
  })

  test('known keys survive an outage of any length; the next success replaces them', async () => {
    const issuer = await startIssuer()
    issuer.json('/jwks', { keys: [first.public_jwk] })
    const { knows, clock, failures } = keySet({ kind: 'jwks', url: `${issuer.url}/jwks` })
    await knows(first.kid)
    const outages: Handler[] = [
      (response) => response.writeHead(503).end(JSON.stringify({ keys: [second.public_jwk] })),
      (response) => response.destroy(),
      (response) => response.end('<html>'),
      (response) => response.end('{"keys":null}'),
      (response) => response.end('[]'),
      (response) => response.writeHead(302, { location: '/other' }).end(),
    ]
    issuer.json('/other', { keys: [third.public_jwk] })
    for (const outage of outages) {
      issuer.pages.set('/jwks', outage)
      clock.now_ms += 86_400_000
      expect(await knows(first.kid)).toBe(true)
      expect(await knows(second.kid)).toBe(false)
    }
    expect(failures).toHaveLength(outages.length)
    expect(issuer.requests).not.toContain('/other')
    issuer.json('/jwks', { keys: [second.public_jwk] })
    clock.now_ms += 30_000
    expect(await knows(second.kid)).toBe(true)
    expect(await knows(first.kid)).toBe(false)
  })

  test('with no keys ever, the answer is that a dependency is missing, asked again after a second', async () => {
    const issuer = await startIssuer()
    const { set, knows, clock } = keySet({ kind: 'jwks', url: `${issuer.url}/jwks` })
    for (let n = 0; n < 5; n += 1) {
      await expect(set.find('ES256', first.kid)).rejects.toMatchObject({ code: 'dependency_unavailable', status: 503 })
    }
    expect(issuer.requests).toHaveLength(1)
    issuer.json('/jwks', { keys: [first.public_jwk] })
    clock.now_ms += 1000
    expect(await knows(first.kid)).toBe(true)
  })

  test('a body over 256 KiB is refused, one of 256 KiB is read', async () => {
    const issuer = await startIssuer()
    const padded = (size: number) => JSON.stringify({ keys: [first.public_jwk] }).padEnd(size, ' ')
    issuer.pages.set('/fits', (response) => response.end(padded(256 * 1024)))
    issuer.pages.set('/large', (response) => response.end(padded(256 * 1024 + 1)))
    issuer.pages.set('/endless', (response) => {
      const more = () => {
        while (response.write(' '.repeat(65_536)));
        response.once('drain', more)
      }
      more()
    })
    expect(await keySet({ kind: 'jwks', url: `${issuer.url}/fits` }).knows(first.kid)).toBe(true)
    for (const path of ['/large', '/endless']) {
      const { set, failures } = keySet({ kind: 'jwks', url: issuer.url + path })
      await expect(set.find('ES256', first.kid)).rejects.toMatchObject({ code: 'dependency_unavailable' })
      expect(failures).toEqual(['token issuer keys: the document is too large'])
    }
  })

  test('a slow header and a slow body run into the time limit', async () => {
    const issuer = await startIssuer()
    issuer.pages.set('/silent', () => {})
    issuer.pages.set('/slow', (response) => response.write('{"keys":['))
    for (const path of ['/silent', '/slow']) {
      const { set, failures } = keySet({ kind: 'jwks', url: issuer.url + path }, { timeout_ms: 50 })
      await expect(set.find('ES256', first.kid)).rejects.toMatchObject({ code: 'dependency_unavailable' })
      expect(failures).toEqual([expect.stringMatching(/timeout/)])
    }
  })

  test('only https is asked, and http on this machine', async () => {
    const asked: string[] = []
    const recording: Pick<Egress, 'request'> = {
      async request({ url }) {
        asked.push(url)
        const body = Buffer.from(JSON.stringify({ keys: [first.public_jwk] }))
        return { status: 200, headers: {}, body, duration_ms: 0 }
      },
    }
    const allowed = ['https://a.example/k', 'http://localhost:1/k', 'http://127.8.9.1/k', 'http://[::1]:1/k']
    for (const url of allowed) {
      expect(await keySet({ kind: 'jwks', url }, { egress: recording }).knows(first.kid)).toBe(true)
    }
    expect(asked).toEqual(allowed)
    const refused = ['http://a.example/k', 'http://127.0.0.1.a.example/k', 'http://localhost.a.example/k', 'ftp://a/k']
    for (const url of [...refused, 'file:///etc/passwd', 'data:,{}']) {
      expect(() => createKeySet({ kind: 'jwks', url }, { egress: recording }), url).toThrow('https only')
    }
  })
})

describe('what an issuer may be', () => {
  test('an issuer of the configuration may have a private address, any port and an authority of its own', async () => {
    const authority = createCertificate({ common_name: 'Test authority', is_authority: true })
    const certificate = createCertificate({ common_name: 'id.internal', names: ['id.internal'], issuer: authority })
    const answers = {
      '/keys': (_request: unknown, response: ServerResponse) =>
        response.end(JSON.stringify({ keys: [first.public_jwk] })),
    }
    const server = await startFaultyProvider({ certificate, answers })
    const open = (private_hosts: readonly PrivateHost[], hosts: readonly string[] | null) => {
      const client = createEgress({
        settings: { ...defaultEgressSettings, hosts, private_hosts },
        resolve: async () => ['127.0.0.1'],
      })
      stops.push(
        () => client.close(),
        () => server.close(),
      )
      return keySet({ kind: 'jwks', url: `https://id.internal:${server.port}/keys` }, { egress: client })
    }
    const listed = [{ name: 'id.internal', port: server.port, ca: authority.cert }]
    expect(await open(listed, ['other.example']).knows(first.kid)).toBe(true)
    // Without its authority the address is reached, and the certificate refused.
    const unknown = open([], null)
    await expect(unknown.knows(first.kid)).rejects.toMatchObject({ code: 'dependency_unavailable' })
    expect(unknown.failures).toEqual([expect.stringMatching(/^tls_invalid: /)])
  })

  test('plain http reaches addresses of this machine only', async () => {
    const requestLocal = (resolved: string) => {
      const client = createEgress({ resolve: async () => [resolved] })
      stops.push(() => client.close())
      const request = { pool_key: 'k', method: 'GET', headers: {}, allowed_hosts: [], trust: 'operator' as const }
      return client.request({ ...request, url: 'http://localhost:1/', timeout_ms: 5000, max_bytes: 1 })
    }
    await expect(requestLocal('127.0.0.1')).rejects.toMatchObject({ fault: 'connect_failed' })
    await expect(requestLocal('93.184.216.34')).rejects.toMatchObject({
      fault: 'egress_refused',
      reason: 'address_not_local',
    })
    await expect(requestLocal('169.254.169.254')).rejects.toMatchObject({ fault: 'egress_refused' })
  })

  test('a compressed answer is read, and what the server sent is not in the message', async () => {
    const issuer = await startIssuer()
    issuer.pages.set('/gzip', (response) =>
      response
        .writeHead(200, { 'content-encoding': 'gzip' })
        .end(gzipSync(JSON.stringify({ keys: [first.public_jwk] }))),
    )
    issuer.pages.set('/text', (response) => response.end('<html>secret text of the server</html>'))
    expect(await keySet({ kind: 'jwks', url: `${issuer.url}/gzip` }).knows(first.kid)).toBe(true)
    const { knows, failures } = keySet({ kind: 'jwks', url: `${issuer.url}/text` })
    await expect(knows(first.kid)).rejects.toMatchObject({ code: 'dependency_unavailable' })
    expect(failures).toEqual(['token issuer keys: the document is not JSON'])
  })
})

describe('discovery', () => {
  const path = '/.well-known/openid-configuration'

  test('leads to the keys, and from there to a verified token', async () => {
    const issuer = await startIssuer()
    const issuer_url = `${issuer.url}/realm/`
    issuer.json(`/realm${path}`, { issuer: issuer_url, jwks_uri: `${issuer.url}/keys` })
    issuer.json('/keys', { keys: [first.public_jwk] })
    const tenant_id = '0190a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b'
    const verifier = createTokenVerifier({
      cache: new CountingCache(verifiedTokens),
      egress,
      knownRoles: new Set(['viewer']),
      issuers: [
        {
          issuer: issuer_url,
          audience: 'here',
          algorithms: ['ES256'],
          tenants: [tenant_id],
          tenant_claim: 'tenant_id',
          roles_claim: 'roles',
          role_map: { reader: ['viewer'] },
          keys: { kind: 'oidc', issuer_url },
          built_in: false,
        },
      ],
    })
    const minter = createTokenMinter({ issuer: issuer_url, audience: 'here', activeKey: async () => first })
    const request = { principal: 'user:ada', tenant_id, roles: ['reader'], lifetime_s: 60 } as const
    const { token } = await minter.mint(request)
    expect(await verifier.verify(token)).toMatchObject({ subject: 'user:ada', roles: ['viewer'], built_in: false })
    await verifier.verify((await minter.mint(request)).token)
    expect(issuer.requests).toEqual([`/realm${path}`, '/keys'])
  })

  test('another issuer, a missing or an unsafe address of keys are refused', async () => {
    const issuer = await startIssuer()
    issuer.json('/keys', { keys: [first.public_jwk] })
    const documents: [document: object, failure: RegExp][] = [
      [{ issuer: `${issuer.url}/`, jwks_uri: `${issuer.url}/keys` }, /another issuer/],
      [{ issuer: issuer.url.toUpperCase(), jwks_uri: `${issuer.url}/keys` }, /another issuer/],
      [{ jwks_uri: `${issuer.url}/keys` }, /another issuer/],
      [{ issuer: issuer.url }, /must be text/],
      [{ issuer: issuer.url, jwks_uri: 'http://a.example/keys' }, /https only/],
      [{ issuer: issuer.url, jwks_uri: 'file:///etc/passwd' }, /https only/],
    ]
    for (const [document, failure] of documents) {
      issuer.json(path, document)
      const { set, failures } = keySet({ kind: 'oidc', issuer_url: issuer.url })
      await expect(set.find('ES256', first.kid)).rejects.toMatchObject({ code: 'dependency_unavailable' })
      expect(failures).toEqual([expect.stringMatching(failure)])
    }
    expect(new Set(issuer.requests)).toEqual(new Set([path]))
  })
})

describe('a function of our own', () => {
  test('is asked again after 5 s, for an unknown kid after 1 s, and may fail', async () => {
    let jwks = async (): Promise<JWK[]> => [first.public_jwk]
    let asked = 0
    const { knows, clock } = keySet({
      kind: 'static',
      jwks() {
        asked += 1
        return jwks()
      },
    })
    expect(await knows(first.kid)).toBe(true)
    clock.now_ms += 4999
    expect(await knows(first.kid)).toBe(true)
    expect(asked).toBe(1)
    jwks = async () => [first.public_jwk, second.public_jwk]
    expect(await knows(second.kid)).toBe(true)
    expect(asked).toBe(2)
    clock.now_ms += 999
    for (let n = 0; n < 20; n += 1) expect(await knows(third.kid)).toBe(false)
    expect(asked).toBe(2)
    clock.now_ms += 4001
    jwks = () => {
      throw new Error('the database is away')
    }
    for (let n = 0; n < 20; n += 1) expect(await knows(second.kid)).toBe(true)
    expect(asked).toBe(3)
    jwks = async () => [third.public_jwk]
    clock.now_ms += 1000
    expect(await knows(second.kid)).toBe(false)
    expect(await knows(third.kid)).toBe(true)
  })
})
