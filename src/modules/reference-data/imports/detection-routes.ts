/** The route that finds out what a file is and how to import it. */
import type { Tx } from '#kernel/database/tx.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import { datasetStore, typeStore } from '#modules/definitions/index.ts'
import { findUpload, readUpload } from '#modules/system/index.ts'
import { type Source, SourceFault } from '#registry/adapter.ts'
import { adapters } from '#registry/adapters/index.ts'
import type { Detection, DetectionRequest as DetectionTask } from '#registry/detection/detection.ts'
import { defaultLimits, importInThread } from '#registry/import/import-runner.ts'

import { failSource, type ReadContext } from './import-source.ts'
import { suggestListName } from './list-name.ts'
import { PREVIEW, PREVIEW_GRACE_MS } from './preview.ts'
import { listImports } from './queries.ts'
import { DetectionReply, DetectionRequest } from './schema.ts'

const MAX_TYPES = 300

/** A list of the tenant that a file may be imported into. */
export async function findOwnList(tx: Tx, list_key: string): Promise<datasetStore.DatasetRow> {
  const dataset = await datasetStore.findDatasetForWrite(tx, list_key)
  if (dataset) return dataset
  const detail = 'There is no list with this list_key.'
  return fail('not_found', { detail, errors: [{ in: 'body', pointer: '#/list_key', detail }] })
}

export const detectionRoutes = [
  tenantRoute('POST /reference-data/detections', {
    id: 'detectSource',
    summary: 'Find out what an upload is and how to import it; nothing is stored',
    description:
      'Every adapter that may fit reads a sample: the first 64 KiB of the file, of each file of an archive, or the first rows of each ' +
      'sheet. The candidates are ranked by rejects and entries, each with its type, its options and the reason. General formats are ' +
      'matched with the types of the tenant by the names of their columns; where none fits, a type is inferred. A file that no ' +
      'adapter reads is described in `looks_like`, without candidates.',
    stores_nothing: true,
    roles: ['policy_editor', 'compliance_officer'],
    tx: 'self',
    uses: ['threads', 'preview_limits'],
    body: DetectionRequest,
    reply: [200, DetectionReply],
    problems: ['not_found', 'source_invalid', 'upload_incomplete'],
  }).handle(async ({ body, read, kernel, actor, request }) => {
    const upload = assertFound(await read((tx) => findUpload(tx, body.upload_id)))
    const task = await read((tx) => prepareTask(tx, body))
    const { file_name } = upload
    const detection = await runDetection(
      kernel,
      readUpload(read, body.upload_id),
      { ...task, file_name },
      { tenant_id: actor.tenant_id, signal: request.signal },
    )
    const { title, list_key } = suggestListName(adapters.get(detection.candidates[0]?.adapter_key ?? ''), file_name)
    return { file_name, list_key: body.list_key ?? list_key, list_title: title, ...toReply(detection) }
  }),
]

const toReply = ({ candidates, ...detection }: Detection) => ({
  ...detection,
  candidates: candidates.map((one) => ({
    ...one,
    notes: [...one.notes],
    columns: one.columns.slice(0, 1000),
    inferred_type: one.inferred_type as Record<string, unknown> | null,
  })),
})

async function prepareTask(
  tx: Tx,
  body: { readonly list_key?: string | undefined; readonly type_key?: string | undefined },
): Promise<Omit<DetectionTask, 'file_name'>> {
  const list = body.list_key === undefined ? null : await findOwnList(tx, body.list_key)
  const type_key = list?.type_key ?? body.type_key ?? null
  if (type_key === null) {
    const types = await typeStore.listTypes(tx, null, null, MAX_TYPES)
    return { types: types.map((type) => typeStore.toTypeDefinition(type)), type_key }
  }
  const type = typeStore.toTypeDefinition(assertFound(await typeStore.findType(tx, type_key)))
  const [last] = list ? await listImports(tx, { list_key: list.list_key, state: 'published' }, null, 1) : []
  return { types: [type], type_key, previous: last ? { adapter_key: last.adapter_key, options: last.options } : null }
}

/** Runs in the thread of previews, within the same limits of time and memory. */
async function runDetection(
  kernel: Capabilities<'threads' | 'preview_limits'>,
  source: Source,
  task: DetectionTask,
  { tenant_id, signal }: ReadContext,
): Promise<Detection> {
  const outputs = importInThread(
    kernel.threads.scriptPath('import-thread'),
    source,
    { detect: task },
    {
      limits: { ...defaultLimits, total_ms: kernel.preview_limits.time_limit_ms + PREVIEW_GRACE_MS },
      signal,
      admission: { threads: kernel.threads.admission, request: { kind: PREVIEW, caller: tenant_id } },
    },
  )
  try {
    for await (const output of outputs) if (output.kind === 'detection') return output.detection
  } catch (error) {
    if (error instanceof SourceFault) failSource(error)
    throw error
  }
  throw new Error('the detection ended without a result')
}
