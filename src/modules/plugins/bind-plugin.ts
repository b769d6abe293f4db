/** From the key of a plugin to code that may run: the version in force, never another one. */
import { hash } from 'node:crypto'
import type { Tx } from '#kernel/database/tx.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import { datasetStore, documentStore, resolver, versionStore } from '#modules/definitions/index.ts'
import type { PluginManifest } from '#plugin/manifest.ts'
import { fillDefaults } from '#plugin/value-schema.ts'
import type { PluginKind } from '#sandbox/model.ts'
import { isReason, loadPlugin } from './load-plugin.ts'
import {
  type BindCapabilities,
  type BoundPlugin,
  PLUGIN_FAMILY,
  type PluginPin,
  type PluginReason,
  type WantedPlugin,
} from './model.ts'
import { findConfiguration } from './queries.ts'
import { findValidity, getSettings, parseConfiguration, type VersionValidity } from './validity.ts'

const hashConfiguration = (text: string): string => hash('sha256', text, 'hex')
/** Of a plugin that was never configured. */
const EMPTY_CONFIGURATION_HASH = hashConfiguration('{}')

const MAX_DETAIL = 1000

/** Ends with a full stop, whatever the reason ends with. */
export const toSentence = (text: string): string => `${text.slice(0, MAX_DETAIL).replace(/[\s.]+$/, '')}.`

/** With its place, without which some sentences cannot be understood. */
export const describeReason = ({ message, pointer }: Partial<PluginReason> = {}): string => {
  const text = message ?? 'It is not valid.'
  return pointer === undefined || pointer === ''
    ? text
    : `${text.replace(/[\s.]+$/, '')} (at ${pointer} of plugin.json).`
}

/** Ends the operation with 503: nothing is decided without the plugin. */
export const failInvalid = (plugin_key: string, version: number | null, reasons: readonly PluginReason[]): never =>
  fail('plugin_invalid', {
    detail: toSentence(`The plugin ${plugin_key} cannot run: ${describeReason(reasons[0])}`),
    members: { plugin_key, version, reasons: reasons.slice(0, 50) },
  })

/** The version in force, or 503: a decision must not go on without it. */
async function findPointer(tx: Tx, wanted: WantedPlugin): Promise<resolver.ContentPointer> {
  if (wanted.pointer) return wanted.pointer
  const { plugin_key, version, valid_at } = wanted
  if (version !== undefined) {
    const dataset = assertFound(await datasetStore.findDataset(tx, plugin_key, PLUGIN_FAMILY))
    return documentStore.toContentPointer(dataset, assertFound(await versionStore.findVersion(tx, dataset, version)))
  }
  const pointer = (await resolver.findPointersInForce(tx, [plugin_key], { valid_at }, PLUGIN_FAMILY)).get(plugin_key)
  if (pointer) return pointer
  return failInvalid(plugin_key, null, [
    { code: 'not_in_force', message: `No version of the plugin ${plugin_key} is in force.` },
  ])
}

/** The manifest of the version in force, whether or not it may run; null where there is none or it cannot be read. */
export async function findManifestInForce(
  kernel: Pick<BindCapabilities, 'caches'>,
  tx: Tx,
  { plugin_key, valid_at }: Pick<WantedPlugin, 'plugin_key' | 'valid_at'>,
): Promise<PluginManifest | null> {
  const pointer = (await resolver.findPointersInForce(tx, [plugin_key], { valid_at }, PLUGIN_FAMILY)).get(plugin_key)
  const loaded = pointer ? await loadPlugin(kernel, tx, pointer) : null
  return loaded && !isReason(loaded) ? loaded.manifest : null
}

/**
 * The version in force, or the given one, if it may run now; 503 `plugin_invalid` with every reason otherwise. Never another
 * version.
 */
export const bindPlugin = async (kernel: BindCapabilities, tx: Tx, wanted: WantedPlugin): Promise<BoundPlugin> =>
  bindPointer(kernel, tx, await findPointer(tx, wanted), wanted.kind)

/** A version of any kind, for its author. */
export const bindVersion = (
  kernel: BindCapabilities,
  tx: Tx,
  { dataset, row }: { readonly dataset: datasetStore.DatasetRow; readonly row: versionStore.VersionRow },
): Promise<BoundPlugin> => bindPointer(kernel, tx, documentStore.toContentPointer(dataset, row), null)

async function bindPointer(
  kernel: BindCapabilities,
  tx: Tx,
  pointer: resolver.ContentPointer,
  kind: PluginKind | null,
): Promise<BoundPlugin> {
  const settings = await getSettings(tx, pointer.list_key)
  const validity = await findValidity(kernel, tx, pointer, settings)
  const found = validity.plugin?.manifest?.kind
  const isOther = kind !== null && found !== undefined && found !== kind
  const reasons = isOther
    ? [...validity.reasons, { code: 'kind_unknown', message: `It is a plugin of kind ${found}, not ${kind}.` }]
    : validity.reasons
  if (reasons.length > 0) failInvalid(pointer.list_key, pointer.version, reasons)
  return toBound(pointer, validity, {
    configuration: parseConfiguration(settings),
    configuration_hash: settings.configuration_hash ?? EMPTY_CONFIGURATION_HASH,
  })
}

function toBound(
  pointer: resolver.ContentPointer,
  { plugin, validation }: Pick<VersionValidity, 'plugin'> & { readonly validation: { sandbox_hash: string } | null },
  configured: Pick<BoundPlugin, 'configuration' | 'configuration_hash'>,
): BoundPlugin {
  if (!plugin?.manifest || !validation) return fail('internal')
  const { configuration, configuration_hash } = configured
  return {
    plugin_key: pointer.list_key,
    via: pointer.via,
    version: pointer.version,
    pointer,
    content_hash: plugin.content_hash,
    configuration: fillDefaults(plugin.manifest.config_schema ?? {}, configuration) as BoundPlugin['configuration'],
    configuration_hash,
    sandbox_hash: validation.sandbox_hash,
    manifest: plugin.manifest,
    source: plugin.source,
  }
}

/**
 * Exactly what a decision pinned: for a replay, also of a version that may no longer run. With `must_be_valid`, for work that is
 * still going on, it answers 503 while that version may not run.
 */
export async function bindPinnedPlugin(
  kernel: BindCapabilities,
  tx: Tx,
  { pointer, configuration_hash, sandbox_hash }: PluginPin,
  options: { readonly must_be_valid?: boolean } = {},
): Promise<BoundPlugin> {
  if (options.must_be_valid) {
    const { reasons } = await findValidity(kernel, tx, pointer, await getSettings(tx, pointer.list_key))
    if (reasons.length > 0) failInvalid(pointer.list_key, pointer.version, reasons)
  }
  const loaded = await loadPlugin(kernel, tx, pointer)
  if (isReason(loaded)) return fail('content_corrupt')
  return toBound(
    pointer,
    { plugin: loaded, validation: { sandbox_hash } },
    { configuration: await loadConfiguration(tx, pointer.list_key, configuration_hash), configuration_hash },
  )
}

/** Configurations are never removed, so that a pinned one is found. */
async function loadConfiguration(
  tx: Tx,
  plugin_key: string,
  configuration_hash: string,
): Promise<Readonly<Record<string, unknown>>> {
  if (configuration_hash === EMPTY_CONFIGURATION_HASH) return {}
  const row = await findConfiguration(tx, plugin_key, configuration_hash)
  return row && hashConfiguration(row.configuration) === configuration_hash
    ? parseConfiguration(row)
    : fail('content_corrupt')
}
