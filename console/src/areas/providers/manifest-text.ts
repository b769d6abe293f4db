/** The text of a manifest, and templates to start from. Pure. */
import { findObjectFault } from '#console/ui/json-fault.ts'

export const findManifestFault = (text: string): string | null => findObjectFault(text, 'A manifest')

export type ManifestText = Readonly<Record<string, unknown>>

/** Null while the text is not a JSON object. */
export const parseManifestText = (text: string): ManifestText | null =>
  findManifestFault(text) === null ? (JSON.parse(text) as ManifestText) : null

const lookup = {
  title: 'Look a company up by its number',
  contract_key: 'company-registry',
  input: {
    type: 'object',
    additionalProperties: false,
    required: ['number'],
    properties: { number: { type: 'string', title: 'Company number', minLength: 1, maxLength: 20 } },
  },
  safe: true,
  request: {
    method: 'GET',
    url: 'https://api.registry.example/v2/companies/{input.number}',
    headers: { accept: 'application/json' },
  },
  response: { ok: [200], not_found: [404], media_types: ['application/json'] },
  cost: { amount: '0.40', currency: 'EUR' },
  timeout_ms: 15_000,
}

const createShared = (now: Date) => ({
  kind: 'http',
  title: 'Company registry',
  capabilities: { 'company.lookup': lookup },
  hosts: ['api.registry.example'],
  limits: { per_second: 5, concurrent: 4 },
  budget: { calls_per_day: 1000, spend_per_month: { amount: '200', currency: 'EUR' } },
  test: { capability: 'company.lookup', input: { number: '00000006' } },
  fixtures: [
    {
      when: { number: '00000006' },
      status: 200,
      body: {
        meta: { source: 'registry.example', updated_at: now.toISOString() },
        result: {
          items: [{ number: '00000006', name: 'Example Trading Ltd', status: 'active', address: { country: 'GB' } }],
        },
      },
    },
  ],
})

type SharedParts = ReturnType<typeof createShared>

/** The server holds address and credential, and its tool does what a request would do. */
function toToolManifest({ hosts: _hosts, capabilities: _capabilities, fixtures, ...shared }: SharedParts) {
  const { request: _request, response: _response, ...capability } = lookup
  return {
    ...shared,
    kind: 'mcp',
    server_key: 'acme-tools',
    capabilities: { 'company.lookup': { ...capability, tool: 'lookup_company' } },
    fixtures: fixtures.map(({ when, body }) => ({ when, body })),
  }
}

function toPluginManifest({ capabilities: _capabilities, ...shared }: SharedParts) {
  const { request: _request, ...capability } = lookup
  return {
    ...shared,
    kind: 'plugin',
    plugin_key: 'company-registry-requests',
    capabilities: { 'company.lookup': capability },
    auth: { kind: 'header', name: 'x-api-key', value: '{credential.api_key}' },
    credential: { members: [{ name: 'api_key', secret: true, max: 200 }] },
  }
}

export interface ManifestTemplate {
  readonly name: string
  readonly about: string
  readonly definition: ManifestText
}

/** Their example answers are as new as the contract asks for. */
export const createTemplates = (now: Date): readonly ManifestTemplate[] => [
  {
    name: 'HTTP service with an API key',
    about: 'The key is sent in a header.',
    definition: {
      ...createShared(now),
      auth: { kind: 'header', name: 'x-api-key', value: '{credential.api_key}' },
      credential: { members: [{ name: 'api_key', secret: true, max: 200 }] },
    },
  },
  {
    name: 'HTTP service with OAuth 2.0',
    about: 'A client id and secret give an access token, which is renewed when it expires.',
    definition: {
      ...createShared(now),
      auth: {
        kind: 'oauth2_client_credentials',
        token_url: 'https://api.registry.example/oauth/token',
        client_auth: 'basic',
      },
    },
  },
  {
    name: 'Tool of a tool server',
    about: 'Calls a tool of a registered server. Its definition must be pinned before it can be called.',
    definition: toToolManifest(createShared(now)),
  },
  {
    name: 'HTTP service through a plugin',
    about: 'For services that speak no JSON: a plugin makes the requests and reads the responses.',
    definition: toPluginManifest(createShared(now)),
  },
  {
    name: 'Look-up in a list',
    about: 'Answered by this service from a list in force. No credential is needed.',
    definition: {
      kind: 'builtin',
      title: 'Prohibited jurisdiction check',
      capabilities: { 'registry.lookup': { list_key: 'prohibited-jurisdictions' } },
    },
  },
]

/** The order in which people write a manifest: stored objects keep none. */
const ORDER = [
  'kind',
  'provider_key',
  'title',
  'description',
  'server_key',
  'plugin_key',
  'capabilities',
  'auth',
  'credential',
  'hosts',
  'limits',
]
const CAPABILITY_ORDER = ['title', 'tool', 'contract_key', 'list_key', 'input', 'safe', 'idempotency_header', 'request']

const sortMembers = (of: object, order: readonly string[]): Record<string, unknown> => {
  const rank = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length)
  return Object.fromEntries(Object.entries(of).toSorted(([a], [b]) => rank(a) - rank(b)))
}

export function formatManifest(definition: ManifestText): string {
  const { capabilities } = definition
  const isObject = typeof capabilities === 'object' && capabilities !== null
  const sorted = isObject
    ? Object.fromEntries(
        Object.entries(capabilities).map(([name, one]) => [
          name,
          typeof one === 'object' && one !== null ? sortMembers(one, CAPABILITY_ORDER) : one,
        ]),
      )
    : capabilities
  return JSON.stringify(sortMembers({ ...definition, ...(isObject && { capabilities: sorted }) }, ORDER), null, 2)
}
