/** Test fixtures of the reference-data router: one valid call per operation, on a list with two versions, the second in force. */
import { uuidv7 } from '#kernel/uuid.ts'
import type { ExampleTenant } from '#test/support/example-tenant.ts'
import {
  createOncePerTenant,
  type Fixture,
  type Fixtures,
  listReasonedOperations,
  noInput,
  type TextsInEvents,
} from '#test/support/operation-fixture.ts'

export const SHARED_LIST = 'jurisdiction-risk'
/** A shared list with a change that its policy allows. No matrix reads it, so that nothing has to be proved again for each call. */
const OVERLAY_LIST = 'screening-thresholds'
const STRICTER_ENTRY = { key: 'pep', op: 'merge', value: { possible_bps: 8000 } }

export const typeBody = () => ({
  title: 'Country rating',
  description: 'How risky a country is held to be.',
  schema: {
    type: 'object',
    properties: { code: { type: 'string', maxLength: 50 }, rating: { type: 'string', enum: ['low', 'high'] } },
    required: ['code', 'rating'],
    additionalProperties: false,
  },
  key_pointers: ['/code'],
  examples: [{ code: 'A', rating: 'low' }],
})
const first = [
  { code: 'A', rating: 'low' },
  { code: 'B', rating: 'high' },
]
const second = [...first, { code: 'C', rating: 'low' }]

const newKey = (name: string) => `${name}-${uuidv7().slice(-12)}`

const oncePerTenant = createOncePerTenant()

async function newType(t: ExampleTenant): Promise<string> {
  const type_key = newKey('country-rating')
  await t.make('POST /reference-data/types', { body: { type_key, ...typeBody() } })
  return type_key
}
const ensureType = (t: ExampleTenant) => oncePerTenant(t, 'type', () => newType(t))

async function newList(t: ExampleTenant, active = true): Promise<string> {
  const list_key = newKey('country-ratings')
  const path = `/reference-data/datasets/${list_key}`
  await t.make('POST /reference-data/datasets', {
    body: { list_key, type_key: await ensureType(t), title: 'Country ratings' },
  })
  for (const data of [first, second]) await t.make(`POST ${path}/versions`, { body: { data } })
  const versions = active ? [1, 2] : []
  for (const version of versions) await t.make(`POST ${path}/activations`, { body: { version, reason: 'reviewed' } })
  return list_key
}
export const ensureList = (t: ExampleTenant): Promise<string> => oncePerTenant(t, 'list', () => newList(t))

async function newScheduledActivation(t: ExampleTenant) {
  const list_key = await newList(t)
  const body = { version: 1, reason: 'later', effective_from: '2090-01-01T00:00:00Z' }
  const { activation_id } = await t.make(`POST /reference-data/datasets/${list_key}/activations`, { body })
  return { list_key, activation_id }
}

async function newUpload(t: ExampleTenant, text: string): Promise<string> {
  const headers = { 'content-type': 'application/octet-stream' }
  return (await t.make('POST /uploads?file_name=list.ndjson', { payload: text, headers })).upload_id
}
async function startImport(t: ExampleTenant) {
  const upload_id = await newUpload(t, `${second.map((entry) => JSON.stringify(entry)).join('\n')}\n{"code":"D"}\n`)
  const body = { list_key: await newList(t, false), upload_id, adapter_key: 'ndjson' }
  const job = await t.make('POST /reference-data/imports', { body })
  return { job, import_id: job.resource.split('/').at(-1) as string }
}
const ensureImport = (t: ExampleTenant) =>
  oncePerTenant(t, 'import', async () => {
    const { job, import_id } = await startImport(t)
    await t.runToEnd(job)
    return import_id
  })
const ensureExport = (t: ExampleTenant) =>
  oncePerTenant(t, 'export', async () => {
    const job = await t.make('POST /reference-data/exports', { body: { list_keys: [await ensureList(t)] } })
    await t.runToEnd(job)
    return job.resource.split('/').at(-1) as string
  })

const list: Fixture = async (t) => ({ params: { list_key: await ensureList(t) } })
const version: Fixture = async (t) => ({ params: { list_key: await ensureList(t), version: '1' } })
const type: Fixture = async (t) => ({ params: { type_key: await ensureType(t) } })

async function pinSharedList(t: ExampleTenant): Promise<void> {
  const body = { version: 1, reason: 'in review', expires_at: new Date(Date.now() + 86_400_000).toISOString() }
  await t.make(`POST /reference-data/datasets/${SHARED_LIST}/pin`, { body })
}
const putOverlay = (t: ExampleTenant) =>
  t.make(`PUT /reference-data/datasets/${OVERLAY_LIST}/overlay`, {
    body: { entries: [STRICTER_ENTRY], reason: 'house view' },
  })

const onShared = { params: { list_key: SHARED_LIST }, shared: true } as const
const onOverlay = { params: { list_key: OVERLAY_LIST }, shared: true } as const

export const textsInEvents: TextsInEvents = [
  ...listReasonedOperations('Dataset'),
  'updateDatasetVersion',
  'updateOverlay',
]

