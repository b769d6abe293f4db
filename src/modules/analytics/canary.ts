/** Inserts one row into each table of the analytics router, for the isolation canary. */
import type { Tx } from '#kernel/database/tx.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { insertDays, saveProgress } from './portfolio/queries.ts'

export async function insertCanaryRows(tx: Tx): Promise<void> {
  const day = '2026-01-01'
  await saveProgress(tx, undefined, { first_day: day, last_day: day, next_rating: uuidv7() })
  await insertDays(tx, day, [{ day: 0, matrix_key: 'canary', band: 'canary', subjects: 1 }])
}
