/** Decision documents as they are stored: encrypted for the subject that the decision is about, or for the decision itself. */
import { hash } from 'node:crypto'
import type { Tx } from '#kernel/database/tx.ts'
import {
  type EncryptedCopy,
  encryptCopy,
  encryptFirstCopy,
  encryptOrDiscard,
  openCopies,
  type PlainCopies,
  toCopyOwner,
} from '#kernel/encryption/copies.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { lockPlainDocuments, type StoredDocument, updateDocumentsEncrypted } from '../queries.ts'
import type { EvaluationRow } from './record.ts'

export type { StoredDocument } from '../queries.ts'

type Identified = Pick<EvaluationRow, 'evaluation_id' | 'subject_id'>

export const toDocumentPlace = ({ evaluation_id, subject_id }: Identified): Pick<EncryptedCopy, 'owner' | 'at'> => ({
  owner: toCopyOwner(subject_id, evaluation_id),
  at: { table: 'evaluation', row_id: evaluation_id, column: 'document_encrypted' },
})

/** Fails with `erased` where the subject was erased. */
export const encryptDocument = (
  kernel: Capabilities<'encryption'>,
  tx: Tx,
  row: Identified & { readonly document: string },
): Promise<Buffer> => {
  // A decision that concerns no subject is the owner itself, and new.
  const encrypt = row.subject_id === null ? encryptFirstCopy : encryptCopy
  return encrypt(kernel, tx, { ...toDocumentPlace(row), text: row.document })
}

export type OpenedDocument =
  /** Its bytes have the hash of the row. */
  | { readonly state: 'intact'; readonly document: string }
  /** It does not have its hash; null where it cannot be decrypted. */
  | { readonly state: 'altered'; readonly document: string | null }
  | { readonly state: 'erased'; readonly document: null }

/** Reads the keys of all owners in one statement. */
export async function openDocuments(
  kernel: Capabilities<'encryption'>,
  tx: Tx,
  rows: readonly (Identified & StoredDocument & Pick<EvaluationRow, 'document_hash'>)[],
): Promise<OpenedDocument[]> {
  const encrypted = rows.flatMap((row) =>
    row.document_encrypted === null ? [] : [{ ...toDocumentPlace(row), stored: row.document_encrypted }],
  )
  const opened = (await openCopies(kernel, tx, encrypted)).values()
  return rows.map(({ document: plain, document_encrypted, document_hash }): OpenedDocument => {
    const copy = document_encrypted === null ? { text: plain } : opened.next().value
    if (copy === 'erased') return { state: 'erased', document: null }
    if (copy === 'altered' || !copy || copy.text === null) return { state: 'altered', document: null }
    const state = hash('sha256', copy.text, 'hex') === document_hash ? 'intact' : 'altered'
    return { state, document: copy.text }
  })
}

/** An altered document stays altered: its hash is the one of the row. */
export const plainDocuments: PlainCopies = {
  table: 'evaluation',
  encrypt: async (kernel, tx, { subject_id, count }) => {
    const rows = await lockPlainDocuments(tx, subject_id, count)
    const copies = rows.map((row) => ({ ...toDocumentPlace(row), text: row.document }))
    const encrypted = await encryptOrDiscard(kernel, tx, copies)
    const documents = rows.map(({ evaluation_id }, index) => ({
      evaluation_id,
      document_encrypted: encrypted[index] as Buffer,
    }))
    if (documents.length > 0) await updateDocumentsEncrypted(tx, documents)
    return rows.length
  },
}
