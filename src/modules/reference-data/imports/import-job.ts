/** The import job: reads, checks, stages and publishes a source. It restarts from its stored upload when a worker dies. */
import type { Tx } from '#kernel/database/tx.ts'
import { defineJob } from '#kernel/job/define-job.ts'
import type { JobContext } from '#kernel/job/kind.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { Problem, problems } from '#kernel/problem.ts'
import { closed, Id } from '#kernel/schema.ts'
import { datasetStore, typeStore, versionStore } from '#modules/definitions/index.ts'
import type { pluginModel } from '#modules/plugins/index.ts'
import { readUpload } from '#modules/system/index.ts'
import type { ImportOutput, ImportTotals } from '#registry/import/import-messages.ts'
import type { DeltaRequest } from '../deltas/request.ts'
import { type DeltaCounts, resolveDelta } from '../deltas/resolve-delta.ts'
import { enqueueIndex } from '../search/index-job.ts'

import { type ImportRun, importRows, readSource, toImportCounts, toStagedContent } from './import-source.ts'
import { withDefaultColumns } from './options.ts'
import {
  bindStoredPlugin,
  recordChunks,
  type StoredPlugin,
  toAdapterCode,
  toPluginProblem,
  toPluginView,
} from './plugin-adapters.ts'
import { findImport, type ImportRow, insertRejects, removeRejects, updateImport } from './queries.ts'

const MAX_STORED_REJECTS = 1_000_000
const REPORT_EVERY_MS = 500

/** The progress in percent at which each publishing phase starts, for a long list; reading comes before. */
const PHASE_FROM: Readonly<Record<versionStore.PublishPhase, number>> = { compare: 55, write: 65, tree: 90 }

/** Shorter lists publish too fast for progress reports. */
const REPORTED_FROM_ENTRIES = 10_000

interface ImportSettings {
  readonly strict: boolean
  readonly drop: readonly string[]
  readonly hash: readonly string[]
  readonly label: string | null
  readonly note: string | null
  readonly expected_head: number | null
  readonly on_unchanged: 'publish' | 'skip'
  readonly override: { by: string; reason: string } | null
  /** Absent in imports of earlier releases. */
  readonly delta?: DeltaRequest | null
  readonly plugin?: StoredPlugin | null
}

interface ImportTarget {
  readonly row: ImportRow
  readonly dataset: datasetStore.DatasetRow
  readonly type: typeStore.TypeRow
  readonly settings: ImportSettings
}

type ImportJobContext = JobContext<
  { import_id: string },
  unknown,
  Capabilities<'threads' | 'jobs' | 'integrity' | 'caches' | 'plugin_policy'>
>

export const datasetImportJob = defineJob({
  kind: 'dataset-import',
  summary: 'Imports an uploaded source as a new version of a list.',
  payload: closed({ import_id: Id() }),
  resumes: 'restart',
  uses: ['threads', 'jobs', 'integrity', 'caches', 'plugin_policy'],
  run: async (job) => {
    const { payload, read, write, finish, kernel } = job
    const { import_id } = payload
    const target = await read((tx) => loadTarget(tx, import_id))
    const { dataset, type, settings } = target
    const { delta = null } = settings
    await write(async (tx) => {
      await removeRejects(tx, import_id)
      await updateImport(tx, import_id, { state: 'running' })
    })
    let read_to_end: ReadToEnd | null = null
    let last_totals: ImportTotals | null = null
    let bound: pluginModel.BoundPlugin | null = null
    try {
      bound = await read((tx) => bindStoredPlugin(kernel, tx, settings.plugin))
      const run = await startRun(job, target, bound, (totals) => {
        last_totals = totals
      })
      await importRows<void>(
        run,
        (body) =>
          finish(async (tx) => {
            await body(tx)
            const done = await findImport(tx, import_id)
            return { import_id, state: done?.state, version: done?.version ?? null }
          }),
        async (tx, read_totals, tree) => {
          read_to_end = { totals: read_totals, delta: null }
          const resolved =
            delta && (await resolveDelta(tx, { dataset, type, delta, privacy: settings, totals: read_totals, run }))
          const totals = resolved?.totals ?? read_totals
          // It may have become invalid while the file was read: nothing is published without it.
          const plugin = await bindStoredPlugin(kernel, tx, settings.plugin)
          if (plugin) await recordChunks(tx, plugin, read_totals, import_id)
          read_to_end = { totals, delta: resolved?.counts ?? null }
          const content = resolved?.content ?? { ...toStagedContent(totals), tree }
          const publication: versionStore.Publication = {
            ...toPublication(target, read_to_end),
            content,
            onPhase: async (phase) => {
              if (totals.accepted >= REPORTED_FROM_ENTRIES) await reportProgress(job, PHASE_FROM[phase])
            },
          }
          const version = await versionStore.publishStaged(tx, publication, resolved?.writer)
          if (version !== 'unchanged') await enqueueIndex(kernel, tx, version, dataset.list_key)
          await updateImport(tx, import_id, {
            state: version === 'unchanged' ? 'unchanged' : 'published',
            ...toReadResult(read_to_end),
            version: version === 'unchanged' ? null : version.version,
          })
        },
      )
    } catch (caught) {
      const error = bound ? await toPluginProblem(write, bound, caught, import_id) : caught
      if (error instanceof Problem && !('retryable' in problems[error.code])) {
        await write(async (tx) => {
          // The plugin read the whole file, although nothing was published.
          if (bound && last_totals) await recordChunks(tx, bound, last_totals, import_id)
          await updateImport(tx, import_id, toImportEnd(error, read_to_end))
        })
      }
      throw error
    }
    return null
  },
})

