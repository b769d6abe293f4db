/** Compares the stored bytes of a document with its hashes. */
import type { Tx } from '#kernel/database/tx.ts'
import { DecryptionFailed } from '#kernel/encryption/failures.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { hashStoredBytes, readDocument } from './document-bytes.ts'
import { documentChecks } from './document-metrics.ts'
import type { DocumentRow, StoredDocument } from './queries.ts'

type RunInTx = <T>(body: (tx: Tx) => Promise<T>) => Promise<T>

/** Counts the result, and raises an alarm where the bytes are not those that were stored. */
function report(
  kernel: Capabilities<'metrics' | 'raiseAlarm'>,
  facts: { readonly tenant_id: string; readonly document_id: string },
  is_intact: boolean,
): void {
  kernel.metrics.increment(documentChecks, { result: is_intact ? 'intact' : 'damaged' })
  if (!is_intact) kernel.raiseAlarm('document_damaged', facts, 'the stored bytes of a document have changed')
}

interface CheckOptions {
  readonly tenant_id: string
  readonly read: RunInTx
}

/** By the hash of the stored bytes alone: no key is needed. */
export async function checkStoredBytes(
  kernel: Capabilities<'metrics' | 'raiseAlarm'>,
  { tenant_id, read }: CheckOptions,
  document: StoredDocument,
): Promise<boolean> {
  const is_intact = (await hashStoredBytes(read, document)) === document.encrypted_sha256
  report(kernel, { tenant_id, document_id: document.document_id }, is_intact)
  return is_intact
}

/** By both hashes: the stored bytes, and what they decrypt to. */
export async function checkContent(
  kernel: Capabilities<'encryption' | 'metrics' | 'raiseAlarm'>,
  { tenant_id, read }: CheckOptions,
  document: DocumentRow,
): Promise<boolean> {
  const isStoredIntact = (await hashStoredBytes(read, document)) === document.encrypted_sha256
  const is_intact = isStoredIntact && (await canRead(kernel, read, document))
  report(kernel, { tenant_id, document_id: document.document_id }, is_intact)
  return is_intact
}

async function canRead(kernel: Capabilities<'encryption'>, read: RunInTx, document: DocumentRow): Promise<boolean> {
  try {
    for await (const _ of readDocument(kernel, read, document));
    return true
  } catch (error) {
    if (error instanceof DecryptionFailed) return false
    throw error
  }
}
