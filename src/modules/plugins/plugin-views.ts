/** Plugins and their versions as clients see them: with every reason why they cannot run. */
import { hash } from 'node:crypto'
import { mapWithPrecompute } from '#kernel/database/precompute.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { assertFound } from '#kernel/problem.ts'
import { datasetStore, documentStore, resolver, versionStore } from '#modules/definitions/index.ts'
import { type BindCapabilities, PLUGIN_FAMILY } from './model.ts'
import type { ReadPlugin } from './plugin-library.ts'
import { listSettings, type SettingsRow } from './queries.ts'
import { getTexts } from './upload.ts'
import { findValidity, getSettings, parseConfiguration, type VersionValidity } from './validity.ts'

export const toPluginReasons = (reasons: VersionValidity['reasons']) =>
  reasons.slice(0, 1000).map(({ code, message, pointer, line, differences }) => ({
    code,
    message: message.slice(0, 1000) || code,
    ...(pointer !== undefined && { pointer: pointer.slice(0, 1000) }),
    ...(line !== undefined && { line }),
    ...(differences !== undefined && { differences: differences.map((each) => ({ ...each })) }),
  }))

/** Of the version in force under the key, the tenant's own or a shared one. */
async function findInForce(tx: Tx, plugin_key: string): Promise<resolver.VersionPointer | undefined> {
  return (await resolver.findPointersInForce(tx, [plugin_key], {}, PLUGIN_FAMILY)).get(plugin_key)
}

/** The kind that the manifest of the version in force names, else of the newest one. */
async function describeCurrent(
  kernel: BindCapabilities,
  tx: Tx,
  row: datasetStore.DatasetViewRow,
  settings: SettingsRow,
) {
  const pointer = row.active ? await findInForce(tx, row.list_key) : undefined
  if (pointer) return { pointer, validity: await findValidity(kernel, tx, pointer, settings) }
  const newest = row.head_version === 0 ? undefined : await versionStore.findVersion(tx, row, row.head_version)
  const validity = newest
    ? await findValidity(kernel, tx, documentStore.toContentPointer(row, newest), settings)
    : undefined
  return { pointer: undefined, validity }
}

async function toPluginView(
  kernel: BindCapabilities,
  tx: Tx,
  { row, settings }: { readonly row: datasetStore.DatasetViewRow; readonly settings: SettingsRow },
) {
  const { pointer, validity } = await describeCurrent(kernel, tx, row, settings)
  const written = validity?.plugin ?? { written: null }
  const notInForce = { code: 'not_in_force', message: 'No version of it is in force.' }
  return {
    plugin_key: row.list_key,
    origin: row.origin,
    kind: validity?.plugin?.manifest?.kind ?? null,
    ...getTexts(row.list_key, written),
    state: row.state,
    head_version: row.head_version,
    active: pointer
      ? {
          version: pointer.version,
          label: pointer.label,
          via: pointer.via,
          effective_from: pointer.effective_from,
        }
      : null,
    runs: pointer !== undefined && validity?.valid === true,
    reasons: toPluginReasons([...(pointer ? [] : [notInForce]), ...(validity?.reasons ?? [])]),
    disabled: settings.disabled,
    disabled_reason: settings.disabled ? settings.disabled_reason : null,
    grants: { lists: [...settings.lists], hosts: [...settings.hosts], revision: settings.grant_revision },
    configuration: { ...parseConfiguration(settings) },
    configuration_revision: settings.configuration_revision,
    created_at: row.created_at,
    created_by: row.created_by,
    updated_at: row.updated_at,
  }
}
export type PluginView = Awaited<ReturnType<typeof toPluginView>>

export async function getPluginView(
  kernel: BindCapabilities,
  tx: Tx,
  plugin_key: string,
  origin: datasetStore.Origin | null = null,
): Promise<PluginView> {
  const row = assertFound(await datasetStore.findDatasetView(tx, plugin_key, PLUGIN_FAMILY, origin))
  return toPluginView(kernel, tx, { row, settings: await getSettings(tx, plugin_key) })
}

export async function toPluginViews(
  kernel: BindCapabilities,
  tx: Tx,
  rows: readonly datasetStore.DatasetViewRow[],
): Promise<PluginView[]> {
  const keys = [...new Set(rows.map(({ list_key }) => list_key))]
  const settings = new Map((await listSettings(tx, keys)).map((row) => [row.plugin_key, row]))
  return mapWithPrecompute(rows, (row) =>
    toPluginView(kernel, tx, { row, settings: assertFound(settings.get(row.list_key)) }),
  )
}

/** A version by its number or by the version of its manifest. */
export async function getPluginVersion(
  tx: Tx,
  { plugin_key, version }: { readonly plugin_key: string; readonly version: string },
  origin: datasetStore.Origin | null = null,
): Promise<{ readonly dataset: datasetStore.DatasetRow; readonly row: versionStore.VersionRow }> {
  const dataset = assertFound(await datasetStore.findDataset(tx, plugin_key, PLUGIN_FAMILY, origin))
  return { dataset, row: assertFound(await versionStore.findVersion(tx, dataset, version)) }
}

export interface VersionContext {
  readonly settings: SettingsRow
  readonly in_force: resolver.VersionPointer | undefined
}

export const loadVersionContext = async (tx: Tx, plugin_key: string): Promise<VersionContext> => ({
  settings: await getSettings(tx, plugin_key),
  in_force: await findInForce(tx, plugin_key),
})

/** One version without its content. */
export async function toVersionItem(
  kernel: BindCapabilities,
  tx: Tx,
  { dataset, row }: { readonly dataset: datasetStore.DatasetRow; readonly row: versionStore.VersionRow },
  { settings, in_force }: VersionContext,
) {
  const validity = await findValidity(kernel, tx, documentStore.toContentPointer(dataset, row), settings)
  const { plugin, validation } = validity
  const item = {
    plugin_key: dataset.list_key,
    origin: datasetStore.getOrigin(dataset.tenant_id),
    version: row.version,
    label: row.label,
    kind: plugin?.manifest?.kind ?? null,
    ...getTexts(dataset.list_key, plugin ?? { written: null }),
    runs: validity.valid,
    reasons: toPluginReasons(validity.reasons),
    validation: validation
      ? {
          valid: validation.valid,
          sandbox_hash: validation.sandbox_hash,
          fuel_max: validation.fuel_max,
          validated_at: validation.validated_at,
        }
      : null,
    content_hash: plugin?.content_hash ?? null,
    in_force: in_force?.dataset_id === dataset.dataset_id && in_force.version === row.version,
    note: row.note,
    created_at: row.created_at,
    created_by: row.created_by,
  }
  return { item, plugin }
}

export async function getVersionView(
  kernel: BindCapabilities,
  tx: Tx,
  version: { readonly dataset: datasetStore.DatasetRow; readonly row: versionStore.VersionRow },
) {
  const context = await loadVersionContext(tx, version.dataset.list_key)
  const { item, plugin } = await toVersionItem(kernel, tx, version, context)
  const { examples = [], ...manifest } = { ...plugin?.written }
  return {
    ...item,
    manifest: plugin?.written ? manifest : null,
    examples: Array.isArray(examples) ? [...examples] : [],
    files: plugin ? listFiles(plugin) : [],
  }
}

const listFiles = ({ files }: ReadPlugin) =>
  Object.entries(files).map(([path, text]) => ({
    path,
    size_bytes: Buffer.byteLength(text),
    sha256: hash('sha256', text, 'hex'),
  }))
