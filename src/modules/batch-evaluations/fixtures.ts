/** Test fixtures of the batch-evaluations router: one valid call per operation. */
import { uuidv7 } from '#kernel/uuid.ts'
import { ensurePolicy } from '#test/support/example-policy.ts'
import type { ExampleTenant } from '#test/support/example-tenant.ts'
import { createOncePerTenant, type Fixture, type Fixtures } from '#test/support/operation-fixture.ts'

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

const oncePerTenant = createOncePerTenant()
const ensureBatch = (t: ExampleTenant): Promise<string> =>
  oncePerTenant(t, 'ended batch', async () => runBatch(t, await buildRequest(t)))

const startQueuedBatch = async (t: ExampleTenant): Promise<string> =>
  (await startBatch(t, await buildRequest(t))).batch_id
/** Its next time is a 29 February, so that no run starts while a test runs. */
export const buildSchedule = async (t: ExampleTenant) => ({
  name: `Private customers, yearly ${uuidv7()}`,
  matrix_key: (await ensurePolicy(t)).matrix_key,
  filter: { segment: 'private' },
  cron: '0 6 29 2 *',
  time_zone: 'Europe/Berlin',
})

export const newSchedule = async (t: ExampleTenant, more: object = {}): Promise<string> =>
  (await t.make('POST /batch-evaluations/schedules', { body: { ...(await buildSchedule(t)), ...more } })).schedule_id

const one: Fixture = async (t) => ({ params: { batch_id: await ensureBatch(t) } })

const schedule: Fixture = async (t) => ({ params: { schedule_id: await newSchedule(t) } })

export const fixtures: Fixtures = {
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
  listBatchSchedules: async (t) => {
    await newSchedule(t)
    return {}
  },
  createBatchSchedule: async (t) => ({ body: await buildSchedule(t) }),
  getBatchSchedule: schedule,
  updateBatchSchedule: async (t) => ({ params: { schedule_id: await newSchedule(t) }, body: { paused: true } }),
  deleteBatchSchedule: schedule,
  startBatchSchedule: schedule,
  listBatchScheduleRuns: async (t) => {
    const schedule_id = await newSchedule(t)
    await t.make(`POST /batch-evaluations/schedules/${schedule_id}/run`)
    return { params: { schedule_id } }
  },
}
