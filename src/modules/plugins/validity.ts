/**
 * Whether a version may run for a tenant now. The result of validating its code is stored per build of the sandbox; what depends on
 * the tenant is checked here each time, so that a withdrawn grant, an archived list or a contract that was rolled back is never
 * overlooked.
 */
import { declareCache } from '#kernel/cache/caches.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { resolver, typeStore } from '#modules/definitions/index.ts'
import { payloadStore } from '#modules/source-contracts/index.ts'
import { getListUses } from '#plugin/manifest.ts'
import type { PluginPackage } from '#plugin/package.ts'
import { checkContext, isSchemaReason, type ValidationContext } from '#plugin/validate-plugin.ts'
import { SANDBOX_HASH, sandboxBuilds } from '#sandbox/builds.ts'
import { isReason, loadPlugin } from './load-plugin.ts'
import type { BindCapabilities, PluginReason } from './model.ts'
import type { ReadPlugin } from './plugin-library.ts'
import { listLiveDatasets, listSettings, listValidations, type SettingsRow, type ValidationRow } from './queries.ts'

export interface VersionValidity {
  readonly valid: boolean
  readonly reasons: readonly PluginReason[]
  /** Null where the stored bytes lost their hash. */
  readonly plugin: ReadPlugin | null
  /** The result that counts; null: never validated under a build that this process has. */
  readonly validation: ValidationRow | null
}

/** The result under the present build, else the newest one under a build that this process has. */
export const selectValidation = (rows: readonly ValidationRow[]): ValidationRow | null =>
  rows.find(({ sandbox_hash }) => sandbox_hash === SANDBOX_HASH) ??
  rows.find(({ sandbox_hash }) => sandboxBuilds.has(sandbox_hash)) ??
  null

export const getSettings = async (tx: Tx, plugin_key: string): Promise<SettingsRow> =>
  (await listSettings(tx, [plugin_key]))[0] as SettingsRow

export const parseConfiguration = ({
  configuration,
}: Pick<SettingsRow, 'configuration'>): Readonly<Record<string, unknown>> =>
  configuration === null ? {} : (JSON.parse(configuration) as Record<string, unknown>)

export async function findValidity(
  kernel: BindCapabilities,
  tx: Tx,
  pointer: resolver.ContentPointer,
  settings: SettingsRow,
): Promise<VersionValidity> {
  const loaded = await loadPlugin(kernel, tx, pointer)
  const { dataset_tenant_id: tenant_id, dataset_id, version } = pointer
  const validation = selectValidation(await listValidations(tx, { tenant_id, dataset_id, version }))
  if (isReason(loaded)) return { valid: false, reasons: [loaded], plugin: null, validation }
  const is_shared = tenant_id !== tx.tenant_id
  const reasons = [
    ...findStoredReasons(loaded, validation),
    ...(await findContextReasons(kernel, tx, loaded, {
      settings,
      is_shared,
      is_usable: hasUsableSchemas(loaded, validation),
    })),
    ...(settings.disabled ? [toDisabledReason(settings)] : []),
  ]
  return { valid: reasons.length === 0, reasons, plugin: loaded, validation }
}

/** By its stored validation: its schemas are not checked again each time. */
export const hasUsableSchemas = ({ content_hash }: ReadPlugin, validation: ValidationRow | null): boolean =>
  validation?.content_hash === content_hash && !validation.reasons.some(isSchemaReason)

export interface TenantUse {
  readonly settings: SettingsRow
  readonly is_shared: boolean
  /** Whether a configuration can be checked by its schema. */
  readonly is_usable: boolean
}

/** What of the tenant keeps a version from running: grants, configuration, lists and contracts in force, the operator's policy. */
export async function findContextReasons(
  kernel: BindCapabilities,
  tx: Tx,
  plugin: ReadPlugin,
  of: TenantUse,
): Promise<readonly PluginReason[]> {
  if (!plugin.package) return []
  return checkContext(plugin.package, await loadContext(kernel, tx, plugin.package, of))
}

const toDisabledReason = ({ disabled_reason }: SettingsRow): PluginReason => ({
  code: 'disabled',
  message: `The plugin is disabled: ${disabled_reason ?? 'no reason given'}`.slice(0, 500),
})

function findStoredReasons(plugin: ReadPlugin, validation: ValidationRow | null): readonly PluginReason[] {
  if (!validation) {
    return [{ code: 'not_validated', message: 'It was not validated yet under a build of the sandbox that is here.' }]
  }
  if (validation.content_hash !== plugin.content_hash) {
    return [{ code: 'hash_mismatch', message: 'The stored package does not match the hash it was validated with.' }]
  }
  return validation.reasons
}

async function loadContext(
  kernel: BindCapabilities,
  tx: Tx,
  { manifest }: PluginPackage,
  { settings, is_shared, is_usable }: TenantUse,
): Promise<ValidationContext> {
  const list_keys = getListUses(manifest).map(({ list_key }) => list_key)
  const pointers = await resolver.findPointersInForce(tx, list_keys, {})
  const fields = new Map<string, readonly string[]>()
  const live = await listLiveDatasets(tx, [...pointers.values()])
  for (const [key, pointer] of pointers) {
    if (live.has(pointer.dataset_id)) fields.set(key, await loadFields(kernel, tx, pointer))
  }
  const { hosts, publishers, requires_signature } = kernel.plugin_policy
  return {
    findFields: (list_key) => fields.get(list_key),
    // The operator vouches for shared code, which can look up lists of the tenant only; hosts are always the tenant's decision.
    granted_lists: is_shared ? list_keys : settings.lists,
    granted_hosts: settings.hosts,
    operator_hosts: hosts,
    checkContract: (contract_key, payloads) => findContractFaults(kernel, tx, contract_key, payloads),
    publishers: [...publishers].map(([name, public_key]) => ({ name, public_key })),
    require_signed: requires_signature,
    configuration: is_usable ? parseConfiguration(settings) : undefined,
  }
}

async function findContractFaults(
  kernel: BindCapabilities,
  tx: Tx,
  contract_key: string,
  payloads: readonly unknown[],
): Promise<string[]> {
  const judged = await payloadStore.judgeExamplePayloads(kernel, tx, contract_key, payloads)
  if (!judged) return [`No version of the source contract ${contract_key} is in force.`]
  return judged.flatMap((violations, index) =>
    violations
      .slice(0, 1)
      .map(
        ({ pointer, expected }) =>
          `The payload of example ${index + 1} breaks ${contract_key} at ${pointer || 'its root'}: ${expected}.`,
      ),
  )
}

interface ListFields {
  readonly names: readonly string[]
}

const listFields = declareCache<ListFields>({
  name: 'list_fields',
  summary: 'Names of the members that the type of a list declares.',
  bound: { max_entries: 1000 },
})

async function loadFields(
  kernel: BindCapabilities,
  tx: Tx,
  { type_tenant_id, type_key, type_version }: resolver.ContentPointer,
): Promise<readonly string[]> {
  const cache = kernel.caches.get(listFields)
  const id = `${type_tenant_id} ${type_key} ${type_version}`
  const known = cache.get(id)
  if (known) return known.names
  const type = await typeStore.findTypeVersion(tx, type_tenant_id, type_key, type_version)
  const properties = (type?.definition.schema as { properties?: object } | undefined)?.properties ?? {}
  const names = Object.keys(properties)
  cache.set(id, { names })
  return names
}
