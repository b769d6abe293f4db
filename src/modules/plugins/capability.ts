/** The plugins that a tenant can use now, for GET /capabilities. */
import { mapWithPrecompute } from '#kernel/database/precompute.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { datasetStore, resolver } from '#modules/definitions/index.ts'
import { type BindCapabilities, PLUGIN_FAMILY } from './model.ts'
import { listSettings } from './queries.ts'
import { findValidity } from './validity.ts'

const MAX_PLUGINS = 1000

export async function listKeysInForce(tx: Tx): Promise<string[]> {
  const filter = { family: PLUGIN_FAMILY, origin: null, state: 'live', type_key: null, key_prefix: null }
  const rows = await datasetStore.listDatasets(tx, filter, null, MAX_PLUGINS)
  return [...new Set(rows.filter(({ active }) => active !== null).map(({ list_key }) => list_key))]
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
