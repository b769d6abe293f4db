/** One row in each table of reports, for the canary tenant and the isolation tests. */
import type { Tx } from '#kernel/database/tx.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { prepareRestriction } from '#modules/restrictions/index.ts'
import { insertFile, insertPart, insertReport, insertSources } from './queries.ts'
import { insertSchedule } from './schedules/queries.ts'

export async function insertCanaryRows(tx: Tx): Promise<void> {
  const report_id = uuidv7()
  await insertReport(tx, {
    report_id,
    restriction_id: null,
    subject_id: null,
    template_key: 'canary',
    template_version: 1,
    parameters: {},
    formats: ['json'],
    readers: ['auditor'],
    locale: 'en-GB',
    time_zone: 'UTC',
    schedule_id: null,
    job_id: uuidv7(),
  })
  await insertSources(tx, report_id, [await prepareRestriction(tx, 'canary')])
  await insertPart(tx, report_id, 'snapshot', Buffer.from('canary'))
  await insertFile(tx, report_id, { format: 'json', sha256: '0'.repeat(64), size_bytes: 6 })
  await insertSchedule(tx, {
    schedule_id: uuidv7(),
    name: 'canary',
    template_key: 'canary',
    parameters: {},
    formats: ['json'],
    locale: 'en-GB',
    cron: '0 6 1 * *',
    time_zone: 'UTC',
    paused: true,
    next_run_at: null,
    restriction_id: null,
  })
}
