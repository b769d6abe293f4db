/**
 * Makes the documents of an erased subject unreadable: the bytes are removed, and title, file name and the hash of the content with them.
 * Ids and the hash of the encrypted bytes stay.
 */
import type { Tx } from '#kernel/database/tx.ts'
import type { ErasedRows, ErasureClass, RecordErased } from '#kernel/erasure/erasure-class.ts'
import { removeUpload } from '#modules/system/index.ts'
import { documentRows, lockDocumentsBySubject, removeChunks, updateEnded } from './queries.ts'

async function eraseDocumentsBySubject(tx: Tx, subject_id: string, record: RecordErased): Promise<ErasedRows[]> {
  const documents = await lockDocumentsBySubject(tx, subject_id)
  const ids = documents.map(({ document_id }) => document_id)
  for (const { upload_id } of documents) if (upload_id !== null) await removeUpload(tx, upload_id)
  await updateEnded(tx, ids, { state: 'erased', reason: 'Erasure of the subject' })
  await removeChunks(tx, ids)
  for (const { document_id, restriction_id } of documents)
    record({ object_type: 'documents', object_id: document_id, restriction_id })
  return documents.map(({ restriction_id }) => ({ restriction_id, count: 1 }))
}

export const documentErasure: ErasureClass = {
  ...documentRows,
  record: 'due-diligence',
  columns: [...documentRows.columns, 'document.sha256'],
  erase: async (tx, subject, record) => [
    ...(await eraseDocumentsBySubject(tx, subject.subject_id, record)),
    ...(await documentRows.erase(tx, subject, record)),
  ],
}
