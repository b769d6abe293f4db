/** Providers in force whose requests a plugin makes. */
import type { Tx } from '#kernel/database/tx.ts'
import type { PluginDependent } from '#kernel/module.ts'
import { listPluginProviders } from './queries.ts'

export async function listPluginDependents(
  _kernel: unknown,
  tx: Tx,
  plugin_key: string,
): Promise<readonly PluginDependent[]> {
  const found = await listPluginProviders(tx, plugin_key)
  return found.map(({ key, version, title }) => ({ kind: 'provider', key, version, title, reasons: [] }))
}
