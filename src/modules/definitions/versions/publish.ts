/** Publishes a version from staged rows and reads versions. Shared by lists, overlays, imports and seeds. */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import type { Entry } from '#registry/adapter.ts'
import { createPatch, listFieldChanges } from '#registry/content/json-patch.ts'
import type { MemberCounts } from '#registry/types/array-members.ts'
import { getOrigin, type Origin } from '../datasets/origin.ts'
import { type DatasetRow, findDataset, lockDataset } from '../datasets/queries.ts'
import { getDifferenceSummary } from '../differences/summary.ts'
import {
  analyseStage,
  applyDelta,
  countDelta,
  createDelta,
  insertStaged,
  raiseStageWorkMem,
} from '../staging/queries.ts'
import type { StagedContent } from '../staging/stage-rows.ts'
import { storeTree } from '../trees/stored-tree.ts'
import { parseDifference } from './entries.ts'
import { findGuardBreaches, type Gate, type GuardSettings, type MemberLoss } from './guards.ts'
import {
  type EntryRow,
  findVersion,
  insertVersion,
  listEntries,
  listVersionDifferences,
  type VersionRow,
} from './queries.ts'
import { countLosses, type EntryForm, markRestated } from './value-losses.ts'

/** From this size on the planner needs statistics of the staged rows. */
const LARGE_ENTRY_COUNT = 10_000
const BATCH = 5_000

export interface Publication {
  readonly dataset: Pick<DatasetRow, 'dataset_id'>
  readonly type: {
    readonly tenant_id: string
    readonly type_key: string
    readonly type_version: number
    /** Required where guards apply, or where an older type version may have written the list. */
    readonly definition?: EntryForm
  }
  readonly content: StagedContent
  readonly origin: VersionRow['origin']
  readonly provenance: Record<string, unknown>
  readonly label?: string | null
  readonly note?: string | null
  readonly base_version?: number | null
  readonly expected_head?: number | null
  /** `skip`: content equal to the head makes no new version. */
  readonly on_unchanged?: 'publish' | 'skip'
  /** Null: no guards apply. */
  readonly guards: GuardSettings | null
  /** Who overrides the guards, and why. */
  readonly override?: { readonly by: string; readonly reason: string } | null
  /** Called at the start of each phase, to report progress. */
  readonly onPhase?: (phase: PublishPhase) => Promise<void>
}

export type PublishPhase = 'compare' | 'write' | 'tree'

/** How new content is compared with the head and written. */
export interface ContentWriter {
  compare(dataset_id: string, has_head: boolean): Promise<VersionRow['difference']>
  /** Counts entries separately that differ only by the canonical form of a newer type version. */
  restate?(dataset_id: string, definition: EntryForm): Promise<VersionRow['difference']>
  countLosses?(dataset_id: string, definition: EntryForm, counts: MemberCounts): Promise<readonly MemberLoss[]>
  apply(dataset_id: string, version: number, has_head: boolean): Promise<unknown>
}

/** Writes the content that the table `delta` describes. */
export const createDeltaWriter = (tx: Tx) => ({
  async restate(dataset_id: string, definition: EntryForm) {
    await markRestated(tx, dataset_id, definition)
    return countDelta(tx)
  },
  apply: (dataset_id: string, version: number) => applyDelta(tx, dataset_id, version),
})

/** Compares and writes through the stage: for content of any size. */
const createStagedWriter = (tx: Tx, { entry_count, is_ordered = false }: StagedContent): ContentWriter => ({
  async compare(dataset_id, has_head) {
    const is_large = entry_count >= LARGE_ENTRY_COUNT
    if (is_large) await raiseStageWorkMem(tx)
    if (!has_head) return { added: entry_count, removed: 0, changed: 0 }
    if (is_large) await analyseStage(tx)
    await createDelta(tx, dataset_id)
    return countDelta(tx)
  },
  ...createDeltaWriter(tx),
  countLosses: (dataset_id, definition, counts) => countLosses(tx, dataset_id, definition, counts),
  apply: (dataset_id, version, has_head) =>
    has_head ? applyDelta(tx, dataset_id, version) : insertStaged(tx, dataset_id, version, is_ordered),
})

