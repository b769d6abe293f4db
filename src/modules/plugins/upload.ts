/** Stores an uploaded package as a version, with what validation of its code found. An invalid one is stored with its reasons. */
import type { Static } from 'typebox'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import { isTitleText } from '#kernel/schema.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { datasetStore, documentStore, staging, typeStore, versionStore } from '#modules/definitions/index.ts'
import { getListUses } from '#plugin/manifest.ts'
import type { StagedRow } from '#registry/import/copy-rows.ts'
import { SANDBOX_HASH } from '#sandbox/builds.ts'
import { type CodeValidation, getCodeValidation } from './code-validation.ts'
import { PLUGIN_FAMILY } from './model.ts'
import { pluginKind, RESERVED_KEYS } from './plugin-kind.ts'
import { type ReadPlugin, readUpload } from './plugin-library.ts'
import { readManifestPart, type StoredPackage, toPluginEntries } from './plugin-parts.ts'
import { findVersionByHash, insertValidation, listKindParts } from './queries.ts'
import type { NewPluginVersion } from './schema.ts'

export type PluginUpload = Static<typeof NewPluginVersion>

const LABEL = /^(?=.*[^0-9])[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/

/** The version that the manifest names; null where it names none that can be part of a path. */
export function getVersionLabel({ written }: ReadPlugin): string | null {
  const version = written?.['version']
  return typeof version === 'string' && LABEL.test(version) ? version : null
}

/** Exactly one form of the package. */
export function readPluginUpload({ package: inline, zip }: PluginUpload): Promise<StoredPackage> {
  if ((inline === undefined) === (zip === undefined)) {
    return fail('conflict', 'Give the plugin as JSON in "package", or as an archive in "zip".')
  }
  return readUpload(inline ?? decodeZip(zip ?? ''))
}

/** Node.js decodes what it can of any text: only Base64 is the same when it is encoded again. */
function decodeZip(zip: string): Buffer {
  const text = zip.replaceAll(/[\r\n]/g, '')
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes : fail('conflict', 'The member "zip" is not Base64.')
}

/** A new plugin has no version yet; the shared one of this key, if any, stays in force. */
export async function createPlugin(tx: Tx, plugin_key: string, read: ReadPlugin): Promise<datasetStore.DatasetRow> {
  const shared = await datasetStore.findSharedDataset(tx, plugin_key, PLUGIN_FAMILY)
  if (RESERVED_KEYS.includes(plugin_key)) {
    fail('list_key_reserved', `"${plugin_key}" is part of a path and cannot be the key of a plugin.`)
  }
  if (shared && shared.overlay_policy !== 'free') {
    fail('list_key_reserved', `The operator does not let tenants replace the shared plugin ${plugin_key}.`)
  }
  const type = await getPartType(tx)
  const dataset = assertFound(
    await datasetStore.insertDataset(tx, {
      dataset_id: uuidv7(),
      family: PLUGIN_FAMILY,
      list_key: plugin_key,
      role: 'base',
      type_tenant_id: type.tenant_id,
      type_key: type.type_key,
      overlay_policy: 'free',
      ...getTexts(plugin_key, read),
    }),
  )
  await documentStore.upsertProfile(tx, dataset, { subject_types: [], products: [], typologies: [] })
  return dataset
}

const getText = (value: unknown, max: number): string | null =>
  typeof value === 'string' && isTitleText(value) ? value.trim().slice(0, max) : null

/** Title and description as the manifest says, or its key where it says nothing usable. */
export const getTexts = (plugin_key: string, { written }: Pick<ReadPlugin, 'written'>) => ({
  title: getText(written?.['title'], 200) ?? plugin_key,
  description: getText(written?.['description'], 4000),
})

/**
 * The same content is the same version, so that an upload can be repeated. Another content under a version that exists is refused:
 * a version never changes.
 */
export async function publishPlugin(
  kernel: Capabilities<'caches' | 'threads'>,
  tx: Tx,
  dataset: datasetStore.DatasetRow,
  {
    stored,
    read,
    note,
  }: { readonly stored: StoredPackage; readonly read: ReadPlugin; readonly note?: string | undefined },
): Promise<{ readonly version: versionStore.VersionRow; readonly is_new: boolean }> {
  const code = getCodeValidation(kernel, tx, read)
  const earlier = await findStoredVersion(kernel, tx, dataset, stored)
  if (earlier) {
    return { version: assertFound(await versionStore.findVersion(tx, dataset, earlier.version)), is_new: false }
  }
  const kind = await findOtherKind(tx, dataset, read)
  if (kind !== null) fail('conflict', toKindFault(dataset, kind))
  const label = getVersionLabel(read)
  const taken = label === null ? undefined : await versionStore.findVersion(tx, dataset, label)
  if (taken) {
    fail('version_conflict', {
      detail: `Version ${label} of ${dataset.list_key} exists with other content (number ${taken.version}). Raise the version in the manifest.`,
      members: { plugin_key: dataset.list_key, version: taken.version, label },
    })
  }
  return {
    version: await insertPluginVersion(kernel, tx, dataset, {
      stored,
      read,
      code,
      origin: 'inline',
      label,
      note: note ?? null,
    }),
    is_new: true,
  }
}

/**
 * The kind of the plugin, where that of the upload is another: what names the plugin could not run it. A plugin of the tenant under
 * the key of a shared one replaces that.
 */
export async function findOtherKind(
  tx: Tx,
  dataset: datasetStore.DatasetRow,
  { manifest }: ReadPlugin,
): Promise<string | null> {
  if (!manifest) return null
  const shared = await datasetStore.findSharedDataset(tx, dataset.list_key, PLUGIN_FAMILY)
  for (const each of [dataset, ...(shared && shared.dataset_id !== dataset.dataset_id ? [shared] : [])]) {
    const kinds = (await listKindParts(tx, each)).map(({ data }) => readManifestPart(data)['kind'])
    const other = kinds.find((kind) => typeof kind === 'string' && kind !== manifest.kind)
    if (typeof other === 'string') return other
  }
  return null
}

export const toKindFault = ({ list_key }: Pick<datasetStore.DatasetRow, 'list_key'>, kind: string): string =>
  `${list_key} is a plugin of kind ${kind}: upload a plugin of another kind under another key.`

/** The version with exactly this content. */
export async function findStoredVersion(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  dataset: datasetStore.DatasetRow,
  stored: StoredPackage,
) {
  const { content_hash } = staging.summarizeRows(await prepareRows(kernel, tx, stored))
  return findVersionByHash(tx, dataset, content_hash)
}

export interface NewVersion {
  readonly stored: StoredPackage
  readonly read: ReadPlugin
  readonly code: CodeValidation
  readonly origin: 'inline' | 'seed'
  readonly label: string | null
  readonly note?: string | null
}

/** The version, the lists it names, and what validation of its code found. */
export async function insertPluginVersion(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  dataset: datasetStore.DatasetRow,
  { stored, read, code, origin, label, note = null }: NewVersion,
): Promise<versionStore.VersionRow> {
  const type = await getPartType(tx)
  const content = await staging.stageRows(tx, await prepareRows(kernel, tx, stored))
  const provenance = { content_hash: read.content_hash }
  const row = await versionStore.publishStaged(tx, {
    dataset,
    type,
    content,
    origin,
    provenance,
    label,
    note,
    guards: null,
  })
  if (row === 'unchanged') return fail('internal')
  const { tenant_id, dataset_id, version } = row
  await documentStore.insertReferences(tx, dataset, version, listKeys(read))
  await insertValidation(
    tx,
    { tenant_id, dataset_id, version },
    {
      sandbox_hash: SANDBOX_HASH,
      content_hash: read.content_hash,
      valid: code.reasons.length === 0,
      reasons: code.reasons,
      fuel_max: code.fuel_max,
    },
  )
  return row
}

/** Lists that the version names, so that they are found as what depends on a list. */
const listKeys = ({ manifest }: ReadPlugin): string[] =>
  manifest ? getListUses(manifest).map(({ list_key }) => list_key) : []

const getPartType = async (tx: Tx): Promise<typeStore.TypeRow> =>
  (await typeStore.findSharedType(tx, pluginKind.type_key)) ?? fail('internal')

async function prepareRows(kernel: Capabilities<'caches'>, tx: Tx, stored: StoredPackage): Promise<StagedRow[]> {
  const { compiled } = typeStore.getBaseType(kernel, await getPartType(tx))
  return toPluginEntries(stored).map((entry, index): StagedRow => {
    const prepared = compiled.prepare(entry)
    return 'key' in prepared ? { ...prepared, row: index + 1 } : fail('internal')
  })
}
