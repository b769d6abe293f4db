/** Test fixtures of the providers router: one valid call per operation. */
import type { ExampleTenant } from '#test/support/example-tenant.ts'
import {
  createOncePerTenant,
  type Fixture,
  type Fixtures,
  listReasonedOperations,
  noInput,
  type TextsInEvents,
} from '#test/support/operation-fixture.ts'

const oncePerTenant = createOncePerTenant()

const NUMBER = '00000006'
const registryAnswer = {
  meta: { source: 'registry.example', updated_at: '2026-01-10T08:00:00Z' },
  result: { items: [{ number: NUMBER, name: 'Example Trading Ltd', status: 'active', address: { country: 'GB' } }] },
}

/** A company registry that is asked over HTTPS with an API key, and answers from fixtures where it is not live. */
export const registryManifest = (title = 'Company registry') => ({
  kind: 'http',
  title,
  capabilities: {
    'company.lookup': {
      contract_key: 'company-registry',
      input: {
        type: 'object',
        additionalProperties: false,
        required: ['number'],
        properties: { number: { type: 'string', minLength: 1, maxLength: 20 } },
      },
      safe: true,
      request: {
        method: 'GET',
        url: 'https://api.registry.example/v2/companies/{input.number}',
        headers: { accept: 'application/json' },
      },
      response: { ok: [200], not_found: [404], media_types: ['application/json'], max_bytes: 1_048_576 },
      timeout_ms: 15_000,
    },
  },
  auth: { kind: 'header', name: 'x-api-key', value: '{credential.api_key}' },
  credential: { members: [{ name: 'api_key', secret: true, max: 200 }] },
  hosts: ['api.registry.example'],
  test: { capability: 'company.lookup', input: { number: NUMBER } },
  fixtures: [{ when: { number: NUMBER }, status: 200, body: registryAnswer }],
})

let keyCount = 0
/** Keys sort in the order in which they were made, so that recorded lists do not depend on chance. */
const newKey = () => `company-registry-${(++keyCount).toString(16).padStart(12, '0')}`

async function createDraft(t: ExampleTenant): Promise<string> {
  const provider_key = newKey()
  const body = { provider_key, title: 'Company registry', definition: registryManifest() }
  await t.make('POST /providers', { body })
  return provider_key
}

/** Two versions, and no draft. */
async function publish(t: ExampleTenant, active: readonly number[] = []): Promise<string> {
  const key = await createDraft(t)
  await t.make(`POST /providers/${key}/versions/draft/publish`, { body: {} })
  await t.make(`POST /providers/${key}/versions`, { body: { definition: registryManifest('Company registry, v2') } })
  await t.make(`POST /providers/${key}/versions/draft/publish`, { body: { note: 'Second version of its interface' } })
  for (const version of active) {
    await t.make(`POST /providers/${key}/activations`, { body: { version, reason: 'Reviewed' } })
  }
  return key
}

/** One that is in force, another each time. */
export const createProvider = (t: ExampleTenant): Promise<string> => publish(t, [1])

/** One that is in force, the same for each tenant. */
export const ensureProvider = (t: ExampleTenant): Promise<string> =>
  oncePerTenant(t, 'provider', () => publish(t, [1, 2]))

const one: Fixture = async (t) => ({ params: { provider_key: await ensureProvider(t) } })
const version: Fixture = async (t) => ({ params: { provider_key: await ensureProvider(t), version: '1' } })
const draft: Fixture = async (t) => ({ params: { provider_key: await createDraft(t), version: 'draft' } })
const withBody =
  (fixture: Fixture, body: unknown): Fixture =>
  async (t, role) => ({ ...(await fixture(t, role)), body })

async function scheduleActivation(t: ExampleTenant) {
  const provider_key = await publish(t)
  const body = { version: 1, reason: 'Later', effective_from: '2090-01-01T00:00:00Z' }
  const { activation_id } = await t.make(`POST /providers/${provider_key}/activations`, { body })
  return { provider_key, activation_id: activation_id as string }
}

/** Seeded for all tenants. */
const SHARED = 'prohibited-jurisdiction-check'
const onShared = { params: { provider_key: SHARED }, shared: true as const }
const getPin = async (t: ExampleTenant) => {
  const { active } = await t.make(`GET /providers/${SHARED}`)
  return { version: (active as { version: number }).version, reason: 'In review' }
}

const definitionFixtures: Fixtures = {
  listProviders: noInput,
  createProvider: () => ({
    body: { provider_key: newKey(), title: 'Company registry', definition: registryManifest() },
  }),
  getProvider: one,
  updateProvider: withBody(one, { owner: 'Onboarding' }),
  archiveProvider: async (t) => ({ params: { provider_key: await createDraft(t) } }),
  listProviderDependencies: one,
  listProviderVersions: one,
  createProviderDraft: async (t) => ({ params: { provider_key: await publish(t) }, body: {} }),
  getProviderVersion: version,
  updateProviderDraft: withBody(draft, { definition: registryManifest() }),
  deleteProviderDraft: draft,
  publishProviderDraft: withBody(draft, {}),
  diffProviderVersions: async (t) => ({
    params: { provider_key: await ensureProvider(t) },
    query: { from: '1', to: '2' },
  }),
  listProviderActivations: one,
  activateProviderVersion: async (t) => ({
    params: { provider_key: await publish(t) },
    body: { version: 1, reason: 'Reviewed' },
  }),
  submitProviderVersion: withBody(version, { reason: 'Annual review' }),
  rollBackProvider: async (t) => ({
    params: { provider_key: await publish(t, [1, 2]) },
    body: { reason: 'Version 2 is refused by the provider' },
  }),
  pinProvider: async (t) => ({ ...onShared, body: await getPin(t) }),
  unpinProvider: async (t) => {
    await t.make(`POST /providers/${SHARED}/pin`, { body: await getPin(t) })
    return { ...onShared, body: { reason: 'Reviewed' } }
  },
  deleteProviderActivation: async (t) => ({ params: await scheduleActivation(t) }),
}

