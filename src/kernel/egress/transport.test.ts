/** Outbound requests to a provider that misbehaves: each ends within its bounds, with one word. */
import net from 'node:net'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createCertificate } from '#test/support/certificates.ts'
import { type FaultyProvider, startFaultyProvider } from '#test/support/faulty-provider.ts'
import { createEgress, type Egress, type EgressOptions, type EgressRequest } from './egress.ts'
import { EgressFailed, type EgressFault } from './faults.ts'
import { defaultEgressSettings, type EgressSettings, type PrivateHost } from './settings.ts'

const NAME = 'provider.test'
const MIB = 1024 * 1024
const authority = createCertificate({ common_name: 'Test authority', is_authority: true })
const names = [NAME, '127.0.0.1']
const certificate = createCertificate({ common_name: NAME, names, issuer: authority })

let provider: FaultyProvider
let egress: Egress
/** Waits a fifth of a second for a sign of life. */
let impatient: Egress
const observed: [outcome: string, duration_s: number][] = []
const clients: Egress[] = []
const providers: FaultyProvider[] = []

const privateHost = (port: number, name = NAME): PrivateHost => ({ name, port, ca: authority.cert })

function createClient(settings: Partial<EgressSettings>, options: EgressOptions = {}): Egress {
  const client = createEgress({
    resolve: async () => ['127.0.0.1'],
    ...options,
    settings: { ...defaultEgressSettings, ...settings },
  })
  clients.push(client)
  return client
}

async function startProvider(options: Parameters<typeof startFaultyProvider>[0]): Promise<FaultyProvider> {
  const started = await startFaultyProvider(options)
  providers.push(started)
  return started
}

beforeAll(async () => {
  provider = await startProvider({ certificate })
  impatient = createClient(
    { private_hosts: [privateHost(provider.port)] },
    { timing: { headers_ms: 200, idle_ms: 200 } },
  )
  egress = createClient(
    { private_hosts: [privateHost(provider.port)] },
    { observe: (outcome, duration_s) => observed.push([outcome, duration_s]) },
  )
})
afterAll(() => Promise.all([...clients, ...providers].map((each) => each.close())))

const createRequest = (path: string, change: Partial<EgressRequest> = {}): EgressRequest => ({
  pool_key: 'tenant/provider',
  url: `https://${NAME}:${provider.port}${path}`,
  method: 'GET',
  headers: { accept: 'application/json' },
  allowed_hosts: [NAME],
  timeout_ms: 5000,
  max_bytes: 2 * MIB,
  ...change,
})

const send = (path: string, change: Partial<EgressRequest> = {}, client = egress) =>
  client.request(createRequest(path, change))

async function failureOf(request: Promise<unknown>): Promise<EgressFailed> {
  const error = await request.then(
    () => new Error('the request was answered'),
    (reason: unknown) => reason,
  )
  if (!(error instanceof EgressFailed)) throw error
  return error
}

describe('a good answer', () => {
  test('has status, headers and body; cookies are dropped', async () => {
    const { status, headers, body, duration_ms } = await send('/headers?x=1', { headers: { 'x-key': 'v' } })
    expect(status).toBe(200)
    expect(headers).toMatchObject({ 'content-type': 'application/json', 'x-served': 'yes' })
    expect(headers['set-cookie']).toBeUndefined()
    expect(duration_ms).toBeGreaterThanOrEqual(0)
    const received = JSON.parse(body.toString('utf8'))
    expect(received).toMatchObject({
      host: `${NAME}:${provider.port}`,
      'x-key': 'v',
      'user-agent': 'probity',
      'accept-encoding': 'gzip, deflate, br',
    })
    expect(received.cookie).toBeUndefined()
  })

  test('sends a body with its length', async () => {
    const { body } = await send('/ok', { method: 'POST', body: Buffer.from('{"a":1}') })
    expect(JSON.parse(body.toString('utf8'))).toEqual({ method: 'POST', url: '/ok', body: '{"a":1}' })
  })

  test('is decompressed', async () => {
    for (const path of ['/gzip', '/brotli', '/deflate', '/raw-deflate']) {
      expect((await send(path)).body.toString('utf8'), path).toBe('compressed')
    }
    expect((await send('/empty-gzip')).body).toHaveLength(0)
  })

  test('may have any status that is no redirect, and informational ones before it', async () => {
    expect((await send('/not-found')).status).toBe(404)
    expect((await send('/too-many')).headers['retry-after']).toBe('1000000000')
    expect((await send('/informational')).status).toBe(200)
  })

  test('is counted with its duration', async () => {
    observed.length = 0
    await send('/ok')
    await failureOf(send('/redirect'))
    expect(observed.map(([outcome]) => outcome)).toEqual(['answered', 'redirect_refused'])
    expect(observed.every(([, duration_s]) => duration_s > 0)).toBe(true)
  })
})

