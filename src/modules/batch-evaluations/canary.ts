/** Inserts a batch with one item and a schedule for the isolation canary; no job runs them. */
import type { Tx } from '#kernel/database/tx.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { resolver } from '#modules/definitions/index.ts'

import { insertBatch, insertItems } from './queries.ts'
import { insertSchedule, insertScheduleRun } from './schedules/queries.ts'

export async function insertCanaryRows(tx: Tx): Promise<void> {
  const receipt = await resolver.createReceipt(tx, 'canary', await resolver.resolveVersions(tx, ['canary'], {}), {})
  const batch_id = uuidv7()
  const batch = {
    batch_id,
    job_id: uuidv7(),
    family: 'matrix' as const,
    definition_key: 'canary',
    definition_version: 1,
    engine: 1,
    receipt_id: receipt.receipt_id,
    receipt_hash: receipt.manifest_hash,
    asked_at: null,
    valid_at: receipt.valid_at,
    known_at: receipt.known_at,
    source_kind: 'items' as const,
    source: { items: [] },
    upload_id: null,
    note: 'canary',
    total: 1,
  }
  // Nobody can decrypt it.
  await insertBatch(tx, batch, { items: [Buffer.from('canary')], item_owners: [null] })
  await insertItems(tx, batch_id, [
    {
      item: {
        seq: 1,
        line: null,
        subject_id: null,
        state: 'done',
        band: 'canary',
        score_bps: 0,
        hit: null,
        reason_codes: ['canary'],
        document_hash: receipt.manifest_hash,
        previous_band: null,
        change: null,
        failure_code: null,
      },
      content: Buffer.from('canary'),
      external_id_hash: receipt.manifest_hash,
    },
  ])
  const schedule_id = uuidv7()
  await insertSchedule(tx, {
    schedule_id,
    name: `canary ${schedule_id}`,
    family: 'matrix',
    definition_key: 'canary',
    filter: {},
    note: 'canary',
    cron: '0 0 1 1 *',
    time_zone: 'UTC',
    paused: true,
    next_run_at: null,
  })
  await insertScheduleRun(tx, schedule_id, { run_id: uuidv7(), due_at: null, batch_id, skipped: null, detail: null })
}
