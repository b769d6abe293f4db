/** What schedules of other modules share with those of batches: due times, and the row that wakes a worker. */
export { getNextRun } from './next-run.ts'
export { findNow, removeWakeUp, upsertWakeUp } from './queries.ts'
export { Cron, Paused, TimeZone } from './schema.ts'
