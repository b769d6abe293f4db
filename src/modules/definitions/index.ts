/**
 * Public interface of versioned definitions: drafts become versions, and versions are activated, rolled back, pinned,
 * compared and resolved at a valid time and a known time. Lists, matrices and rules are kinds of definitions.
 */
import type { Module } from '#kernel/module.ts'
import { inForceChanged } from './activations/index.ts'
import { differenceSummaryJob } from './differences/summary-job.ts'

export * as activationStore from './activations/index.ts'
export * as datasetStore from './datasets/index.ts'
export * as differenceStore from './differences/index.ts'
export * as documentStore from './documents/index.ts'
export { createDefinitionRoutes } from './documents/routes.ts'
export * as resolver from './resolve/index.ts'
export * as registrySchemas from './schemas.ts'
export * as definitionSearch from './search/index.ts'
export * as seeding from './seeds/index.ts'
export * as staging from './staging/index.ts'
export * as treeStore from './trees/index.ts'
export * as typeStore from './types/index.ts'
export * as versionStore from './versions/index.ts'

export const definitions: Module = {
  name: 'definitions',
  segments: [],
  tier: 'domain',
  summary: 'Versioned definitions: what lists, matrices and rules have in common.',
  routes: [],
  jobs: [differenceSummaryJob],
  events: [inForceChanged],
  canary: async () => {},
}
