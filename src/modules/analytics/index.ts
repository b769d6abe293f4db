/** Public interface of the analytics router: the overview by role, and the portfolio by risk band over time. */
import type { Module } from '#kernel/module.ts'
import { insertCanaryRows } from './canary.ts'
import { createPortfolioJob } from './portfolio/portfolio-job.ts'
import { analyticsRoutes } from './routes.ts'

export { listBands } from './portfolio/bands.ts'
export { PORTFOLIO_DAYS } from './portfolio/portfolio-job.ts'

export { getRiskDistribution } from './portfolio/risk-distribution.ts'

export const analytics: Module = {
  name: 'analytics',
  segments: ['analytics'],
  tier: 'views',
  summary: 'What needs attention, by role, and how the portfolio moves between risk bands.',
  routes: analyticsRoutes,
  jobs: [createPortfolioJob()],
  canary_table: 'portfolio_day',
  canary: insertCanaryRows,
}
