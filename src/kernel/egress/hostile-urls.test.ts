/** No spelling of a URL and no answer of a name server leads an outbound request to this machine or its network. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { hostileNames, listHostileUrls } from '#test/support/hostile-urls.ts'
import { type CountingListeners, startCountingListeners } from '#test/support/listeners.ts'
import { startNameServer } from '#test/support/name-server.ts'
import { isLocalAddress } from './addresses.ts'
import { createEgress, type Egress, type EgressRequest } from './egress.ts'
import { EgressFailed } from './faults.ts'
import { createResolver } from './resolve.ts'
import { defaultEgressSettings, type EgressSettings } from './settings.ts'

let listeners: CountingListeners
let settings: EgressSettings
let egress: Egress
const logged: object[] = []
const log = { warn: (facts: object) => logged.push(facts) } as never
const resolve = async (name: string) => hostileNames[name] ?? []

beforeAll(async () => {
  listeners = await startCountingListeners()
  // The port of the listeners passes, so that the check of addresses is what refuses.
  settings = { ...defaultEgressSettings, exempt: { address: '192.0.2.1', port: listeners.port } }
  egress = createEgress({ settings, resolve, log })
})
afterAll(() => Promise.all([egress.close(), listeners.close()]))
beforeEach(() => {
  listeners.connections.length = 0
  logged.length = 0
})

/** A manifest that allows whatever host its URL has. */
const createRequest = (url: string): EgressRequest => ({
  pool_key: 'tenant/provider',
  url,
  method: 'GET',
  headers: {},
  allowed_hosts: URL.canParse(url) ? [new URL(url).hostname] : [],
  timeout_ms: 5000,
  max_bytes: 1024,
})

async function failureOf(request: EgressRequest, client = egress): Promise<EgressFailed> {
  const error = await client.request(request).then(
    () => new Error(`${request.url} was answered`),
    (reason: unknown) => reason,
  )
  if (!(error instanceof EgressFailed)) throw error
  return error
}

describe('URLs', () => {
  test('at least 60 hostile ones are refused without a connection, and each refusal is logged', async () => {
    const urls = listHostileUrls(listeners.port).filter((url) => url !== `https://192.0.2.1:${listeners.port}/`)
    expect(urls.length).toBeGreaterThan(90)
    for (const url of urls) {
      expect(await failureOf(createRequest(url)), url).toMatchObject({ fault: 'egress_refused', sent: false })
    }
    expect(listeners.connections).toEqual([])
    expect(logged).toHaveLength(urls.length)
  })

  test('the listeners count: an exempt address is reached', async () => {
    const open = createEgress({
      settings: { ...settings, exempt: { address: '127.0.0.1', port: listeners.port } },
      resolve,
    })
    try {
      await failureOf(createRequest(`http://127.0.0.1:${listeners.port}/`), open)
      expect(listeners.connections).toEqual(['127.0.0.1'])
      for (const host of ['127.0.0.2', '[::1]', 'mixed.test']) {
        const { fault } = await failureOf(createRequest(`https://${host}:${listeners.port}/`), open)
        expect(fault, host).toBe('egress_refused')
      }
      expect(await failureOf(createRequest(`http://localhost:${listeners.port}/`), open)).toMatchObject({
        reason: 'scheme',
      })
      expect(listeners.connections).toEqual(['127.0.0.1'])
    } finally {
      await open.close()
    }
  })

  test('the log names the host and the reason, and neither path nor query', async () => {
    await failureOf(createRequest(`https://private.test:${listeners.port}/secret?token=x`))
    expect(logged).toEqual([
      { host: `private.test:${listeners.port}`, pool_key: 'tenant/provider', reason: 'address_not_public' },
    ])
  })
})

describe('hosts and ports', () => {
  const reasonFor = async (change: Partial<EgressRequest>, operator: Partial<EgressSettings> = {}) => {
    const client = createEgress({
      settings: { ...defaultEgressSettings, ...operator },
      resolve: async () => ['10.0.0.1'],
    })
    try {
      return (await failureOf({ ...createRequest('https://api.acme.example/'), ...change }, client)).reason
    } finally {
      await client.close()
    }
  }

  test('the host must be in the manifest, as an exact name', async () => {
    expect(await reasonFor({ allowed_hosts: [] })).toBe('host_not_in_manifest')
    expect(await reasonFor({ allowed_hosts: ['acme.example', '*.acme.example'] })).toBe('host_not_in_manifest')
    expect(await reasonFor({ allowed_hosts: ['API.acme.example'] })).toBe('address_not_public')
  })

  test('the host must be in the list of the operator, where there is one', async () => {
    for (const hosts of [[], ['acme.example'], ['*.api.acme.example'], ['*.other.example'], ['i.acme.example']]) {
      expect(await reasonFor({}, { hosts }), hosts.join()).toBe('host_not_allowed_by_operator')
    }
    for (const hosts of [['api.acme.example'], ['*.acme.example'], ['*.example']]) {
      expect(await reasonFor({}, { hosts }), hosts.join()).toBe('address_not_public')
    }
  })

  test('ports are 443 and 8443, or that of a private host', async () => {
    for (const port of [80, 22, 8080, 6379, 65_535]) {
      expect(await reasonFor({ url: `https://api.acme.example:${port}/` }), `${port}`).toBe('port')
    }
    for (const port of [443, 8443]) {
      expect(await reasonFor({ url: `https://api.acme.example:${port}/` }), `${port}`).toBe('address_not_public')
    }
    const other = [{ name: 'api.acme.example', port: 9443, ca: null }]
    expect(await reasonFor({ url: 'https://api.acme.example:9444/' }, { private_hosts: other })).toBe('port')
  })

  test('a private host never has a link-local or metadata address', async () => {
    const private_hosts = [{ name: 'api.acme.example', port: 443, ca: null }]
    for (const address of ['169.254.169.254', '168.63.129.16', 'fe80::1', '0.0.0.0', '224.0.0.1']) {
      const client = createEgress({ settings: { ...settings, private_hosts }, resolve: async () => [address] })
      expect(await failureOf(createRequest('https://api.acme.example/'), client), address).toMatchObject({
        reason: 'address_not_public',
      })
      await client.close()
    }
  })

  test('headers that frame the message or carry a session are refused, and so are line breaks', async () => {
    const refused: Record<string, string>[] = [
      { host: 'x' },
      { Cookie: 'a=b' },
      { 'content-length': '1' },
      { 'Transfer-Encoding': 'chunked' },
      { connection: 'upgrade' },
      { 'proxy-authorization': 'x' },
      { 'x-a': 'b\r\nx-c: d' },
      { 'x-a': 'b\nc' },
      { 'x-a': 'b\0' },
      { 'x a': 'b' },
      { '': 'b' },
    ]
    for (const headers of refused) expect(await reasonFor({ headers }), JSON.stringify(headers)).toBe('request')
    for (const method of ['CONNECT', 'TRACE', 'get', 'GET /', '']) expect(await reasonFor({ method })).toBe('request')
  })
})

