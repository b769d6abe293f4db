/** Findings on manifests: each fault is found at its place, and a good manifest has none. */
import { describe, expect, test } from 'vitest'
import { AdapterManifest, FactorManifest, ProviderPluginManifest } from '#plugin/manifest.ts'
import { findMetaSchemaErrors } from '#registry/types/schema-validator.ts'
import { exampleManifest } from '#test/support/example-manifest.ts'
import { listHostileUrls } from '#test/support/hostile-urls.ts'
import { checkManifest } from './check-manifest.ts'
import { listCredentialMembers } from './credential-members.ts'
import { BuiltinManifest, HttpManifest, McpManifest, PluginProviderManifest } from './manifest.ts'

type Json = Record<string, unknown>

/** The example with one member replaced; undefined removes it. */
function change(pointer: string, value: unknown): unknown {
  const copy = structuredClone(exampleManifest) as unknown as Json
  const steps = pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/'))
  const last = steps.pop() as string
  let parent = copy
  for (const step of steps) {
    parent[step] ??= {}
    parent = parent[step] as Json
  }
  if (value === undefined) delete parent[last]
  else parent[last] = value
  return copy
}

const find = (manifest: unknown) => checkManifest(manifest).map(({ code, pointer }) => `${code} ${pointer}`)
const lookup = '/capabilities/company.lookup'
const order = '/capabilities/company.order'

test('the schema of every manifest is valid, which the program does not check again', () => {
  const ofProviders = { HttpManifest, BuiltinManifest, McpManifest, PluginProviderManifest }
  const ofPlugins = { FactorManifest, AdapterManifest, ProviderPluginManifest }
  for (const [name, schema] of Object.entries({ ...ofProviders, ...ofPlugins }))
    expect([name, findMetaSchemaErrors(schema)]).toEqual([name, []])
})

test('a good manifest has no finding', () => {
  expect(checkManifest(exampleManifest)).toEqual([])
  expect(checkManifest(change('/kind', undefined))).toEqual([])
  expect(checkManifest(change('/auth', undefined))).toEqual([])
})