describe('a bad answer', () => {
  const faults: readonly [path: string, fault: EgressFault][] = [
    ['/hang-before-headers', 'headers_timeout'],
    ['/hang-after-headers', 'idle_timeout'],
    ['/reset-before-headers', 'connection_reset'],
    ['/reset-mid-body', 'connection_reset'],
    ['/shorter-than-declared', 'connection_reset'],
    ['/endless', 'too_large'],
    ['/ten-gigabytes', 'too_large'],
    ['/gzip-bomb', 'too_large'],
    ['/brotli-bomb', 'too_large'],
    ['/truncated-gzip', 'response_invalid'],
    ['/broken-gzip', 'response_invalid'],
    ['/unknown-encoding', 'response_invalid'],
    ['/two-encodings', 'response_invalid'],
    ['/endless-headers', 'response_invalid'],
    ['/not-http', 'response_invalid'],
    ['/bad-chunk', 'response_invalid'],
    ['/redirect', 'redirect_refused'],
  ]

  test.each(faults)('%s fails with %s, and the request counts as sent', async (path, fault) => {
    const client = path.startsWith('/hang') ? impatient : egress
    expect(await failureOf(send(path, {}, client))).toMatchObject({ fault, sent: true })
    expect((await send('/ok')).status).toBe(200)
  })

  test('may begin as late as the request allows', async () => {
    // What the first request loads counts towards its time.
    expect((await send('/ok', {}, impatient)).status).toBe(200)
    const patient = { timeout_ms: 4000, headers_timeout_ms: 4000 }
    expect(await failureOf(send('/hang-before-headers', patient, impatient))).toMatchObject({ fault: 'timeout' })
  })

  test('that never ends runs into the total time', async () => {
    const failure = await failureOf(send('/one-byte-at-a-time', { timeout_ms: 1000 }))
    expect(failure).toMatchObject({ fault: 'timeout', sent: true })
  })

  test('that is longer than declared is cut, and its connection is not used again', async () => {
    const pool_key = 'tenant/longer'
    expect((await send('/longer-than-declared', { pool_key })).body.toString('utf8')).toBe('four')
    const { body } = await send('/ok', { pool_key })
    expect(JSON.parse(body.toString('utf8'))).toMatchObject({ url: '/ok' })
  })

  test('that unpacks to more than a hundred times its size is refused, whatever the limit', async () => {
    for (const path of ['/gzip-bomb', '/brotli-bomb']) {
      expect(await failureOf(send(path, { max_bytes: 256 * MIB })), path).toMatchObject({ fault: 'too_large' })
    }
  })

  test('the message names the word and nothing of the other side', async () => {
    const { message } = await failureOf(send('/not-http'))
    expect(message).toBe('response_invalid: the response is not valid HTTP or its encoding cannot be read')
  })
})

