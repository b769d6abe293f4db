/** SQL of the search module itself. */
import type { Tx } from '#kernel/database/tx.ts'

/** For the statements that follow in the same transaction. */
export const setTimeLimit = (tx: Tx, limit_ms: number) =>
  tx.query(`select set_config('statement_timeout', $1, true)`, [String(limit_ms)])
