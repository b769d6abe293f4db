/** Public interface of providers: whom the service asks for facts, and what came back. */
import type { Module } from '#kernel/module.ts'
import { createDefinitionRoutes, definitionSearch } from '#modules/definitions/index.ts'
import { providerCallJob } from './call-job.ts'
import { callRoutes } from './call-routes.ts'
import { insertCanaryRows } from './canary.ts'
import { listPluginDependents } from './plugin-dependents.ts'
import { providerKind } from './provider-kind.ts'
import { providerMetrics } from './provider-metrics.ts'
import { answerErasure } from './queries.ts'
import { statusRoutes } from './status-routes.ts'
import { usageRoutes } from './usage/routes.ts'
import { verifyRoutes } from './verify-routes.ts'

export * as callLedger from './call-ledger.ts'
export { findCallResults } from './call-results.ts'
export * as capabilities from './capability.ts'
export { type ContractProvider, listContractProviders } from './contract-providers.ts'
export { createCall, expectRenderable } from './create-call.ts'
export { expectExecutable } from './expect-executable.ts'
export { listPluginDependents } from './plugin-dependents.ts'
export { seedProviders } from './provider-seeds.ts'
export { findCall, listCallsOfPayloads, listResults } from './queries.ts'
export { advanceCall } from './run-call.ts'

export const providers: Module = {
  name: 'providers',
  segments: ['providers', 'provider-credentials'],
  tier: 'domain',
  summary: 'Providers of facts outside the service: manifests, calls and their answers.',
  routes: [...callRoutes, ...statusRoutes, ...usageRoutes, ...verifyRoutes, ...createDefinitionRoutes(providerKind)],
  definition_kinds: [providerKind],
  jobs: [providerCallJob],
  metrics: providerMetrics,
  plugin_dependents: listPluginDependents,
  search: {
    sources: [
      definitionSearch.createDefinitionSource({
        kind: 'provider',
        family: 'provider',
        title: 'Providers',
        noun: 'Provider',
        operation: providerKind.operations.get,
      }),
    ],
    unsearched: {
      getProviderVersion: 'A version is opened from its provider.',
      getProviderCall: 'A call is opened from what asked for it, or from the list of calls.',
    },
  },
  erases: [answerErasure],
  canary_table: 'provider_call',
  canary: insertCanaryRows,
}
