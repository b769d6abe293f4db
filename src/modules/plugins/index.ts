/**
 * Public interface of plugins: code of the tenant or the operator that runs in the sandbox. Other modules bind a version, run it
 * outside their transaction, and answer 503 where it cannot run.
 */
import type { Module } from '#kernel/module.ts'
import { declareReview } from '#kernel/request/declare-review.ts'
import { activationStore, definitionSearch } from '#modules/definitions/index.ts'
import { insertCanaryRows } from './canary.ts'
import { listRunnablePlugins } from './capability.ts'
import { pluginCheckJob } from './check-job.ts'
import { activationRoutes, pluginKind } from './plugin-kind.ts'
import { pluginMetrics } from './plugin-metrics.ts'
import { pluginRoutes } from './routes.ts'
import { settingRoutes } from './setting-routes.ts'
import { reviewPluginInForce } from './status.ts'
import { versionRoutes } from './version-routes.ts'

export * as adapterPlugins from './adapter-plugins.ts'
export { bindPinnedPlugin, bindPlugin, failInvalid, findManifestInForce } from './bind-plugin.ts'
export { readPluginFolder, seedPlugins } from './folder-seeds.ts'
export { recordFailure, recordInvocations } from './invocations.ts'
export { loadEntries } from './list-entries.ts'
export type * as pluginModel from './model.ts'
export { countStatuses } from './queries.ts'
export { failPlugin, findPluginResult, runPlugin } from './run-plugin.ts'

export const plugins: Module = {
  name: 'plugins',
  segments: ['plugins'],
  tier: 'domain',
  summary: 'Plugins: factors, adapters and providers written as code that runs in a sandbox and fails closed.',
  routes: [...pluginRoutes, ...versionRoutes, ...settingRoutes, ...activationRoutes],
  definition_kinds: [pluginKind],
  jobs: [pluginCheckJob],
  metrics: pluginMetrics,
  search: {
    sources: [
      definitionSearch.createDefinitionSource({
        kind: 'plugin',
        family: 'plugin',
        title: 'Plugins',
        noun: 'Plugin',
        operation: 'getPlugin',
      }),
    ],
    unsearched: {
      getPluginVersion: 'A version is opened from its plugin.',
    },
  },
  canary_table: 'plugin_switch',
  canary: insertCanaryRows,
  listRunnablePlugins,
  reviews: {
    [activationStore.IN_FORCE_REVIEW]: declareReview({
      uses: ['caches', 'threads', 'plugin_policy'],
      begin: reviewPluginInForce,
    }),
  },
}