async function loadTarget(tx: Tx, import_id: string): Promise<ImportTarget> {
  const row = await findImport(tx, import_id)
  if (!row) throw new Problem('not_found')
  const dataset = await datasetStore.findDatasetForWrite(tx, row.list_key)
  const type = dataset && (await typeStore.findType(tx, dataset.type_key))
  if (!dataset || !type) throw new Problem('not_found')
  return { row, dataset, type, settings: row.order_text as unknown as ImportSettings }
}

const reportProgress = ({ step }: Pick<ImportJobContext, 'step'>, percent: number) =>
  step(async () => ({ progress: { done: Math.min(99, Math.floor(percent)), total: 100, unit: 'percent' } }))

/** Starts reading the stored upload in a thread. Rejects are stored up to the limit, and progress is reported by bytes. */
async function startRun(
  job: ImportJobContext,
  { row, dataset, type, settings }: ImportTarget,
  bound: pluginModel.BoundPlugin | null,
  onEnd: (totals: ImportTotals) => void,
): Promise<ImportRun> {
  const { payload, read, write, kernel, signal, tenant_id } = job
  const { strict, drop, hash, delta = null } = settings
  const definition = typeStore.toTypeDefinition(type)
  let stored_rejects = 0
  let reported_ms = 0
  let read_bytes = 0
  const source = async function* () {
    for await (const bytes of readUpload(read, row.upload_id as string)) {
      read_bytes += bytes.length
      yield bytes
    }
  }
  const request = {
    adapter_key: row.adapter_key,
    ...(bound && { plugin: toAdapterCode(kernel.threads, bound) }),
    file_name: row.source.file_name,
    options: withDefaultColumns(row.adapter_key, row.options, definition, delta?.removed.marker),
    type: definition,
    strict,
    drop,
    hash,
    hash_key: hash.length > 0 ? await kernel.integrity.tenantKey(tenant_id, 'dataset-hash') : null,
    filled: Object.keys(dataset.guards.min_filled_bps ?? {}),
    ...(delta && { delta: { marker: delta.removed.marker } }),
  }
  return {
    strict,
    outputs: watchEnd(readSource(kernel, source(), request, { tenant_id, signal }), onEnd),
    onRejects: async (items) => {
      const stored = items.slice(0, MAX_STORED_REJECTS - stored_rejects)
      if (stored.length > 0) await write((tx) => insertRejects(tx, payload.import_id, stored_rejects + 1, stored))
      stored_rejects += stored.length
    },
    onProgress: async () => {
      signal.throwIfAborted()
      if (Date.now() - reported_ms < REPORT_EVERY_MS) return
      reported_ms = Date.now()
      await reportProgress(job, (read_bytes / Math.max(1, row.source.size_bytes)) * PHASE_FROM.compare)
    },
  }
}

async function* watchEnd(
  outputs: AsyncGenerator<ImportOutput>,
  onEnd: (totals: ImportTotals) => void,
): AsyncGenerator<ImportOutput> {
  for await (const output of outputs) {
    if (output.kind === 'end') onEnd(output.totals)
    yield output
  }
}

const toPublication = ({ row, dataset, type, settings }: ImportTarget, { totals, delta }: ReadToEnd) => ({
  dataset,
  type,
  origin: 'import' as const,
  provenance: {
    import_id: row.import_id,
    adapter_key: row.adapter_key,
    adapter_version: row.adapter_version,
    options: row.options,
    ...(settings.plugin && { plugin: toPluginView(settings.plugin) }),
    source: row.source,
    imported_by: row.created_by,
    dropped_members: settings.drop,
    hashed_members: settings.hash,
    counts: toImportCounts(totals),
    files: totals.files,
    ...(delta && { delta: { ...delta, removed_by: settings.delta?.removed.marker ?? null } }),
  },
  label: settings.label,
  note: settings.note,
  expected_head: settings.expected_head,
  on_unchanged: settings.on_unchanged,
  guards: dataset.guards,
  override: settings.override,
})

interface ReadToEnd {
  readonly totals: ImportTotals
  readonly delta: DeltaCounts | null
}

const toReadResult = ({ totals, delta }: ReadToEnd) => ({
  counts: { ...toImportCounts(totals), ...(delta && { delta }) },
  rejects: totals.reject_totals,
  warnings: totals.warnings,
  files: totals.files,
})

/** What the import stores about its end: the reason, and the counts when the source was read to the end. */
function toImportEnd({ code, extra }: Problem, read_to_end: ReadToEnd | null) {
  const { gates, ...members } = (extra.members ?? {}) as Partial<
    Record<'counts' | 'rejects' | 'warnings' | 'files', []>
  > & {
    gates?: versionStore.Gate[]
  }
  if (code === 'import_rejected') return { state: 'rejected', ...members }
  const result = read_to_end && toReadResult(read_to_end)
  return code === 'gates_closed'
    ? { state: 'blocked', ...result, ...(gates && { gates }) }
    : { state: 'failed', ...result }
}
