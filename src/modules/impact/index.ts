/**
 * Door of impact runs, backtests and coverage: what a list, matrix, rule or overlay would have changed in past decisions,
 * measured before it is put in force, and which parts of a definition they used. Its paths lie below those of what is measured.
 */
import type { Module } from '../../kernel/route.ts'
import { APPROVAL } from '../change-requests/index.ts'
import { matrixKind } from '../risk-matrices/index.ts'
import { ruleKind } from '../rules/index.ts'
import { backtestRoutes } from './backtests/routes.ts'
import { plantCanary } from './canary.ts'
import { MEASURED_ACTIONS } from './candidates/actions.ts'
import { coverageRoutes } from './coverage/routes.ts'
import { reviewApproval } from './gates/actions.ts'
import { impactRun } from './jobs.ts'
import { impactRoutes } from './routes.ts'

export const impact: Module = {
  name: 'impact',
  segments: ['reference-data', 'risk-matrices', 'rules', 'change-requests'],
  tier: 'domain',
  summary: 'Impact runs and backtests: what a change would have done to past decisions, before anyone approves it.',
  routes: [
    ...impactRoutes,
    ...[matrixKind, ruleKind].flatMap((kind) => [...backtestRoutes(kind), ...coverageRoutes(kind)]),
  ],
  jobs: [impactRun(500)],
  canary_table: 'impact_run',
  canary: plantCanary,
  reviews: { [APPROVAL]: reviewApproval },
  measures: MEASURED_ACTIONS,
}
