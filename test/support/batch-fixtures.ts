/** Examples of batches: ordered, run to the end, and stopped, for a tenant with a policy of its own. */
import { ensurePolicy } from './evaluation-fixtures.ts'
import type { ExampleTenant } from './example-tenant.ts'
import type { Fixture, Fixtures } from './fixtures.ts'

export interface StartedBatch {
  readonly batch_id: string
  readonly job: { readonly job_id: string; readonly state: string }
}

export const uploadText = async (t: ExampleTenant, payload: string, file_name = 'items.csv'): Promise<string> => {
  const headers = { 'content-type': 'application/octet-stream' }
  return (await t.make(`POST /uploads?file_name=${file_name}`, { payload, headers })).upload_id
}

/** Two items, one of which fails. */
const buildRequest = async (t: ExampleTenant) => ({
  matrix_key: (await ensurePolicy(t)).matrix_key,
  items: [
    { external_id: 'batch-1', inputs: { country: 'IR' } },
    { external_id: 'batch-2', inputs: {} },
  ],
})

export async function startBatch(t: ExampleTenant, body: object): Promise<StartedBatch> {
  const job = await t.make('POST /batch-evaluations', { body })
  return { batch_id: job.resource.split('/').at(-1), job }
}

export async function runBatch(t: ExampleTenant, body: object): Promise<string> {
  const { batch_id, job } = await startBatch(t, body)
  await t.runToEnd(job)
  return batch_id
}

const endedBatches = new WeakMap<ExampleTenant, Promise<string>>()
/** Run to its end once per tenant. */
function ensureBatch(t: ExampleTenant): Promise<string> {
  const known = endedBatches.get(t) ?? buildRequest(t).then((body) => runBatch(t, body))
  endedBatches.set(t, known)
  return known
}

const startQueuedBatch = async (t: ExampleTenant): Promise<string> =>
  (await startBatch(t, await buildRequest(t))).batch_id
const one: Fixture = async (t) => ({ params: { batch_id: await ensureBatch(t) } })

export const batchFixtures: Fixtures = {
  estimateBatchEvaluation: async (t) => ({ body: await buildRequest(t) }),
  startBatchEvaluation: async (t) => ({ body: await buildRequest(t) }),
  listBatchEvaluations: async (t) => {
    await ensureBatch(t)
    return {}
  },
  getBatchEvaluation: one,
  cancelBatchEvaluation: async (t) => ({ params: { batch_id: await startQueuedBatch(t) } }),
  resumeBatchEvaluation: async (t) => {
    const batch_id = await startQueuedBatch(t)
    await t.make(`POST /batch-evaluations/${batch_id}/cancel`)
    return { params: { batch_id } }
  },
  retryBatchItems: async (t) => ({ params: { batch_id: await runBatch(t, await buildRequest(t)) } }),
  listBatchItems: one,
  getBatchItemExplanation: async (t) => ({ params: { batch_id: await ensureBatch(t), seq: '1' } }),
  getBatchSummary: one,
  getBatchContent: one,
  diffBatchEvaluations: async (t) => {
    const other_batch_id = await runBatch(t, await buildRequest(t))
    return { params: { batch_id: await ensureBatch(t), other_batch_id } }
  },
}
