/** Payloads of a contract: what is stored, what is admitted, and that a quarantined one never becomes evidence. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fullScope } from '#kernel/database/scope.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { companyContract, companyPayload, companyRecord } from '#test/support/company-registry.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { shareTestApp, type TestApp } from '#test/support/test-app.ts'
import { admitPayload, findAdmittedFacts } from './admissions.ts'
import { createPayload } from './fixtures.ts'
import { inferenceRoutes } from './inference-routes.ts'
import { storePayload } from './payloads.ts'
import { findLastAdmission, findStoredPayloads, insertEvidence } from './queries.ts'

let w: TestApp
let t: ExampleTenant

beforeAll(async () => {
  w = await shareTestApp()
  t = await ExampleTenant.create(w)
})
afterAll(() => w.close())

const at = '/source-contracts'
const struckOff = companyPayload([companyRecord(1, { status: 'struck off' })])

async function createActive(change: Parameters<typeof companyContract>[0] = {}): Promise<string> {
  const contract_key = `contract-${uuidv7().slice(-12)}`
  const definition = companyContract(change)
  await t.make(`POST ${at}`, { body: { contract_key, title: 'Registry', definition } })
  await t.make(`POST ${at}/${contract_key}/versions/draft/publish`, { body: {} })
  await t.make(`POST ${at}/${contract_key}/activations`, { body: { version: 1, reason: 'reviewed' } })
  return contract_key
}

async function publishChanged(contract_key: string, change: Parameters<typeof companyContract>[0]): Promise<number> {
  await t.make(`POST ${at}/${contract_key}/versions`, { body: { definition: companyContract(change) } })
  return (await t.make(`POST ${at}/${contract_key}/versions/draft/publish`, { body: {} })).version
}

const admissionOf = async (payload_id: string) =>
  (await t.write((tx) => findLastAdmission(tx, payload_id))) as NonNullable<
    Awaited<ReturnType<typeof findLastAdmission>>
  >

test('stores a payload encrypted and gives the facts of an admitted one', async () => {
  const contract_key = await createActive()
  const payload_id = await createPayload(t, contract_key, companyPayload([companyRecord(2)]))
  const [stored] = await t.write((tx) => findStoredPayloads(tx, [payload_id]))
  expect(stored?.content?.includes('Example Trading')).toBe(false)
  const admission = await admissionOf(payload_id)
  expect(admission).toMatchObject({ result: 'admitted', admitted: true, contract_version: 1, record_count: 1 })
  expect(admission.list_receipt).toMatchObject([{ list_key: 'countries' }])
  const facts = await t.write((tx) => findAdmittedFacts(tx, w.kernel, admission.admission_id))
  expect(facts.records).toEqual([
    { record_index: 0, facts: expect.objectContaining({ country: 'DE', officers: ['Officer 2'], capital: '1002' }) },
  ])
})

test('storing the same source and admitting the same payload again changes nothing', async () => {
  const contract_key = await createActive()
  const payload = {
    contract_key,
    media_type: 'application/json',
    bytes: Buffer.from(JSON.stringify(companyPayload([companyRecord(1)]))),
    source_kind: 'example',
    source_id: uuidv7(),
    received_at: '2026-01-20T00:00:00.000Z',
  }
  const store = () => t.write((tx) => storePayload(tx, w.kernel, payload))
  const payload_id = await store()
  expect(await store()).toBe(payload_id)
  const scope = fullScope(t.tenant_id, 'operator:test')
  const [one, two] = await Promise.all([1, 2].map(() => admitPayload(w.kernel, scope, { payload_id })))
  expect(two).toEqual(one)
})

test('admits payloads with hostile names and values, and stores no character that the database refuses', async () => {
  const contract_key = await createActive()
  const hostile = { ['\0a']: 1, ['~'.repeat(700)]: 1, ['a/b~1']: 1, __proto__x: 1, constructor: 'x' }
  const noted = await createPayload(t, contract_key, companyPayload([companyRecord(1, hostile)], { source: 'x\0y' }))
  expect(await admissionOf(noted)).toMatchObject({ result: 'admitted_with_notes', provenance: { source: 'x\ufffdy' } })
  const refusing = await createActive({ unknown_members: 'refuse' })
  const refused = await createPayload(t, refusing, companyPayload([companyRecord(1, hostile)]))
  expect((await admissionOf(refused)).violations.map(({ code }) => code)).toEqual(Array(5).fill('unknown_member'))
  expect((await t.make(`GET ${at}/quarantine/${refused}`)).payload.result.items[0].constructor).toBe('[undeclared]')
})

test('a quarantined payload has no facts, and the database refuses it as evidence', async () => {
  const payload_id = await createPayload(t, await createActive(), struckOff)
  const { admission_id, result, violations } = await admissionOf(payload_id)
  expect(result).toBe('quarantined')
  expect(violations).toMatchObject([{ code: 'not_allowed', pointer: '/status', keyword: 'enum', record_index: 0 }])
  await expect(t.write((tx) => findAdmittedFacts(tx, w.kernel, admission_id))).rejects.toMatchObject({
    code: 'contract_violated',
  })
  const consumer = { consumer_kind: 'evaluation', consumer_id: uuidv7() }
  await expect(t.write((tx) => insertEvidence(tx, { ...consumer, admission_id }))).rejects.toMatchObject({
    constraint: 'admission_evidence_admission_fkey',
  })
  const insert = (admitted: boolean) =>
    t.write((tx) =>
      tx.run(
        `insert into app.admission_evidence (tenant_id, consumer_kind, consumer_id, admission_id, admitted, created_by)
         values ($1, 'evaluation', $2, $3, $4, $5)`,
        [t.tenant_id, uuidv7(), admission_id, admitted, tx.actor],
      ),
    )
  await expect(insert(false)).rejects.toMatchObject({ constraint: 'admission_evidence_admitted_ck' })
  await expect(insert(true)).rejects.toMatchObject({ constraint: 'admission_evidence_admission_fkey' })
  const relabel = t.write((tx) =>
    tx.run(`update app.payload_admission set result = 'admitted' where tenant_id = $1 and admission_id = $2`, [
      t.tenant_id,
      admission_id,
    ]),
  )
  await expect(relabel).rejects.toThrow()
  const forge = t.write((tx) =>
    tx.run(
      `insert into app.payload_admission (tenant_id, admission_id, payload_id, contract_key, contract_origin, contract_version,
         contract_hash, result, incomplete, record_count, violations, more_violations, notes, provenance, list_receipt, facts,
         replaces_admission_id, created_by)
       select tenant_id, $3, payload_id, contract_key, contract_origin, contract_version, contract_hash, 'admitted', false, record_count,
              violations, 0, notes, provenance, list_receipt, 'x', admission_id, created_by
         from app.payload_admission where tenant_id = $1 and admission_id = $2`,
      [t.tenant_id, admission_id, uuidv7()],
    ),
  )
  await expect(forge).rejects.toMatchObject({ constraint: 'payload_admission_reason_ck' })
})

test('shows a quarantined payload without personal and undeclared values, and records who read it', async () => {
  const payload = companyPayload([companyRecord(1, { status: 'struck off', tax: 'T-1' })])
  const payload_id = await createPayload(t, await createActive(), payload)
  const shown = await t.make(`GET ${at}/quarantine/${payload_id}`)
  expect(shown.payload).toEqual({
    meta: { source: 'registry.example', updated_at: '2026-01-10T08:00:00Z' },
    result: {
      items: [
        {
          ...companyRecord(1, { status: 'struck off' }),
          officers: [{ name: '[personal]', role: 'director' }],
          tax: '[undeclared]',
        },
      ],
    },
  })
  expect(shown).toMatchObject({ state: 'open', has_content: true, admissions: [{ result: 'quarantined' }] })
  const { items } = await t.make('GET /audit/events?limit=1')
  expect(items[0]).toMatchObject({ operation: 'getQuarantinedPayload' })
})

test('stores and shows no undeclared name that may be that of a person', async () => {
  const people = { 'Ada Lovelace': 1, 'ada@example.com': 1, AB123456C: 1, 'tax-id': 1 }
  const many = Object.fromEntries(Array.from({ length: 11 }, (_, n) => [`person${'abcdefghijk'[n]}`, 1]))
  const contract_key = await createActive()
  const notesOf = async (change: Record<string, unknown>) => {
    const payload_id = await createPayload(t, contract_key, companyPayload([companyRecord(1, change)]))
    return (await admissionOf(payload_id)).notes.map(({ pointer }) => pointer)
  }
  expect(await notesOf(people)).toEqual(['/*', '/tax-id'])
  expect(await notesOf(many)).toEqual(['/*'])
  const refusing = await createActive({ unknown_members: 'refuse' })
  const payload_id = await createPayload(t, refusing, companyPayload([companyRecord(1, people)]))
  const { violations } = await admissionOf(payload_id)
  expect(violations.map(({ pointer }) => pointer)).toEqual(['/*', '/*', '/*', '/tax-id'])
  const shown = await t.make(`GET ${at}/quarantine/${payload_id}`)
  expect(Object.keys(shown.payload.result.items[0])).toEqual(
    expect.arrayContaining(['[name 1]', '[name 2]', '[name 3]', 'tax-id']),
  )
  expect(JSON.stringify(shown)).not.toMatch(/Ada|ada@|AB123/)
})

test('an activation names the stored payloads it would quarantine, and passes once they are acknowledged', async () => {
  const contract_key = await createActive()
  for (const number of [1, 2, 7]) await createPayload(t, contract_key, companyPayload([companyRecord(number)]))
  const narrower = { freshness: { max_age_s: 60, measured_from: 'as_of' as const } }
  const version = await publishChanged(contract_key, narrower)
  const difference = await t.make(`GET ${at}/${contract_key}/diff?from=1&to=${version}`)
  expect(difference.payloads_lost).toMatchObject({ checked: 3, quarantined: 3, lost: 3 })
  expect(difference.payloads_lost.places).toEqual([{ pointer: '/meta/updated_at', keyword: 'freshness', payloads: 3 }])
  const token = await t.token()
  const send = (body: object) =>
    w.call(`POST ${at}/${contract_key}/activations`, { token, body: { version, reason: 'reviewed', ...body } })
  const refused = await send({})
  expect([refused.status, refused.json.code]).toEqual([409, 'gates_closed'])
  expect(refused.json.gates).toMatchObject([
    { gate: 'guard', overridable: true, facts: { checked: 3, quarantined: 3 } },
  ])
  expect((await send({ acknowledged_payloads: 2 })).status).toBe(409)
  expect((await send({ acknowledged_payloads: 3 })).status).toBe(201)
})

test('an answer that no contract judges is neither checked again nor a sample', async () => {
  const contract_key = await createActive()
  await createPayload(t, contract_key, companyPayload([companyRecord(1)]))
  // What a provider answers when it has no such record.
  const notFound = { error: 'no such company' }
  const source = { source_kind: 'provider_answer', source_id: uuidv7(), received_at: '2026-01-20T00:00:00.000Z' }
  const bytes = Buffer.from(JSON.stringify(notFound))
  await t.write((tx) => storePayload(tx, w.kernel, { contract_key, media_type: 'application/json', bytes, ...source }))
  const version = await publishChanged(contract_key, { max_records: 1000 })
  const difference = await t.make(`GET ${at}/${contract_key}/diff?from=1&to=${version}`)
  expect(difference.payloads_lost).toMatchObject({ checked: 1, quarantined: 0, lost: 0 })
  await t.make(`POST ${at}/${contract_key}/activations`, { body: { version, reason: 'Wider' } })
  const inferred = await t.make(`POST ${at}/infer`, { body: { recent: { contract_key } } })
  expect(inferred).toMatchObject({ records: 1, records_at: '/result/items', samples: 1, samples_without_records: 0 })
})

test('inference says which samples the draft refuses', async () => {
  const payloads = [{ items: [{ number: '1' }] }, { error: 'busy' }, { items: [] }]
  const inferred = await t.make(`POST ${at}/infer`, { body: { payloads, records_at: '/items' } })
  expect(inferred).toMatchObject({ records: 1, records_at: '/items', samples: 3, samples_without_records: 2 })
  expect(inferred.findings).toEqual([
    {
      code: 'sample_refused',
      pointer: '/records_at',
      message: 'The draft refuses sample 2 at "/items". Expected: a list of records.',
      severity: 'warning',
    },
  ])
})

test('widen opens a draft that admits the payload; reprocessing under it gives a new admission that cites the old one', async () => {
  const contract_key = await createActive()
  const payload = companyPayload([
    companyRecord(7, {
      status: 'struck off',
      name: '',
      capital: -5,
      address: { country: 'ZZ' },
      dates: { incorporation: '2024-06-30', dissolution: '2015-03-01' },
    }),
  ])
  const payload_id = await createPayload(t, contract_key, payload)
  const first = await admissionOf(payload_id)
  const body = { action: 'widen', reason: 'The registry has a new status' }
  const headers = { 'idempotency-key': uuidv7() }
  const resolve = async (change: object = {}) =>
    w.call(`POST ${at}/quarantine/${payload_id}/resolve`, { token: await t.token(), body, headers, ...change })
  const resolved = await resolve()
  expect(resolved.json).toMatchObject({ state: 'resolved', resolution: 'widened', draft_revision: 1 })
  const repeated = await resolve()
  expect([repeated.status, repeated.json]).toEqual([200, resolved.json])
  expect((await resolve({ headers: {} })).json.code).toBe('transition_not_allowed')
  const { definition } = await t.make(`GET ${at}/${contract_key}/versions/draft`)
  expect(definition.record.properties).toMatchObject({
    status: { type: 'string', enum: ['active', 'dissolved', 'struck off'] },
    name: { type: 'string', minLength: 0, maxLength: 256 },
    capital: { type: 'number', minimum: -5 },
  })
  expect(definition.facts[0]).toEqual({ name: 'country', at: '/address/country', type: 'string', required: true })
  // What is widened no longer refuses the counter-example about the country, so the author decides about it.
  const published = await t.make(`GET ${at}/${contract_key}/versions/draft`)
  expect(published.findings).toEqual([])
  await t.make(`POST ${at}/${contract_key}/versions/draft/publish`, { body: {} })
  await t.make(`POST ${at}/${contract_key}/activations`, { body: { version: 2, reason: 'reviewed' } })
  const job = await t.make(`POST ${at}/quarantine/${payload_id}/reprocess`, { body: {} })
  expect(await t.runToEnd(job)).toMatchObject({ state: 'succeeded', result: { result: 'admitted_with_notes' } })
  const second = await admissionOf(payload_id)
  expect(second).toMatchObject({ replaces_admission_id: first.admission_id, contract_version: 2, admitted: true })
  expect(await t.make(`GET ${at}/quarantine/${payload_id}`)).toMatchObject({ resolution: 'reprocessed' })
})

test('a payload that is refused again by the same version counts once', async () => {
  const contract_key = await createActive()
  const payload = companyPayload([companyRecord(1, { status: 'x' }), companyRecord(2, { status: 'y' })])
  const payload_id = await createPayload(t, contract_key, payload)
  const job = await t.make(`POST ${at}/quarantine/${payload_id}/reprocess`, { body: {} })
  expect(await t.runToEnd(job)).toMatchObject({ state: 'succeeded', result: { result: 'quarantined' } })
  const { violations } = await t.make(`GET ${at}/${contract_key}/drift`)
  expect(violations).toMatchObject([{ pointer: '/status', keyword: 'enum', violations: 1, samples: [payload_id] }])
})

test('an activation that removes a fact names the definitions in force that read it', async () => {
  const contract_key = await createActive()
  const rule_key = `reader-${uuidv7().slice(-12)}`
  await t.make('POST /rules', { body: { rule_key, title: 'Reader', from_key: 'dormant-account' } })
  await t.make(`POST /rules/${rule_key}/versions/draft/publish`, { body: {} })
  await t.make(`POST /rules/${rule_key}/activations`, { body: { version: 1, reason: 'reviewed' } })
  await t.write(async (tx) => {
    const [{ dataset_id } = { dataset_id: '' }] = await tx.query<{ dataset_id: string }>(
      'select dataset_id from app.dataset where tenant_id = $1 and list_key = $2',
      [t.tenant_id, rule_key],
    )
    await tx.run(
      `insert into app.definition_fact (tenant_id, dataset_id, version, contract_key, fact, input) values ($1, $2, 1, $3, 'capital', 'amount')`,
      [t.tenant_id, dataset_id, contract_key],
    )
  })
  const facts = companyContract().facts.filter(({ name }) => name !== 'capital')
  const version = await publishChanged(contract_key, { facts })
  const difference = await t.make(`GET ${at}/${contract_key}/diff?from=1&to=${version}`)
  const reader = { family: 'rule', key: rule_key, version: 1, input: 'amount', fact: 'capital', change: 'removed' }
  expect(difference.readers_lost).toEqual([reader])
  const token = await t.token()
  const refused = await w.call(`POST ${at}/${contract_key}/activations`, {
    token,
    body: { version, reason: 'reviewed' },
  })
  expect([refused.status, refused.json.gates?.[0]]).toMatchObject([
    409,
    { gate: 'referenced-by', facts: { readers: [reader] } },
  ])
})

test('publishing refuses a counter-example that is admitted, with its place', async () => {
  const contract_key = `contract-${uuidv7().slice(-12)}`
  const definition = companyContract({
    counter_examples: [{ payload: companyPayload([companyRecord(1)]), violates: ['/name'] }],
  })
  const token = await t.token()
  await t.make(`POST ${at}`, { body: { contract_key, title: 'Registry', definition } })
  const { findings, reading } = await t.make(`GET ${at}/${contract_key}/versions/draft`)
  expect(findings).toMatchObject([
    { code: 'counter_example_admitted', pointer: '/counter_examples/0/violates/0', severity: 'error' },
  ])
  expect(reading).toContain(
    'A company is dissolved after it was incorporated: dissolved_on > incorporated_on; otherwise the record is refused.',
  )
  const refused = await w.call(`POST ${at}/${contract_key}/versions/draft/publish`, { token, body: {} })
  expect([refused.status, refused.json.code]).toEqual([409, 'definition_invalid'])
})

test('the retention policy removes the bytes and keeps hash, admission and facts', async () => {
  const contract_key = await createActive()
  const payload_id = await createPayload(t, contract_key, companyPayload([companyRecord(1)]))
  const { removeOldPayloadContents } = await import('#modules/tenant/queries.ts')
  const [gone] = await t.write((tx) => removeOldPayloadContents(tx, 1, 1000))
  expect(gone?.removed).toBeGreaterThan(0)
  const [stored] = await t.write((tx) => findStoredPayloads(tx, [payload_id]))
  expect(stored).toMatchObject({ content: null, payload_hash: expect.stringMatching(/^[0-9a-f]{64}$/) })
  const { admission_id } = await admissionOf(payload_id)
  const facts = await t.write((tx) => findAdmittedFacts(tx, w.kernel, admission_id))
  expect(facts.records).toHaveLength(1)
})

test('counts what waits of each contract, and filters the quarantine by the keyword of a violation', async () => {
  const [contract_key, other] = [await createActive(), await createActive()]
  await createPayload(t, contract_key, companyPayload([companyRecord(1)]))
  const wrongValue = await createPayload(t, contract_key, struckOff)
  const missing = await createPayload(t, contract_key, companyPayload([{ number: '10000001' }]))
  const { items } = await t.make(`GET ${at}/activity`)
  const find = (key: string) => items.find((one: { contract_key: string }) => one.contract_key === key)
  expect(find(contract_key)).toMatchObject({
    open_quarantine: 2,
    drift_findings: 0,
    last_payload_at: '2026-01-20T00:00:00.000000Z',
    last_result: 'quarantined',
  })
  expect(find(other)).toMatchObject({ open_quarantine: 0, last_payload_at: null, last_result: null })
  const list = async (keyword: string): Promise<string[]> =>
    (await t.make(`GET ${at}/quarantine?contract_key=${contract_key}&keyword=${keyword}`)).items.map(
      ({ payload_id }: { payload_id: string }) => payload_id,
    )
  expect(await list('enum')).toEqual([wrongValue])
  expect(await list('required')).toEqual([missing])
  expect(await list('pattern')).toEqual([])
})

test('inference answers 404 for an unknown upload, as it declares', async () => {
  const body = { upload_id: uuidv7() }
  const reply = await w.call(`POST ${at}/infer`, { token: await t.token(), body })
  expect(reply.status).toBe(404)
  expect(inferenceRoutes.find(({ id }) => id === 'inferSourceContract')?.problems).toContain('not_found')
})

test('inference needs one source of samples, and a word of its paths is no key', async () => {
  const token = await t.token()
  const empty = await w.call(`POST ${at}/infer`, { token, body: {} })
  expect([empty.status, empty.json.code]).toEqual([409, 'source_invalid'])
  expect(empty.json.detail).toBe('Give exactly one of payloads, upload_id and recent.')
  const body = { contract_key: 'infer', title: 'Registry', definition: companyContract() }
  const reserved = await w.call(`POST ${at}`, { token, body })
  expect([reserved.status, reserved.json.code]).toEqual([409, 'list_key_reserved'])
  expect(reserved.json.detail).toBe(
    '"infer" is a word of the paths below /api/source-contracts, so no contract can have it as its key.',
  )
})

test('a check of XML returns the JSON that pointers refer to', async () => {
  const contract_key = await createActive()
  const check = (text: string) =>
    t.make(`POST ${at}/${contract_key}/versions/1/check`, { body: { text, media_type: 'application/xml' } })
  const text = '<result><items><number>1</number></items></result>'
  expect(await check(text)).toMatchObject({
    result: 'quarantined',
    converted: { result: { items: [{ number: '1' }] } },
  })
  expect(await check('<a>')).toMatchObject({ violations: [{ keyword: 'xml' }], converted: null })
})

test('a version of the tenant is compared with the shared version that it replaces', async () => {
  const shared = await t.make(`GET ${at}/company-registry?origin=shared`)
  const text = await t.make(`GET ${at}/company-registry/versions/${shared.active.version}?origin=shared`)
  const facts = text.definition.facts.filter(({ name }: { name: string }) => name !== 'status')
  const definition = { ...text.definition, facts }
  await t.make(`POST ${at}`, { body: { contract_key: 'company-registry', title: 'Own', definition } })
  await t.make(`POST ${at}/company-registry/versions/draft/publish`, { body: {} })
  const query = `from=${shared.active.version}&from_origin=shared&to=1&origin=own`
  const { fact_changes } = await t.make(`GET ${at}/company-registry/diff?${query}`)
  expect(fact_changes).toContainEqual({ fact: 'status', change: 'removed', breaks_readers: true })
})
