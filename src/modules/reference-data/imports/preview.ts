/** Previews a source without storing anything: its first rows, its faults, and what a delta would change. */
import type { Capabilities } from '#kernel/kernel.ts'
import type { WorkKind } from '#kernel/thread-admission.ts'
import { typeStore } from '#modules/definitions/index.ts'
import { type Reject, type Source, SourceFault } from '#registry/adapter.ts'
import type { PluginAdapterCode } from '#registry/adapters/plugin-adapter.ts'
import type { CutReason, ImportRequest, ImportTotals } from '#registry/import/import-messages.ts'
import { defaultLimits, importInThread, pluginLimits } from '#registry/import/import-runner.ts'
import type { TypeDefinition } from '#registry/types/type-definition.ts'
import type { DeltaComparison } from '../deltas/preview.ts'

import { failSource, type ReadContext } from './import-source.ts'
import { withDefaultColumns } from './options.ts'
import type { SourceFileView } from './schema.ts'

/** A client waits for a preview, so few run at once and the rest is refused instead of queued for long. */
export const PREVIEW: WorkKind = { name: 'preview', max_running: (threads) => threads - 1, max_waiting: 3 }

/** After its time limit a preview may finish its batch for this long; then its thread is terminated. */
export const PREVIEW_GRACE_MS = 10_000

export interface PreviewRequest {
  readonly adapter_key: string
  readonly plugin?: PluginAdapterCode
  readonly file_name: string | null
  readonly options: Record<string, unknown>
  readonly type: typeStore.TypeRow | null
  /** Maximum number of returned entries. */
  readonly limit: number
  /** The source is a delta, which is compared with a version. */
  readonly delta?: DeltaComparison
}

/**
 * Returns the first rows as the adapter reads them, with faults and warnings. Stops at the configured limits of rows and
 * time and reports that in `truncated`; ends with its request.
 */
export async function previewSource(
  kernel: Capabilities<'threads' | 'preview_limits'>,
  source: Source,
  { adapter_key, plugin, file_name, options, type, limit, delta }: PreviewRequest,
  { tenant_id, signal }: ReadContext,
) {
  const entries: { at: Reject['at']; entry: Record<string, unknown> }[] = []
  const rejects: Reject[] = []
  let totals: ImportTotals | undefined
  const request: ImportRequest = {
    adapter_key,
    ...(plugin && { plugin }),
    file_name,
    options: withDefaultColumns(adapter_key, options, type && typeStore.toTypeDefinition(type), delta?.marker),
    type: type === null ? anything : typeStore.toTypeDefinition(type),
    strict: false,
    drop: [],
    hash: [],
    hash_key: null,
    filled: [],
    ...(delta && { delta: { marker: delta.marker } }),
    preview: limit,
    preview_limits: kernel.preview_limits,
  }
  const outputs = importInThread(kernel.threads.scriptPath('import-thread'), source, request, {
    limits: {
      ...(plugin ? pluginLimits : defaultLimits),
      total_ms: kernel.preview_limits.time_limit_ms + PREVIEW_GRACE_MS,
    },
    signal,
    admission: { threads: kernel.threads.admission, request: { kind: PREVIEW, caller: tenant_id } },
  })
  try {
    for await (const output of outputs) {
      if (output.kind === 'preview') entries.push(...output.entries.slice(0, limit - entries.length))
      else if (output.kind === 'keys') await delta?.compare(output.keys)
      else if (output.kind === 'rejects') rejects.push(...output.items.slice(0, 100 - rejects.length))
      else if (output.kind === 'end') totals = output.totals
    }
  } catch (error) {
    if (error instanceof SourceFault) failSource(error)
    throw error
  }
  const { rows, accepted, rejected, reject_totals, warnings, files, cut } = totals as ImportTotals
  const truncated = cut && { reason: cut, limit: getReachedLimit(kernel.preview_limits, cut) }
  return {
    rows,
    accepted,
    rejected,
    entries,
    rejects,
    reject_totals: [...reject_totals],
    warnings: [...warnings],
    files: [...files] as SourceFileView[],
    truncated,
    delta: (await delta?.finish(cut === null)) ?? null,
  }
}

const getReachedLimit = (
  { max_rows, time_limit_ms }: Capabilities<'preview_limits'>['preview_limits'],
  cut: CutReason,
): number => (cut === 'rows' ? max_rows : time_limit_ms)

/** Accepts any object and keys it by its position, for previews before a type exists. */
const anything = {
  type_key: 'anything',
  type_version: 1,
  title: 'Anything',
  description: 'Any object.',
  schema: { type: 'object', additionalProperties: true },
  key_pointers: [],
  list_rules: {},
  fields: {},
  examples: [{}],
} as unknown as TypeDefinition
