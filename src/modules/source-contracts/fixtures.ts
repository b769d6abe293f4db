/** Test fixtures of the source-contracts router: one valid call per operation. */
import { fullScope } from '#kernel/database/scope.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { companyContract, companyPayload, companyRecord } from '#test/support/company-registry.ts'
import type { ExampleTenant } from '#test/support/example-tenant.ts'
import {
  createOncePerTenant,
  type Fixture,
  type Fixtures,
  listReasonedOperations,
  noInput,
  type TextsInEvents,
} from '#test/support/operation-fixture.ts'
import { admitPayload } from './admissions.ts'
import { closeWindow, insertDriftFindings, insertWindow, listDriftFindings } from './drift/queries.ts'
import { storePayload } from './payloads.ts'

const at = '/source-contracts'
const title = 'Company registry extract'
const SHARED = 'company-registry'
const oncePerTenant = createOncePerTenant()
const newKey = () => `company-registry-${uuidv7().slice(-12)}`

async function createDrafted(t: ExampleTenant): Promise<string> {
  const contract_key = newKey()
  await t.make(`POST ${at}`, { body: { contract_key, title, definition: companyContract() } })
  return contract_key
}

/** Two versions, and no draft. */
async function createPublished(t: ExampleTenant, active: readonly number[] = []): Promise<string> {
  const key = await createDrafted(t)
  await t.make(`POST ${at}/${key}/versions/draft/publish`, { body: {} })
  await t.make(`POST ${at}/${key}/versions`, { body: { definition: companyContract({ max_records: 400 }) } })
  await t.make(`POST ${at}/${key}/versions/draft/publish`, { body: { note: 'Fewer records' } })
  for (const version of active) {
    await t.make(`POST ${at}/${key}/activations`, { body: { version, reason: 'reviewed' } })
  }
  return key
}

const ensureActive = (t: ExampleTenant): Promise<string> =>
  oncePerTenant(t, 'contract', () => createPublished(t, [1, 2]))

/** A payload of the contract, admitted or refused. */
export async function createPayload(t: ExampleTenant, contract_key: string, payload: unknown): Promise<string> {
  const payload_id = await t.write((tx) =>
    storePayload(tx, t.w.kernel, {
      contract_key,
      media_type: 'application/json',
      bytes: Buffer.from(JSON.stringify(payload)),
      source_kind: 'example',
      source_id: uuidv7(),
      received_at: '2026-01-20T00:00:00.000Z',
    }),
  )
  await admitPayload(t.w.kernel, fullScope(t.tenant_id, 'operator:test'), { payload_id })
  return payload_id
}

const createQuarantined = async (t: ExampleTenant): Promise<string> =>
  createPayload(t, await ensureActive(t), companyPayload([companyRecord(1, { status: 'struck off' })]))

/** Several, so that each is acknowledged once. */
async function createFinding(t: ExampleTenant): Promise<{ contract_key: string; finding_id: string }> {
  const contract_key = await ensureActive(t)
  const window_id = uuidv7()
  const pointer = `/vat-${window_id.slice(-12)}`
  const [finding] = await t.write(async (tx) => {
    await insertWindow(tx, {
      ...{ window_id, contract_key, contract_version: 2, payload_count: 30, record_count: 30, sketch: Buffer.alloc(1) },
      ...{ last_admission_id: uuidv7(), opened_at: '2026-01-20T00:00:00.000Z' },
    })
    await closeWindow(tx, window_id, false)
    const of = { window_id, contract_key, contract_version: 2 }
    const facts = { share: 0.5, declared: false }
    await insertDriftFindings(tx, of, [{ kind: 'new_member', pointer, item: '', facts, first_payload_id: null }])
    return listDriftFindings(tx, { contract_key, acknowledged: null }, null, 1)
  })
  return { contract_key, finding_id: finding?.finding_id as string }
}

const onShared = { params: { contract_key: SHARED }, shared: true as const }
const buildPin = async (t: ExampleTenant) => {
  const { active } = await t.make(`GET ${at}/${SHARED}`)
  return { version: (active as { version: number }).version, reason: 'in review' }
}

