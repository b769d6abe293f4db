/** One version, or several lists as of an instant, written out for use elsewhere. */
import type { Tx } from '../../../kernel/database/tx.ts'
import { type ExportFormat, writeEntries } from '../../../registry/export.ts'
import type { TypeRow } from '../types/queries.ts'
import { entriesOf, textOf } from '../versions/actions.ts'
import type { VersionRow } from '../versions/queries.ts'

type Read = <T>(body: (tx: Tx) => Promise<T>) => Promise<T>

export function exportVersion(
  read: Read,
  version: Pick<VersionRow, 'tenant_id' | 'dataset_id' | 'version'>,
  type: TypeRow,
  format: ExportFormat,
  formula_guard: boolean,
): AsyncIterable<Buffer> {
  const texts = async function* () {
    for await (const rows of entriesOf(read, version)) yield rows.map(textOf)
  }
  return writeEntries(texts(), type.definition, format, formula_guard)
}
