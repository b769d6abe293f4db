/** SQL of the search module itself. */
import type { Tx } from '#kernel/database/tx.ts'

/**
 * For the statements that follow in the same transaction. Their plans do not depend on the words: without this setting PostgreSQL plans
 * statements with arrays again for each search, which takes longer than running them.
 */
export const configureSearch = (tx: Tx, limit_ms: number) =>
  tx.query(
    `select set_config('statement_timeout', $1, true), set_config('plan_cache_mode', 'force_generic_plan', true)`,
    [String(limit_ms)],
  )
