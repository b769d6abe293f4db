/** Counts what a rule decided in a period and what people have made of its hits, by version and altogether. */
import type { Tx } from '../../../kernel/database/tx.ts'
import type { Static } from '../../../kernel/schema.ts'
import { findDataset, type Origin } from '../../reference-data/index.ts'
import { expectDefinition } from '../../risk-matrices/index.ts'
import { type CountRow, countBatches, countDecisions, countOutcomes, findPeriod } from './queries.ts'
import { type Counted, figuresOf } from './rules.ts'
import { MAX_BATCHES, MAX_DECISIONS, type Performance, type PerformanceQuery } from './schema.ts'

const DAYS = 90

/** A version that decided, and whose it is. */
type Decider = Pick<CountRow, 'version' | 'origin'>
const newestFirst = (a: Decider, b: Decider) => b.version - a.version || (a.origin < b.origin ? -1 : 1)

const sum = (rows: readonly CountRow[], of: 'decisions' | 'hits') => rows.reduce((all, row) => all + row[of], 0)

export async function performanceOf(
  tx: Tx,
  key: string,
  { days = DAYS, ...asked }: Static<typeof PerformanceQuery>,
): Promise<Static<typeof Performance>> {
  const { list_key: rule_key } = await expectDefinition(tx, 'rule', key)
  const idOf = async (origin: Origin) => (await findDataset(tx, key, 'rule', origin))?.dataset_id ?? null
  const owners = { own: await idOf('own'), shared: await idOf('shared') }
  const period = await findPeriod(tx, days)
  const window = { rule_key, ...owners, from_at: period.from_at, most: MAX_DECISIONS, most_batches: MAX_BATCHES }
  const alone = await countDecisions(tx, window)
  const batched = await countBatches(tx, window)
  const outcomes = await countOutcomes(tx, window)
  const counts = [...alone, ...batched]
  const counted = (of: Decider | null): Counted => {
    const fits = (row: Decider) => row.version === of?.version && row.origin === of.origin
    const rows = of === null ? counts : counts.filter(fits)
    return {
      decisions: sum(rows, 'decisions'),
      hits: sum(rows, 'hits'),
      outcomes: outcomes.filter((row) => (of === null ? row.version === null : fits(row as Decider))),
    }
  }
  const versions = [
    ...new Map(counts.map(({ version, origin }) => [`${version} ${origin}`, { version, origin }])).values(),
  ]
  return {
    rule_key,
    ...period,
    complete:
      sum(alone, 'decisions') < MAX_DECISIONS &&
      sum(batched, 'hits') < MAX_DECISIONS &&
      batched.reduce((all, { batches }) => all + batches, 0) < MAX_BATCHES,
    total: figuresOf(counted(null), asked),
    versions: versions.toSorted(newestFirst).map((of) => ({ ...of, ...figuresOf(counted(of), asked) })),
  }
}
