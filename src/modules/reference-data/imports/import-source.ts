/** Reads a source in a worker thread and streams it into the stage; validates inline lists. */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { fail } from '#kernel/problem.ts'
import type { WorkKind } from '#kernel/thread-admission.ts'
import type { WorkerThreads } from '#kernel/worker-threads.ts'
import { staging, treeStore, typeStore } from '#modules/definitions/index.ts'
import { type Adapter, type Entry, type Reject, type Source, SourceFault } from '#registry/adapter.ts'
import { createMerkleBuilder } from '#registry/content/merkle.ts'
import type { TreeSource } from '#registry/content/stored-tree.ts'
import { copyRow } from '#registry/import/copy-rows.ts'
import type { ImportOutput, ImportRequest, ImportTotals } from '#registry/import/import-messages.ts'
import { importInThread, pluginLimits } from '#registry/import/import-runner.ts'
import { CHANGED_AND_REMOVED, changedAndRemoved, duplicateKey, RemovedCharacters } from '#registry/import/key-report.ts'
import { countRejects, FillCount } from '#registry/import/tallies.ts'
import { findArrayMembers, MemberTally } from '#registry/types/array-members.ts'
import { createListCheck } from '#registry/types/list-rules.ts'

import { listRejects, type RejectRow } from './queries.ts'

/** Describes the mismatch when the adapter reads only one type and another is requested; null otherwise. */
export const findTypeMismatch = (
  { key, target_type }: Pick<Adapter, 'key' | 'target_type'>,
  type_key: string,
): string | null =>
  target_type === null || target_type === type_key
    ? null
    : `The adapter ${key} reads entries of the type ${target_type}, not of ${type_key}.`

/** Import jobs leave one thread to shorter work where there are several. */
const IMPORT_WORK: WorkKind = { name: 'import', max_running: (threads) => threads - 1, max_waiting: 0 }

/** The tenant that the thread works for, and the signal that ends it early. */
export interface ReadContext {
  readonly tenant_id: string
  readonly signal: AbortSignal
}

/** Reads a source for a job in its own thread. `by` is absent for the operator's command, which runs nothing else. */
export const readSource = (
  kernel: { readonly threads: Pick<WorkerThreads, 'scriptPath'> & Partial<Pick<WorkerThreads, 'admission'>> },
  source: Source,
  request: ImportRequest,
  by?: ReadContext,
): AsyncGenerator<ImportOutput> =>
  importInThread(kernel.threads.scriptPath('import-thread'), source, request, {
    ...(request.plugin && { limits: pluginLimits }),
    signal: by?.signal,
    admission: by &&
      kernel.threads.admission && {
        threads: kernel.threads.admission,
        request: { kind: IMPORT_WORK, caller: by.tenant_id, is_job: true },
      },
  })

/** The problem for a source that cannot be read. */
export function failSource(fault: SourceFault): never {
  return fail('source_invalid', {
    detail: fault.message,
    members: { source_fault: { code: fault.code, ...(fault.at && { at: fault.at }) } },
  })
}

export interface PreparedEntries {
  readonly rows: readonly Uint8Array[]
  readonly rejects: readonly Reject[]
  readonly totals: ImportTotals
  /** Null when entries were rejected. */
  readonly tree: TreeSource | null
}

const MAX_REJECTS = 1000

