/** 424: before anything is stored, after 404 and 409, with every gap; and exactly where the list of gaps says so. */
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { modules } from '#app/modules.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { CountingProvider } from '#test/support/counting-provider.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { SeededRandom } from '#test/support/seeded-random.ts'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'
import { fixtures } from './fixtures.ts'

let provider: CountingProvider
let w: TestApp
let owner: pg.Client
let t: ExampleTenant
beforeAll(async () => {
  provider = await CountingProvider.start()
  w = await startTestApp({ egress: provider.egress })
  owner = new pg.Client(w.clone.postgres)
  await owner.connect()
  t = await ExampleTenant.create(w)
})
afterAll(async () => {
  await owner.end()
  await w.close()
  await provider.close()
})

const send = async (at: string, body: unknown) => w.call(at, { token: await t.token(), body })

async function createProvider(): Promise<string> {
  const provider_key = `registry-${uuidv7().slice(-12)}`
  const definition = provider.createManifest()
  await t.make('POST /providers', { body: { provider_key, title: 'Registry', definition } })
  await t.make(`POST /providers/${provider_key}/versions/draft/publish`, { body: {} })
  await t.make(`POST /providers/${provider_key}/activations`, { body: { version: 1, reason: 'Reviewed' } })
  return provider_key
}

/** Its only input comes from an answer. */
async function createRule(more: object = {}): Promise<string> {
  const rule_key = `abroad-${uuidv7().slice(-12)}`
  const from = { contract_key: 'company-registry', fact: 'country' }
  const definition = {
    inputs: [{ name: 'country', title: 'Country', type: 'enum', one_of: { list_key: 'countries' }, from, ...more }],
    table: {
      hit_policy: 'first',
      columns: ['country'],
      outputs: [],
      rows: [{ key: 'abroad', when: ['not("GB")'], then: [] }],
    },
    reason_code: 'TM_LARGE_CASH',
    reason: 'The company is abroad.',
  }
  await t.make('POST /rules', { body: { rule_key, title: 'Company abroad', definition } })
  await t.make(`POST /rules/${rule_key}/versions/draft/publish`, { body: {} })
  await t.make(`POST /rules/${rule_key}/activations`, { body: { version: 1, reason: 'Reviewed' } })
  return rule_key
}

