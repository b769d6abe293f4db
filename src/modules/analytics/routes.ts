/** What needs the caller, and the portfolio by risk band over time. */
import { tenantRoute } from '#kernel/declare-route.ts'
import { actionFilters } from '#modules/risk-matrices/index.ts'
import { listRiskMovements, listSubjectsInBand } from './bands/band-lists.ts'
import { BandSubjectPage, BandSubjectQuery, MovementPage, MovementQuery } from './bands/schema.ts'
import { buildOverview } from './overview/build-overview.ts'
import { Overview } from './overview/schema.ts'
import { getRiskDistribution } from './portfolio/risk-distribution.ts'
import { Distribution, DistributionQuery } from './portfolio/schema.ts'

const readers = ['viewer', 'analyst', 'compliance_officer', 'auditor'] as const

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
    roles: readers,
    tx: 'read',
    uses: ['caches'],
    query: DistributionQuery,
    reply: [200, Distribution],
    problems: ['conflict', 'content_corrupt'],
  }).handle(async ({ tx, kernel, query }) => getRiskDistribution(kernel, tx, query)),

  tenantRoute('GET /analytics/risk-distribution/subjects', {
    id: 'listSubjectsInBand',
    summary: 'The subjects that a count by band stands for',
    description:
      'Active subjects with the band that they had when a day ended, by the rules of the daily counts and as known now. ' +
      'A request examines at most 5,000 subjects, so a page may be short or empty and still name the next one.',
    roles: readers,
    tx: 'read',
    uses: ['cursors'],
    query: BandSubjectQuery,
    reply: [200, BandSubjectPage],
    problems: ['conflict'],
  }).handle(async (input) => listSubjectsInBand(input)),

  tenantRoute('GET /analytics/risk-movements', {
    id: 'listRiskMovements',
    summary: 'The subjects whose risk band is another at the end of a period',
    description:
      'Those that came into a band, less those that left it, are the change that the risk distribution shows for the same ' +
      'days. Who moved out and back is not listed. A request examines at most 5,000 subjects, so a page may be short or empty ' +
      'and still name the next one.',
    roles: readers,
    tx: 'read',
    uses: ['cursors'],
    query: MovementQuery,
    reply: [200, MovementPage],
    problems: ['conflict'],
  }).handle(async (input) => listRiskMovements(input)),
]