/** Validates an inline list in the thread for types, before a transaction is opened. */
export async function prepareEntries(
  kernel: Capabilities<'threads'>,
  type: typeStore.TypeRow,
  { entries, filled = [] }: { readonly entries: readonly unknown[]; readonly filled?: readonly string[] },
  by: ReadContext,
): Promise<PreparedEntries> {
  const definition = typeStore.toTypeDefinition(type)
  const { keys, texts, hashes, faults, removed } = await kernel.threads
    .get(typeStore.typeThread)
    .validate(definition, entries, { caller: by.tenant_id, signal: by.signal })
    .catch(typeStore.failUnusable)
  const rejects: Reject[] = []
  const addReject = (index: number, fault: { code: string; pointer: string; message: string }) =>
    rejects.push({ ...fault, at: { row: index + 1 }, excerpt: null })
  for (const { index, faults: found } of faults) for (const fault of found) addReject(index, fault)
  const rules = createListCheck(definition)
  const tree = createMerkleBuilder()
  const first = new Map<string, number>()
  const fill = new FillCount(filled)
  const members = new MemberTally(findArrayMembers(definition))
  const rows: Buffer[] = []
  let data_bytes = 0
  entries.forEach((entry, index) => {
    const [key, text, hash] = [keys[index], texts[index], hashes[index]]
    if (typeof key !== 'string' || typeof text !== 'string' || typeof hash !== 'string') return
    const earlier = first.get(key)
    if (earlier !== undefined) {
      const message = `The key ${JSON.stringify(key)} was used in entry ${earlier + 1} already.`
      addReject(index, { code: 'duplicate_key', pointer: '', message })
      return
    }
    first.set(key, index)
    tree.addHash(key, hash)
    rules.add(key, entry as Entry)
    fill.feed(entry as Entry)
    if (!members.isEmpty) members.feed(JSON.parse(text) as Entry)
    data_bytes += Buffer.byteLength(text)
    rows.push(copyRow({ key, text, hash, row: index + 1 }))
  })
  for (const { code, pointer, message } of rules.finish()) addReject(-1, { code, pointer, message })
  const rejected = new Set(rejects.map(({ at }) => at.row).filter((row) => row > 0)).size
  const built = rejects.length === 0 ? tree.finish() : null
  return {
    tree: built && treeStore.toTreeSource(built),
    rows: [Buffer.concat(rows)],
    rejects: rejects.slice(0, MAX_REJECTS),
    totals: {
      rows: entries.length,
      accepted: entries.length - rejected,
      rejected,
      data_bytes,
      reject_totals: countRejects(rejects),
      filled: fill.counts,
      warnings: toRemovedWarnings(keys, removed),
      doubts: [],
      files: [],
      members: members.counts,
      is_ordered: false,
      cut: null,
      root: built?.root ?? null,
      nodes: null,
    },
  }
}

function toRemovedWarnings(
  keys: readonly (string | null)[],
  removed: readonly (readonly [number, readonly string[]])[],
) {
  const report = new RemovedCharacters()
  for (const [index, characters] of removed) report.add(keys[index] ?? '', characters, { row: index + 1 })
  return report.warnings()
}

export interface ImportRun {
  readonly outputs: AsyncGenerator<ImportOutput>
  readonly strict: boolean
  /** Called with rejected rows as they are found, and with the progress of reading. */
  onRejects(items: readonly Reject[]): Promise<void>
  onProgress(rows: number): Promise<void>
}

/**
 * Up to this size an import is buffered in memory, so that no transaction is open while it is read and checked. Kept small,
 * because the database is idle until then.
 */
const MAX_BUFFERED_BYTES = 2 * 1024 * 1024

/**
 * Buffers the source up to the limit, then stages the buffer and streams the rest in the transaction that `publish` gets. A
 * source that fits in the buffer and has rejected rows opens no transaction.
 */