const one: Fixture = async (t) => ({ params: { contract_key: await ensureActive(t) } })
const version: Fixture = async (t) => ({ params: { contract_key: await ensureActive(t), version: '1' } })
const draft: Fixture = async (t) => ({ params: { contract_key: await createDrafted(t), version: 'draft' } })
const quarantined: Fixture = async (t) => ({ params: { payload_id: await createQuarantined(t) } })
const withBody =
  (fixture: Fixture, body: unknown): Fixture =>
  async (t, role) => ({ ...(await fixture(t, role)), body })

export const textsInEvents: TextsInEvents = [...listReasonedOperations('SourceContract'), 'publishSourceContractDraft']

export const fixtures: Fixtures = {
  listSourceContracts: noInput,
  createSourceContract: () => ({ body: { contract_key: newKey(), title, definition: companyContract() } }),
  getSourceContract: one,
  updateSourceContract: withBody(one, { owner: 'Financial crime policy' }),
  archiveSourceContract: async (t) => ({ params: { contract_key: await createDrafted(t) } }),
  listSourceContractDependencies: one,
  listSourceContractVersions: one,
  createSourceContractDraft: async (t) => ({ params: { contract_key: await createPublished(t) }, body: {} }),
  getSourceContractVersion: version,
  updateSourceContractDraft: withBody(draft, { definition: companyContract() }),
  deleteSourceContractDraft: draft,
  publishSourceContractDraft: withBody(draft, {}),
  diffSourceContractVersions: async (t) => ({
    params: { contract_key: await ensureActive(t) },
    query: { from: '1', to: '2' },
  }),
  listSourceContractActivations: one,
  activateSourceContractVersion: async (t) => ({
    params: { contract_key: await createPublished(t) },
    body: { version: 1, reason: 'reviewed' },
  }),
  submitSourceContractVersion: withBody(version, { reason: 'The registry changed its answers' }),
  rollBackSourceContract: async (t) => ({
    params: { contract_key: await createPublished(t, [1, 2]) },
    body: { reason: 'Version 2 refuses long answers' },
  }),
  deleteSourceContractActivation: async (t) => {
    const contract_key = await createPublished(t)
    const body = { version: 1, reason: 'later', effective_from: '2090-01-01T00:00:00Z' }
    const { activation_id } = await t.make(`POST ${at}/${contract_key}/activations`, { body })
    return { params: { contract_key, activation_id: activation_id as string } }
  },
  pinSourceContract: async (t) => ({ ...onShared, body: await buildPin(t) }),
  unpinSourceContract: async (t) => {
    await t.make(`POST ${at}/${SHARED}/pin`, { body: await buildPin(t) })
    return { ...onShared, body: { reason: 'reviewed' } }
  },
  checkSourceContractPayload: withBody(version, {
    payload: companyPayload([companyRecord(1, { status: 'struck off' })]),
    received_at: '2026-01-20T00:00:00Z',
  }),
  inferSourceContract: () => ({
    body: { payloads: [companyPayload([1, 2, 3].map((number) => companyRecord(number)))] },
  }),
  convertOdcsContract: () => ({
    body: {
      document: {
        apiVersion: 'v3.1.0',
        kind: 'DataContract',
        id: 'companies',
        version: '1.0.0',
        status: 'active',
        schema: [
          {
            name: 'company',
            properties: [
              { name: 'number', logicalType: 'string', required: true },
              { name: 'founded', logicalType: 'date' },
            ],
          },
        ],
      },
    },
  }),
  getSourceContractOdcs: version,
  getSourceContractLineage: one,
  listSourceContractDrift: one,
  acknowledgeDriftFinding: async (t) => ({
    params: await createFinding(t),
    body: { note: 'The registry announced the new member' },
  }),
  listSourceContractActivity: async (t) => {
    await createQuarantined(t)
    return {}
  },
  listQuarantinedPayloads: async (t) => {
    await createQuarantined(t)
    return {}
  },
  getQuarantinedPayload: quarantined,
  resolveQuarantinedPayload: withBody(quarantined, {
    action: 'provider_fault',
    reason: 'The registry sent a status that it does not document',
  }),
  reprocessQuarantinedPayload: withBody(quarantined, {}),
}
