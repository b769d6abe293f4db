/** Public interface of the rules router: like matrices, with hit or no hit instead of a score. */
import type { Module } from '#kernel/module.ts'
import { definitionSearch } from '#modules/definitions/index.ts'
import { createDecisionRoutes } from '#modules/risk-matrices/index.ts'
import { performanceRoutes } from './performance/routes.ts'
import { ruleRoutes } from './routes.ts'
import { ruleKind } from './rule-kind.ts'

export { ruleKind } from './rule-kind.ts'

export const rules: Module = {
  name: 'rules',
  segments: ['rules'],
  tier: 'domain',
  summary: 'Rules: decision tables that say hit or no hit, versioned, proved and put in force like matrices.',
  routes: [...ruleRoutes, ...createDecisionRoutes(ruleKind), ...performanceRoutes],
  definition_kinds: [ruleKind],
  jobs: [],
  search: {
    sources: [
      definitionSearch.createDefinitionSource({
        kind: 'rule',
        family: 'rule',
        title: 'Rules',
        noun: 'Rule',
        operation: ruleKind.operations.get,
      }),
    ],
    unsearched: { getRuleVersion: 'A version is opened from its rule.' },
  },
  canary: async () => {},
}
