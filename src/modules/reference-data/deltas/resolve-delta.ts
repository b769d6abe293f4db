/** Resolves a staged delta to the content of the next version, without reading unchanged entries. */
import type { Tx } from '#kernel/database/tx.ts'
import { fail } from '#kernel/problem.ts'
import { datasetStore, staging, treeStore, typeStore, versionStore } from '#modules/definitions/index.ts'
import type { Entry, Reject, Warning } from '#registry/adapter.ts'
import { parsePointer } from '#registry/content/json-pointer.ts'
import type { ImportTotals } from '#registry/import/import-messages.ts'
import { CHANGED_AND_REMOVED, changedAndRemoved } from '#registry/import/key-report.ts'
import { countRejects } from '#registry/import/tallies.ts'
import { findArrayMembers } from '#registry/types/array-members.ts'
import { createListCheck, type ListFault } from '#registry/types/list-rules.ts'
import type { TypeDefinition } from '#registry/types/type-definition.ts'

import { failRejected, type ImportRun } from '../imports/import-source.ts'

import { assertDeltaBase, type BaseRequest } from './base.ts'
import {
  countContradictions,
  countFilled,
  countHeadMembers,
  countUnmatchedRemovals,
  createDeltaFromStage,
  findUnmatchedRemoval,
  indexDelta,
  insertStatedRemovals,
  listContradictions,
  listUntouched,
  removeUnapplied,
  sumDeltaBytes,
} from './queries.ts'
import { type DeltaRequest, normaliseStatedKeys } from './request.ts'

export interface DeltaCounts {
  readonly base_version: number
  readonly added: number
  readonly changed: number
  readonly removed: number
  /** Entries of the base that do not change. */
  readonly untouched: number
  /** Rows equal to their entry in the base. */
  readonly unchanged_rows: number
  /** Removals of keys that the base does not have. */
  readonly unmatched_removals: number
}

interface DeltaImport {
  readonly dataset: { readonly dataset_id: string; readonly guards: versionStore.GuardSettings }
  readonly type: typeStore.TypeRow
  readonly delta: DeltaRequest
  /** Members dropped and hashed by this import. */
  readonly privacy: BaseRequest['privacy']
  /** Totals of the file. */
  readonly totals: ImportTotals
  readonly run: Pick<ImportRun, 'strict' | 'onRejects'>
}

export interface ResolvedDelta {
  readonly content: staging.StagedContent
  readonly writer: versionStore.ContentWriter
  readonly counts: DeltaCounts
  /** Totals of the file with the faults found against the base. */
  readonly totals: ImportTotals
}

const LARGE_FROM = 10_000
const MAX_REJECTS = 1000
const MAX_WARNINGS = 200
const BATCH = 5_000

/** Runs in the publishing transaction after the file is staged. Locks the list. */
export async function resolveDelta(tx: Tx, request: DeltaImport): Promise<ResolvedDelta> {
  const { type, delta, privacy, totals } = request
  const { guards } = request.dataset
  const dataset = (await datasetStore.lockDataset(tx, request.dataset.dataset_id)) ?? fail('not_found')
  const { dataset_id } = dataset
  const base = await assertDeltaBase(tx, dataset, type, { base_version: delta.base_version, privacy })
  if (delta.removed.keys.length > 0) {
    await insertStatedRemovals(tx, normaliseStatedKeys(delta, typeStore.toTypeDefinition(type)))
    await assertNoContradictions(tx, request)
  }
  if (totals.accepted + delta.removed.keys.length >= LARGE_FROM) {
    await staging.raiseStageWorkMem(tx)
    await staging.analyseStage(tx)
  }
  await createDeltaFromStage(tx, dataset_id)
  const unmatched = await findUnmatchedWarnings(tx, type)
  const unchanged_rows = await removeUnapplied(tx)
  const difference = await staging.countDelta(tx)
  const { added, removed, changed } = difference
  if (added + removed + changed >= LARGE_FROM) await indexDelta(tx)
  const entry_count = base.entry_count + added - removed
  const faults = await checkRules(tx, dataset_id, typeStore.toTypeDefinition(type), entry_count)
  const all_totals = addFaults(
    { ...totals, warnings: [...unmatched, ...totals.warnings].slice(0, MAX_WARNINGS) },
    faults,
  )
  if (faults.length > 0) {
    await request.run.onRejects(faults)
    if (request.run.strict) failRejected(all_totals)
  }
  const { root, tree } = await treeStore.computeResultTree(tx, base, {
    entry_count,
    changed_keys: added + removed + changed,
  })
  return {
    content: {
      content_hash: root,
      entry_count,
      data_bytes: base.data_bytes + (await sumDeltaBytes(tx, dataset_id)),
      filled: await countFilledMembers(tx, dataset_id, Object.keys(guards.min_filled_bps ?? {})),
      tree,
      // Counted from the delta when guards need it.
      members: {},
      doubts: [...totals.doubts, ...unmatched],
    },
    writer: {
      ...versionStore.createDeltaWriter(tx),
      compare: async () => difference,
      countLosses: (_, form) => countDeltaLosses(tx, dataset_id, form, guards),
    },
    counts: {
      base_version: base.version,
      added,
      changed,
      removed,
      untouched: base.entry_count - changed - removed,
      unchanged_rows,
      unmatched_removals: unmatched[0]?.count ?? 0,
    },
    totals: all_totals,
  }
}

