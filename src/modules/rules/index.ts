/** Door of the rules router: the same definitions as matrices, with hit or no hit instead of a score. */
import type { Module } from '#kernel/module.ts'
import { createAllRoutes } from '#modules/risk-matrices/index.ts'
import { performanceRoutes } from './performance/routes.ts'
import { ruleRoutes } from './routes.ts'
import { ruleKind } from './schema.ts'

export { ruleKind } from './schema.ts'

export const rules: Module = {
  name: 'rules',
  segments: ['rules'],
  tier: 'domain',
  summary: 'Rules: decision tables that say hit or no hit, versioned, proved and put in force like matrices.',
  routes: [...ruleRoutes, ...createAllRoutes(ruleKind), ...performanceRoutes],
  jobs: [],
  canary: async () => {},
}
