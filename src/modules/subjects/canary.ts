/** Inserts one row into each table of the subjects router, for the isolation canary. */
import type { Tx } from '#kernel/database/tx.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { NO_COUNTS } from './bulk/file-rows.ts'
import { claimExternalIds, insertBulk, insertBulkRejects } from './bulk/queries.ts'
import { beginStep, insertCanaryAnnex, upsertReplayedErasure } from './erasure/queries.ts'
import { insertOverride, insertRatings } from './ratings/queries.ts'
import { insertSubjects, updateSubjects } from './records/queries.ts'

/** A subject of its own: nothing else is stored about one that is being erased. */
async function insertErasureRows(tx: Tx): Promise<void> {
  const subject_id = uuidv7()
  const content = { subject_type: 'other', external_id: 'canary erasure', name: 'canary', segment: 'canary' }
  await insertSubjects(tx, [{ subject_id, ...content, attributes: {} }])
  const erasure = { erasure_id: uuidv7(), subject_id }
  const people = { requested_by: 'user:canary', confirmed_by: 'user:canary2', confirmed_at: new Date().toISOString() }
  await upsertReplayedErasure(tx, { ...erasure, ...people, also: [{ class: 'canary', id: 'canary' }] })
  await beginStep(tx, erasure, 'canary')
  await insertCanaryAnnex(tx, erasure.erasure_id)
}

export async function insertCanaryRows(tx: Tx): Promise<void> {
  await insertErasureRows(tx)
  const canary = { subject_type: 'other', external_id: 'canary', name: 'canary', segment: 'canary' }
  const subject_id = uuidv7()
  const subject = { subject_id, ...canary, attributes: {} }
  await insertSubjects(tx, [subject])
  // Nobody can decrypt the earlier version.
  const earlier_content = Buffer.from('canary')
  await updateSubjects(tx, [{ ...subject, attributes: { note: 'canary' }, earlier_content }])
  await insertRatings(tx, [
    {
      rating_id: uuidv7(),
      subject_id,
      cause: 'evaluation',
      matrix_key: 'canary',
      matrix_version: 1,
      band: 'canary',
      score_bps: 0,
      reason: 'canary',
    },
  ])
  const expires_at = new Date(Date.now() + 86_400_000).toISOString()
  await insertOverride(tx, { rating_id: uuidv7(), subject_id, band: 'canary', reason: 'canary', expires_at })
  const bulk_id = uuidv7()
  await insertBulk(tx, {
    bulk_id,
    job_id: uuidv7(),
    upload_id: null,
    format: 'ndjson',
    options: {},
    source: { file_name: 'canary', size_bytes: 0 },
    counts: NO_COUNTS,
  })
  await claimExternalIds(tx, bulk_id, new Map([['canary', 1]]))
  await insertBulkRejects(tx, bulk_id, 1, [
    { code: 'canary', pointer: '', at: { row: 1 }, excerpt: 'canary', message: 'canary' },
  ])
}