describe('name servers', () => {
  const exemptSettings = (): EgressSettings => ({
    ...defaultEgressSettings,
    exempt: { address: '127.0.0.1', port: listeners.port },
  })

  async function ask(answers: readonly (readonly string[])[]) {
    let asked = 0
    const client = createEgress({
      settings: exemptSettings(),
      resolve: async () => answers[Math.min(asked++, answers.length - 1)] ?? [],
    })
    const faults: string[] = []
    try {
      for (const _ of answers) {
        faults.push((await failureOf(createRequest(`https://api.acme.example:${listeners.port}/`), client)).fault)
      }
    } finally {
      await client.close()
    }
    return { faults, asked }
  }

  test('a name is resolved once for each connection, which is made to the address that was checked', async () => {
    const { faults, asked } = await ask([['127.0.0.1'], ['::1'], ['10.0.0.1'], ['127.0.0.1']])
    expect(faults).toEqual(['connect_failed', 'egress_refused', 'egress_refused', 'connect_failed'])
    expect(asked).toBe(4)
    expect(listeners.connections).toEqual(['127.0.0.1', '127.0.0.1'])
  })

  test('one private address among several refuses the name, wherever it is', async () => {
    const { faults } = await ask([
      ['127.0.0.1', '10.0.0.1'],
      ['10.0.0.1', '127.0.0.1'],
      ['127.0.0.1', '::1'],
    ])
    expect(faults).toEqual(['egress_refused', 'egress_refused', 'egress_refused'])
    expect(listeners.connections).toEqual([])
  })

  test('a thousand addresses are all checked and few are tried', async () => {
    const many = Array.from({ length: 1000 }, () => '127.0.0.1')
    const { faults } = await ask([[...many.slice(1), '10.0.0.1'], many])
    expect(faults).toEqual(['egress_refused', 'connect_failed'])
    expect(listeners.connections).toEqual(['127.0.0.1'])
  })

  test('an alias of a private name, an empty answer and what is no address are refused', async () => {
    const { faults } = await ask([['169.254.169.254'], [], ['localhost'], ['127.1']])
    expect(faults).toEqual(['egress_refused', 'dns_failed', 'egress_refused', 'egress_refused'])
    expect(listeners.connections).toEqual([])
  })

  test('a name server that never answers is given up', async () => {
    const client = createEgress({
      settings: exemptSettings(),
      resolve: () => new Promise(() => {}),
      timing: { connect_ms: 20 },
    })
    const failure = await failureOf(createRequest(`https://api.acme.example:${listeners.port}/`), client)
    expect(failure).toMatchObject({ fault: 'connect_timeout', sent: false })
    await client.close()
  })

  test('real answers are checked: aliases of private names, changing answers without a lifetime, no answer', async () => {
    const server = await startNameServer({
      'public.test': () => [{ a: '127.0.0.1' }],
      'alias.test': () => [{ cname: 'alias-2.test' }, { cname: 'alias-3.test' }, { a: '10.0.0.1' }],
      'both.test': () => [{ a: '127.0.0.1' }, { a: '10.0.0.1' }],
      'flip.test': (asked) => [{ a: asked === 1 ? '127.0.0.1' : '127.0.0.2' }],
      'absent.test': () => [],
    })
    const client = createEgress({ settings: exemptSettings(), resolve: createResolver([server.address]) })
    const faultOf = async (name: string) =>
      (await failureOf(createRequest(`https://${name}:${listeners.port}/`), client)).fault
    try {
      expect(await faultOf('public.test')).toBe('connect_failed')
      expect(await faultOf('alias.test')).toBe('egress_refused')
      expect(await faultOf('both.test')).toBe('egress_refused')
      expect([await faultOf('flip.test'), await faultOf('flip.test')]).toEqual(['connect_failed', 'egress_refused'])
      expect(await faultOf('absent.test')).toBe('dns_failed')
      expect(listeners.connections).toEqual(['127.0.0.1', '127.0.0.1'])
    } finally {
      await client.close()
      await server.close()
    }
  })

  test('names of the operator are found by the resolver of the system', async () => {
    const found = await createResolver(['127.0.0.1:1'])('localhost', 'any')
    expect(found.length).toBeGreaterThan(0)
    expect(found.every((address) => isLocalAddress(address))).toBe(true)
  })
})
