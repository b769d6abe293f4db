/** Decisions on answers of providers: which inputs they give, what is refused, what is pinned and how it is replayed. */
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hashPayload } from '#decision/document.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { CountingProvider } from '#test/support/counting-provider.ts'
import { readDecision } from '#test/support/decision-documents.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { type JobTestApp, startJobTestApp } from '#test/support/job-test-app.ts'

let provider: CountingProvider
let w: JobTestApp
let owner: pg.Client
let t: ExampleTenant
let provider_key: string

const RULE = 'company-abroad'
const ruleDefinition = (from: object = { contract_key: 'company-registry', fact: 'country' }) => ({
  inputs: [{ name: 'country', title: 'Country', type: 'enum', one_of: { list_key: 'countries' }, from }],
  table: {
    hit_policy: 'first',
    columns: ['country'],
    outputs: [],
    rows: [{ key: 'abroad', when: ['not("GB")'], then: [] }],
  },
  reason_code: 'TM_LARGE_CASH',
  reason: 'The company is abroad.',
})

const toAnswer = (number: string, change: object = {}) => ({
  meta: { source: 'registry.example', updated_at: new Date().toISOString() },
  result: { items: [{ number, name: 'Example Trading Ltd', address: { country: 'FR' }, ...change }] },
})

beforeAll(async () => {
  provider = await CountingProvider.start()
  w = await startJobTestApp({ egress: provider.egress })
  owner = new pg.Client(w.clone.postgres)
  await owner.connect()
  t = await ExampleTenant.create(w)
  provider_key = await connectProvider(t)
  await createActive('rules', 'rule_key', RULE, ruleDefinition())
  w.startRunner(2)
})
afterAll(async () => {
  await owner.end()
  await w.close()
  await provider.close()
})

/** A definition with version 1 in force. */
async function createActive(segment: string, param: string, key: string, definition: object, tenant = t) {
  await tenant.make(`POST /${segment}`, { body: { [param]: key, title: key, definition } })
  await tenant.make(`POST /${segment}/${key}/versions/draft/publish`, { body: {} })
  await tenant.make(`POST /${segment}/${key}/activations`, { body: { version: 1, reason: 'Reviewed' } })
}

async function createProvider(tenant: ExampleTenant, capability: object = {}): Promise<string> {
  const key = `registry-${uuidv7().slice(-12)}`
  await createActive('providers', 'provider_key', key, provider.createManifest(capability), tenant)
  return key
}

/** A provider in force with its credential. */
async function connectProvider(tenant: ExampleTenant, capability: object = {}): Promise<string> {
  const key = await createProvider(tenant, capability)
  await createCredential(tenant, key)
  return key
}

async function createCredential(tenant: ExampleTenant, key: string, change: object = {}): Promise<void> {
  const body = { provider_key: key, label: uuidv7(), ...change }
  const { credential_id } = await tenant.make('POST /provider-credentials', { body })
  await tenant.make(`POST /provider-credentials/${credential_id}/versions`, { body: { members: { api_key: 'k-1' } } })
  await tenant.make(`POST /provider-credentials/${credential_id}/versions/1/activations`, { body: { reason: 'First' } })
}

async function callRegistry(change: object = {}, request: object = {}): Promise<string> {
  provider.respond = ({ path }) => ({ body: toAnswer(path.split('/').at(-1) ?? '', change) })
  const body = { capability: 'company.lookup', input: { number: randomUUID().slice(0, 8) }, ...request }
  const job = await t.make(`POST /providers/${provider_key}/calls`, { body })
  await w.ended(t.tenant_id, job.job_id)
  return (job.resource as string).split('/').at(-1) as string
}
const evaluate = async (body: object) =>
  w.call('POST /evaluations', { token: await t.token(), body: { rule_key: RULE, ...body } })
const expectRefused = async (body: object, keyword: string, pointer: string) => {
  const reply = await evaluate(body)
  expect([reply.status, reply.json.code]).toEqual([409, 'inputs_refused'])
  expect(reply.json.errors).toMatchObject([{ keyword, pointer }])
}
const replay = async (evaluation_id: string) => t.make(`POST /evaluations/${evaluation_id}/replay`)
const countEvaluations = async (): Promise<number> =>
  (await owner.query('select 1 from app.evaluation where tenant_id = $1', [t.tenant_id])).rows.length

