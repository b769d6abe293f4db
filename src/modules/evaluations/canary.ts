/** Inserts one decision for the isolation canary; it does not verify. */
import { DOCUMENT_FORMAT } from '#decision/document.ts'
import { createSalt } from '#decision/salt.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { resolver } from '#modules/definitions/index.ts'

import { deferEvaluation } from './queries.ts'

export async function insertCanaryRows(tx: Tx): Promise<void> {
  const receipt = await resolver.createReceipt(tx, 'canary', await resolver.resolveVersions(tx, ['canary'], {}), {})
  deferEvaluation(tx, {
    evaluation_id: uuidv7(),
    family: 'matrix',
    definition_key: 'canary',
    definition_version: 1,
    subject_id: null,
    valid_at: receipt.valid_at,
    receipt_id: receipt.receipt_id,
    receipt_hash: receipt.manifest_hash,
    engine: 1,
    band: 'canary',
    score_bps: 0,
    hit: null,
    reason_codes: ['canary'],
    required_actions: ['canary'],
    // Nobody can decrypt it.
    document_encrypted: Buffer.from(JSON.stringify({ format: DOCUMENT_FORMAT, note: 'canary', salt: createSalt() })),
    document_hash: receipt.manifest_hash,
    decided_at: receipt.known_at,
    created_by: tx.actor,
    mac: 'canary',
  })
}
