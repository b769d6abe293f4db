/** Life of a credential: stored, activated, rotated, disabled, destroyed; and what is missing where. */
import fs from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { uuidv7 } from '#kernel/uuid.ts'
import { registryManifest } from '#modules/providers/fixtures.ts'
import { projectRoot } from '#test/support/database.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'
import { credentialCleanupJob } from './jobs.ts'
import { CredentialGone, withCredential } from './with-credential.ts'

let w: TestApp
let owner: pg.Client
let t: ExampleTenant
let provider_key: string
beforeAll(async () => {
  w = await startTestApp()
  owner = new pg.Client(w.clone.postgres)
  await owner.connect()
})
beforeEach(async () => {
  t = await ExampleTenant.create(w)
  provider_key = await createProvider()
})
afterAll(async () => {
  await owner.end()
  await w.close()
})

const call = async (at: string, body?: unknown) =>
  w.call(at, { token: await t.token(), ...(body !== undefined && { body }) })

async function createProvider(change: object = {}): Promise<string> {
  const key = `registry-${uuidv7().slice(-12)}`
  const definition = { ...registryManifest(), ...change }
  await t.make('POST /providers', { body: { provider_key: key, title: 'Registry', definition } })
  await t.make(`POST /providers/${key}/versions/draft/publish`, { body: {} })
  await t.make(`POST /providers/${key}/activations`, { body: { version: 1, reason: 'Reviewed' } })
  return key
}

const createCredential = async (change: object = {}): Promise<string> =>
  (await t.make('POST /provider-credentials', { body: { provider_key, label: uuidv7(), ...change } })).credential_id

const addVersion = async (credential_id: string, api_key = 'k-1', change: object = {}) =>
  t.make(`POST /provider-credentials/${credential_id}/versions`, { body: { members: { api_key }, ...change } })

const activate = (credential_id: string, version: number, change: object = {}) =>
  t.make(`POST /provider-credentials/${credential_id}/versions/${version}/activations`, {
    body: { reason: 'Rotation', ...change },
  })

const findGapView = async () => {
  const { items } = await t.make('GET /provider-credentials/gaps')
  return items.find((gap: { provider_key: string }) => gap.provider_key === provider_key)
}
const findGap = async () => (await findGapView())?.reason ?? null
const findBlockedSince = async (): Promise<string> => new Date((await findGapView()).blocked_since).toISOString()

const open = (credential_id: string, version: number) =>
  withCredential(
    w.kernel,
    (body) => t.write(body),
    {
      credential_id,
      version,
      purpose: 'verify',
      is_verification: true,
      call_id: null,
      mark: async () => 'marked',
    },
    async (members, marked) => ({ marked, values: [...members].map(([name, value]) => [name, value.toString()]) }),
  )

const setVersion = (credential_id: string, version: number, assignment: string) =>
  owner.query(
    `set app.actor = 'operator:test'; set app.restoring = 'on';
     update app.provider_credential_version set ${assignment} where credential_id = '${credential_id}' and version = ${version};
     reset app.restoring`,
  )

