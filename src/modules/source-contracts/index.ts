/**
 * Public interface of the source-contracts router: what providers' payloads must look like, payloads with their admissions, and
 * the facts that decisions may read. Only facts of admitted payloads leave this module.
 */

import type { Module } from '#kernel/module.ts'
import { declareReview } from '#kernel/request/declare-review.ts'
import { activationStore, createDefinitionRoutes, definitionSearch } from '#modules/definitions/index.ts'
import { reviewInForce } from './activation-gates.ts'
import { insertCanaryRows } from './canary.ts'
import { contractKind } from './contract-kind.ts'
import { driftJob } from './drift/drift-job.ts'
import { driftErasure } from './drift/queries.ts'
import { driftRoutes } from './drift/routes.ts'
import { inferenceRoutes } from './inference-routes.ts'
import { payloadAdmissions } from './payload-metrics.ts'
import { quarantineErasure } from './queries.ts'
import { reprocessJob } from './reprocess-job.ts'
import { payloadRoutes } from './routes.ts'

export { type AdmitRequest, type AdmittedFacts, admitPayload, findAdmittedFacts } from './admissions.ts'
export { findContractFacts } from './bind-contract.ts'
export { contractKind } from './contract-kind.ts'
export { readContractSeeds, seedContracts } from './contract-seeds.ts'
export * as evidenceStore from './evidence.ts'
export * as payloadStore from './payload-store.ts'
export { type NewPayload, storePayload } from './payloads.ts'
export { type AdmissionRow, insertFactReaders } from './queries.ts'

export const sourceContracts: Module = {
  name: 'source-contracts',
  segments: ['source-contracts'],
  tier: 'domain',
  summary:
    'Source contracts: what providers’ payloads must look like, the quarantine of those that do not, and how they drift.',
  routes: [...payloadRoutes, ...inferenceRoutes, ...driftRoutes, ...createDefinitionRoutes(contractKind)],
  definition_kinds: [{ ...contractKind, word: 'source contract' }],
  jobs: [reprocessJob, driftJob],
  metrics: [payloadAdmissions],
  search: {
    sources: [
      definitionSearch.createDefinitionSource({
        kind: 'contract',
        family: 'contract',
        title: 'Source contracts',
        noun: 'Source contract',
        operation: contractKind.operations.get,
      }),
    ],
    unsearched: {
      getSourceContractVersion: 'A version is opened from its contract.',
      getQuarantinedPayload: 'A payload is opened from the quarantine of its contract.',
    },
  },
  erases: [quarantineErasure, driftErasure],
  canary_table: 'source_payload',
  canary: insertCanaryRows,
  reviews: { [activationStore.IN_FORCE_REVIEW]: declareReview({ uses: ['caches'], begin: reviewInForce }) },
}
