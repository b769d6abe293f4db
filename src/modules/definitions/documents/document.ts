/** Operations on definitions by key: settings, profile, draft and versions. */

import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { getOrigin, type Origin } from '../datasets/origin.ts'
import {
  type DatasetRow,
  type DatasetViewRow,
  findDataset,
  findDatasetForWrite,
  findDatasetView,
  findSharedDataset,
  insertDataset,
  lockDataset,
} from '../datasets/queries.ts'
import type { ContentPointer } from '../resolve/queries.ts'
import { findPointersInForce, loadList } from '../resolve/resolver.ts'
import { findSharedType } from '../types/queries.ts'
import { assertWritable } from '../versions/publish.ts'
import { findVersion, type VersionRow } from '../versions/queries.ts'
import {
  type DefinitionKind,
  type DefinitionText,
  getDefinitionKey,
  toKindReply,
  type ValidationCapabilities,
} from './kind.ts'
import {
  type DraftRow,
  findDraft,
  findProfiles,
  insertDraft,
  listDrafts,
  type ProfileRow,
  upsertProfile,
} from './queries.ts'

/** The definition of the given owner, or else the one in force, then the tenant's own, then the shared one. */
export const getDefinition = async (
  tx: Tx,
  family: string,
  key: string,
  origin: Origin | null = null,
): Promise<DatasetRow> => assertFound(await findDataset(tx, key, family, origin))

/** The definition in force, then the tenant's own, then the shared one; undefined where there is none. */
export const findDefinition = (tx: Tx, family: string, key: string): Promise<DatasetRow | undefined> =>
  findDataset(tx, key, family, null)

/** Locks the definition for a change. Refuses a shared one, which the operator maintains, and an archived one. */
export async function lockOwnDefinition(tx: Tx, family: string, key: string): Promise<DatasetRow> {
  const dataset = assertFound(await findDatasetForWrite(tx, key, family))
  assertWritable(dataset, tx)
  const locked = assertFound(await lockDataset(tx, dataset.dataset_id))
  assertWritable(locked, tx)
  return locked
}

export const toContentPointer = (dataset: DatasetRow, version: VersionRow): ContentPointer => ({
  family: dataset.family,
  list_key: dataset.list_key,
  via: getOrigin(dataset.tenant_id) === 'own' ? 'tenant-own' : 'shared',
  dataset_tenant_id: dataset.tenant_id,
  dataset_id: dataset.dataset_id,
  version: version.version,
  label: version.label,
  type_tenant_id: version.type_tenant_id,
  type_key: version.type_key,
  type_version: version.type_version,
  content_hash: version.content_hash,
  entry_count: version.entry_count,
  data_bytes: version.data_bytes,
  overlay_policy: dataset.overlay_policy,
  overlay_dataset_id: null,
  overlay_version: null,
  overlay_hash: null,
  overlay_count: null,
  overlay_base_version: null,
})

async function loadText(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  kind: Pick<DefinitionKind, 'fromEntries'>,
  pointer: ContentPointer,
): Promise<DefinitionText> {
  const content = (await loadList(kernel, tx, pointer)) ?? fail('content_corrupt')
  return kind.fromEntries([...content.entries.values()].map(({ entry }) => entry))
}

export const loadVersionText = (
  kernel: Capabilities<'caches'>,
  tx: Tx,
  kind: Pick<DefinitionKind, 'fromEntries'>,
  { dataset, version }: { dataset: DatasetRow; version: VersionRow },
): Promise<DefinitionText> => loadText(kernel, tx, kind, toContentPointer(dataset, version))

export interface VersionOrDraft {
  readonly dataset: DatasetRow
  readonly text: DefinitionText
  readonly version: VersionRow | null
  readonly draft: DraftRow | null
}

/** Resolves a path segment: a version number, a label, or `draft`, which is always the tenant's own. */
export async function getVersionOrDraft(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  kind: DefinitionKind,
  params: { readonly version: string; readonly origin?: Origin | undefined },
): Promise<VersionOrDraft> {
  const { origin = null } = params
  const key = getDefinitionKey(kind, params)
  if (params.version === 'draft' && origin !== 'shared') {
    const own = await getDefinition(tx, kind.family, key, 'own')
    const draft = assertFound(await findDraft(tx, own))
    return { dataset: own, text: draft.definition, version: null, draft }
  }
  const dataset = await getDefinition(tx, kind.family, key, origin)
  const version = assertFound(await findVersion(tx, dataset, params.version))
  return { dataset, text: await loadVersionText(kernel, tx, kind, { dataset, version }), version, draft: null }
}

export interface NewDefinition extends Partial<ProfileRow> {
  readonly key: string
  readonly title: string
  readonly description?: string | null
  readonly owner?: string | null
  readonly review_every_days?: number | null
  readonly stale_after_days?: number | null
  readonly definition?: DefinitionText
  readonly from_key?: string
}