test('each fault is found at its place', () => {
  const cases: readonly [pointer: string, value: unknown, finding: string][] = [
    ['/kind', 'ftp', 'kind_unknown /kind'],
    ['/title', undefined, 'manifest_invalid /title'],
    ['/surprise', 1, 'manifest_invalid /surprise'],
    ['/description', 'x'.repeat(300_000), 'manifest_too_large '],
    ['/capabilities', {}, 'capabilities_missing /capabilities'],
    ['/capabilities/Bad Name', {}, 'manifest_invalid /capabilities/Bad Name'],
    ['/hosts/0', 'api.acme.example.', 'host_invalid /hosts/0'],
    ['/hosts/0', 'api.acme.example:443', 'host_invalid /hosts/0'],
    ['/hosts', ['auth.acme.example'], `host_not_listed ${lookup}/request/url`],
    ['/auth', { kind: 'kerberos' }, 'auth_unknown /auth/kind'],
    ['/auth/token_url', 'http://auth.acme.example/token', 'url_not_secure /auth/token_url'],
    ['/auth/token_url', 'https://other.example/token', 'host_not_listed /auth/token_url'],
    ['/auth/token_url', 'https://auth.acme.example/{credential.client_secret}', 'template_invalid /auth/token_url'],
    ['/auth/token_url', 'https://auth.acme.example/a/../token', 'url_invalid /auth/token_url'],
    [
      `${lookup}/request/headers/Accept-Encoding`,
      'zstd',
      `header_not_allowed ${lookup}/request/headers/Accept-Encoding`,
    ],
    [`${order}/response`, { not_found: [200] }, `status_ambiguous ${order}/response/not_found/0`],
    ['/auth/token_url', undefined, 'manifest_invalid /auth/token_url'],
    ['/auth', { kind: 'header', name: 'Host', value: '{credential.client_id}' }, 'header_not_allowed /auth/name'],
    [
      '/auth',
      { kind: 'header', name: 'Content-Type', value: '{credential.client_id}' },
      'header_not_allowed /auth/name',
    ],
    ['/auth', { kind: 'header', name: 'X-Key', value: 'fixed' }, 'credential_missing /auth/value'],
    ['/auth', { kind: 'header', name: 'X-Key', value: '{credential.client_id' }, 'template_invalid /auth/value'],
    [
      '/auth',
      { kind: 'header', name: 'X-Key', value: '{input.number}{credential.client_id}' },
      'input_not_allowed /auth/value',
    ],
    ['/auth', { kind: 'header', name: 'X-Key', value: '{credential.other}' }, 'member_missing /credential/members'],
    ['/auth', { kind: 'basic' }, 'member_missing /credential/members'],
    ['/credential/members/1/name', 'client_id', 'member_repeated /credential/members/1/name'],
    [`${lookup}/request/url`, 'https://{input.number}.acme.example/', `url_invalid ${lookup}/request/url`],
    [`${lookup}/request/url`, 'https://api.acme.example:{input.number}/', `url_invalid ${lookup}/request/url`],
    [`${lookup}/request/url`, 'https://api.acme.example/{input.number}?a=b', `url_invalid ${lookup}/request/url`],
    [`${lookup}/request/url`, 'https://api.acme.example/a/../{input.number}', `url_invalid ${lookup}/request/url`],
    [`${lookup}/request/url`, 'https://api.acme.example/%2e%2E/{input.number}', `url_invalid ${lookup}/request/url`],
    [
      `${lookup}/request/url`,
      'https://api.acme.example/{input.unknown}/{input.number}',
      `input_unknown ${lookup}/request/url`,
    ],
    [
      `${lookup}/request/url`,
      'https://api.acme.example/{input.country}/{input.number}',
      `input_not_required ${lookup}/request/url`,
    ],
    [
      `${lookup}/request/url`,
      'https://api.acme.example/{credential.client_id}/{input.number}',
      `credential_not_allowed ${lookup}/request/url`,
    ],
    [`${lookup}/request/url`, 'https://api.acme.example/{input.number}/{', `template_invalid ${lookup}/request/url`],
    [`${lookup}/request/url`, `https://api.acme.example/\${input.number}`, `template_invalid ${lookup}/request/url`],
    [
      `${lookup}/request/url`,
      'https://api.acme.example/{INPUT.number}/{input.number}',
      `template_invalid ${lookup}/request/url`,
    ],
    [`${lookup}/request/query/key`, '{credential.client_secret}', `credential_not_allowed ${lookup}/request/query/key`],
    [`${lookup}/request/query/{input.x}`, 'a', `name_invalid ${lookup}/request/query/{input.x}`],
    [`${lookup}/request/headers/Cookie`, 'a=b', `header_not_allowed ${lookup}/request/headers/Cookie`],
    [`${lookup}/request/headers/authorization`, 'Bearer x', `header_repeated ${lookup}/request/headers/authorization`],
    [`${lookup}/request/headers/Accept`, 'text/plain', `header_repeated ${lookup}/request/headers/Accept`],
    [`${lookup}/request/headers/x-a`, 'a\nb', `header_invalid ${lookup}/request/headers/x-a`],
    [`${lookup}/request/headers/x-a`, '{credential.none}', `credential_unknown ${lookup}/request/headers/x-a`],
    [`${lookup}/request/body`, { json: {} }, `body_invalid ${lookup}/request/body`],
    [`${order}/request/body`, {}, `body_invalid ${order}/request/body`],
    [
      `${order}/request/body/json/secret`,
      '{credential.client_secret}',
      `credential_not_allowed ${order}/request/body/json/secret`,
    ],
    [`${order}/request/body/json/a`, { b: ['{input.none}'] }, `input_unknown ${order}/request/body/json/a/b/0`],
    [`${order}/idempotency_header`, 'Content-Length', `header_not_allowed ${order}/idempotency_header`],
    [`${order}/idempotency_header`, 'Content-Type', `header_not_allowed ${order}/idempotency_header`],
    [`${order}/idempotency_header`, 'Authorization', `header_not_allowed ${order}/idempotency_header`],
    [`${lookup}/cost/currency`, 'JPY', `currency_differs ${lookup}/cost/currency`],
    ['/budget/spend_per_month/currency', 'JPY', `currency_differs ${lookup}/cost/currency`],
    [`${lookup}/input/required/1`, 'none', `input_unknown ${lookup}/input/required/1`],
    [`${lookup}/input/properties/number/minimum`, 1, `input_schema_invalid ${lookup}/input/properties/number`],
    [`${lookup}/input/properties/number/minLength`, 21, `input_schema_invalid ${lookup}/input/properties/number`],
    [`${lookup}/input/properties/limit/minimum`, 101, `input_schema_invalid ${lookup}/input/properties/limit`],
    [`${lookup}/input/properties/limit/maxLength`, 5, `input_schema_invalid ${lookup}/input/properties/limit`],
    [`${lookup}/input/properties/number/pattern`, '^a$', `manifest_invalid ${lookup}/input/properties/number/pattern`],
    [`${lookup}/input/additionalProperties`, true, `manifest_invalid ${lookup}/input/additionalProperties`],
    [`${lookup}/contract_key`, undefined, `manifest_invalid ${lookup}/contract_key`],
    [`${lookup}/response/not_found/0`, 200, `status_ambiguous ${lookup}/response/not_found/0`],
    [`${lookup}/response/not_found/0`, 401, `status_ambiguous ${lookup}/response/not_found/0`],
    [`${lookup}/response/media_types/0`, 'JSON', `media_type_invalid ${lookup}/response/media_types/0`],
    [`${lookup}/response/max_bytes`, 1e12, `manifest_invalid ${lookup}/response/max_bytes`],
    [`${lookup}/pages/next`, 'links.next', `pointer_invalid ${lookup}/pages/next`],
    [`${lookup}/response/media_types/1`, 'application/xml', `pages_need_json ${lookup}/response/media_types/1`],
    [`${lookup}/retry/base_ms`, 30_000, `retry_invalid ${lookup}/retry/base_ms`],
    [`${lookup}/retry/on/0`, 'always', `manifest_invalid ${lookup}/retry/on/0`],
    [`${lookup}/cost/amount`, '1,50', `manifest_invalid ${lookup}/cost/amount`],
    [`${lookup}/timeout_ms`, 1, `manifest_invalid ${lookup}/timeout_ms`],
    ['/test/capability', 'none', 'capability_unknown /test/capability'],
    ['/test/input/number', 5, 'input_invalid /test/input/number'],
    ['/fixtures/0/capability', 'none', 'capability_unknown /fixtures/0/capability'],
    ['/fixtures/0/when/none', 'x', 'input_unknown /fixtures/0/when/none'],
    ['/fixtures/1/fault', 'rain', 'fault_unknown /fixtures/1/fault'],
    ['/fixtures/1/status', 200, 'fixture_ambiguous /fixtures/1'],
  ]
  for (const [pointer, value, finding] of cases) {
    const found = find(change(pointer, value))
    expect(found, `${pointer} = ${JSON.stringify(value)?.slice(0, 100)}`).toContain(finding)
  }
})

