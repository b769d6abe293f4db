/** From the key of a matrix or rule to a decision. */

export { listMatricesByPlugin } from '../queries.ts'
export {
  type Bindable,
  bindDefinition,
  type FoundResolution,
  findResolution,
  getCompiled,
  getResolution,
  getResolutionManifest,
  getResolutionPins,
  isFindings,
  joinListKeys,
  type ReceiptPointer,
  type Resolution,
  type ResolutionQuery,
  restoreResolution,
  toPointers,
} from './bind-definition.ts'
export {
  type BindCapabilities,
  type BoundPlugins,
  bindFurtherPlugins,
  bindPinnedPlugins,
  bindPluginsInForce,
  getPluginLists,
  listPluginKeys,
  NO_PLUGINS,
  toPluginPointers,
} from './bound-plugins.ts'
export {
  type DecideCapabilities,
  decideAll,
  decideLoaded,
  decideWith,
  findRefusal,
  type PinnedDecision,
} from './decide-with.ts'
export {
  createCachedRuns,
  createOwnRuns,
  type PluginRuns,
  type RunCapabilities,
  type RunOptions,
} from './plugin-results.ts'
