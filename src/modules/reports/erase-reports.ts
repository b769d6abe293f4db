/** Makes the reports of an erased subject unreadable: snapshot and files are removed. Manifest and hashes stay. */
import type { Tx } from '#kernel/database/tx.ts'
import type { ErasureClass } from '#kernel/erasure/erasure-class.ts'
import { countReportsOf, eraseEndReasons, hasHeldReport, lockReportsOf, removeParts, updateEnded } from './queries.ts'

async function eraseReportsOf(tx: Tx, subject_id: string): Promise<number> {
  const stored = await lockReportsOf(tx, subject_id)
  const ids = stored.filter(({ state }) => state !== 'deleted' && state !== 'erased').map(({ report_id }) => report_id)
  await updateEnded(tx, ids, { state: 'erased', reason: 'Erasure of the subject' })
  await removeParts(tx, ids)
  await eraseEndReasons(tx, subject_id)
  return ids.length
}

export const reportErasure: ErasureClass = {
  name: 'reports',
  title: 'Reports about the subject',
  record: 'due-diligence',
  count: (tx, { subject_id }) => countReportsOf(tx, subject_id),
  isHeld: (tx, { subject_id }) => hasHeldReport(tx, subject_id),
  erase: (tx, { subject_id }) => eraseReportsOf(tx, subject_id),
}