describe('a request that is not sent', () => {
  test('when nothing listens', async () => {
    const closed = await startFaultyProvider({ certificate })
    await closed.close()
    const client = createClient({ private_hosts: [privateHost(closed.port)] })
    const failure = await failureOf(send('/ok', { url: `https://${NAME}:${closed.port}/ok` }, client))
    expect(failure).toMatchObject({ fault: 'connect_failed', sent: false })
  })

  test('when the handshake never ends', async () => {
    const server = net.createServer((socket) => socket.on('error', () => {}).resume()).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as net.AddressInfo
    const client = createClient({ private_hosts: [privateHost(port)] }, { timing: { connect_ms: 100 } })
    const failure = await failureOf(send('/ok', { url: `https://${NAME}:${port}/ok` }, client))
    expect(failure).toMatchObject({ fault: 'connect_timeout', sent: false })
    await client.close()
    await new Promise((resolve) => server.close(resolve))
  })

  test('when it is aborted, before or during the connection', async () => {
    const done = AbortSignal.abort()
    expect(await failureOf(send('/ok', { signal: done }))).toMatchObject({ fault: 'aborted', sent: false })
    const sent = new AbortController()
    const failure = failureOf(send('/hang-after-headers', { signal: sent.signal, pool_key: 'tenant/abort' }))
    const before = provider.requests.length
    while (provider.requests.length === before) await new Promise((resolve) => setTimeout(resolve, 5))
    sent.abort()
    expect(await failure).toMatchObject({ fault: 'aborted', sent: true })
  })

  test('after the client is closed', async () => {
    const client = createClient({ private_hosts: [privateHost(provider.port)] })
    const open = failureOf(send('/hang-before-headers', {}, client))
    const before = provider.requests.length
    while (provider.requests.length === before) await new Promise((resolve) => setTimeout(resolve, 5))
    await client.close()
    expect(await open).toMatchObject({ fault: 'aborted', sent: true })
    expect(await failureOf(send('/ok', {}, client))).toMatchObject({ fault: 'aborted', sent: false })
  })
})

describe('TLS', () => {
  const DAY_MS = 86_400_000
  const reach = async (options: Parameters<typeof startFaultyProvider>[0], change: Partial<EgressRequest> = {}) => {
    const { port } = await startProvider(options)
    const client = createClient({ private_hosts: [privateHost(port), privateHost(port, '127.0.0.1')] })
    return send('/ok', { url: `https://${NAME}:${port}/ok`, ...change }, client)
  }

  test('an expired, future, foreign, self-signed or old certificate is refused before anything is sent', async () => {
    const issue = (change: object) =>
      createCertificate({ common_name: NAME, names: [NAME], issuer: authority, ...change })
    const refused: Parameters<typeof startFaultyProvider>[0][] = [
      { certificate: issue({ valid_until: new Date(Date.now() - DAY_MS / 2) }) },
      { certificate: issue({ valid_from: new Date(Date.now() + DAY_MS / 2) }) },
      { certificate: issue({ names: ['other.test'] }) },
      { certificate: issue({ names: [`${NAME}.other.test`, `x.${NAME}`] }) },
      { certificate: createCertificate({ common_name: NAME, names: [NAME] }) },
      { certificate: { ...certificate }, max_tls: 'TLSv1.1' },
    ]
    for (const options of refused) {
      expect(await failureOf(reach(options))).toMatchObject({ fault: 'tls_invalid', sent: false })
    }
    expect((await reach({ certificate, max_tls: 'TLSv1.2' })).status).toBe(200)
  })

  test('the certificate is checked against the name of the URL, and of an address against the address', async () => {
    const { port } = await startProvider({
      certificate: createCertificate({ common_name: NAME, names: [NAME], issuer: authority }),
    })
    const client = createClient({ private_hosts: [privateHost(port), privateHost(port, '127.0.0.1')] })
    const byAddress = { url: `https://127.0.0.1:${port}/ok`, allowed_hosts: ['127.0.0.1'] }
    expect(await failureOf(send('/ok', byAddress, client))).toMatchObject({ fault: 'tls_invalid' })
    const both = { url: `https://127.0.0.1:${provider.port}/ok`, allowed_hosts: ['127.0.0.1'] }
    const other = createClient({ private_hosts: [privateHost(provider.port, '127.0.0.1')] })
    expect((await send('/ok', both, other)).status).toBe(200)
  })

  test('a private authority is trusted for its own host only', async () => {
    const client = createClient({
      private_hosts: [{ name: NAME, port: provider.port, ca: null }],
    })
    expect(await failureOf(send('/ok', {}, client))).toMatchObject({ fault: 'tls_invalid', sent: false })
  })

  test('a client certificate is presented where the request has one', async () => {
    const client_certificate = createCertificate({ common_name: 'client', issuer: authority })
    const options = { certificate, client_ca: authority.cert, max_tls: 'TLSv1.2' } as const
    expect((await reach(options, { client_certificate })).status).toBe(200)
    expect((await failureOf(reach(options))).fault).toMatch(/tls_invalid|connect_failed|connection_reset/)
    const broken = { cert: 'not a certificate', key: 'not a key' }
    expect(await failureOf(reach(options, { client_certificate: broken }))).toMatchObject({
      fault: 'tls_invalid',
      sent: false,
    })
  })
})