const MODE = { mode: 'fixtures', reason: 'Not connected yet' }

/** Answers from its fixtures, so that no credential is needed. */
const ensureRehearsedProvider = (t: ExampleTenant): Promise<string> =>
  oncePerTenant(t, 'rehearsed', async () => {
    const key = await publish(t, [1])
    await t.make(`PUT /providers/${key}/mode`, { body: MODE })
    return key
  })

async function answerCall(t: ExampleTenant): Promise<string> {
  const key = await ensureRehearsedProvider(t)
  const body = { capability: 'company.lookup', input: { number: NUMBER } }
  return (await t.make(`POST /providers/${key}/test`, { body })).call_id
}
const ensureCall = (t: ExampleTenant): Promise<string> => oncePerTenant(t, 'call', () => answerCall(t))
const onCall: Fixture = async (t) => ({ params: { call_id: await ensureCall(t) } })

/** Cancelled before a worker began it: where one is running, the next try is faster. */
async function newCallThatIsNotSent(t: ExampleTenant, key: string, body: object): Promise<string> {
  for (;;) {
    const { job_id, resource } = await t.make(`POST /providers/${key}/calls`, { body })
    const { state } = await t.make(`POST /jobs/${job_id}/cancel`)
    if (state === 'cancelled') return resource.split('/').at(-1) as string
  }
}

/** A call that was sent once and never answered: no operation makes one on purpose. */
export async function newUnknownCall(t: ExampleTenant): Promise<string> {
  const key = await publish(t, [])
  const manifest = registryManifest()
  const { safe: _, ...once } = manifest.capabilities['company.lookup']
  const definition = { ...manifest, capabilities: { 'company.lookup': once } }
  await t.make(`POST /providers/${key}/versions`, { body: { definition } })
  await t.make(`POST /providers/${key}/versions/draft/publish`, { body: {} })
  await t.make(`POST /providers/${key}/activations`, { body: { version: 3, reason: 'Orders, not look-ups' } })
  await t.make(`PUT /providers/${key}/mode`, { body: MODE })
  const body = { capability: 'company.lookup', input: { number: NUMBER } }
  const call_id = await newCallThatIsNotSent(t, key, body)
  await t.write(async (tx) => {
    const at = [t.tenant_id, call_id]
    await tx.run(
      `insert into app.provider_attempt (tenant_id, call_id, attempt_no, token, promise, provider_key)
       values ($1, $2, 1, gen_random_uuid(), 'once', $3)`,
      [...at, key],
    )
    const ends = [
      `sent_at = now(), deadline_at = now()`,
      `outcome = 'unknown', fault = 'interrupted', ended_at = now(), is_final = true`,
    ]
    for (const assignment of ends) {
      await tx.run(`update app.provider_attempt set ${assignment} where tenant_id = $1 and call_id = $2`, at)
    }
  })
  return call_id
}

export const textsInEvents: TextsInEvents = [
  ...listReasonedOperations('Provider'),
  'publishProviderDraft',
  'updateProviderMode',
]

export const fixtures: Fixtures = {
  ...definitionFixtures,
  callProvider: async (t) => ({
    params: { provider_key: await ensureRehearsedProvider(t) },
    body: { capability: 'company.lookup', input: { number: NUMBER } },
  }),
  listProviderCalls: async (t) => {
    await ensureCall(t)
    return {}
  },
  getProviderCall: onCall,
  getProviderCallRequest: onCall,
  getProviderCallContent: onCall,
  repeatProviderCall: async (t) => ({
    params: { call_id: await newUnknownCall(t) },
    body: { reason: 'The provider confirms that it received nothing' },
  }),
  answerProviderCall: async (t) => ({
    params: { call_id: await newUnknownCall(t) },
    body: {
      result: 'found',
      media_type: 'application/json',
      // The contract refuses an answer that is older than a month.
      content: JSON.stringify({
        ...registryAnswer,
        meta: { ...registryAnswer.meta, updated_at: new Date().toISOString() },
      }),
      reason: 'Read from the portal of the provider',
    },
  }),
  getProviderStatus: one,
  getProviderMode: one,
  updateProviderMode: async (t) => ({ params: { provider_key: await ensureProvider(t) }, body: MODE }),
  getProviderUsage: one,
  testProvider: async (t) => ({ params: { provider_key: await ensureRehearsedProvider(t) }, body: {} }),
  verifyProviderCredential: async (t) => {
    const key = newKey()
    const manifest = registryManifest()
    const lookup = manifest.capabilities['company.lookup']
    // An address that is never public: the request is refused before anything is sent.
    const request = { ...lookup.request, url: 'https://192.0.2.1/companies/{input.number}' }
    const definition = {
      ...manifest,
      hosts: ['192.0.2.1'],
      capabilities: { 'company.lookup': { ...lookup, request } },
    }
    await t.make('POST /providers', { body: { provider_key: key, title: 'Company registry', definition } })
    await t.make(`POST /providers/${key}/versions/draft/publish`, { body: {} })
    await t.make(`POST /providers/${key}/activations`, { body: { version: 1, reason: 'Reviewed' } })
    const body = { provider_key: key, label: 'Main account' }
    const { credential_id } = await t.make('POST /provider-credentials', { body })
    const members = { api_key: 'as the provider issued it' }
    await t.make(`POST /provider-credentials/${credential_id}/versions`, { body: { members } })
    return { params: { credential_id }, body: { version: 1 } }
  },
}
