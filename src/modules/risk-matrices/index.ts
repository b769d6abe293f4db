/**
 * Door of the risk-matrices router: matrices, their drafts, versions, proofs and golden cases. Rules are made of the same
 * parts, and whoever decides resolves and binds definitions through here.
 */
import type { Module } from '#kernel/module.ts'
import { declareReview } from '#kernel/request/declare-review.ts'
import { IN_FORCE_REVIEW } from '#modules/reference-data/index.ts'
import { reviewInForce } from './activation-gates.ts'
import { insertCanaryRows } from './canary.ts'
import { createAllRoutes } from './routes.ts'
import { matrixKind } from './schema.ts'

export { type ActionFilter, collectActions, filterActions, filterExplanation } from './audience/action-filter.ts'
export { AUDIENCE_LIST, getActionFilter } from './audience/audience-list.ts'
export {
  type Bindable,
  bindDefinition,
  decideWith,
  type FoundResolution,
  findResolution,
  getCompiled,
  getResolution,
  getResolutionManifest,
  getResolutionPins,
  isFindings,
  type Resolution,
  type ResolutionQuery,
  restoreResolution,
  toPointers,
} from './binding/bind-definition.ts'
export { readDefinitionSeeds, seedDefinitions } from './definition-seeds.ts'
export {
  createDefinition,
  getDefinition,
  getDefinitionKey,
  getVersionOrDraft,
  toContentPointer,
  type VersionOrDraft,
  validateDefinition,
} from './definitions/definition.ts'
export { listReferencingDefinitions } from './definitions/queries.ts'
export { checkDefinition } from './proofs.ts'
export { createAllRoutes } from './routes.ts'
export { createDefinitionSchemas, type DefinitionKind, Findings, FindingView, matrixKind } from './schema.ts'
export { assertNoErrors } from './versions/publish.ts'

export const riskMatrices: Module = {
  name: 'risk-matrices',
  segments: ['risk-matrices'],
  tier: 'domain',
  summary: 'Risk matrices: factors, bands and triggers, proved complete before they are published and put in force.',
  routes: createAllRoutes(matrixKind),
  jobs: [],
  constraints: {
    definition_case_name_key: ['duplicate', 'A golden case with this name exists already.'],
  },
  canary_table: 'definition_case',
  canary: insertCanaryRows,
  reviews: { [IN_FORCE_REVIEW]: declareReview({ uses: ['caches', 'threads'], begin: reviewInForce }) },
}
