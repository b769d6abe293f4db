/** Test fixtures of provider credentials: one valid call per operation. */
import { uuidv7 } from '#kernel/uuid.ts'
import { createProvider, ensureProvider } from '#modules/providers/fixtures.ts'
import type { ExampleTenant } from '#test/support/example-tenant.ts'
import { type Fixtures, noInput, type TextsInEvents } from '#test/support/operation-fixture.ts'

const MEMBERS = { members: { api_key: 'as the provider issued it' } }

async function createCredential(t: ExampleTenant): Promise<string> {
  const body = { provider_key: await ensureProvider(t), label: `Account ${uuidv7().slice(-12)}` }
  return (await t.make('POST /provider-credentials', { body })).credential_id
}

const newCredential = async (t: ExampleTenant) => ({ credential_id: await createCredential(t) })

async function newStagedVersion(t: ExampleTenant) {
  const { credential_id } = await newCredential(t)
  const { version } = await t.make(`POST /provider-credentials/${credential_id}/versions`, { body: MEMBERS })
  return { credential_id, version: String(version) }
}

/** Alone in its environment, and enabled. */
async function newEnabledCredential(t: ExampleTenant): Promise<{ credential_id: string }> {
  const { items } = await t.make('GET /provider-credentials?state=enabled&limit=200')
  for (const { credential_id } of items) {
    await t.make(`POST /provider-credentials/${credential_id}/disable`, { body: { reason: 'Replaced' } })
  }
  return newCredential(t)
}

export const textsInEvents: TextsInEvents = [
  'activateCredentialVersion',
  'disableProviderCredential',
  'enableProviderCredential',
]

export const fixtures: Fixtures = {
  listProviderCredentials: async (t) => {
    await newCredential(t)
    return {}
  },
  createProviderCredential: async (t) => ({
    body: { provider_key: await createProvider(t), label: 'Main account', environment: 'live' },
  }),
  listCredentialGaps: noInput,
  getProviderCredential: async (t) => ({ params: await newCredential(t) }),
  disableProviderCredential: async (t) => ({
    params: await newEnabledCredential(t),
    body: { reason: 'The provider reported a leak' },
  }),
  enableProviderCredential: async (t) => {
    // The second of two is created disabled; it can be enabled once the first is not.
    const first = await newEnabledCredential(t)
    const params = await newCredential(t)
    await t.make(`POST /provider-credentials/${first.credential_id}/disable`, { body: { reason: 'Paused' } })
    return { params, body: { reason: 'The account is settled' } }
  },
  deleteProviderCredential: async (t) => ({ params: await newCredential(t), query: { reason: 'Contract ended' } }),
  listCredentialAccesses: async (t) => ({ params: await newCredential(t) }),
  listCredentialVersions: async (t) => ({ params: { credential_id: (await newStagedVersion(t)).credential_id } }),
  createCredentialVersion: async (t) => ({ params: await newCredential(t), body: MEMBERS }),
  activateCredentialVersion: async (t) => ({
    params: await newStagedVersion(t),
    body: { overlap_s: 3600, reason: 'Yearly rotation' },
  }),
}
