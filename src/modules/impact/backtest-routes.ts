/** Backtests of matrices and rules, below their own paths: a version or the open draft, tried on past decisions. */
import { tenantRoute } from '#kernel/declare-route.ts'
import { JobView } from '#kernel/job/schema.ts'
import { paginate } from '#kernel/page.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import type { Route } from '#kernel/route.ts'
import { documentStore, registrySchemas } from '#modules/definitions/index.ts'
import { matrixKind } from '#modules/risk-matrices/index.ts'
import { ruleKind } from '#modules/rules/index.ts'
import { createDefinitionCandidate } from './candidates.ts'
import { IMPACT_RUN, startRun, toRunView } from './impact-runs.ts'
import { findRun, listRuns } from './queries.ts'
import { redactRun } from './redaction.ts'
import { BacktestQuery, createBacktestSchemas, RunPage, RunRequest, RunView } from './schema.ts'

interface OperationIds {
  readonly start: string
  readonly list: string
  readonly get: string
}

function createBacktestRoutes(kind: documentStore.DefinitionKind, ids: OperationIds): Route[] {
  const { family, segment, param, word } = kind
  const s = createBacktestSchemas(kind)
  const at = `/${segment}/:${param}` as const
  const readers = ['policy_editor', 'compliance_officer', 'auditor'] as const

  return [
    tenantRoute(`POST ${at}/versions/:version/backtest`, {
      id: ids.start,
      summary: `Try a version of a ${word}, or its draft, on past decisions`,
      description:
        'The latest decision about each active subject of the last 400 days is made again, once with the version in force and ' +
        'once with this one, on the lists in force today. Nothing is changed, and no subject is rated.',
      roles: ['policy_editor', 'compliance_officer'],
      tx: 'write',
      uses: ['caches', 'jobs', 'plugin_policy', 'threads'],
      executes: 'plugin',
      runs_plugins_of: [family === 'rule' ? 'rule' : 'matrix'],
      params: s.VersionParams,
      query: registrySchemas.OriginQuery,
      body: RunRequest,
      reply: [202, JobView],
      starts: IMPACT_RUN,
      problems: ['not_found', 'definition_invalid', 'conflict', 'content_corrupt'],
    }).handle(async ({ tx, params, query, body, kernel }) => {
      const written = await documentStore.getVersionOrDraft(kernel, tx, kind, {
        ...params,
        ...documentStore.readVersionParams(params),
        ...query,
      })
      const candidate = await createDefinitionCandidate(tx, written)
      const path = (run_id: string) => `/${segment}/${written.dataset.list_key}/backtests/${run_id}` as const
      return (await startRun(kernel, tx, candidate, { ...body, path })).job
    }),

    tenantRoute(`GET ${at}/backtests`, {
      id: ids.list,
      summary: 'Past backtests, newest first',
      roles: readers,
      tx: 'read',
      uses: ['cursors'],
      params: s.KeyParams,
      query: BacktestQuery,
      reply: [200, RunPage],
      problems: ['not_found'],
    }).handle(async (input) => {
      const { list_key } = await documentStore.getDefinition(
        input.tx,
        family,
        documentStore.getDefinitionKey(kind, input.params),
      )
      return paginate(input, `${ids.list} ${list_key}`, ['created_at', 'run_id'], (after, count) =>
        listRuns(input.tx, { family, list_key }, after, count),
      )
    }),

    tenantRoute(`GET ${at}/backtests/:run_id`, {
      id: ids.get,
      summary: 'From which result to which, by factor and segment, and whether it still holds',
      roles: readers,
      tx: 'read',
      uses: ['caches', 'plugin_policy', 'threads'],
      params: s.RunParams,
      reply: [200, RunView],
      redact: redactRun,
      problems: ['not_found', 'conflict', 'content_corrupt'],
    }).handle(async ({ tx, params, kernel }) => {
      const run = assertFound(await findRun(tx, (params as unknown as { run_id: string }).run_id))
      if (run.family !== family || run.key !== documentStore.getDefinitionKey(kind, params)) fail('not_found')
      return toRunView(kernel, tx, run)
    }),
  ]
}

export const matrixBacktestRoutes = createBacktestRoutes(matrixKind, {
  start: 'startRiskMatrixBacktest',
  list: 'listRiskMatrixBacktests',
  get: 'getRiskMatrixBacktest',
})

export const ruleBacktestRoutes = createBacktestRoutes(ruleKind, {
  start: 'startRuleBacktest',
  list: 'listRuleBacktests',
  get: 'getRuleBacktest',
})