test('a header that no request could carry is refused', () => {
  const text = JSON.stringify(change(`${lookup}/request/headers`, { proto: '1' })).replace('"proto"', '"__proto__"')
  expect(find(JSON.parse(text))).toContain(`header_not_allowed ${lookup}/request/headers/__proto__`)
})

test('an idempotency key has a header of its own', () => {
  const auth = { kind: 'header', name: 'X-Api-Key', value: '{credential.client_id}' }
  const withKeyIn = (idempotency_header: string) => {
    const manifest = change('/auth', auth) as typeof exampleManifest
    const capability = manifest.capabilities['company.order'] as object
    Object.assign(capability, { idempotency_header })
    Object.assign((capability as { request: object }).request, { headers: { 'X-Request': '1' } })
    return find(manifest)
  }
  expect(withKeyIn('Idempotency-Key')).toEqual([])
  expect(withKeyIn('x-api-key')).toEqual([`header_repeated ${order}/idempotency_header`])
  expect(withKeyIn('x-request')).toEqual([`header_repeated ${order}/idempotency_header`])
})

test('a manifest names one currency, with and without a budget', () => {
  const withCosts = (currencies: readonly string[], budget?: string) => {
    const manifest = structuredClone(exampleManifest) as { capabilities: Record<string, object>; budget?: unknown }
    Object.values(manifest.capabilities).forEach((capability, index) => {
      Object.assign(capability, { cost: { amount: '0.40', currency: currencies[index] } })
    })
    return { ...manifest, budget: budget && { spend_per_month: { amount: '10.00', currency: budget } } }
  }
  const differs = (pointer: string) => `currency_differs ${pointer}/cost/currency`
  const checked = (currencies: readonly string[], budget?: string) =>
    find(JSON.parse(JSON.stringify(withCosts(currencies, budget))))
  expect(checked(['EUR', 'EUR'])).toEqual([])
  expect(checked(['EUR', 'EUR'], 'EUR')).toEqual([])
  expect(checked(['EUR', 'USD'])).toEqual([differs(order)])
  expect(checked(['EUR', 'USD'], 'USD')).toEqual([differs(lookup)])
  expect(checked(['EUR', 'USD'], 'GBP')).toEqual([differs(lookup), differs(order)])
})

