/**
 * Makes documents unreadable for an erasure: the bytes are removed, and title, file name and the hash of the content with them. The
 * caller destroys the keys of the owners that are returned, checks holds and records the erasure.
 */
import type { Tx } from '#kernel/database/tx.ts'
import type { KeyOwner } from '#kernel/encryption/value-encryption.ts'
import { removeUpload } from '#modules/system/index.ts'
import { updateEvidenceErased } from './evidence/queries.ts'
import { type DocumentState, lockDocumentsOf, removeChunks, updateEnded } from './queries.ts'

export interface ErasedDocuments {
  readonly documents: number
  /** Ids and hashes of the encrypted bytes stay with the rows. */
  readonly evidence_items: number
  /** Whose keys the caller destroys: the subject itself. */
  readonly owners: readonly KeyOwner[]
}

const isGone = (state: DocumentState): boolean => state === 'deleted' || state === 'erased'

export async function eraseDocumentsOf(tx: Tx, subject_id: string, reason: string): Promise<ErasedDocuments> {
  const documents = (await lockDocumentsOf(tx, subject_id)).filter(({ state }) => !isGone(state))
  const ids = documents.map(({ document_id }) => document_id)
  for (const { upload_id } of documents) if (upload_id !== null) await removeUpload(tx, upload_id)
  await updateEnded(tx, ids, { state: 'erased', reason })
  await removeChunks(tx, ids)
  const evidence_items = await updateEvidenceErased(tx, subject_id)
  return { documents: ids.length, evidence_items, owners: [{ kind: 'subject', id: subject_id }] }
}