export async function createDefinition(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  kind: DefinitionKind,
  request: NewDefinition,
): Promise<DatasetRow> {
  const { key, definition, from_key, subject_types = [], products = [], typologies = [], ...settings } = request
  const shared = await findSharedDataset(tx, key, kind.family)
  if (kind.reserved.includes(key)) {
    fail(
      'list_key_reserved',
      `"${key}" is a word of the paths below /api/${kind.segment}, so no ${kind.word} can have it as its key.`,
    )
  }
  if (shared && shared.overlay_policy !== 'free') fail('list_key_reserved')
  const text = await getInitialText(kernel, tx, kind, request)
  const type = (await findSharedType(tx, kind.type_key)) ?? fail('internal')
  const dataset = assertFound(
    await insertDataset(tx, {
      ...settings,
      dataset_id: uuidv7(),
      family: kind.family,
      list_key: key,
      role: 'base',
      type_tenant_id: type.tenant_id,
      type_key: type.type_key,
    }),
  )
  await upsertProfile(tx, dataset, { subject_types, products, typologies })
  await insertDraft(tx, dataset, text, null)
  return dataset
}

async function getInitialText(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  kind: DefinitionKind,
  { definition, from_key, title }: NewDefinition,
): Promise<DefinitionText> {
  if (definition && from_key !== undefined) fail('conflict', 'Give the definition, or the key to begin from, not both.')
  const named = kind.has_title ? { title } : {}
  if (definition) return definition['title'] === '' ? { ...definition, ...named } : { ...named, ...definition }
  if (from_key === undefined) return named
  const { text } = await getCurrentText(kernel, tx, kind, await getDefinition(tx, kind.family, from_key))
  return { ...text, ...named }
}

/** The version of this definition that is in force, else its newest version; an empty document before the first version. */
export async function getCurrentText(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  kind: Pick<DefinitionKind, 'fromEntries'>,
  dataset: DatasetRow,
): Promise<{ readonly version: number | null; readonly text: DefinitionText }> {
  const inForce = (await findPointersInForce(tx, [dataset.list_key], {}, dataset.family)).get(dataset.list_key)
  if (inForce?.dataset_id === dataset.dataset_id)
    return { version: inForce.version, text: await loadText(kernel, tx, kind, inForce) }
  const newest = dataset.head_version === 0 ? undefined : await findVersion(tx, dataset, dataset.head_version)
  if (!newest) return { version: null, text: {} }
  return { version: newest.version, text: await loadVersionText(kernel, tx, kind, { dataset, version: newest }) }
}

/** The initial text of a new draft: the version in force under the key, of either owner, else the newest own version. */
export async function getInitialDraft(kernel: Capabilities<'caches'>, tx: Tx, kind: DefinitionKind, own: DatasetRow) {
  const inForce = await getDefinition(tx, kind.family, own.list_key)
  const { version, text } = await getCurrentText(kernel, tx, kind, inForce)
  return { based_on: inForce.dataset_id === own.dataset_id ? version : null, text }
}

type DefinitionViewRow = DatasetViewRow & Partial<ProfileRow> & { readonly draft: DraftRow | undefined }

/** Adds the profile and the draft to each row. */
export async function addProfiles(tx: Tx, rows: readonly DatasetViewRow[]): Promise<DefinitionViewRow[]> {
  if (rows.length === 0) return []
  const profiles = new Map((await findProfiles(tx, rows)).map((row) => [`${row.tenant_id} ${row.dataset_id}`, row]))
  const drafts = new Map((await listDrafts(tx, rows)).map((row) => [row.dataset_id, row]))
  return rows.map((row) => ({
    ...row,
    ...profiles.get(`${row.tenant_id} ${row.dataset_id}`),
    draft: row.tenant_id === tx.tenant_id ? drafts.get(row.dataset_id) : undefined,
  }))
}

export function toDefinitionView(kind: DefinitionKind, row: DefinitionViewRow) {
  const { subject_types = [], products = [], typologies = [], draft } = row
  const { list_key, origin, title, description, owner, review_every_days, stale_after_days, state, head_version } = row
  const { active, pending, versions, versions_total, stale_since, review_due_at } = row
  const { created_at, created_by, updated_at, revision } = row
  return {
    ...{ [kind.param]: list_key, origin, title, description, owner, review_every_days, stale_after_days },
    ...(kind.has_profile && { subject_types, products, typologies }),
    ...{ state, head_version, active, pending, versions, versions_total },
    draft: draft
      ? {
          revision: draft.revision,
          based_on: draft.based_on,
          updated_at: draft.updated_at,
          updated_by: draft.updated_by,
        }
      : null,
    ...{ stale_since, review_due_at, created_at, created_by, updated_at, revision },
  }
}

/** One definition with the findings of its version in force. */
export async function getDefinitionView(
  kernel: ValidationCapabilities,
  tx: Tx,
  kind: DefinitionKind,
  { key, origin = null }: { readonly key: string; readonly origin?: Origin | null | undefined },
) {
  const [row] = await addProfiles(tx, [assertFound(await findDatasetView(tx, key, kind.family, origin))])
  const view = toDefinitionView(kind, row as DefinitionViewRow)
  const attention = view.active ? await kind.checkInForce(kernel, tx, key) : []
  return toKindReply({ ...view, attention })
}