async function countRows(): Promise<Record<string, number>> {
  const { rows } = await owner.query<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = 'app' and table_type = 'BASE TABLE'`,
  )
  const counts: Record<string, number> = {}
  for (const { name } of rows) {
    counts[name] = Number((await owner.query(`select count(*) from app.${name}`)).rows[0].count)
  }
  return counts
}

/** How each operation is called so that only a credential is missing, and how with an id that nobody has. */
const blocked: Readonly<
  Record<string, () => Promise<{ at: string; unknown: string; body: unknown; unknown_body?: unknown }>>
> = {
  startEvaluation: async () => {
    const provider_key = await createProvider()
    const rule_key = await createRule()
    const body = {
      rule_key,
      providers: { 'company-registry': provider_key },
      call_inputs: { 'company-registry': { number: '1' } },
    }
    const at = 'POST /evaluations/async'
    return { at, unknown: at, body, unknown_body: { ...body, subject_id: uuidv7() } }
  },
  callProvider: async () => ({
    at: `POST /providers/${await createProvider()}/calls`,
    unknown: 'POST /providers/unheard-of/calls',
    body: { capability: 'company.lookup', input: { number: '1' } },
  }),
  testProvider: async () => ({
    at: `POST /providers/${await createProvider()}/test`,
    unknown: 'POST /providers/unheard-of/test',
    body: {},
  }),
  repeatProviderCall: async () => {
    const example = await fixtures['repeatProviderCall']?.(t, 'analyst')
    const call_id = example?.params?.['call_id'] as string
    const { provider_key } = await t.make(`GET /providers/calls/${call_id}`)
    await t.make(`PUT /providers/${provider_key}/mode`, { body: { mode: 'live', reason: 'Connected' } })
    return {
      at: `POST /providers/calls/${call_id}/repeat`,
      unknown: `POST /providers/calls/${uuidv7()}/repeat`,
      body: example?.body,
    }
  },
  discoverServerTools: async () => {
    const body = {
      server_key: `tools-${uuidv7().slice(-12)}`,
      title: 'Tools',
      url: 'https://tools.example/mcp',
      auth: { kind: 'basic' },
    }
    await t.make('POST /mcp/servers', { body })
    return {
      at: `POST /mcp/servers/${body.server_key}/discover`,
      unknown: 'POST /mcp/servers/unheard-of/discover',
      body: undefined,
    }
  },
  verifyProviderCredential: async () => {
    const body = { provider_key: await createProvider(), label: 'Main' }
    const { credential_id } = await t.make('POST /provider-credentials', { body })
    return {
      at: `POST /provider-credentials/${credential_id}/verify`,
      unknown: `POST /provider-credentials/${uuidv7()}/verify`,
      body: {},
    }
  },
}

/** What an investigation needs is in its playbook: src/modules/investigations/gathering/gathering.test.ts tries these. */
const needing = modules
  .filter(({ name }) => name !== 'investigations')
  .flatMap(({ routes }) => routes)
  .filter(({ needs }) => needs === 'provider')

test('every operation that needs a provider is tried', () => {
  expect(needing.map(({ id }) => id).toSorted()).toEqual(Object.keys(blocked).toSorted())
})

test.for(needing.map(({ id }) => id))('%s: 404 for an unknown id, 424 for a known one, and no new row', async (id) => {
  const prepare = blocked[id] as (typeof blocked)[string]
  const { at, unknown, body, unknown_body = body } = await prepare()
  const before = await countRows()
  expect((await send(unknown, unknown_body)).status).toBe(404)
  const refused = await send(at, body)
  expect([refused.status, refused.json.code]).toEqual([424, 'provider_credential_missing'])
  expect(refused.json.missing).toMatchObject([{ reason: 'absent' }])
  expect(await countRows()).toEqual(before)
  expect(provider.requests).toEqual([])
})

test('a gap names the definitions in force that it blocks, and a credential frees them', async () => {
  const provider_key = await createProvider()
  const blocking = await createRule()
  const optional = await createRule({ default: 'GB' })
  const findBlocked = async (key: string) => {
    const { items } = await t.make('GET /provider-credentials/gaps')
    const gap = items.find((one: { provider_key: string }) => one.provider_key === provider_key)
    return gap?.blocks.find((one: { key: string }) => one.key === key)
  }
  expect(await findBlocked(blocking)).toMatchObject({ kind: 'rule', version: 1, is_required: true, alternatives: [] })
  expect(await findBlocked(optional)).toMatchObject({ is_required: false })
  const start = async (rule_key: string) => {
    const providers = { 'company-registry': provider_key }
    const call_inputs = { 'company-registry': { number: '1' } }
    return (await send('POST /evaluations/async', { rule_key, providers, call_inputs })).status
  }
  expect([await start(blocking), await start(optional)]).toEqual([424, 202])
  await t.make(`PUT /providers/${provider_key}/mode`, { body: { mode: 'recorded', reason: 'Not connected' } })
  expect([await findBlocked(blocking), await start(blocking)]).toEqual([undefined, 202])
  // Another gap names the provider that can answer instead.
  const { items } = await t.make('GET /provider-credentials/gaps')
  const other = items.find((one: { blocks: { key: string }[] }) => one.blocks.some(({ key }) => key === blocking))
  expect(other?.blocks.find(({ key }: { key: string }) => key === blocking)?.alternatives).toContain(provider_key)
})

test('424 is answered exactly where there is a gap, with its reason, in random configurations', async () => {
  const seed = Number(process.env['GAPS_SEED'] ?? 20_260_108)
  const random = new SeededRandom(seed)
  const keys: string[] = []
  for (let n = 0; n < 16; n++) keys.push(await createProvider())
  await owner.query(`set app.actor = 'operator:test'; set app.restoring = 'on'`)
  for (const provider_key of keys) await configure(random, provider_key)
  await owner.query('reset app.restoring')
  const { items } = await t.make('GET /provider-credentials/gaps')
  const gaps = new Map<string, string>(
    items.map(({ provider_key, reason }: { provider_key: string; reason: string }) => [provider_key, reason]),
  )
  const reasons = new Set<string>()
  for (const provider_key of keys) {
    const reply = await send(`POST /providers/${provider_key}/calls`, {
      capability: 'company.lookup',
      input: { number: '1' },
    })
    expect([provider_key, reply.status, reply.json.missing?.[0]?.reason ?? null], `seed ${seed}`).toEqual([
      provider_key,
      gaps.has(provider_key) ? 424 : 202,
      gaps.get(provider_key) ?? null,
    ])
    reasons.add(gaps.get(provider_key) ?? 'none')
  }
  // The configurations were different enough to mean something.
  expect(reasons.size).toBeGreaterThanOrEqual(4)
})

/** Any mode, any number of credentials in any state, with versions in any state: also what no operation would make. */
async function configure(random: SeededRandom, provider_key: string): Promise<void> {
  const at = [t.tenant_id, provider_key]
  const mode = random.pick(['live', 'live', 'live', 'recorded'])
  const environment = random.pick(['live', 'live', 'test'])
  await owner.query(
    `insert into app.provider_setting (tenant_id, provider_key, mode, environment, reason, updated_by)
     values ($1, $2, $3, $4, 'random', 'operator:test')`,
    [...at, mode, environment],
  )
  for (const kind of ['live', 'test']) {
    if (random.below(4) === 0) continue
    const credential_id = uuidv7()
    const state = random.pick(['enabled', 'enabled', 'enabled', 'disabled', 'destroyed'])
    await owner.query(
      `insert into app.provider_credential (tenant_id, credential_id, provider_key, label, environment, state, created_by, updated_by)
       values ($1, $3, $2, 'random', $4, $5, 'operator:test', 'operator:test')`,
      [...at, credential_id, kind, state],
    )
    const states = random.pick([[], ['staged'], ['active'], ['active'], ['active'], ['retired', 'active'], ['retired']])
    for (const [index, of] of states.entries()) {
      await owner.query(
        `insert into app.provider_credential_version (tenant_id, credential_id, version, state, members, secret, fingerprint,
           expires_at, activated_at, usable_until, rejected_at, created_by)
         values ($1, $2, $3, $4, $5, '\\x00', '00000000', $6, now(), $7, $8, 'operator:test')`,
        [
          t.tenant_id,
          credential_id,
          index + 1,
          of,
          random.pick([['api_key'], ['api_key'], ['other']]),
          random.pick([null, null, '2020-01-01', '2090-01-01']),
          of === 'retired' ? random.pick(['2020-01-01', '2090-01-01']) : null,
          random.pick([null, null, '2026-01-01']),
        ],
      )
    }
  }
}
