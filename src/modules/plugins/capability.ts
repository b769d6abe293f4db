/** The plugins that a tenant can use now, for GET /capabilities and the list of adapters. */
import { mapWithPrecompute } from '#kernel/database/precompute.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { datasetStore, resolver } from '#modules/definitions/index.ts'
import type { AdapterManifest } from '#plugin/manifest.ts'
import { describeReason } from './bind-plugin.ts'
import { type BindCapabilities, PLUGIN_FAMILY } from './model.ts'
import { listSettings } from './queries.ts'
import { findValidity } from './validity.ts'

const MAX_PLUGINS = 1000

async function listKeysInForce(tx: Tx): Promise<string[]> {
  const filter = { family: PLUGIN_FAMILY, origin: null, state: 'live', type_key: null, key_prefix: null }
  const rows = await datasetStore.listDatasets(tx, filter, null, MAX_PLUGINS)
  return [...new Set(rows.filter(({ active }) => active !== null).map(({ list_key }) => list_key))]
}

export interface AdapterPlugin {
  readonly plugin_key: string
  readonly version: number
  readonly manifest: AdapterManifest
  /** Why it cannot run now; empty: it can. */
  readonly reasons: readonly string[]
}

/** The plugins in force that read files, whether or not they can run. One whose stored bytes are damaged is left out. */
export async function listAdapterPlugins(kernel: BindCapabilities, tx: Tx): Promise<AdapterPlugin[]> {
  const keys = await listKeysInForce(tx)
  const pointers = await resolver.findPointersInForce(tx, keys, {}, PLUGIN_FAMILY)
  const settings = keys.length === 0 ? [] : await listSettings(tx, keys)
  const found = await mapWithPrecompute(settings, async (setting): Promise<AdapterPlugin[]> => {
    const pointer = pointers.get(setting.plugin_key)
    const validity = pointer && (await findValidity(kernel, tx, pointer, setting))
    const manifest = validity?.plugin?.manifest
    if (manifest?.kind !== 'adapter') return []
    const { plugin_key } = setting
    return [
      { plugin_key, version: pointer?.version ?? 0, manifest, reasons: validity?.reasons.map(describeReason) ?? [] },
    ]
  })
  return found.flat()
}

export async function listRunnablePlugins(kernel: BindCapabilities, tx: Tx): Promise<string[]> {
  const keys = await listKeysInForce(tx)
  const pointers = await resolver.findPointersInForce(tx, keys, {}, PLUGIN_FAMILY)
  const settings = keys.length === 0 ? [] : await listSettings(tx, keys)
  const found = await mapWithPrecompute(settings, async (setting) => {
    const pointer = pointers.get(setting.plugin_key)
    return pointer !== undefined && (await findValidity(kernel, tx, pointer, setting)).valid ? [setting.plugin_key] : []
  })
  return found.flat().sort()
}
