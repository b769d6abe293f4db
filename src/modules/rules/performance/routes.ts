/** The route of rule performance. */
import { tenantRoute } from '#kernel/declare-route.ts'
import type { Route } from '#kernel/route.ts'
import { documentStore } from '#modules/definitions/index.ts'
import { ruleKind } from '../rule-kind.ts'
import { getPerformance } from './performance.ts'
import { PerformanceQuery, PerformanceView } from './schema.ts'

export const performanceRoutes: readonly Route[] = [
  tenantRoute('GET /rules/:rule_key/performance', {
    id: 'getRulePerformance',
    summary: 'How often a rule hits, how often people confirm it, and what a confirmed hit costs',
    description:
      'Counts recorded decisions, single ones and those of batches. Whether a hit was right is known where a person has overridden ' +
      'the rating of its subject; what is not known is null, with the reason.',
    roles: ['policy_editor', 'compliance_officer', 'auditor'],
    tx: 'read',
    params: documentStore.createDefinitionSchemas(ruleKind).KeyParams,
    query: PerformanceQuery,
    reply: [200, PerformanceView],
    problems: ['not_found'],
  }).handle(({ tx, params, query }) => getPerformance(tx, documentStore.getDefinitionKey(ruleKind, params), query)),
]