describe('a version', () => {
  test('is stored encrypted and staged, activated, replaced and destroyed', async () => {
    const credential_id = await createCredential()
    const first = await addVersion(credential_id)
    expect(first).toMatchObject({ version: 1, state: 'staged', members: ['api_key'], activated_at: null })
    expect(first.fingerprint).toMatch(/^[0-9a-f]{8}$/)
    expect(await activate(credential_id, 1)).toMatchObject({ state: 'active' })
    const second = await addVersion(credential_id, 'k-2')
    expect(second.fingerprint).not.toBe(first.fingerprint)
    await activate(credential_id, 2)
    const { items } = await t.make(`GET /provider-credentials/${credential_id}/versions`)
    expect(items.map(({ version, state }: { version: number; state: string }) => [version, state])).toEqual([
      [2, 'active'],
      [1, 'retired'],
    ])
    expect(await t.make(`GET /provider-credentials/${credential_id}`)).toMatchObject({ active_version: 2, gap: null })
    expect(await open(credential_id, 2)).toEqual({ marked: 'marked', values: [['api_key', 'k-2']] })
    await t.make(`DELETE /provider-credentials/${credential_id}?reason=ended`)
    await expect(open(credential_id, 2)).rejects.toThrow(CredentialGone)
    const { rows } = await owner.query(
      'select state, secret from app.provider_credential_version where credential_id = $1',
      [credential_id],
    )
    expect(rows).toEqual([
      { state: 'destroyed', secret: null },
      { state: 'destroyed', secret: null },
    ])
    const log = await t.make(`GET /provider-credentials/${credential_id}/access-log`)
    expect(log.items).toMatchObject([{ version: 2, purpose: 'verify', accessed_by: 'operator:test' }])
  })

  test('has the fingerprint of its values, inside the tenant only', async () => {
    const here = await Promise.all([0, 1].map(async () => addVersion(await createCredential(), 'same')))
    expect(here[0].fingerprint).toBe(here[1].fingerprint)
    t = await ExampleTenant.create(w)
    provider_key = await createProvider()
    expect((await addVersion(await createCredential(), 'same')).fingerprint).not.toBe(here[0].fingerprint)
  })

  test('is refused with the names of all wrong members, and never their values', async () => {
    const credential_id = await createCredential()
    const at = `POST /provider-credentials/${credential_id}/versions`
    const wrong = await call(at, { members: { key: 'secret-one', api_secret: 'secret-two' } })
    expect([wrong.status, wrong.json.code]).toEqual([422, 'validation_failed'])
    expect(wrong.json.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
      '#/members/api_key',
      '#/members/key',
      '#/members/api_secret',
    ])
    expect(wrong.text).not.toContain('secret-')
    const long = await call(at, { members: { api_key: 'x'.repeat(201) } })
    expect(long.json.errors[0]).toMatchObject({ pointer: '#/members/api_key', keyword: 'maxLength' })
    expect((await call(at, { members: { api_key: 'x' }, expires_at: '2020-01-01T00:00:00Z' })).json.code).toBe(
      'conflict',
    )
  })

  test('of a provider without a published version or without members is refused', async () => {
    const draft = `draft-${uuidv7().slice(-12)}`
    await t.make('POST /providers', { body: { provider_key: draft, title: 'x', definition: registryManifest() } })
    const unpublished = await createCredential({ provider_key: draft })
    const first = await call(`POST /provider-credentials/${unpublished}/versions`, { members: { api_key: 'x' } })
    expect([first.status, first.json.code]).toEqual([409, 'conflict'])
    const open = await createCredential({ provider_key: 'prohibited-jurisdiction-check' })
    const second = await call(`POST /provider-credentials/${open}/versions`, { members: { api_key: 'x' } })
    expect([second.status, second.json.code]).toEqual([409, 'conflict'])
    const unknown = await call('POST /provider-credentials', { provider_key: 'unheard-of', label: 'x' })
    expect([unknown.status, unknown.json.code]).toEqual([409, 'conflict'])
  })

  test('is never activated twice, nor changed back, nor changed in the database', async () => {
    const credential_id = await createCredential()
    await addVersion(credential_id)
    await activate(credential_id, 1)
    const at = `POST /provider-credentials/${credential_id}/versions/1/activations`
    expect((await call(at, { reason: 'again' })).json.code).toBe('transition_not_allowed')
    const change = (assignment: string) =>
      t.write((tx) =>
        tx.run(`update app.provider_credential_version set ${assignment} where tenant_id = $1`, [t.tenant_id]),
      )
    await expect(change(`state = 'staged'`)).rejects.toThrow(/never back/)
    await expect(change(`secret = '\\x00'`)).rejects.toThrow(/never changed/)
    await expect(change(`members = '{other}'`)).rejects.toThrow(/never changed/)
    await expect(change('secret = null')).rejects.toThrow(/provider_credential_version_secret_ck/)
  })

  test('is destroyed by the clean-up when its overlap is over', async () => {
    const credential_id = await createCredential()
    await addVersion(credential_id)
    await activate(credential_id, 1)
    await addVersion(credential_id, 'k-2')
    await activate(credential_id, 2, { overlap_s: 3600 })
    const clean = async () => {
      const job = await t.write((tx) => w.kernel.jobs.enqueue(tx, { kind: credentialCleanupJob.kind, payload: {} }))
      return (await t.runToEnd(job))['result']
    }
    expect(await clean()).toEqual({ destroyed: 0 })
    await setVersion(credential_id, 1, `usable_until = now() - interval '1 s'`)
    expect(await clean()).toEqual({ destroyed: 1 })
    await expect(open(credential_id, 1)).rejects.toThrow(CredentialGone)
    expect((await open(credential_id, 2)).values).toEqual([['api_key', 'k-2']])
  })
})

