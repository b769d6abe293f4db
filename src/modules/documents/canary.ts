/** One row in each table of documents and evidence, for the canary tenant and the isolation tests. */
import type { Tx } from '#kernel/database/tx.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { insertEvidence } from './evidence/queries.ts'
import { insertChunk, insertDocument, updateStored } from './queries.ts'

export async function insertCanaryRows(tx: Tx): Promise<void> {
  const document_id = uuidv7()
  await insertDocument(tx, {
    document_id,
    restriction_id: null,
    subject_id: null,
    title: 'canary',
    file_name: 'canary.txt',
    category: 'canary',
    media_type: 'text/plain',
    size_bytes: 6,
    upload_id: uuidv7(),
    job_id: null,
  })
  await insertChunk(tx, document_id, 0, Buffer.from('canary'))
  await updateStored(tx, document_id, { sha256: '0'.repeat(64), encrypted_sha256: '0'.repeat(64) })
  await insertEvidence(tx, {
    evidence_id: uuidv7(),
    restriction_id: null,
    owner_kind: 'subject',
    owner_id: uuidv7(),
    kind: 'external_reference',
    object_id: null,
    object_version: null,
    title: 'canary',
    reference: 'canary',
    source: 'canary',
    content_hash: '0'.repeat(64),
    obtained_at: '2020-01-01T00:00:00.000Z',
  })
}
