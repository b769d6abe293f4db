/** Schedules of recurring jobs that every tenant has: created with the tenant and maintained by housekeeping. */
import type { Tx } from '../../database/tx.ts'
import { uuidv7 } from '../../uuid.ts'
import type { JobKind } from '../kind.ts'
import { insertSchedule } from './queries.ts'

/** Repeatable: an existing schedule, also one that was changed or disabled, is kept. */
export async function insertRecurringSchedules(tx: Tx, kinds: readonly JobKind[]): Promise<void> {
  for (const { kind, every_s } of kinds) {
    if (every_s === null) continue
    // The first run is at a random time within the interval, so that tenants do not run all at once.
    const first_in_s = Math.floor(Math.random() * every_s)
    await insertSchedule(tx, { schedule_id: uuidv7(), name: kind, kind, payload: {}, every_s, first_in_s })
  }
}
