/**
 * Public interface of impact runs, backtests and coverage: what a list, matrix, rule or overlay would have changed in past
 * decisions, and which parts of a definition they used. Its paths lie below those of what is measured.
 */
import type { Module } from '#kernel/module.ts'
import { PROPOSAL_REVIEW } from '#kernel/request/change-reviews.ts'
import { declareReview } from '#kernel/request/declare-review.ts'
import { APPROVAL_REVIEW } from '#modules/change-requests/index.ts'
import { reviewApproval } from './approval-gate.ts'
import { matrixBacktestRoutes, ruleBacktestRoutes } from './backtest-routes.ts'
import { insertCanaryRows } from './canary.ts'
import { MEASURED_ACTIONS } from './candidates.ts'
import { matrixCoverageRoute, ruleCoverageRoute } from './coverage/routes.ts'
import { createImpactRunJob } from './jobs.ts'
import { linkEarlierRun } from './link-earlier-run.ts'
import { impactErasure } from './queries.ts'
import { impactRoutes } from './routes.ts'

export const impact: Module = {
  name: 'impact',
  segments: ['reference-data', 'risk-matrices', 'rules', 'change-requests'],
  tier: 'domain',
  summary: 'Impact runs and backtests: what a change would have done to past decisions, before anyone approves it.',
  routes: [...impactRoutes, ...matrixBacktestRoutes, matrixCoverageRoute, ...ruleBacktestRoutes, ruleCoverageRoute],
  jobs: [createImpactRunJob(500)],
  search: {
    sources: [],
    unsearched: {
      getImpactRun: 'An impact run is opened from the change request or version it measures.',
      getRiskMatrixBacktest: 'A backtest is opened from its matrix.',
      getRuleBacktest: 'A backtest is opened from its rule.',
    },
  },
  erases: [impactErasure],
  canary_table: 'impact_run',
  canary: insertCanaryRows,
  reviews: {
    [APPROVAL_REVIEW]: declareReview({ uses: ['caches', 'plugin_policy', 'threads'], begin: reviewApproval }),
    [PROPOSAL_REVIEW]: declareReview({ uses: ['caches', 'plugin_policy', 'threads'], begin: linkEarlierRun }),
  },
  measures: MEASURED_ACTIONS,
}
