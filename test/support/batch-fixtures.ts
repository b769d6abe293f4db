/** Examples of batches: ordered, run to the end, and stopped, for a tenant with a policy of its own. */
import { policyOf } from './evaluation-fixtures.ts'
import type { ExampleTenant } from './example-tenant.ts'
import type { Fixture, Fixtures } from './fixtures.ts'

export interface Started {
  readonly batch_id: string
  readonly job: { readonly job_id: string; readonly state: string }
}

export const uploadText = async (t: ExampleTenant, payload: string, file_name = 'items.csv'): Promise<string> => {
  const headers = { 'content-type': 'application/octet-stream' }
  return (await t.make(`POST /uploads?file_name=${file_name}`, { payload, headers })).upload_id
}

/** Two items, one of which fails. */
const order = async (t: ExampleTenant) => ({
  matrix_key: (await policyOf(t)).matrix_key,
  items: [
    { external_id: 'batch-1', inputs: { country: 'IR' } },
    { external_id: 'batch-2', inputs: {} },
  ],
})

export async function startBatch(t: ExampleTenant, body: object): Promise<Started> {
  const job = await t.make('POST /batch-evaluations', { body })
  return { batch_id: job.resource.split('/').at(-1), job }
}

export async function ranBatch(t: ExampleTenant, body: object): Promise<string> {
  const { batch_id, job } = await startBatch(t, body)
  await t.ran(job)
  return batch_id
}

const ended = new WeakMap<ExampleTenant, Promise<string>>()
/** Run to its end once per tenant. */
function batchOf(t: ExampleTenant): Promise<string> {
  const known = ended.get(t) ?? order(t).then((body) => ranBatch(t, body))
  ended.set(t, known)
  return known
}

const waiting = async (t: ExampleTenant): Promise<string> => (await startBatch(t, await order(t))).batch_id
const one: Fixture = async (t) => ({ params: { batch_id: await batchOf(t) } })

export const batches: Fixtures = {
  estimateBatchEvaluation: async (t) => ({ body: await order(t) }),
  startBatchEvaluation: async (t) => ({ body: await order(t) }),
  listBatchEvaluations: async (t) => {
    await batchOf(t)
    return {}
  },
  getBatchEvaluation: one,
  cancelBatchEvaluation: async (t) => ({ params: { batch_id: await waiting(t) } }),
  resumeBatchEvaluation: async (t) => {
    const batch_id = await waiting(t)
    await t.make(`POST /batch-evaluations/${batch_id}/cancel`)
    return { params: { batch_id } }
  },
  retryBatchItems: async (t) => ({ params: { batch_id: await ranBatch(t, await order(t)) } }),
  listBatchItems: one,
  getBatchItemExplanation: async (t) => ({ params: { batch_id: await batchOf(t), seq: '1' } }),
  getBatchSummary: one,
  getBatchContent: one,
  diffBatchEvaluations: async (t) => {
    const other_batch_id = await ranBatch(t, await order(t))
    return { params: { batch_id: await batchOf(t), other_batch_id } }
  },
}
