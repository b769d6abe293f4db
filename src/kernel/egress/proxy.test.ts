/** Outbound requests through a proxy of the operator. */
import http from 'node:http'
import net, { type AddressInfo, type Socket } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createCertificate } from '#test/support/certificates.ts'
import { type FaultyProvider, startFaultyProvider } from '#test/support/faulty-provider.ts'
import { openConnection } from './connect.ts'
import { createEgress, type Egress, type EgressRequest } from './egress.ts'
import { EgressFailed } from './faults.ts'
import { defaultEgressSettings, type EgressSettings } from './settings.ts'
import { checkTarget } from './targets.ts'

const NAME = 'api.acme.example'
/** An address that is public, so that it passes; the proxy of the test connects to this machine whatever it is asked for. */
const PUBLIC = '93.184.216.34'
const certificate = createCertificate({ common_name: NAME, names: [NAME, '127.0.0.1', PUBLIC] })
const AUTHORIZATION = `Basic ${Buffer.from('user:pass word').toString('base64')}`

let provider: FaultyProvider
let proxy: http.Server
let client: Egress
let settings: EgressSettings
const tunnels: string[] = []
const open: Socket[] = []
const resolved: string[] = []
let answer = 'HTTP/1.1 200 Connection established\r\n\r\n'

beforeAll(async () => {
  provider = await startFaultyProvider({ certificate })
  proxy = http.createServer((_request, response) => response.writeHead(500).end())
  proxy.on('connect', (request, socket: Socket) => {
    tunnels.push(`${request.url} ${request.headers['proxy-authorization'] === AUTHORIZATION}`)
    open.push(socket.on('error', () => {}))
    if (!answer.startsWith('HTTP/1.1 200')) return socket.end(answer)
    const through = net.connect(provider.port, '127.0.0.1', () => {
      socket.write(answer)
      socket.pipe(through).pipe(socket)
    })
    return open.push(through.on('error', () => socket.destroy()))
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  settings = {
    ...defaultEgressSettings,
    hosts: [NAME, PUBLIC, '10.0.0.1'],
    proxy: {
      host: 'proxy.internal',
      port: (proxy.address() as AddressInfo).port,
      secure: false,
      authorization: AUTHORIZATION,
    },
  }
  client = createClient(settings)
})
afterAll(async () => {
  await Promise.all([client.close(), provider.close()])
  for (const socket of open) socket.destroy()
  await new Promise((resolve) => proxy.close(resolve))
})
beforeEach(() => {
  tunnels.length = 0
  resolved.length = 0
  answer = 'HTTP/1.1 200 Connection established\r\n\r\n'
})

function createClient(change: EgressSettings): Egress {
  return createEgress({
    settings: change,
    resolve: async (name) => {
      resolved.push(name)
      return ['127.0.0.1']
    },
  })
}

const createRequest = (url: string): EgressRequest => ({
  pool_key: url,
  url,
  method: 'GET',
  headers: {},
  allowed_hosts: [new URL(url).hostname],
  timeout_ms: 5000,
  max_bytes: 1024,
  fresh_connection: true,
})

async function failureOf(url: string, change: Partial<EgressRequest> = {}, used = client): Promise<EgressFailed> {
  const error = await used.request({ ...createRequest(url), ...change }).catch((reason: unknown) => reason)
  if (!(error instanceof EgressFailed)) throw new Error(`${url} was answered`)
  return error
}

test('opens a tunnel by name, with the credentials of the proxy, and verifies the certificate of the host', async () => {
  // The certificate of the test leads to no public root: verification is what ends the request, at the right place.
  expect(await failureOf(`https://${NAME}:8443/ok`)).toMatchObject({ fault: 'tls_invalid', sent: false })
  expect(tunnels).toEqual([`${NAME}:8443 true`])
  expect(resolved).toEqual(['proxy.internal'])
})

test('does not ask the proxy for hosts outside the lists, or for private addresses', async () => {
  expect(await failureOf('https://other.example/')).toMatchObject({ reason: 'host_not_allowed_by_operator' })
  expect(await failureOf('https://10.0.0.1/')).toMatchObject({ reason: 'address_not_public' })
  expect(tunnels).toEqual([])
  await failureOf(`https://${PUBLIC}/`)
  expect(tunnels).toEqual([`${PUBLIC}:443 true`])
})

test('reaches private hosts and addresses of the configuration directly', async () => {
  const listed = createClient({
    ...settings,
    private_hosts: [
      { name: NAME, port: provider.port, ca: certificate.cert },
      { name: '127.0.0.1', port: provider.port, ca: certificate.cert },
    ],
  })
  try {
    const { status } = await listed.request(createRequest(`https://${NAME}:${provider.port}/ok`))
    expect(status).toBe(200)
    const operator = { ...createRequest(`https://127.0.0.1:${provider.port}/ok`), trust: 'operator' as const }
    expect((await listed.request({ ...operator, allowed_hosts: [] })).status).toBe(200)
    expect(tunnels).toEqual([])
  } finally {
    await listed.close()
  }
})

test('sends a configured issuer through the proxy by name, without a host list', async () => {
  await failureOf('https://issuer.example/keys', { trust: 'operator', allowed_hosts: [] })
  expect(tunnels).toEqual(['issuer.example:443 true'])
})

test('fails with one word when the proxy refuses, talks nonsense, hangs up or is away', async () => {
  const answers = [
    'HTTP/1.1 407 Proxy Authentication Required\r\n\r\n',
    'HTTP/1.1 403 Forbidden\r\ncontent-length: 6\r\n\r\nsecret',
    'HTTP/2 200\r\n\r\n',
    'nonsense',
    '',
    'HTTP/1.1 200 OK\r\n\r\nbytes of the proxy itself',
  ]
  for (const each of answers) {
    answer = each
    expect(await failureOf(`https://${NAME}/`), each).toMatchObject({ fault: 'proxy_failed', sent: false })
  }
  const away = createClient({ ...settings, proxy: { host: '127.0.0.1', port: 1, secure: false, authorization: null } })
  expect(await failureOf(`https://${NAME}/`, {}, away)).toMatchObject({ fault: 'proxy_failed', sent: false })
  await away.close()
})

test('the tunnel carries TLS to the host', async () => {
  const target = checkTarget(createRequest(`https://${NAME}/`), settings)
  const connection = { target: { ...target, ca: certificate.cert }, settings, resolve: async () => ['127.0.0.1'] }
  const socket = await openConnection({ ...connection, connect_ms: 5000 })
  socket.write(`GET /ok HTTP/1.1\r\nhost: ${NAME}\r\nconnection: close\r\n\r\n`)
  const chunks: Buffer[] = []
  for await (const chunk of socket) chunks.push(chunk)
  expect(Buffer.concat(chunks).toString('utf8')).toContain('HTTP/1.1 200 OK')
  expect(tunnels).toEqual([`${NAME}:443 true`])
})
