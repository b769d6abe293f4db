/** Coverage of matrices and rules, below their own paths: which factors, rows and triggers past decisions never used. */
import { tenantRoute } from '#kernel/declare-route.ts'
import type { Route } from '#kernel/route.ts'
import { type DecisionKind, matrixKind } from '#modules/risk-matrices/index.ts'
import { ruleKind } from '#modules/rules/index.ts'
import { createBacktestSchemas } from '../schema.ts'
import { measureCoverage } from './measure-coverage.ts'
import { CoverageQuery, CoverageView } from './schema.ts'

function createCoverageRoute(kind: DecisionKind, id: string): Route {
  const at = `/${kind.segment}/:${kind.param}` as const
  return tenantRoute(`GET ${at}/coverage`, {
    id,
    summary: 'Parts that past decisions never used, and inputs that used their default',
    description: 'Covers single decisions of one version, not those of batches, which store no explanations.',
    roles: ['policy_editor', 'compliance_officer', 'auditor'],
    tx: 'read',
    uses: ['caches', 'encryption'],
    params: createBacktestSchemas(kind).KeyParams,
    query: CoverageQuery,
    reply: [200, CoverageView],
    problems: ['not_found', 'nothing_in_force', 'content_corrupt'],
  }).handle(async ({ tx, params, query, kernel }) =>
    measureCoverage(kernel, tx, kind, { params: params as object, options: query }),
  )
}

export const matrixCoverageRoute = createCoverageRoute(matrixKind, 'getRiskMatrixCoverage')
export const ruleCoverageRoute = createCoverageRoute(ruleKind, 'getRuleCoverage')
