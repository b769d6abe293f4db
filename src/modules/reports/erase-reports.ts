/** Makes the reports of an erased subject unreadable: snapshot and files are removed. Manifest and hashes stay. */
import type { Tx } from '#kernel/database/tx.ts'
import type { ErasedRows, ErasureClass } from '#kernel/erasure/erasure-class.ts'
import { lockReportsBySubject, removeParts, reportRows, updateEnded } from './queries.ts'

async function eraseReportsBySubject(tx: Tx, subject_id: string): Promise<ErasedRows[]> {
  const reports = await lockReportsBySubject(tx, subject_id)
  const ids = reports.map(({ report_id }) => report_id)
  await updateEnded(tx, ids, { state: 'erased', reason: 'Erasure of the subject' })
  await removeParts(tx, ids)
  return reports.map(({ report_id: _, ...restrictions }) => ({ ...restrictions, count: 1 }))
}

export const reportErasure: ErasureClass = {
  ...reportRows,
  record: 'due-diligence',
  columns: [...reportRows.columns, 'report_part.*'],
  erase: async (tx, subject, record) => [
    ...(await eraseReportsBySubject(tx, subject.subject_id)),
    ...(await reportRows.erase(tx, subject, record)),
  ],
}
