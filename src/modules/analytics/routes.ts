/** What needs the caller, and the portfolio by risk band over time. */
import { tenantRoute } from '#kernel/declare-route.ts'
import { actionFilters } from '#modules/risk-matrices/index.ts'
import { buildOverview } from './overview/build-overview.ts'
import { Overview } from './overview/schema.ts'
import { getRiskDistribution } from './portfolio/risk-distribution.ts'
import { Distribution, DistributionQuery } from './portfolio/schema.ts'

export const analyticsRoutes = [
  tenantRoute('GET /analytics/overview', {
    id: 'getOverview',
    summary: 'What needs the caller, by the roles it holds',
    description:
      'Each section answers for one role: an analyst gets what to follow up, a policy editor drafts and failed imports, who may ' +
      'approve the change requests that wait, described in words, an auditor the last verification and recent policy changes, an ' +
      'administrator keys, users and failed jobs. Editors, officers and auditors get the lists that are out of date or due for review. Every figure names the request that lists its rows.',
    roles: ['viewer', 'analyst', 'policy_editor', 'compliance_officer', 'auditor', 'tenant_admin'],
    tx: 'read',
    uses: ['caches', 'modules', 'routes'],
    reply: [200, Overview],
    redact: async (overview, reader) => {
      if (!overview.analyst) return overview
      const { decisions_with_actions } = overview.analyst
      const filter = await actionFilters.getActionFilter(
        reader,
        actionFilters.collectActions(...decisions_with_actions),
      )
      if (!filter) return overview
      const filtered = decisions_with_actions.map((decision) => actionFilters.filterActions(decision, filter))
      return { ...overview, analyst: { ...overview.analyst, decisions_with_actions: filtered } }
    },
    problems: ['content_corrupt'],
  }).handle(async ({ tx, kernel, actor }) => buildOverview(kernel, tx, actor)),

  tenantRoute('GET /analytics/risk-distribution', {
    id: 'getRiskDistribution',
    summary: 'Active subjects by risk band, day by day',
    description:
      'From a row per day, matrix and band that is written once an hour, so that a year costs no more than a day. An override in ' +
      'force counts with its band.',
    roles: ['viewer', 'analyst', 'compliance_officer', 'auditor'],
    tx: 'read',
    uses: ['caches'],
    query: DistributionQuery,
    reply: [200, Distribution],
    problems: ['conflict', 'content_corrupt'],
  }).handle(async ({ tx, kernel, query }) => getRiskDistribution(kernel, tx, query)),
]
