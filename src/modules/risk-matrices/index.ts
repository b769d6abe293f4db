/**
 * Door of the risk-matrices router: matrices, their drafts, versions, proofs and golden cases. Rules are made of the same
 * parts, and whoever decides resolves and binds definitions through here.
 */
import type { Module } from '../../kernel/route.ts'
import { IN_FORCE } from '../reference-data/index.ts'
import { plantCanary } from './canary.ts'
import { reviewInForce } from './gates/actions.ts'
import { routesOf } from './routes.ts'
import { matrixKind } from './schema.ts'

export { AUDIENCES, actionFilterFor } from './audience/actions.ts'
export { type ActionFilter, actionsIn, filterActions, filterExplanation } from './audience/rules.ts'
export {
  type Bindable,
  bindTo,
  compiledOf,
  decideWith,
  type Found,
  findDecision,
  isFindings,
  manifestOf,
  pointersOf,
  type Resolution,
  resolutionOf,
  resolveDecision,
  type Wanted,
  writtenManifestOf,
} from './binding/actions.ts'
export {
  createDefinition,
  expectDefinition,
  expectWritten,
  judge,
  keyOf,
  pointerTo,
  type Written,
} from './definitions/actions.ts'
export { listReaders } from './definitions/queries.ts'
export { examine } from './proofs/actions.ts'
export { routesOf } from './routes.ts'
export { type DefinitionKind, Findings, FindingView, matrixKind, schemasOf } from './schema.ts'
export { readDefinitionSeeds, seedDefinitions } from './seeds/actions.ts'
export { expectSound } from './versions/actions.ts'

export const riskMatrices: Module = {
  name: 'risk-matrices',
  segments: ['risk-matrices'],
  tier: 'domain',
  summary: 'Risk matrices: factors, bands and triggers, proved complete before they are published and put in force.',
  routes: routesOf(matrixKind),
  jobs: [],
  constraints: {
    definition_case_name_key: ['duplicate', 'A golden case with this name exists already.'],
  },
  canary_table: 'definition_case',
  canary: plantCanary,
  reviews: { [IN_FORCE]: reviewInForce },
}
