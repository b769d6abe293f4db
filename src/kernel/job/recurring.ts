/** Work that every tenant has done so often without being asked: its schedules, made with the tenant and kept up by housekeeping. */
import type { Tx } from '../database/tx.ts'
import { uuidv7 } from '../uuid.ts'
import type { JobKind } from './kind.ts'
import { insertSchedule } from './queries.ts'

/** Re-runnable: a schedule that is there, changed or switched off, is left as it is. */
export async function insertRecurringSchedules(tx: Tx, kinds: readonly JobKind[]): Promise<void> {
  for (const { kind, every_s } of kinds) {
    if (every_s === null) continue
    // Beginning anywhere within the time: tenants follow one another, not all at once.
    const first_in_s = Math.floor(Math.random() * every_s)
    await insertSchedule(tx, { schedule_id: uuidv7(), name: kind, kind, payload: {}, every_s, first_in_s })
  }
}