describe('gaps', () => {
  test('name the reason until the credential can be used, and again when it no longer can', async () => {
    expect(await findGap()).toBe('absent')
    const { active } = await t.make(`GET /providers/${provider_key}`)
    expect(await findBlockedSince()).toBe(new Date(active.effective_from).toISOString())
    const credential_id = await createCredential()
    expect(await findGap()).toBe('absent')
    await addVersion(credential_id)
    expect(await findGap()).toBe('staged_only')
    await activate(credential_id, 1)
    expect(await findGap()).toBeNull()
    const reason = { reason: 'leak' }
    await t.make(`POST /provider-credentials/${credential_id}/disable`, { body: reason })
    expect(await findGap()).toBe('disabled')
    await t.make(`POST /provider-credentials/${credential_id}/enable`, { body: reason })
    await setVersion(credential_id, 1, `expires_at = '2026-01-02T03:04:05Z'`)
    expect(await findGap()).toBe('expired')
    expect(await findBlockedSince()).toBe('2026-01-02T03:04:05.000Z')
    await setVersion(credential_id, 1, `expires_at = null, rejected_at = '2026-02-03T04:05:06Z'`)
    expect(await findGap()).toBe('rejected')
    expect(await findBlockedSince()).toBe('2026-02-03T04:05:06.000Z')
    await addVersion(credential_id, 'k-2')
    await activate(credential_id, 2)
    expect(await findGap()).toBeNull()
  })

  test('the version before is used within its overlap when the active one is rejected', async () => {
    const credential_id = await createCredential()
    await addVersion(credential_id)
    await activate(credential_id, 1)
    await addVersion(credential_id, 'k-2')
    await activate(credential_id, 2, { overlap_s: 60 })
    await setVersion(credential_id, 2, 'rejected_at = now()')
    expect(await findGap()).toBeNull()
    await setVersion(credential_id, 1, `usable_until = now() - interval '1 s'`)
    expect(await findGap()).toBe('rejected')
  })

  test('an activation without overlap leaves one usable version, whatever overlap an earlier one has', async () => {
    const credential_id = await createCredential()
    for (const [version, overlap_s] of [
      [1, 0],
      [2, 600],
      [3, 600],
    ] as const) {
      await addVersion(credential_id, `k-${version}`)
      await activate(credential_id, version, { overlap_s })
    }
    const isUsable = async () => {
      const { items } = await t.make(`GET /provider-credentials/${credential_id}/versions`)
      return items
        .filter(({ usable_until: until }: { usable_until: string | null }) => until && Date.parse(until) > Date.now())
        .map(({ version }: { version: number }) => version)
    }
    expect(await isUsable()).toEqual([2])
    await addVersion(credential_id, 'k-4')
    await activate(credential_id, 4, { overlap_s: 0 })
    expect(await isUsable()).toEqual([])
    await setVersion(credential_id, 4, `expires_at = now() - interval '1 s'`)
    expect(await findGap()).toBe('expired')
  })

  test('say when the provider declares a member that the credential lacks', async () => {
    const credential_id = await createCredential()
    await addVersion(credential_id)
    await activate(credential_id, 1)
    const members = [
      { name: 'api_key', secret: true, max: 200 },
      { name: 'account', secret: false, max: 50 },
    ]
    const definition = { ...registryManifest(), credential: { members } }
    await t.make(`POST /providers/${provider_key}/versions`, { body: { definition } })
    await t.make(`POST /providers/${provider_key}/versions/draft/publish`, { body: {} })
    await t.make(`POST /providers/${provider_key}/activations`, { body: { version: 2, reason: 'New interface' } })
    expect(await findGap()).toBe('incomplete')
    const { items } = await t.make('GET /provider-credentials/gaps')
    expect(items).toContainEqual(
      expect.objectContaining({ provider_key, members: ['api_key', 'account'], capabilities: ['company.lookup'] }),
    )
  })

  test('there is none for providers that need no credential', async () => {
    const { items } = await t.make('GET /provider-credentials/gaps')
    const keys = items.map((gap: { provider_key: string }) => gap.provider_key)
    expect(keys).toEqual([provider_key])
  })
})

