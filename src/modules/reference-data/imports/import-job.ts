/** The import job: reads, checks, stages and publishes a source. It restarts from its stored upload when a worker dies. */
import { defineJob } from '#kernel/job/define-job.ts'
import { Problem, problems } from '#kernel/problem.ts'
import { closed, Id } from '#kernel/schema.ts'
import { datasetStore, typeStore, versionStore } from '#modules/definitions/index.ts'
import { readUpload } from '#modules/system/index.ts'
import type { Reject } from '#registry/adapter.ts'
import type { ImportTotals } from '#registry/import/import-messages.ts'
import type { DeltaRequest } from '../deltas/request.ts'
import { type DeltaCounts, resolveDelta } from '../deltas/resolve-delta.ts'
import { enqueueIndex } from '../search/index-job.ts'

import { importRows, readSource, toImportCounts, toStagedContent } from './import-source.ts'
import { withDefaultColumns } from './options.ts'
import { findImport, insertRejects, removeRejects, updateImport } from './queries.ts'

const MAX_KEPT_REJECTS = 1_000_000
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
}

export const datasetImportJob = defineJob({
  kind: 'dataset-import',
  summary: 'Imports an uploaded source as a new version of a list.',
  payload: closed({ import_id: Id() }),
  resumes: 'restart',
  uses: ['threads', 'jobs', 'integrity'],
  run: async ({ payload, read, write, step, finish, kernel, signal, tenant_id }) => {
    const { import_id } = payload
    const { row, dataset, type } = await read(async (tx) => {
      const stored = await findImport(tx, import_id)
      if (!stored) throw new Problem('not_found')
      const list = await datasetStore.findDatasetForWrite(tx, stored.list_key)
      const of = list && (await typeStore.findType(tx, list.type_key))
      if (!list || !of) throw new Problem('not_found')
      return { row: stored, dataset: list, type: of }
    })
    const order = row.order_text as unknown as ImportSettings
    await write(async (tx) => {
      await removeRejects(tx, import_id)
      await updateImport(tx, import_id, { state: 'running' })
    })

    const { delta = null } = order
    let read_to_end: ReadToEnd | null = null
    let kept = 0
    let reported_ms = 0
    let read_bytes = 0
    const source = async function* () {
      for await (const bytes of readUpload(read, row.upload_id as string)) {
        read_bytes += bytes.length
        yield bytes
      }
    }
    const report = (percent: number) =>
      step(async () => ({ progress: { done: Math.min(99, Math.floor(percent)), total: 100, unit: 'percent' } }))
    const run = {
      strict: order.strict,
      outputs: readSource(
        kernel,
        source(),
        {
          adapter_key: row.adapter_key,
          file_name: row.source.file_name,
          options: withDefaultColumns(
            row.adapter_key,
            row.options,
            typeStore.toTypeDefinition(type),
            delta?.removed.marker,
          ),
          type: typeStore.toTypeDefinition(type),
          strict: order.strict,
          drop: order.drop,
          hash: order.hash,
          hash_key: order.hash.length > 0 ? await kernel.integrity.tenantKey(tenant_id, 'dataset-hash') : null,
          filled: Object.keys(dataset.guards.min_filled_bps ?? {}),
          ...(delta && { delta: { marker: delta.removed.marker } }),
        },
        { tenant_id, signal },
      ),
      onRejects: async (items: readonly Reject[]) => {
        const room = items.slice(0, MAX_KEPT_REJECTS - kept)
        if (room.length > 0) await write((tx) => insertRejects(tx, import_id, kept + 1, room))
        kept += room.length
      },
      onProgress: async () => {
        signal.throwIfAborted()
        if (Date.now() - reported_ms < REPORT_EVERY_MS) return
        reported_ms = Date.now()
        await report((read_bytes / Math.max(1, row.source.size_bytes)) * PHASE_FROM.compare)
      },
    }
    try {
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
            delta && (await resolveDelta(tx, { dataset, type, delta, privacy: order, totals: read_totals, run }))
          const totals = resolved?.totals ?? read_totals
          read_to_end = { totals, delta: resolved?.counts ?? null }
          const content = resolved?.content ?? { ...toStagedContent(totals), tree }
          const publication: versionStore.Publication = {
            dataset,
            type,
            content,
            origin: 'import',
            provenance: {
              import_id,
              adapter_key: row.adapter_key,
              adapter_version: row.adapter_version,
              options: row.options,
              source: row.source,
              imported_by: row.created_by,
              dropped_members: order.drop,
              hashed_members: order.hash,
              counts: toImportCounts(totals),
              files: totals.files,
              ...(resolved && { delta: { ...resolved.counts, removed_by: delta?.removed.marker ?? null } }),
            },
            label: order.label,
            note: order.note,
            expected_head: order.expected_head,
            on_unchanged: order.on_unchanged,
            guards: dataset.guards,
            override: order.override,
            onPhase: async (phase) => {
              if (totals.accepted >= REPORTED_FROM_ENTRIES) await report(PHASE_FROM[phase])
            },
          }
          const version = await versionStore.publishStaged(tx, publication, resolved?.writer)
          if (version !== 'unchanged') await enqueueIndex(kernel, tx, version, dataset.list_key)
          await updateImport(tx, import_id, {
            state: version === 'unchanged' ? 'unchanged' : 'published',
            ...foundBy(read_to_end),
            version: version === 'unchanged' ? null : version.version,
          })
        },
      )
    } catch (error) {
      if (error instanceof Problem && !('retryable' in problems[error.code])) {
        await write((tx) => updateImport(tx, import_id, toImportEnd(error, read_to_end)))
      }
      throw error
    }
    return null
  },
})

interface ReadToEnd {
  readonly totals: ImportTotals
  readonly delta: DeltaCounts | null
}

const foundBy = ({ totals, delta }: ReadToEnd) => ({
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
  const seen = read_to_end && foundBy(read_to_end)
  return code === 'gates_closed' ? { state: 'blocked', ...seen, ...(gates && { gates }) } : { state: 'failed', ...seen }
}