/** The critical section of publishing: one transaction under the row lock of the dataset, so that numbers have no gaps. */
export async function publishStaged(
  tx: Tx,
  publication: Publication,
  writer = createStagedWriter(tx, publication.content),
): Promise<VersionRow | 'unchanged'> {
  const { content } = publication
  const dataset = (await lockDataset(tx, publication.dataset.dataset_id)) ?? fail('not_found')
  assertHeadVersion(dataset, publication.expected_head ?? null)
  const head = dataset.head_version === 0 ? undefined : await findVersion(tx, dataset, dataset.head_version)
  const content_changed = head?.content_hash !== content.content_hash
  if (!content_changed && publication.on_unchanged === 'skip') return 'unchanged'
  await publication.onPhase?.('compare')
  const { difference, losses } = await compareWithHead(publication, writer, dataset.dataset_id, head)
  const breaches = publication.guards
    ? findGuardBreaches(publication.guards, {
        entries: content.entry_count,
        before: head?.entry_count ?? null,
        removed: difference.removed,
        changed: difference.changed,
        filled: content.filled,
        losses,
        doubts: content.doubts ?? [],
      })
    : []
  if (breaches.length > 0 && !publication.override) failGatesClosed(breaches)
  await publication.onPhase?.('write')
  const version = await insertVersion(tx, {
    dataset_id: dataset.dataset_id,
    version: dataset.head_version + 1,
    label: publication.label ?? null,
    type_tenant_id: publication.type.tenant_id,
    type_key: publication.type.type_key,
    type_version: publication.type.type_version,
    content_hash: content.content_hash,
    content_changed,
    entry_count: content.entry_count,
    data_bytes: content.data_bytes,
    base_version: publication.base_version ?? null,
    origin: publication.origin,
    provenance: {
      ...publication.provenance,
      ...(breaches.length > 0 && { guards_overridden: { ...publication.override, breaches } }),
    },
    difference,
    note: publication.note ?? null,
  })
  await writer.apply(dataset.dataset_id, dataset.head_version + 1, head !== undefined)
  if (content.tree && dataset.family === 'list' && dataset.role === 'base') {
    await publication.onPhase?.('tree')
    await storeTree(tx, {
      dataset_id: dataset.dataset_id,
      version: dataset.head_version + 1,
      entry_count: content.entry_count,
      tree: content.tree,
      changed_keys: head ? difference.added + difference.removed + difference.changed : null,
    })
  }
  return version ?? fail('internal')
}

async function compareWithHead(
  { type, content, guards }: Publication,
  writer: ContentWriter,
  dataset_id: string,
  head: VersionRow | undefined,
): Promise<{ difference: VersionRow['difference']; losses: readonly MemberLoss[] }> {
  let difference = await writer.compare(dataset_id, head !== undefined)
  if (!head || !type.definition) return { difference, losses: [] }
  if (difference.changed > 0 && head.type_version !== type.type_version && writer.restate) {
    difference = await writer.restate(dataset_id, type.definition)
  }
  const losses =
    guards && content.members && difference.changed > 0 && writer.countLosses
      ? await writer.countLosses(dataset_id, type.definition, content.members)
      : []
  return { difference, losses }
}

export function assertHeadVersion(dataset: DatasetRow, expected: number | null): void {
  if (expected === null || expected === dataset.head_version) return
  fail('head_moved', `The newest version is ${dataset.head_version}, not ${expected}.`)
}

/** The same for If-Match, whose ETag is the number of the newest version. */
export function assertIfMatchHead(dataset: DatasetRow, if_match: readonly string[] | '*' | undefined): void {
  if (if_match === undefined || if_match === '*' || if_match.includes(`"${dataset.head_version}"`)) return
  fail(
    'precondition_failed',
    `The newest version is ${dataset.head_version}. Here If-Match names the newest version: "${dataset.head_version}".`,
  )
}

export const failGatesClosed = (gates: readonly Gate[]): never =>
  fail('gates_closed', {
    detail: gates.map(({ detail }) => detail).join(' '),
    members: { gates },
  })

/** All entries of a version in key order, in batches. Versions are immutable, so the batches need no common transaction. */
export async function* readEntries(
  read: <T>(body: (tx: Tx) => Promise<T>) => Promise<T>,
  version: Pick<VersionRow, 'tenant_id' | 'dataset_id' | 'version'>,
): AsyncGenerator<EntryRow[], void, undefined> {
  let after: string | null = null
  for (;;) {
    const from = after
    const rows: EntryRow[] = await read((tx) => listEntries(tx, version, from, BATCH))
    if (rows.length > 0) yield rows
    if (rows.length < BATCH) return
    after = rows.at(-1)?.key ?? null
  }
}

export async function getVersion(
  tx: Tx,
  params: { list_key: string; version: string },
  origin: Origin | null = null,
): Promise<{ dataset: DatasetRow; version: VersionRow }> {
  const dataset = assertFound(await findDataset(tx, params.list_key, 'list', origin))
  return { dataset, version: assertFound(await findVersion(tx, dataset, params.version)) }
}

