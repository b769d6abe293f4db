/** Door of the batch-evaluations router: decisions about many at once, on one receipt. */
import type { Module } from '../../kernel/route.ts'
import { plantCanary } from './canary.ts'
import { compareRoutes } from './compare/routes.ts'
import { batchEvaluation } from './jobs.ts'
import { resultRoutes } from './results/routes.ts'
import { batchRoutes } from './routes.ts'
import { scheduledBatch } from './schedules/jobs.ts'
import { scheduleRoutes } from './schedules/routes.ts'

export const batchEvaluations: Module = {
  name: 'batch-evaluations',
  segments: ['batch-evaluations'],
  tier: 'domain',
  summary: 'Portfolio-wide decisions: estimate, run, resume, summarise, compare and schedule.',
  routes: [...scheduleRoutes, ...batchRoutes, ...resultRoutes, ...compareRoutes],
  jobs: [batchEvaluation, scheduledBatch],
  constraints: { batch_schedule_name_key: ['duplicate', 'A schedule with this name exists already.'] },
  canary_table: 'batch_evaluation',
  canary: plantCanary,
}
