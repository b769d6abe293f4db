/**
 * The plugins that a matrix names, bound to what they run with: the version in force, or the pinned one. A plugin that cannot run
 * fails with 503 before anything is decided.
 */
import { listPluginFactors } from '#decision/analysis/plugin-scores.ts'
import type { CompiledDefinition, Finding } from '#decision/model.ts'
import { declareCache } from '#kernel/cache/caches.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { fail } from '#kernel/problem.ts'
import { resolver } from '#modules/definitions/index.ts'
import { bindPinnedPlugin, bindPlugin, failInvalid, type pluginModel } from '#modules/plugins/index.ts'
import { getListUses } from '#plugin/manifest.ts'
import { findFactorMisfits } from './plugin-misfits.ts'

export type BindCapabilities = Capabilities<'caches' | 'plugin_policy' | 'threads'>

/** By plugin key. */
export type BoundPlugins = ReadonlyMap<string, pluginModel.BoundPlugin>

export const NO_PLUGINS: BoundPlugins = new Map()

export const listPluginKeys = ({ definition }: CompiledDefinition): string[] => [
  ...new Set(listPluginFactors(definition).map(({ plugin_key }) => plugin_key)),
]

interface CachedPlugins {
  readonly plugins: BoundPlugins
  /** The first instant at which another version comes into force by the clock. */
  readonly until: string | null
}

const boundPlugins = declareCache<CachedPlugins>({
  name: 'bound_plugins',
  summary: 'The plugins that one matrix names, as they may run while nothing that is in force changes.',
  bound: { max_entries: 1000 },
})

/**
 * The plugins in force at the instant of the definition. They are cached by the epochs of that instant, which move with every
 * activation and with every change of grants, configuration and validation.
 */
export async function bindPluginsInForce(
  kernel: BindCapabilities,
  tx: Tx,
  compiled: CompiledDefinition,
  {
    definition,
    valid_at,
    is_cached,
  }: {
    readonly definition: Pick<resolver.VersionPointer, 'own_epoch' | 'shared_epoch' | 'now'>
    readonly valid_at: string | undefined
    readonly is_cached: boolean
  },
): Promise<BoundPlugins> {
  const keys = listPluginKeys(compiled)
  if (keys.length === 0) return NO_PLUGINS
  const cache = kernel.caches.get(boundPlugins)
  const id = [tx.tenant_id, definition.own_epoch, definition.shared_epoch, ...keys].join(' ')
  const known = is_cached ? cache.get(id) : undefined
  if (known && (known.until === null || definition.now < known.until)) return expectFit(compiled, known.plugins)
  const plugins = new Map<string, pluginModel.BoundPlugin>()
  for (const plugin_key of keys) {
    const bound = await bindPlugin(kernel, tx, {
      plugin_key,
      kind: 'factor',
      ...(valid_at !== undefined && { valid_at }),
    })
    plugins.set(plugin_key, bound)
  }
  if (is_cached) {
    const rows = await resolver.listPointers(tx, keys, { valid_at: null, known_at: null }, 'plugin')
    const ends = rows.flatMap(({ until }) => until ?? []).sort()
    // What was bound belongs to these epochs only if they have not moved meanwhile.
    const isSame = rows.every(
      (row) => row.own_epoch === definition.own_epoch && row.shared_epoch === definition.shared_epoch,
    )
    if (isSame) cache.set(id, { plugins, until: ends[0] ?? null })
  }
  return expectFit(compiled, plugins)
}

/** 503 `plugin_invalid` where the version in force is not one that the factor of the matrix can use. */
function expectFit(compiled: CompiledDefinition, plugins: BoundPlugins): BoundPlugins {
  for (const { plugin_key, version, manifest } of plugins.values()) {
    const misfits = findFactorMisfits(compiled, plugin_key, manifest)
    if (misfits.length > 0) failInvalid(plugin_key, version, toMisfitReasons(misfits))
  }
  return plugins
}

/** Without the place in the matrix: the place of a reason is one in the manifest. */
export const toMisfitReasons = (misfits: readonly Finding[]): { code: string; message: string }[] =>
  misfits.map(({ code, message }) => ({ code, message }))

/** Exactly the pinned plugins. With `must_be_valid` they must also be allowed to run now. */
export async function bindPinnedPlugins(
  kernel: BindCapabilities,
  tx: Tx,
  pointers: readonly resolver.ContentPointer[],
  options: { readonly must_be_valid: boolean },
): Promise<BoundPlugins> {
  const pinned = pointers.filter(({ family }) => family === 'plugin')
  if (pinned.length === 0) return NO_PLUGINS
  const plugins = new Map<string, pluginModel.BoundPlugin>()
  for (const pointer of pinned) {
    const { configuration_hash, sandbox_hash } = pointer
    if (configuration_hash === undefined || sandbox_hash === undefined) return fail('content_corrupt')
    plugins.set(
      pointer.list_key,
      await bindPinnedPlugin(kernel, tx, { pointer, configuration_hash, sandbox_hash }, options),
    )
  }
  return plugins
}

/** The plugins that the definition names: those already bound, and the versions in force of others. */
export async function bindFurtherPlugins(
  kernel: BindCapabilities,
  tx: Tx,
  compiled: CompiledDefinition,
  known: BoundPlugins,
): Promise<BoundPlugins> {
  const keys = listPluginKeys(compiled)
  if (keys.length === 0) return NO_PLUGINS
  const plugins = new Map<string, pluginModel.BoundPlugin>()
  for (const plugin_key of keys) {
    plugins.set(plugin_key, known.get(plugin_key) ?? (await bindPlugin(kernel, tx, { plugin_key, kind: 'factor' })))
  }
  return expectFit(compiled, plugins)
}

/** Lists that a plugin declares. */
export const getPluginLists = ({ manifest }: Pick<pluginModel.BoundPlugin, 'manifest'>): string[] =>
  getListUses(manifest).map(({ list_key }) => list_key)

/** Lists that the plugins may look up, besides those of the definition. */
export const listPluginLists = (plugins: BoundPlugins): string[] => [...plugins.values()].flatMap(getPluginLists)

/** The pointers of plugins as a receipt pins them. */
export const toPluginPointers = (plugins: BoundPlugins): resolver.ContentPointer[] =>
  [...plugins.values()].map(({ pointer, configuration_hash, sandbox_hash }) => ({
    ...pointer,
    configuration_hash,
    sandbox_hash,
  }))
