/**
 * Makes the documents of an erased subject unreadable: the bytes are removed, and title, file name and the hash of the content with them.
 * Ids and the hash of the encrypted bytes stay.
 */
import type { Tx } from '#kernel/database/tx.ts'
import type { ErasureClass } from '#kernel/erasure/erasure-class.ts'
import { removeUpload } from '#modules/system/index.ts'
import { countEvidenceOf, updateEvidenceErased } from './evidence/queries.ts'
import {
  countDocumentsOf,
  eraseEndReasons,
  hasHeldDocument,
  lockDocumentsOf,
  removeChunks,
  updateEnded,
} from './queries.ts'

async function eraseDocumentsOf(tx: Tx, subject_id: string): Promise<number> {
  const stored = await lockDocumentsOf(tx, subject_id)
  const documents = stored.filter(({ state }) => state !== 'deleted' && state !== 'erased')
  const ids = documents.map(({ document_id }) => document_id)
  for (const { upload_id } of documents) if (upload_id !== null) await removeUpload(tx, upload_id)
  await updateEnded(tx, ids, { state: 'erased', reason: 'Erasure of the subject' })
  await removeChunks(tx, ids)
  await eraseEndReasons(tx, subject_id)
  return ids.length + (await updateEvidenceErased(tx, subject_id))
}

export const documentErasure: ErasureClass = {
  name: 'documents',
  title: 'Documents and evidence about the subject',
  record: 'due-diligence',
  count: async (tx, { subject_id }) =>
    (await countDocumentsOf(tx, subject_id)) + (await countEvidenceOf(tx, subject_id)),
  isHeld: (tx, { subject_id }) => hasHeldDocument(tx, subject_id),
  erase: (tx, { subject_id }) => eraseDocumentsOf(tx, subject_id),
}