export const fixtures: Fixtures = {
  listDatasets: noInput,
  listDatasetsAtRoot: noInput,
  createDataset: async (t) => ({
    body: { list_key: newKey('country-ratings'), type_key: await ensureType(t), title: 'Country ratings' },
  }),
  getDataset: list,
  updateDataset: async (t) => ({
    params: { list_key: await ensureList(t) },
    body: { owner: 'Financial crime policy' },
  }),
  archiveDataset: async (t) => ({ params: { list_key: await newList(t, false) } }),
  listDependents: list,
  listDatasetVersions: list,
  createDatasetVersion: async (t) => ({ params: { list_key: await newList(t) }, body: { data: first } }),
  getDatasetVersion: version,
  updateDatasetVersion: async (t) => ({
    params: { list_key: await newList(t), version: '1' },
    body: { state: 'deprecated', reason: 'Superseded by version 2' },
  }),
  listDatasetEntries: version,
  getProvenance: version,
  exportDatasetVersion: version,
  getProof: async (t) => ({ params: { list_key: await ensureList(t), version: '1' }, query: { key: 'A' } }),
  diffDatasetVersions: async (t) => ({ params: { list_key: await ensureList(t) }, query: { from: '1', to: '2' } }),
  startDifferenceSummary: async (t) => ({ params: { list_key: await ensureList(t) }, body: { from: '1', to: '2' } }),
  submitDatasetVersion: async (t) => ({
    params: { list_key: await newList(t), version: '1' },
    body: { reason: 'Annual review of country ratings' },
  }),
  listActivations: list,
  activateDatasetVersion: async (t) => ({
    params: { list_key: await newList(t, false) },
    body: { version: 1, reason: 'reviewed' },
  }),
  rollBackDataset: async (t) => ({
    params: { list_key: await newList(t) },
    body: { reason: 'Version 2 has a wrong rating' },
  }),
  deleteActivation: async (t) => ({ params: await newScheduledActivation(t) }),
  pinDataset: () => ({
    ...onShared,
    body: { version: 1, reason: 'in review', expires_at: new Date(Date.now() + 86_400_000).toISOString() },
  }),
  unpinDataset: async (t) => {
    await pinSharedList(t)
    return { ...onShared, body: { reason: 'reviewed' } }
  },
  listDatasetTypes: noInput,
  listDatasetTypesAtRoot: noInput,
  createDatasetType: () => ({ body: { type_key: newKey('country-rating'), ...typeBody() } }),
  getDatasetType: type,
  listDatasetTypeVersions: type,
  createDatasetTypeVersion: async (t) => ({ params: { type_key: await newType(t) }, body: typeBody() }),
  validateEntries: async (t) => ({ params: { type_key: await ensureType(t) }, body: { data: first } }),
  listAdapters: noInput,
  listAdaptersAtRoot: noInput,
  getAdapter: () => ({ params: { adapter_key: 'csv' }, shared: true }),
  previewAdapter: async (t) => ({
    params: { adapter_key: 'ndjson' },
    shared: true,
    body: { text: '{"code":"A","rating":"low"}\n', type_key: await ensureType(t) },
  }),
  detectSource: async (t) => ({
    shared: true,
    body: { upload_id: await newUpload(t, '{"code":"A","rating":"low"}\n') },
  }),
  startImport: async (t) => ({
    body: { list_key: await ensureList(t), upload_id: await newUpload(t, '{}\n'), adapter_key: 'ndjson' },
  }),
  listImports: noInput,
  getImport: async (t) => ({ params: { import_id: await ensureImport(t) } }),
  listImportRejects: async (t) => ({ params: { import_id: await ensureImport(t) } }),
  exportImportRejects: async (t) => ({ params: { import_id: await ensureImport(t) } }),
  cancelImport: async (t) => ({ params: { import_id: (await startImport(t)).import_id } }),
  resolveList: list,
  resolveEntry: async (t) => ({ params: { list_key: await ensureList(t) }, query: { key: 'A' } }),
  resolveLists: async (t) => ({ body: { list_keys: [await ensureList(t)] } }),
  getReceipt: async (t) => ({
    params: {
      receipt_id: (await t.make('POST /reference-data/resolve', { body: { list_keys: [await ensureList(t)] } })).receipt
        .receipt_id,
    },
  }),
  lookUpEntries: async (t) => ({ body: { lookups: [{ list_key: await ensureList(t), keys: ['A'] }] } }),
  getOverlay: async (t) => {
    await putOverlay(t)
    return onOverlay
  },
  updateOverlay: () => ({ ...onOverlay, body: { entries: [STRICTER_ENTRY], reason: 'house view' } }),
  deleteOverlay: async (t) => {
    await putOverlay(t)
    return onOverlay
  },
  rebaseOverlay: async (t) => {
    await putOverlay(t)
    return { ...onOverlay, body: {} }
  },
  startExport: async (t) => ({ body: { list_keys: [await ensureList(t)] } }),
  getExport: async (t) => ({ params: { export_id: await ensureExport(t) } }),
  getExportContent: async (t) => ({ params: { export_id: await ensureExport(t) } }),
  listSeeds: noInput,
  listOperatorEvents: noInput,
}
