/**
 * The import pipeline, from bytes to rows ready to be stored: read, drop or hash personal members, normalise, validate, key, hash.
 * It continues after bad rows, so that each is reported. It does not use the database.
 */
import { type Adapter, type Source, SourceFault } from '../adapter.ts'
import { RootBuilder } from '../content/merkle-root.ts'
import { peek } from '../formats/decode.ts'
import { refuseSource } from '../formats/fault.ts'
import { DETECTION_BYTES, findFormatMismatch } from '../formats/format-detection.ts'
import type { ImportOutput, ImportRequest } from './import-messages.ts'
import { ControlledRead, type ReadControl } from './read-control.ts'
import { RowCollector } from './row-collector.ts'

export async function* runImport(
  adapter: Adapter,
  source: Source,
  request: ImportRequest,
  beforeBatch?: ReadControl['beforeBatch'],
): AsyncGenerator<ImportOutput, void, undefined> {
  const { head, bytes, close } = await peek(source, DETECTION_BYTES)
  const misfit = findFormatMismatch(head.subarray(0, DETECTION_BYTES), adapter.media_types)
  const content = new RootBuilder()
  const control = new ControlledRead({ limits: request.preview_limits, ...(beforeBatch && { beforeBatch }) })
  try {
    if (misfit?.certain) refuseSource('another_format', misfit.sentence)
    const remarks = misfit ? [{ code: 'another_format', message: misfit.sentence }] : []
    // A delta may hold no rows; an empty download is broken.
    const may_be_empty = request.delta !== undefined && head.length > 0
    const rows = new RowCollector(request, content, remarks)
    const context = { key_pointers: request.type.key_pointers, removal: request.delta?.marker ?? null }
    for await (const batch of control.batches(adapter.read(bytes, request.options, request.file_name, context))) {
      rows.add(batch)
      yield* rows.takeFull()
    }
    if (rows.rows === 0 && !may_be_empty) {
      refuseSource('empty_source', 'The source holds no rows at all; an empty file never replaces a list.')
    }
    yield* rows.finish(control.cut)
  } catch (error) {
    if (!misfit || misfit.certain || !(error instanceof SourceFault)) throw error
    throw new SourceFault(error.code, `${misfit.sentence} ${error.message}`, error.at)
  } finally {
    content.close()
    await close()
  }
}