test('what works and is probably not meant is a warning', () => {
  const warnings: readonly [pointer: string, value: unknown, finding: string][] = [
    [`${lookup}/safe`, undefined, `safe_not_declared ${lookup}/safe`],
    [`${lookup}/safe`, false, `retry_without_effect ${lookup}/retry/on`],
    [`${order}/safe`, true, `idempotency_not_needed ${order}/idempotency_header`],
    [`${lookup}/input/properties/extra`, { type: 'boolean' }, `input_unused ${lookup}/input/properties/extra`],
  ]
  for (const [pointer, value, finding] of warnings) {
    const findings = checkManifest(change(pointer, value))
    expect(
      findings.map(({ code, pointer: at }) => `${code} ${at}`),
      pointer,
    ).toContain(finding)
    expect(
      findings.every(({ severity }) => severity === 'warning'),
      pointer,
    ).toBe(true)
  }
})

test('any JSON is checked without an exception', () => {
  const values = [
    null,
    undefined,
    1,
    'text',
    [],
    {},
    { kind: null },
    { kind: 'http', capabilities: null },
    { auth: [] },
  ]
  for (const value of values) expect(checkManifest(value).length, JSON.stringify(value)).toBeGreaterThan(0)
  for (const auth of [null, [], 'basic', { kind: 5 }, { kind: '__proto__' }, { kind: 'header' }]) {
    expect(checkManifest(change('/auth', auth)).length, JSON.stringify(auth)).toBeGreaterThan(0)
  }
})

describe('hostile URLs', () => {
  test('are refused as the URL of a request and of a token endpoint, unless the host is a plain listed one', () => {
    for (const url of listHostileUrls(8443)) {
      for (const pointer of [`${lookup}/request/url`, '/auth/token_url']) {
        const errors = checkManifest(change(pointer, url)).filter(({ severity }) => severity === 'error')
        const isListed = url === 'https://api.acme.example:8443/'
        expect(errors.length > 0, `${pointer} ${url}`).toBe(!isListed)
      }
    }
  })
})

