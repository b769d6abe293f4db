/**
 * Runs an import and, when the file cannot be read or every row is rejected, adds what the file looks like and which adapter reads it.
 */
import { type Adapter, type Source, SourceFault } from '../adapter.ts'
import { describeUnreadable } from '../detection/detect-adapter.ts'
import { SAMPLE_BYTES } from '../detection/sample.ts'
import { peek } from '../formats/decode.ts'
import type { ImportOutput, ImportRequest } from './import-messages.ts'
import { runImport } from './pipeline.ts'
import type { ReadControl } from './read-control.ts'

/** The warning of an import without a readable row. */
export const LOOKS_LIKE = 'looks_like'

/** Faults that already say what the file is or what is missing in it. */
const EXPLAINED: ReadonlySet<string> = new Set(['another_format', 'archive_members', 'empty_source', 'truncated'])

export async function* runExplainedImport(
  adapter: Adapter,
  source: Source,
  request: ImportRequest,
  beforeBatch?: ReadControl['beforeBatch'],
): AsyncGenerator<ImportOutput, void, undefined> {
  const { head, bytes, close } = await peek(source, SAMPLE_BYTES)
  const sample = Buffer.from(head.subarray(0, SAMPLE_BYTES))
  const { type, file_name = null } = request
  const describe = () => describeUnreadable(sample, adapter, { file_name, types: [type], type_key: type.type_key })
  try {
    for await (const output of runImport(adapter, bytes, request, beforeBatch)) {
      if (output.kind !== 'end' || output.totals.accepted > 0 || output.totals.rejected === 0) yield output
      else {
        const { totals } = output
        const warning = { code: LOOKS_LIKE, message: await describe() }
        yield { ...output, totals: { ...totals, warnings: [warning, ...totals.warnings] } }
      }
    }
  } catch (error) {
    if (!(error instanceof SourceFault) || EXPLAINED.has(error.code)) throw error
    throw new SourceFault(error.code, `${error.message} ${await describe()}`, error.at)
  } finally {
    await close()
  }
}
