/** The signed certificate of a decision, made from stored data only, so that it is the same every time. */
import { type Certificate, issueCertificate } from '#decision/certificate.ts'
import { withoutJob } from '#kernel/database/actor-column.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import type { IntactEvaluation } from './records/read-record.ts'

export const createCertificate = (
  kernel: Capabilities<'auditKeys'>,
  tx: Tx,
  { row }: Pick<IntactEvaluation, 'row'>,
): Certificate =>
  issueCertificate(kernel.auditKeys, {
    tenant_id: tx.tenant_id,
    evaluation_id: row.evaluation_id,
    subject_id: row.subject_id,
    decided_at: row.decided_at,
    // The same for every reader.
    decided_by: withoutJob(row.created_by),
    receipt_id: row.receipt_id,
    receipt_hash: row.receipt_hash,
    document: JSON.parse(row.document) as Record<string, unknown>,
    document_hash: row.document_hash,
  })