describe('several credentials of a provider', () => {
  test('the second is disabled, and enabling it while the first is enabled is refused', async () => {
    const first = await createCredential()
    const second = await createCredential()
    const get = (id: string) => t.make(`GET /provider-credentials/${id}`)
    expect([(await get(first)).state, (await get(second)).state]).toEqual(['enabled', 'disabled'])
    const enable = () => call(`POST /provider-credentials/${second}/enable`, { reason: 'Second account' })
    expect((await enable()).json).toMatchObject({
      code: 'conflict',
      detail: expect.stringContaining('disable it first'),
    })
    await t.make(`POST /provider-credentials/${first}/disable`, { body: { reason: 'x' } })
    expect((await enable()).status).toBe(200)
    const test = await createCredential({ environment: 'test' })
    expect((await get(test)).state).toBe('enabled')
  })

  test('two with one label are refused', async () => {
    await createCredential({ label: 'Main' })
    const again = await call('POST /provider-credentials', { provider_key, label: 'Main' })
    expect([again.status, again.json.code]).toEqual([409, 'duplicate'])
  })
})

describe('with four eyes', () => {
  test('activation, enabling and destruction wait for approval; storing values and disabling never do', async () => {
    const credential_id = await createCredential()
    // As a new tenant begins.
    const { approval_rules } = JSON.parse(
      fs.readFileSync(path.join(projectRoot, 'db/seed/tenant-defaults/policies.json'), 'utf8'),
    )
    const rules = approval_rules.filter(({ action }: { action: string }) => action === 'credentials')
    expect(rules).toHaveLength(1)
    await t.setApprovalRules(rules)
    expect(
      (await call(`POST /provider-credentials/${credential_id}/versions`, { members: { api_key: 'x' } })).status,
    ).toBe(201)
    const proposed = await call(`POST /provider-credentials/${credential_id}/versions/1/activations`, { reason: 'go' })
    expect(proposed.status).toBe(202)
    expect((await call(`DELETE /provider-credentials/${credential_id}?reason=x`)).status).toBe(202)
    expect(JSON.stringify(proposed.json)).not.toContain('api_key')
    const token = await t.token(['compliance_officer'], t.author)
    const approved = await w.call(`POST /change-requests/${proposed.json.cr_id}/approve`, { token, body: {} })
    expect(approved.status).toBe(200)
    expect(await findGap()).toBeNull()
    const disabled = await call(`POST /provider-credentials/${credential_id}/disable`, { reason: 'leak' })
    expect(disabled.status).toBe(200)
    expect((await call(`POST /provider-credentials/${credential_id}/enable`, { reason: 'ok' })).status).toBe(202)
  })
})
