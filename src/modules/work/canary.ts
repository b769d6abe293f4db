/** Inserts one row into each table of the work router, for the isolation canary. */
import type { Tx } from '#kernel/database/tx.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { insertClock, upsertSetting } from './clocks/queries.ts'
import { saveTurn, takeTurn, upsertWork } from './items/queries.ts'

export async function insertCanaryRows(tx: Tx): Promise<void> {
  const object = { object_kind: 'canary', object_id: uuidv7(), restriction_id: null }
  await upsertWork(tx, { ...object, queue_key: 'canary', priority: 'low', assignee: null })
  const turn = await takeTurn(tx, 'canary')
  await saveTurn(tx, 'canary', 'user:canary', turn)
  const due_at = '2100-01-01T00:00:00Z'
  const receipt = {
    duration: { hours: 1 },
    calendar: 'canary',
    time_zone: 'UTC',
    list: null,
    is_covered: true,
  }
  const started_at = '2026-01-01T00:00:00Z'
  await insertClock(tx, { ...object, clock_key: 'canary', kind: 'service', started_at, due_at, receipt })
  await upsertSetting(tx, 'canary')
}
