/** Keeps what readiness and metrics count: whether each active plugin of a tenant can run. */
import type { Tx } from '#kernel/database/tx.ts'
import type { FinishReview } from '#kernel/request/change-reviews.ts'
import { type activationStore, resolver, type versionStore } from '#modules/definitions/index.ts'
import { describeReason } from './bind-plugin.ts'
import { type BindCapabilities, PLUGIN_FAMILY } from './model.ts'
import { removeStatus, type SettingsRow, upsertStatus } from './queries.ts'
import { findValidity, getSettings } from './validity.ts'

/** A shared plugin that a tenant never looked at does not count as invalid for lack of a grant. */
const isUnused = ({ switch_revision, grant_revision, configuration_revision }: SettingsRow): boolean =>
  switch_revision + grant_revision + configuration_revision === 0
const isOnlyUngranted = (codes: readonly string[]): boolean => codes.length === 1 && codes[0] === 'permission_missing'

/** After a change of a plugin, or of what it needs. */
export async function refreshStatus(kernel: BindCapabilities, tx: Tx, plugin_key: string): Promise<void> {
  const pointer = (await resolver.findPointersInForce(tx, [plugin_key], {}, PLUGIN_FAMILY)).get(plugin_key)
  if (!pointer) {
    await removeStatus(tx, plugin_key)
    return
  }
  const settings = await getSettings(tx, plugin_key)
  const { valid, reasons } = await findValidity(kernel, tx, pointer, settings)
  const state = settings.disabled ? 'disabled' : valid ? 'valid' : 'invalid'
  const codes = [...new Set(reasons.map(({ code }) => code))].sort()
  if (pointer.via === 'shared' && isUnused(settings) && isOnlyUngranted(codes)) {
    await removeStatus(tx, plugin_key)
    return
  }
  await upsertStatus(tx, { plugin_key, version: pointer.version, state, reasons: codes })
}

/**
 * Holds back a change that would put an invalid version in force: an activation, a rollback, a pin, or the end of one. It runs
 * again when a change request is approved. A plugin that is only disabled may be changed.
 */
export async function reviewPluginInForce(kernel: BindCapabilities, tx: Tx, change: unknown): Promise<FinishReview> {
  const { family, list_key, effective_from } = change as activationStore.InForceChange
  if (family !== PLUGIN_FAMILY) return async () => []
  const isLater = effective_from !== null && Date.parse(effective_from) > Date.now()
  const clocks = isLater ? { valid_at: effective_from } : {}
  return async () => {
    const pointer = (await resolver.findPointersInForce(tx, [list_key], clocks, PLUGIN_FAMILY)).get(list_key)
    const gates = pointer ? await findGates(kernel, tx, pointer) : []
    if (gates.length === 0) await refreshStatus(kernel, tx, list_key)
    return gates
  }
}

async function findGates(
  kernel: BindCapabilities,
  tx: Tx,
  pointer: resolver.VersionPointer,
): Promise<versionStore.Gate[]> {
  const settings = await getSettings(tx, pointer.list_key)
  const { reasons } = await findValidity(kernel, tx, pointer, { ...settings, disabled: false })
  if (reasons.length === 0) return []
  const detail = `Version ${pointer.version} of ${pointer.list_key} cannot run: ${describeReason(reasons[0])}`
  return [
    {
      gate: 'proof',
      detail: detail.slice(0, 1000),
      overridable: false,
      facts: { plugin_key: pointer.list_key, version: pointer.version, reasons: reasons.slice(0, 50) },
    },
  ]
}
