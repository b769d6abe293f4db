/** Plugins of the kind adapter, for the adapters of imports. */
import { mapWithPrecompute } from '#kernel/database/precompute.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { datasetStore, resolver } from '#modules/definitions/index.ts'
import type { AdapterManifest } from '#plugin/manifest.ts'
import { describeReason } from './bind-plugin.ts'
import { listKeysInForce } from './capability.ts'
import { type BindCapabilities, PLUGIN_FAMILY } from './model.ts'
import { readManifestPart } from './plugin-parts.ts'
import { findKindPart, listSettings } from './queries.ts'
import { findValidity } from './validity.ts'

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

/** Whether or not a version is in force and can run; null where the plugin is of another kind. */
export async function findAdapterPlugin(
  tx: Tx,
  plugin_key: string,
): Promise<{ readonly version: number | null; readonly title: string } | null> {
  const part = await findKindPart(tx, plugin_key)
  if (!part || readManifestPart(part.data)['kind'] !== 'adapter') return null
  const pointer = (await resolver.findPointersInForce(tx, [plugin_key], {}, PLUGIN_FAMILY)).get(plugin_key)
  const dataset = await datasetStore.findDataset(tx, plugin_key, PLUGIN_FAMILY)
  return { version: pointer?.version ?? null, title: dataset?.title ?? plugin_key }
}
