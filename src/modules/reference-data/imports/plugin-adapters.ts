/** Adapters that a plugin implements, named `plugin:` and the key of the plugin. */
import type { Tx } from '#kernel/database/tx.ts'
import type { PluginDependent } from '#kernel/module.ts'
import { fail, Problem } from '#kernel/problem.ts'
import { closed } from '#kernel/schema.ts'
import type { WorkerThreads } from '#kernel/worker-threads.ts'
import { datasetStore } from '#modules/definitions/index.ts'
import {
  adapterPlugins,
  bindPinnedPlugin,
  bindPlugin,
  failPlugin,
  type pluginModel,
  recordInvocations,
} from '#modules/plugins/index.ts'
import { getLimits } from '#plugin/manifest.ts'
import type { Adapter } from '#registry/adapter.ts'
import { adapters } from '#registry/adapters/index.ts'
import { PLUGIN_ADAPTER_PREFIX, type PluginAdapterCode, PluginAdapterFault } from '#registry/adapters/plugin-adapter.ts'
import type { ImportTotals } from '#registry/import/import-messages.ts'
import { listOpenImports } from './queries.ts'

type BoundPlugin = pluginModel.BoundPlugin
type BindCapabilities = pluginModel.BindCapabilities

/** What is known of an adapter before it reads. */
export type ChosenAdapter = Pick<Adapter, 'key' | 'version' | 'options' | 'target_type'> & Pick<Adapter, 'checkOptions'>

const getPluginKey = (adapter_key: string): string | null =>
  adapter_key.startsWith(PLUGIN_ADAPTER_PREFIX) ? adapter_key.slice(PLUGIN_ADAPTER_PREFIX.length) : null

/** A plugin has a configuration instead of options. */
const NO_OPTIONS = closed({})

/** The adapter, whether or not it can run. */
export async function findAdapter(tx: Tx, adapter_key: string): Promise<ChosenAdapter> {
  const plugin_key = getPluginKey(adapter_key)
  if (plugin_key === null) {
    return (
      adapters.get(adapter_key) ??
      fail('not_found', 'There is no such adapter. GET /api/reference-data/adapters lists them.')
    )
  }
  if (!(await datasetStore.findDataset(tx, plugin_key, 'plugin'))) {
    fail('not_found', 'There is no such plugin. GET /api/plugins lists them.')
  }
  return { key: adapter_key, version: 1, options: NO_OPTIONS, target_type: null }
}

const formatFiles = {
  csv: { media_types: ['text/csv'], file_extensions: ['csv', 'txt'] },
  json: { media_types: ['application/json'], file_extensions: ['json'] },
  xml: { media_types: ['application/xml', 'text/xml'], file_extensions: ['xml'] },
  xlsx: {
    media_types: ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
    file_extensions: ['xlsx'],
  },
} as const

/** Plugins in force of the kind adapter, as the list of adapters shows them. */
export async function listPluginAdapters(kernel: BindCapabilities, tx: Tx) {
  return (await adapterPlugins.listAdapterPlugins(kernel, tx)).map(({ plugin_key, version, manifest, reasons }) => ({
    adapter_key: `${PLUGIN_ADAPTER_PREFIX}${plugin_key}`,
    adapter_version: version,
    title: manifest.title,
    description: manifest.description ?? 'An adapter that a plugin implements.',
    publisher: null,
    media_types: [...formatFiles[manifest.format.kind].media_types],
    file_extensions: [...formatFiles[manifest.format.kind].file_extensions],
    target_type: null,
    options: JSON.parse(JSON.stringify(NO_OPTIONS)) as Record<string, unknown>,
    sample: null,
    plugin: { plugin_key, runs: reasons.length === 0, reasons: [...reasons] },
  }))
}

/** The plugin behind the adapter, null for one that the registry ships; 503 `plugin_invalid` when it cannot run. */
export async function bindAdapter(kernel: BindCapabilities, tx: Tx, adapter_key: string): Promise<BoundPlugin | null> {
  const plugin_key = getPluginKey(adapter_key)
  return plugin_key === null ? null : bindPlugin(kernel, tx, { plugin_key, kind: 'adapter' })
}

/** What an import keeps of the plugin: the job reads with exactly this version, configuration and sandbox. */
export interface StoredPlugin extends pluginModel.PluginPin {
  readonly plugin_key: string
  readonly version: number
  readonly content_hash: string
}