describe('connections', () => {
  test('are reused within one key, never between two, and not where a fresh one is asked for', async () => {
    const keysBySocket = new Map<unknown, string[]>()
    const { port } = await startProvider({
      certificate,
      answers: {
        '/key': (request, response) => {
          const keys = keysBySocket.get(request.socket) ?? []
          keysBySocket.set(request.socket, [...keys, `${request.headers['x-key']}`])
          response.end()
        },
      },
    })
    const client = createClient({ private_hosts: [privateHost(port)] })
    const sendKey = (pool_key: string, change: Partial<EgressRequest> = {}) =>
      send('/key', { url: `https://${NAME}:${port}/key`, pool_key, headers: { 'x-key': pool_key }, ...change }, client)
    for (let n = 0; n < 5; n++) for (const key of ['a/1', 'a/2', 'b/1']) await sendKey(key)
    const used = [...keysBySocket.values()]
    expect(used.every((keys) => new Set(keys).size === 1)).toBe(true)
    expect(used.length).toBeLessThanOrEqual(6)
    keysBySocket.clear()
    for (let n = 0; n < 3; n++) await sendKey('a/1', { fresh_connection: true })
    expect([...keysBySocket.values()]).toEqual([['a/1'], ['a/1'], ['a/1']])
  })

  test('are bounded: more requests than connections wait for one', async () => {
    const { port, sockets } = await startProvider({})
    const client = createClient({ exempt: { address: '127.0.0.1', port } })
    const request = (path: string) => ({ url: `http://127.0.0.1:${port}${path}`, allowed_hosts: ['127.0.0.1'] })
    const replies = await Promise.all(Array.from({ length: 100 }, () => send('/ok', request('/ok'), client)))
    expect(replies.every(({ status }) => status === 200)).toBe(true)
    expect(sockets.size).toBeLessThanOrEqual(32)
    const hanging = Array.from({ length: 300 }, () =>
      failureOf(send('/hang', { ...request('/hang-before-headers'), timeout_ms: 300 }, client)),
    )
    const faults = (await Promise.all(hanging)).map(({ fault, sent }) => `${fault} ${sent}`)
    expect(faults.filter((fault) => fault === 'overloaded false')).toHaveLength(300 - 16 - 256)
    expect(faults.every((fault) => /^(timeout (true|false)|overloaded false)$/.test(fault))).toBe(true)
  })

  test('take no proxy from the environment', async () => {
    const proxy = await startFaultyProvider()
    for (const name of ['HTTPS_PROXY', 'https_proxy', 'ALL_PROXY']) vi.stubEnv(name, `http://127.0.0.1:${proxy.port}`)
    try {
      expect((await send('/ok', { pool_key: 'tenant/environment' })).status).toBe(200)
      expect(proxy.sockets.size).toBe(0)
    } finally {
      vi.unstubAllEnvs()
      await proxy.close()
    }
  })
})