describe('a decision on an answer', () => {
  test('takes the facts as inputs and pins contract version and salted payload hash', async () => {
    const call_id = await callRegistry()
    const { status, json } = await evaluate({ call_ids: [call_id] })
    expect([status, json.hit, json.is_test]).toEqual([201, true, false])
    const { items } = await t.make('GET /evaluations?limit=1')
    expect(items).toMatchObject([{ evaluation_id: json.evaluation_id, is_test: false }])
    const { json: pinned } = await w.call(`GET /evaluations/${json.evaluation_id}/inputs`, { token: await t.token() })
    expect(pinned.inputs).toEqual({ country: 'FR' })
    expect(pinned.evidence).toMatchObject([
      {
        contract_key: 'company-registry',
        contract_version: 1,
        mode: 'live',
        inputs: [{ input: 'country', fact: 'country' }],
      },
    ])
    expect(pinned.evidence_calls).toMatchObject([{ contract_key: 'company-registry', call_id, provider_key }])
    const content = await w.call(`GET /providers/calls/${call_id}/content`, { token: await t.token() })
    const { tenant_id } = t
    const { salt } = await readDecision(w, { tenant_id, evaluation_id: json.evaluation_id })
    expect(pinned.evidence[0].payload_hash).toBe(hashPayload(salt as string, content.bytes))
  })

  test('is replayed from the stored bytes, also after they were removed', async () => {
    const { json } = await evaluate({ call_ids: [await callRegistry()] })
    expect(await replay(json.evaluation_id)).toMatchObject({
      verdict: 'identical',
      evidence: [{ contract_key: 'company-registry', payload: 'verified' }],
    })
    await owner.query(`set app.actor = 'operator:test'`)
    await owner.query('delete from app.source_payload_content where tenant_id = $1', [t.tenant_id])
    expect(await replay(json.evaluation_id)).toMatchObject({
      verdict: 'identical',
      evidence: [{ payload: 'removed' }],
    })
  })

  test('is called tampered when the stored answer was exchanged', async () => {
    const [first, second] = [await callRegistry(), await callRegistry()]
    const { json } = await evaluate({ call_ids: [first] })
    const { json: other } = await evaluate({ call_ids: [second] })
    await owner.query('alter table app.admission_evidence disable trigger user')
    await owner.query(
      `update app.admission_evidence e set admission_id = o.admission_id from app.admission_evidence o
        where e.consumer_id = $1 and o.consumer_id = $2`,
      [json.evaluation_id, other.evaluation_id],
    )
    await owner.query('alter table app.admission_evidence enable trigger user')
    expect(await replay(json.evaluation_id)).toMatchObject({ verdict: 'tampered', evidence: [{ payload: 'altered' }] })
    expect(await replay(other.evaluation_id)).toMatchObject({ verdict: 'identical' })
  })
})

test('a decision on an answer of the test environment is a test', async () => {
  // Another provider for the same contract would make those of the tenant ambiguous.
  const other = await ExampleTenant.create(w)
  const key = await createProvider(other)
  await createActive('rules', 'rule_key', RULE, ruleDefinition(), other)
  await other.make(`PUT /providers/${key}/mode`, { body: { mode: 'live', environment: 'test', reason: 'Trial' } })
  await createCredential(other, key, { environment: 'test' })
  provider.respond = () => ({ body: toAnswer('1') })
  const body = { capability: 'company.lookup', input: { number: '1' } }
  const job = await other.make(`POST /providers/${key}/calls`, { body })
  await w.ended(other.tenant_id, job.job_id)
  const call_ids = [(job.resource as string).split('/').at(-1)]
  const decided = await other.make('POST /evaluations', { body: { rule_key: RULE, call_ids } })
  expect(decided).toMatchObject({ is_test: true, evidence: [{ mode: 'test' }] })
})

