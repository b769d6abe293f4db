/** Counts what a rule decided in a period and what people have made of its hits, by version and altogether. */
import type { Tx } from '../../../kernel/database/tx.ts'
import type { Static } from '../../../kernel/schema.ts'
import { expectDefinition } from '../../risk-matrices/index.ts'
import { type CountRow, countBatches, countDecisions, countOutcomes, findPeriod } from './queries.ts'
import { type Counted, figuresOf } from './rules.ts'
import { MAX_BATCHES, MAX_DECISIONS, type Performance, type PerformanceQuery } from './schema.ts'

const DAYS = 90

const sum = (rows: readonly CountRow[], of: 'decisions' | 'hits') => rows.reduce((all, row) => all + row[of], 0)

export async function performanceOf(
  tx: Tx,
  key: string,
  { days = DAYS, ...asked }: Static<typeof PerformanceQuery>,
): Promise<Static<typeof Performance>> {
  const { list_key: rule_key } = await expectDefinition(tx, 'rule', key)
  const period = await findPeriod(tx, days)
  const window = { rule_key, from_at: period.from_at, most: MAX_DECISIONS, most_batches: MAX_BATCHES }
  const alone = await countDecisions(tx, window)
  const batched = await countBatches(tx, window)
  const outcomes = await countOutcomes(tx, window)
  const counts = [...alone, ...batched]
  const counted = (version: number | null): Counted => {
    const own = version === null ? counts : counts.filter((row) => row.version === version)
    return {
      decisions: sum(own, 'decisions'),
      hits: sum(own, 'hits'),
      outcomes: outcomes.filter((row) => row.version === version),
    }
  }
  const versions = [...new Set(counts.map(({ version }) => version))].toSorted((a, b) => b - a)
  return {
    rule_key,
    ...period,
    complete:
      sum(alone, 'decisions') < MAX_DECISIONS &&
      sum(batched, 'hits') < MAX_DECISIONS &&
      batched.reduce((all, { batches }) => all + batches, 0) < MAX_BATCHES,
    total: figuresOf(counted(null), asked),
    versions: versions.map((version) => ({ version, ...figuresOf(counted(version), asked) })),
  }
}
