/** Public interface of the batch-evaluations router: decisions about many subjects on one receipt. */
import type { Module } from '#kernel/module.ts'
import { batchSource } from './batch-source.ts'
import { insertCanaryRows } from './canary.ts'
import { compareRoutes } from './compare/routes.ts'
import { batchCompleted, batchEvaluationJob } from './jobs.ts'
import { plainInlineItems, plainItems } from './plain-items.ts'
import { resultRoutes } from './results/routes.ts'
import { batchRoutes } from './routes.ts'
import { batchErasure } from './schedules/queries.ts'
import { scheduleRoutes } from './schedules/routes.ts'
import { scheduledBatchJob } from './schedules/schedule-job.ts'

export { explainSubject } from './results/read-results.ts'
export * as scheduleTimes from './schedules/index.ts'
export { openContents } from './stored-items.ts'

export const batchEvaluations: Module = {
  name: 'batch-evaluations',
  segments: ['batch-evaluations'],
  tier: 'domain',
  summary: 'Portfolio-wide decisions: estimate, run, resume, summarise, compare and schedule.',
  routes: [...scheduleRoutes, ...batchRoutes, ...resultRoutes, ...compareRoutes],
  jobs: [batchEvaluationJob, scheduledBatchJob],
  events: [batchCompleted],
  constraints: { batch_schedule_name_key: ['duplicate', 'A schedule with this name exists already.'] },
  search: {
    sources: [batchSource],
    unsearched: {
      getBatchSchedule: 'There are few schedules, all on one page.',
      diffBatchEvaluations: 'A comparison of two batches, which are found themselves.',
    },
  },
  erases: [batchErasure],
  plain_copies: [plainItems, plainInlineItems],
  canary_table: 'batch_evaluation',
  canary: insertCanaryRows,
}
