/**
 * Public interface of the risk-matrices router: matrices, proofs, golden cases, and resolving and binding definitions for
 * decisions. Rules are the other kind of definition that is decided.
 */

import type { Module } from '#kernel/module.ts'
import { declareReview } from '#kernel/request/declare-review.ts'
import { activationStore, definitionSearch } from '#modules/definitions/index.ts'
import { reviewInForce } from './activation-gates.ts'
import { insertCanaryRows } from './canary.ts'
import { caseErasure } from './cases/queries.ts'
import { matrixKind } from './matrix-kind.ts'
import { listPluginDependents } from './plugin-dependents.ts'
import { listProviderDependents } from './provider-dependents.ts'
import { createDecisionRoutes } from './routes.ts'

export * as actionFilters from './action-filters.ts'
export * as binding from './binding/index.ts'
export { isDecisionFamily } from './decision-family.ts'
export { createDecisionKind, type DecisionKind } from './decision-kind.ts'
export { readDefinitionSeeds, seedDefinitions } from './definition-seeds.ts'
export { matrixKind } from './matrix-kind.ts'
export { listPluginDependents } from './plugin-dependents.ts'
export { checkDefinition, readDefinition } from './proofs.ts'
export { createDecisionRoutes } from './routes.ts'
export { validateDefinition } from './validation.ts'

export const riskMatrices: Module = {
  name: 'risk-matrices',
  segments: ['risk-matrices'],
  tier: 'domain',
  summary: 'Risk matrices: factors, bands and triggers, proved complete before they are published and put in force.',
  routes: createDecisionRoutes(matrixKind),
  definition_kinds: [matrixKind],
  jobs: [],
  constraints: {
    definition_case_name_key: ['duplicate', 'A golden case with this name exists already.'],
  },
  search: {
    sources: [
      definitionSearch.createDefinitionSource({
        kind: 'matrix',
        family: 'matrix',
        title: 'Matrices',
        noun: 'Matrix',
        operation: matrixKind.operations.get,
      }),
    ],
    unsearched: { getRiskMatrixVersion: 'A version is opened from its matrix.' },
  },
  plugin_dependents: listPluginDependents,
  provider_dependents: listProviderDependents,
  erases: [caseErasure],
  canary_table: 'definition_case',
  canary: insertCanaryRows,
  reviews: {
    [activationStore.IN_FORCE_REVIEW]: declareReview({
      uses: ['caches', 'metrics', 'plugin_policy', 'threads'],
      begin: reviewInForce,
    }),
  },
}