export async function importRows<T>(
  run: ImportRun,
  transact: (body: (tx: Tx) => Promise<T>) => Promise<T>,
  publish: (tx: Tx, totals: ImportTotals, tree: TreeSource) => Promise<T>,
): Promise<T> {
  const buffered: Uint8Array[] = []
  let buffered_bytes = 0
  let totals: ImportTotals | undefined
  const handleOutput = async (output: ImportOutput): Promise<Uint8Array | undefined> => {
    if (output.kind === 'end') totals = output.totals
    else if (output.kind !== 'tree') await run.onProgress('rows' in output ? output.rows : 0)
    if (output.kind === 'rejects') await run.onRejects(output.items)
    return output.kind === 'rows' ? output.bytes : undefined
  }
  try {
    while (!totals && buffered_bytes < MAX_BUFFERED_BYTES) {
      const { value, done } = await run.outputs.next()
      if (done) break
      const bytes = await handleOutput(value)
      if (bytes) buffered.push(bytes)
      buffered_bytes += bytes?.length ?? 0
    }
    if (totals) assertNoRejects(run, totals)
    const readRows = async function* () {
      yield* buffered.splice(0)
      while (!totals) {
        const { value, done } = await run.outputs.next()
        if (done) return
        const bytes = await handleOutput(value)
        if (bytes) yield bytes
      }
    }
    // The thread's final output, requested only when it is needed.
    const readBlocks = async function* () {
      for await (const output of run.outputs) if (output.kind === 'tree') yield output.bytes
    }
    return await transact(async (tx) => {
      await tx.disableTimeout()
      const staged = await staging.stageEncodedRows(tx, readRows())
      const all = totals as ImportTotals
      assertNoRejects(run, all)
      // The source can be read only once, so a retry of the transaction must restart the import.
      if (staged !== all.accepted) throw new Error(`${staged} of ${all.accepted} rows were staged`)
      if (all.root === null) await failDuplicateKeys(tx, run, all)
      return publish(tx, all, { nodes: all.nodes as Uint8Array, blocks: readBlocks })
    })
  } catch (error) {
    if (error instanceof SourceFault) failSource(error)
    throw error
  } finally {
    await run.outputs.return(undefined)
  }
}

function assertNoRejects(run: ImportRun, totals: ImportTotals): void {
  if (run.strict && totals.reject_totals.length > 0) failRejected(totals)
}

export function failRejected(totals: ImportTotals): never {
  return fail('import_rejected', {
    detail: `${totals.rejected} of ${totals.rows} rows were rejected; nothing was imported.`,
    members: {
      counts: toImportCounts(totals),
      rejects: totals.reject_totals,
      warnings: totals.warnings,
      files: totals.files,
    },
  })
}

const MAX_DUPLICATES = 1000

async function failDuplicateKeys(tx: Tx, run: ImportRun, totals: ImportTotals): Promise<never> {
  const counts = await staging.countStagedDuplicates(tx)
  const rows = await staging.listStagedDuplicates(tx, MAX_DUPLICATES)
  await run.onRejects(
    rows.map(({ key, row, line, first_row, is_contradiction }) => {
      const at = { row, ...(line !== null && { line }) }
      return is_contradiction
        ? changedAndRemoved(key, at, `was used in row ${first_row} already`)
        : duplicateKey(key, first_row, at)
    }),
  )
  const { repeated, contradicting } = counts
  return failRejected({
    ...totals,
    accepted: totals.accepted - repeated - contradicting,
    rejected: totals.rejected + repeated + contradicting,
    reject_totals: [
      ...totals.reject_totals,
      ...(repeated > 0 ? [{ code: 'duplicate_key', pointer: '', count: repeated }] : []),
      ...(contradicting > 0 ? [{ code: CHANGED_AND_REMOVED, pointer: '', count: contradicting }] : []),
    ],
  })
}

export const toImportCounts = ({ rows, accepted, rejected, data_bytes }: ImportTotals) => ({
  rows,
  accepted,
  rejected,
  data_bytes,
})

/** The staged content of a source that was read to the end. */
export const toStagedContent = (totals: ImportTotals): staging.StagedContent => ({
  content_hash: totals.root as string,
  entry_count: totals.accepted,
  data_bytes: totals.data_bytes,
  filled: totals.filled,
  is_ordered: totals.is_ordered,
  members: totals.members,
  doubts: totals.doubts,
})

const REJECT_BATCH = 1000

/** All stored rejects, one per line. The batches need no common transaction. */
export async function* readRejectLines(
  read: <T>(body: (tx: Tx) => Promise<T>) => Promise<T>,
  import_id: string,
): AsyncGenerator<string> {
  let after: [number] | null = null
  for (;;) {
    const from = after
    const rows: RejectRow[] = await read((tx) => listRejects(tx, { import_id, code: null }, from, REJECT_BATCH))
    if (rows.length > 0) yield rows.map((row) => `${JSON.stringify(row)}\n`).join('')
    const last = rows.at(-1)
    if (!last || rows.length < REJECT_BATCH) return
    after = [last.seq]
  }
}
