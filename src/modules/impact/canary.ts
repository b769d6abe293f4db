/** Inserts one impact run for the isolation canary; no job works on it. */
import type { Tx } from '#kernel/database/tx.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { hashText } from './candidates.ts'
import { findNow, insertRun } from './queries.ts'

export async function insertCanaryRows(tx: Tx): Promise<void> {
  const definition = { note: 'canary' }
  const content_hash = hashText(definition)
  await insertRun(tx, {
    run_id: uuidv7(),
    job_id: uuidv7(),
    candidate: { family: 'matrix', key: 'canary', pin: null, definition, overlay: null, content_hash },
    cr_id: null,
    receipt_id: null,
    manifest_hash: content_hash,
    until_at: await findNow(tx),
    max_subjects: 1,
    seed: 0,
  })
}
