/** Examples of recurring batches and of how rules perform; their times lie far enough ahead not to come while a test runs. */
import { uuidv7 } from '#kernel/uuid.ts'
import { smallRule } from './definition-fixtures.ts'
import { ensurePolicy } from './evaluation-fixtures.ts'
import type { ExampleTenant } from './example-tenant.ts'
import type { Fixture, Fixtures } from './fixtures.ts'

export const buildSchedule = async (t: ExampleTenant) => ({
  name: `Yearly ${uuidv7()}`,
  matrix_key: (await ensurePolicy(t)).matrix_key,
  filter: { segment: 'private' },
  cron: '0 6 29 2 *',
  time_zone: 'Europe/Berlin',
})

export const newSchedule = async (t: ExampleTenant, more: object = {}): Promise<string> =>
  (await t.make('POST /batch-evaluations/schedules', { body: { ...(await buildSchedule(t)), ...more } })).schedule_id

const one: Fixture = async (t) => ({ params: { schedule_id: await newSchedule(t) } })

export const scheduleFixtures: Fixtures = {
  listBatchSchedules: async (t) => {
    await newSchedule(t)
    return {}
  },
  createBatchSchedule: async (t) => ({ body: await buildSchedule(t) }),
  getBatchSchedule: one,
  updateBatchSchedule: async (t) => ({ params: { schedule_id: await newSchedule(t) }, body: { paused: true } }),
  deleteBatchSchedule: one,
  startBatchSchedule: one,
  listBatchScheduleRuns: async (t) => {
    const schedule_id = await newSchedule(t)
    await t.make(`POST /batch-evaluations/schedules/${schedule_id}/run`)
    return { params: { schedule_id } }
  },
  getRulePerformance: async (t) => {
    const rule_key = `performing-${uuidv7().slice(-12)}`
    await t.make('POST /rules', { body: { rule_key, title: 'Performing', definition: smallRule() } })
    return { params: { rule_key }, query: { positive_band: 'high', cost_per_hit: '1000' } }
  },
}