export const toPluginPin = (bound: BoundPlugin): StoredPlugin => {
  const { plugin_key, version, content_hash, pointer, configuration_hash, sandbox_hash } = bound
  return { plugin_key, version, content_hash, pointer, configuration_hash, sandbox_hash }
}

export const toPluginView = ({ pointer: _, ...view }: StoredPlugin): Omit<StoredPlugin, 'pointer'> => view

/** Absent in imports of earlier releases. */
export const toPluginMember = (order_text: object) => {
  const { plugin = null } = order_text as { readonly plugin?: StoredPlugin | null }
  return { plugin: plugin && toPluginView(plugin) }
}

/** 503 `plugin_invalid` when this version can no longer run. */
export const bindStoredPlugin = async (
  kernel: BindCapabilities,
  tx: Tx,
  stored: StoredPlugin | null | undefined,
): Promise<BoundPlugin | null> => (stored ? bindPinnedPlugin(kernel, tx, stored, { must_be_valid: true }) : null)

export function toAdapterCode(threads: Pick<WorkerThreads, 'scriptPath'>, bound: BoundPlugin): PluginAdapterCode {
  const { plugin_key, version, manifest, configuration, source, sandbox_hash } = bound
  if (manifest.kind !== 'adapter') return fail('internal')
  return {
    plugin_key,
    version,
    format: manifest.format,
    outputs: manifest.outputs,
    configuration,
    source,
    limits: getLimits(manifest),
    sandbox_hash,
    script: threads.scriptPath('sandbox'),
  }
}

const BUSY_RETRY_S = 10

/** 503 `plugin_failed` for a fault of the plugin, `overloaded` for a machine that is too busy. */
export function failPluginAdapter(bound: BoundPlugin | null, error: unknown): never {
  if (!bound || !(error instanceof PluginAdapterFault)) throw error
  const { fault } = error
  if (fault.reason === 'overloaded') {
    const detail = 'The plugin could not be run at this moment; nothing was changed.'
    throw Object.assign(new Problem('overloaded', { detail, retry_after_s: BUSY_RETRY_S }), { cause: error })
  }
  return failPlugin(bound, fault)
}

type Write = <T>(body: (tx: Tx) => Promise<T>) => Promise<T>

/** Records the failure for the author of the plugin; that a machine was too busy is none. */
export async function recordAdapterFailure(
  write: Write,
  bound: BoundPlugin | null,
  error: unknown,
  caused_by: pluginModel.InvocationCause,
): Promise<void> {
  if (!bound || !(error instanceof PluginAdapterFault)) return
  const { reason, ...fault } = error.fault
  if (reason === 'overloaded') return
  const result = { ok: false, reason, ...fault } as Parameters<typeof recordInvocations>[2][number]
  await write((tx) => recordInvocations(tx, bound, [result], caused_by))
}

/** The problem that ends an import. */
export async function toPluginProblem(
  write: Write,
  bound: BoundPlugin,
  error: unknown,
  import_id: string,
): Promise<unknown> {
  if (!(error instanceof PluginAdapterFault)) return error
  await recordAdapterFailure(write, bound, error, { kind: 'import', id: import_id })
  try {
    return failPluginAdapter(bound, error)
  } catch (problem) {
    return problem
  }
}

export const recordChunks = (
  tx: Tx,
  bound: BoundPlugin,
  { plugin_fuel = [] }: ImportTotals,
  import_id: string,
): Promise<void> => {
  const results = plugin_fuel.map((fuel) => ({ ok: true as const, output: '', fuel, read: [] }))
  return recordInvocations(tx, bound, results, { kind: 'import', id: import_id })
}

/** The adapter itself, in force or not, and imports that have not ended, which fail when the plugin cannot run. */
export async function listPluginDependents(_kernel: unknown, tx: Tx, plugin_key: string): Promise<PluginDependent[]> {
  const adapter_key = `${PLUGIN_ADAPTER_PREFIX}${plugin_key}`
  const adapter = await adapterPlugins.findAdapterPlugin(tx, plugin_key)
  if (!adapter) return []
  const open = await listOpenImports(tx, adapter_key)
  return [
    { kind: 'adapter', key: adapter_key, ...adapter, reasons: [] },
    ...open.map(
      ({ import_id, list_key }): PluginDependent => ({
        kind: 'import',
        key: import_id,
        version: null,
        title: `Import of ${list_key}`,
        reasons: [],
      }),
    ),
  ]
}