describe('evidence is refused', () => {
  test('when the payload is in quarantine, and nothing is stored', async () => {
    const call_id = await callRegistry({ number: 17 })
    const before = await countEvaluations()
    const reply = await evaluate({ call_ids: [call_id] })
    expect([reply.status, reply.json.code]).toEqual([409, 'contract_violated'])
    expect(await countEvaluations()).toBe(before)
  })

  test('when the call is unknown or belongs to another tenant', async () => {
    const call_id = await callRegistry()
    const foreign = await ExampleTenant.create(w)
    const body = { rule_key: RULE, call_ids: [call_id] }
    const answers = [
      await evaluate({ call_ids: [randomUUID()] }),
      await w.call('POST /evaluations', { token: await foreign.token(), body }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([404, 404])
  })

  test('when its contract refused some of its records', async () => {
    const contract_key = 'partial-registry'
    const { definition } = await t.make('GET /source-contracts/company-registry/versions/1')
    const partial = { ...definition, partial: 'record' }
    await createActive('source-contracts', 'contract_key', contract_key, partial)
    const key = await connectProvider(t, { contract_key })
    await createActive('rules', 'rule_key', 'partial-abroad', ruleDefinition({ contract_key, fact: 'country' }))
    const good = { number: '1', name: 'Example Trading Ltd', address: { country: 'FR' } }
    const callWith = async (...items: object[]) => {
      provider.respond = () => ({ body: { ...toAnswer('1'), result: { items } } })
      const body = { capability: 'company.lookup', input: { number: '1' } }
      const job = await t.make(`POST /providers/${key}/calls`, { body })
      expect(await w.ended(t.tenant_id, job.job_id)).toMatchObject({ result: { outcome: 'answered' } })
      return (job.resource as string).split('/').at(-1) as string
    }
    const incomplete = { rule_key: 'partial-abroad', call_ids: [await callWith(good, { ...good, number: 17 })] }
    await expectRefused(incomplete, 'evidence_incomplete', '#/call_ids/0')
    expect((await evaluate({ ...incomplete, call_ids: [await callWith(good)] })).status).toBe(201)
  })

  test('when it is about another subject', async () => {
    const make = (name: string) => t.make('POST /subjects', { body: { subject_type: 'company', name } })
    const [one, two] = [await make('First Ltd'), await make('Second Ltd')]
    const call_id = await callRegistry({}, { subject_id: one.subject_id })
    const about = { call_ids: [call_id] }
    await expectRefused({ ...about, subject_id: two.subject_id }, 'evidence_of_another_subject', '#/call_ids/0')
    await expectRefused(about, 'evidence_of_another_subject', '#/call_ids/0')
    expect((await evaluate({ ...about, subject_id: one.subject_id })).status).toBe(201)
  })

  test('when an input contradicts it, it is repeated, or nothing reads it', async () => {
    const call_id = await callRegistry()
    await expectRefused({ call_ids: [call_id], inputs: { country: 'GB' } }, 'evidence_contradicted', '#/inputs/country')
    expect((await evaluate({ call_ids: [call_id], inputs: { country: 'FR' } })).status).toBe(201)
    await expectRefused({ call_ids: [call_id, await callRegistry()] }, 'evidence_repeated', '#/call_ids/1')
    const unread = { rule_key: 'cash-structuring', call_ids: [call_id] }
    await expectRefused(unread, 'evidence_unused', '#/call_ids/0')
  })
})

describe('an evaluation that asks providers', () => {
  const start = async (body: object) =>
    w.call('POST /evaluations/async', { token: await t.token(), body: { rule_key: RULE, ...body } })
  const countCalls = async (): Promise<number> =>
    (await owner.query('select 1 from app.provider_call where tenant_id = $1', [t.tenant_id])).rows.length
  const makeCompany = async (attributes: object = {}) =>
    (await t.make('POST /subjects', { body: { subject_type: 'company', name: 'Asked Ltd', attributes } })).subject_id

  test('asks with what the subject has, decides on the answer and cites it', async () => {
    provider.respond = ({ path }) => ({ body: toAnswer(path.split('/').at(-1) ?? '') })
    const reply = await start({ subject_id: await makeCompany({ number: '00000007' }) })
    expect(reply.status).toBe(202)
    const job = await w.ended(t.tenant_id, reply.json.job_id)
    expect(job).toMatchObject({
      state: 'succeeded',
      result: { hit: true, skipped: [], call_ids: [expect.any(String)] },
    })
    expect(provider.requests.at(-1)?.path).toBe('/companies/00000007')
    const made = await t.make(`GET /evaluations/${job.result?.['evaluation_id']}`)
    expect(made.evidence).toMatchObject([{ contract_key: 'company-registry', mode: 'live' }])
  })

  test('decides nothing when the answer is quarantined', async () => {
    provider.respond = () => ({ body: { meta: {}, result: { items: [{ number: 1 }] } } })
    const before = await countEvaluations()
    const { json } = await start({ call_inputs: { 'company-registry': { number: '00000008' } } })
    const job = await w.ended(t.tenant_id, json.job_id)
    expect(job).toMatchObject({ state: 'failed', problem: { code: 'contract_violated' } })
    expect(await countEvaluations()).toBe(before)
  })

  test('calls nobody when the inputs are given or a cited call has them', async () => {
    const call_id = await callRegistry()
    const before = await countCalls()
    for (const body of [{ inputs: { country: 'GB' } }, { call_ids: [call_id] }]) {
      const { json } = await start(body)
      expect(await w.ended(t.tenant_id, json.job_id)).toMatchObject({ state: 'succeeded' })
    }
    expect(await countCalls()).toBe(before)
  })

  test('returns 422 at the member that the provider needs, and 409 for a provider that does not answer, before any row', async () => {
    const before = await countCalls()
    const lacking = await start({})
    expect([lacking.status, lacking.json.errors?.[0]?.pointer]).toEqual([422, '#/call_inputs/company-registry/number'])
    for (const ignored of [
      { call_inputs: { 'company-register': { number: '1' } } },
      { inputs: { country: 'GB' }, providers: { 'company-registry': 'nobody' } },
    ]) {
      const { status, json } = await start(ignored)
      const [member, named] = Object.entries(ignored).at(-1) as [string, object]
      expect([status, json.errors?.[0]]).toMatchObject([
        422,
        { pointer: `#/${member}/${Object.keys(named)[0]}`, keyword: 'contract_not_needed' },
      ])
    }
    const unknown = await start({ providers: { 'company-registry': 'nobody' } })
    expect([unknown.status, unknown.json.errors]).toMatchObject([409, [{ keyword: 'provider_absent' }]])
    expect(await countCalls()).toBe(before)
  })

  const optionalRule = () => {
    const rule = ruleDefinition()
    Object.assign(rule.inputs[0] as object, { default: 'GB' })
    return rule
  }

  test('skips a provider that finds nothing or cannot be asked where the input has a default, else refuses', async () => {
    await createActive('rules', 'rule_key', 'may-use-country', optionalRule())
    provider.respond = () => ({ status: 404 })
    const call_inputs = { 'company-registry': { number: '00000010' } }
    const run = async (body: object) => {
      const { status, json } = await start(body)
      expect(status).toBe(202)
      return w.ended(t.tenant_id, json.job_id)
    }
    const skip = (reason: string) => ({
      state: 'succeeded',
      result: { hit: false, call_ids: [], skipped: [{ contract_key: 'company-registry', reason }] },
    })
    const optional = { rule_key: 'may-use-country' }
    expect(await run({ ...optional, call_inputs })).toMatchObject(skip(`${provider_key}: not_found`))
    const before = await countCalls()
    expect(await run(optional)).toMatchObject(skip(`${provider_key}: input refused: number`))
    expect(await countCalls()).toBe(before)
    expect(await run({ call_inputs })).toMatchObject({
      state: 'failed',
      problem: { code: 'inputs_refused', errors: [{ keyword: 'evidence_not_found' }] },
    })
  })

  test('returns 424 without a credential, and skips the provider where the input has a default', async () => {
    const other = await ExampleTenant.create(w)
    const key = await createProvider(other)
    await createActive('rules', 'rule_key', 'needs-country', ruleDefinition(), other)
    await createActive('rules', 'rule_key', 'may-use-country', optionalRule(), other)
    const call_inputs = { 'company-registry': { number: '00000009' } }
    const begin = async (rule_key: string) =>
      w.call('POST /evaluations/async', { token: await other.token(), body: { rule_key, call_inputs } })
    const refused = await begin('needs-country')
    expect([refused.status, refused.json.missing]).toMatchObject([424, [{ provider_key: key, reason: 'absent' }]])
    const { json } = await begin('may-use-country')
    expect(await w.ended(other.tenant_id, json.job_id)).toMatchObject({
      state: 'succeeded',
      result: { hit: false, skipped: [{ contract_key: 'company-registry', reason: `${key}: absent` }] },
    })
  })
})

describe('an input that comes from a fact', () => {
  const publish = async (from: object) => {
    const rule_key = `rule-${uuidv7().slice(-12)}`
    await t.make('POST /rules', { body: { rule_key, title: 'Trial', definition: ruleDefinition(from) } })
    return w.call(`POST /rules/${rule_key}/versions/draft/publish`, { token: await t.token(), body: {} })
  }

  test.each([
    ['contract_not_in_force', { contract_key: 'no-such-contract', fact: 'country' }, '#/inputs/0/from/contract_key'],
    ['fact_unknown', { contract_key: 'company-registry', fact: 'moonphase' }, '#/inputs/0/from/fact'],
    ['fact_type_differs', { contract_key: 'company-registry', fact: 'company_number' }, '#/inputs/0/from/fact'],
  ])('is refused at publication: %s', async (keyword, from, pointer) => {
    const reply = await publish(from)
    expect([reply.status, reply.json.code]).toEqual([409, 'definition_invalid'])
    expect(reply.json.errors).toMatchObject([{ keyword, pointer }])
  })

  test('is a reader of the contract', async () => {
    const lineage = await t.make('GET /source-contracts/company-registry/lineage')
    expect(JSON.stringify(lineage)).toContain(RULE)
  })
})