describe('credential members', () => {
  test('are those of the manifest, or of its authentication', () => {
    expect(listCredentialMembers(exampleManifest)).toEqual([
      { name: 'client_id', secret: false, max_length: 100 },
      { name: 'client_secret', secret: true, max_length: 500 },
    ])
    const names = (auth: unknown) => listCredentialMembers({ auth }).map(({ name }) => name)
    expect(names({ kind: 'basic' })).toEqual(['username', 'password'])
    expect(names({ kind: 'basic', username: 'user' })).toEqual(['user', 'password'])
    expect(names({ kind: 'header', name: 'X', value: '{credential.a}:{credential.b}' })).toEqual(['a', 'b'])
    expect(names({ kind: 'oauth2_client_credentials' })).toEqual(['client_id', 'client_secret'])
    expect(names({ kind: 'mtls' })).toEqual(['certificate', 'private_key'])
    for (const auth of [undefined, null, 'x', { kind: 'none' }, { kind: 'header' }]) expect(names(auth)).toEqual([])
  })
})

test('a built-in provider has the one capability that is built in', () => {
  const builtin = { kind: 'builtin', title: 'Lists', capabilities: { 'registry.lookup': { list_key: 'countries' } } }
  expect(checkManifest(builtin)).toEqual([])
  expect(find({ ...builtin, capabilities: { 'company.lookup': { list_key: 'x' } } })).toEqual([
    'capability_unknown /capabilities/company.lookup',
  ])
  expect(find({ ...builtin, capabilities: {} })).toEqual(['capabilities_missing /capabilities'])
  expect(find({ ...builtin, hosts: ['a.example'] })).toEqual(['manifest_invalid /hosts'])
})

const INPUT = {
  type: 'object',
  additionalProperties: false,
  required: ['number'],
  properties: { number: { type: 'string', maxLength: 20 } },
}

test('each fault of a manifest of tools is found at its place', () => {
  const create = (capability: object, more: object = {}) => ({
    kind: 'mcp',
    title: 'Tools',
    server_key: 'acme',
    capabilities: { lookup: { tool: 'find', contract_key: 'c', input: INPUT, ...capability } },
    ...more,
  })
  const find = (manifest: unknown) => checkManifest(manifest).map(({ code, pointer }) => `${code} ${pointer}`)
  expect(find(create({ arguments: { n: '{input.number}' } }))).toEqual([])
  expect(find(create({}, { capabilities: {} }))).toEqual(['capabilities_missing /capabilities'])
  expect(find(create({}, { hosts: ['acme.example'] }))).toEqual(['manifest_invalid /hosts'])
  expect(find(create({ request: {} }))).toEqual(['manifest_invalid /capabilities/lookup/request'])
  expect(find(create({ arguments: { n: '{input.other}', m: '{input.number}' } }))).toEqual([
    'input_unknown /capabilities/lookup/arguments/n',
  ])
  expect(find(create({ arguments: { k: '{credential.token}', n: '{input.number}' } }))).toEqual([
    'credential_not_allowed /capabilities/lookup/arguments/k',
  ])
  expect(find(create({}, { test: { capability: 'lookup', input: {} } }))).toEqual(['input_invalid /test/input/number'])
})

test('each fault of a manifest of a plugin is found at its place', () => {
  const create = (capability: object, more: object = {}) => ({
    kind: 'plugin',
    title: 'By plugin',
    plugin_key: 'registry',
    hosts: ['registry.example'],
    capabilities: { lookup: { contract_key: 'c', input: INPUT, ...capability } },
    ...more,
  })
  const find = (manifest: unknown) => checkManifest(manifest).map(({ code, pointer }) => `${code} ${pointer}`)
  expect(find(create({}))).toEqual([])
  expect(find(create({}, { hosts: ['registry.example.'] }))).toEqual(['host_invalid /hosts/0'])
  expect(find(create({ response: { not_found: [401] } }))).toEqual([
    'status_ambiguous /capabilities/lookup/response/not_found/0',
  ])
  const auth = { kind: 'header', name: 'x-key', value: '{credential.key}' }
  expect(find(create({ idempotency_header: 'X-Key' }, { auth }))).toEqual([
    'header_repeated /capabilities/lookup/idempotency_header',
  ])
  expect(find(create({}, { auth: { ...auth, value: 'plain' } }))).toEqual(['credential_missing /auth/value'])
})