/** The person who requested the job, since people look for that one; else the creator. */
export const getAuthor = ({ provenance, created_by }: Pick<VersionRow, 'provenance' | 'created_by'>): string =>
  typeof provenance['imported_by'] === 'string' ? provenance['imported_by'] : created_by

/** The version a delta was applied to; null for a full import. The database checks that it is the previous version. */
const getDeltaBase = ({ provenance }: Pick<VersionRow, 'provenance'>): number | null =>
  (provenance['delta'] as { base_version: number } | undefined)?.base_version ?? null

export const toVersionView = (list_key: string, version: VersionRow) => {
  const { tenant_id: _t, dataset_id: _d, type_tenant_id: _y, base_version: _b, provenance: _p, ...rest } = version
  return {
    list_key,
    list_origin: getOrigin(version.tenant_id),
    ...rest,
    delta_base_version: getDeltaBase(version),
    created_by: getAuthor(version),
  }
}

interface DifferenceInput {
  readonly tx: Tx
  readonly kernel: Capabilities<'cursors'>
  readonly query: {
    /** Numbers or labels. */
    readonly from: string
    readonly to: string
    /** Owner of the version `from`, where it differs from the owner of `to`. */
    readonly from_origin?: Origin
    readonly limit?: number
    readonly cursor?: string
    readonly key_prefix?: string
    readonly format?: 'changes' | 'json-patch'
  }
}

/** An object with the entry under its key, or an empty one, so that patch paths start with the key. */
const toPatchTarget = (key: string, entry: Entry | null): object =>
  entry === null ? {} : Object.fromEntries([[key, entry]])

/** One page of the differences between two versions, in either direction. The first page includes the summary. */
export async function getDifferencePage({ tx, kernel, query }: DifferenceInput, route: string, dataset: DatasetRow) {
  const getNamedVersion = async (of: DatasetRow, name: string) =>
    (await findVersion(tx, of, name)) ?? fail('not_found', `There is no version ${name} of ${dataset.list_key}.`)
  const { family, list_key, tenant_id } = dataset
  const from_origin = query.from_origin ?? getOrigin(tenant_id)
  const is_same_owner = from_origin === getOrigin(tenant_id)
  const base = is_same_owner ? dataset : assertFound(await findDataset(tx, list_key, family, from_origin))
  const from = await getNamedVersion(base, query.from)
  const to = await getNamedVersion(dataset, query.to)
  const range = { from: from.version, to: to.version }
  const binding = {
    k: list_key,
    d: [from.dataset_id, to.dataset_id],
    ...range,
    p: query.key_prefix ?? '',
    f: query.format ?? '',
  }
  const bound = { tenant_id: tx.tenant_id, route, binding }
  const position = query.cursor === undefined ? null : kernel.cursors.decode(query.cursor, bound)
  const after = (position?.[0] as string | undefined) ?? null
  const limit = query.limit ?? 50
  const prefix = query.key_prefix ?? null
  const rows = await listVersionDifferences(tx, from, to, { after, prefix, count: limit + 1 })
  const items = rows.slice(0, limit).map((row) => {
    const [before, later] = parseDifference(row)
    return {
      op: before ? (later ? ('changed' as const) : ('removed' as const)) : ('added' as const),
      key: row.key,
      before,
      after: later,
      changes: before && later ? (listFieldChanges(before, later) as { pointer: string }[]) : [],
      ...(query.format === 'json-patch' && {
        patch: createPatch(toPatchTarget(row.key, before), toPatchTarget(row.key, later)),
      }),
    }
  })
  return {
    ...range,
    from_origin,
    to_origin: getOrigin(tenant_id),
    from_hash: from.content_hash,
    to_hash: to.content_hash,
    ...(after === null && prefix === null
      ? await getDifferenceSummary(tx, from, to)
      : { summary: null, summary_state: null }),
    items,
    next_cursor:
      rows.length > limit ? kernel.cursors.encode({ ...bound, position: [items.at(-1)?.key as string] }) : null,
  }
}

/** Fails for shared lists, which the operator publishes; tenants use an overlay or a pin. */
export function assertWritable(dataset: DatasetRow, tx: Tx): void {
  if (dataset.tenant_id !== tx.tenant_id) {
    fail(
      'transition_not_allowed',
      dataset.family === 'list'
        ? `${dataset.list_key} is a shared list; make an overlay on it instead.`
        : `${dataset.list_key} is shared by all tenants; create one of your own with this key instead.`,
    )
  }
  if (dataset.state === 'archived') fail('transition_not_allowed', `${dataset.list_key} is archived.`)
}