/** Fails when a row changes an entry that the request removes, since the intent is ambiguous. */
async function assertNoContradictions(tx: Tx, { run, totals }: DeltaImport): Promise<void> {
  const count = await countContradictions(tx)
  if (count === 0) return
  const rows = await listContradictions(tx, MAX_REJECTS)
  await run.onRejects(
    rows.map(({ key, row, line }) =>
      changedAndRemoved(key, { row, ...(line !== null && { line }) }, 'is stated as removed'),
    ),
  )
  failRejected({
    ...totals,
    accepted: totals.accepted - count,
    rejected: totals.rejected + count,
    reject_totals: [...totals.reject_totals, { code: CHANGED_AND_REMOVED, pointer: '', count }],
  })
}

/** Removals without a match suggest a delta for another version or another list. */
async function findUnmatchedWarnings(tx: Tx, type: typeStore.TypeRow): Promise<Warning[]> {
  const count = await countUnmatchedRemovals(tx)
  const first = count === 0 ? undefined : await findUnmatchedRemoval(tx)
  if (!first) return []
  const { fields, key_pointers } = typeStore.toTypeDefinition(type)
  const is_personal = key_pointers.some((pointer) => fields[pointer]?.personal)
  const name = is_personal ? '' : ` The first is ${JSON.stringify(first.key.slice(0, 100))}.`
  const removals = count === 1 ? '1 removal names a key' : `${count} removals name keys`
  const message = `${removals} that the base version does not have; the delta may belong to another version.${name}`
  const at = first.row > 0 ? { at: { row: first.row, ...(first.line !== null && { line: first.line }) } } : {}
  return [{ code: 'removals_unmatched', message, count, closes_guard: true, ...at }]
}

/** Applies the list rules of the type to the result. Reads all entries where rules compare them. */
async function checkRules(
  tx: Tx,
  dataset_id: string,
  definition: TypeDefinition,
  entry_count: number,
): Promise<Reject[]> {
  const { unique = [], contiguous, ...bounds } = definition.list_rules
  if (unique.length === 0 && !contiguous) {
    return createListCheck({ ...definition, list_rules: bounds })
      .finish(entry_count)
      .map(toReject)
  }
  const rules = createListCheck(definition)
  for (let after = ''; ; ) {
    const rows = await listUntouched(tx, dataset_id, after, BATCH)
    for (const { key, data } of rows) if (data !== null) rules.add(key, JSON.parse(data) as Entry)
    if (rows.length < BATCH) break
    after = rows.at(-1)?.key as string
  }
  for (let after = ''; ; ) {
    const rows = await staging.listStaged(tx, after, BATCH)
    for (const { key, data } of rows) rules.add(key, JSON.parse(data) as Entry)
    if (rows.length < BATCH) break
    after = rows.at(-1)?.key as string
  }
  return rules.finish().map(toReject)
}

const toReject = ({ code, pointer, message }: ListFault): Reject => ({
  code,
  pointer,
  message,
  at: { row: 0 },
  excerpt: null,
})

const addFaults = (totals: ImportTotals, faults: readonly Reject[]): ImportTotals =>
  faults.length === 0 ? totals : { ...totals, reject_totals: [...totals.reject_totals, ...countRejects(faults)] }

async function countFilledMembers(
  tx: Tx,
  dataset_id: string,
  pointers: readonly string[],
): Promise<Record<string, number>> {
  if (pointers.length === 0) return {}
  const counts = await countFilled(tx, dataset_id, pointers.map(parsePointer))
  return Object.fromEntries(pointers.map((pointer, index) => [pointer, counts[index]?.n ?? 0]))
}

/** Counts the whole list, for the share, only where more is lost than guards always allow. */
async function countDeltaLosses(
  tx: Tx,
  dataset_id: string,
  definition: versionStore.EntryForm,
  guards: versionStore.GuardSettings,
): Promise<versionStore.MemberLoss[]> {
  const members = findArrayMembers(definition)
  if (members.length === 0) return []
  const limits = versionStore.getLossLimits(guards)
  const rows = (await staging.countDeltaMembers(tx, dataset_id, members)).filter(
    ({ lost, emptied }) => lost > limits.lost || emptied > limits.emptied,
  )
  if (rows.length === 0) return []
  const counted = members.filter(({ pointer }) => rows.some((row) => row.pointer === pointer))
  const before = new Map((await countHeadMembers(tx, dataset_id, counted)).map((row) => [row.pointer, row]))
  return rows.map(({ pointer, lost, emptied }) => ({
    pointer,
    title: definition.fields[pointer]?.title ?? pointer,
    lost,
    values_before: before.get(pointer)?.values ?? 0,
    emptied,
    entries_before: before.get(pointer)?.entries ?? 0,
  }))
}
