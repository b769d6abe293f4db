/** How a rule performs, below its own path. */
import { type Route, tenantRoute } from '../../../kernel/route.ts'
import { keyOf, schemasOf } from '../../risk-matrices/index.ts'
import { ruleKind } from '../schema.ts'
import { performanceOf } from './actions.ts'
import { Performance, PerformanceQuery } from './schema.ts'

export const performanceRoutes: readonly Route[] = [
  tenantRoute('GET /rules/:rule_key/performance', {
    id: 'getRulePerformance',
    summary: 'How often a rule hits, how often people confirm it, and what a confirmed hit costs',
    description:
      'Counts recorded decisions, single ones and those of batches. Whether a hit was right is known where a person has overridden ' +
      'the rating of its subject; what is not known is null, with the reason.',
    roles: ['policy_editor', 'compliance_officer', 'auditor'],
    tx: 'read',
    params: schemasOf(ruleKind).KeyParams,
    query: PerformanceQuery,
    reply: [200, Performance],
    limit: 'heavy',
    problems: ['not_found'],
  }).handle(({ tx, params, query }) => performanceOf(tx, keyOf(ruleKind, params), query)),
]
