/** Counts a rule's decisions in a period and the overrides of its hits, by version and in total. */
import type { Tx } from '#kernel/database/tx.ts'
import type { Static } from '#kernel/schema.ts'
import { datasetStore, documentStore } from '#modules/definitions/index.ts'

import { computeFigures, type PerformanceCounts } from './figures.ts'
import { type CountRow, countBatches, countDecisions, countOutcomes, findPeriod } from './queries.ts'
import { MAX_BATCHES, MAX_DECISIONS, type PerformanceQuery, type PerformanceView } from './schema.ts'

const DEFAULT_DAYS = 90

/** A version that decided, and its owner. */
type DecidingVersion = Pick<CountRow, 'version' | 'origin'>
const newestFirst = (a: DecidingVersion, b: DecidingVersion) => b.version - a.version || (a.origin < b.origin ? -1 : 1)

const sum = (rows: readonly CountRow[], of: 'decisions' | 'hits') => rows.reduce((all, row) => all + row[of], 0)

export async function getPerformance(
  tx: Tx,
  key: string,
  { days = DEFAULT_DAYS, ...asked }: Static<typeof PerformanceQuery>,
): Promise<Static<typeof PerformanceView>> {
  const { list_key: rule_key } = await documentStore.getDefinition(tx, 'rule', key)
  const idOf = async (origin: datasetStore.Origin) =>
    (await datasetStore.findDataset(tx, key, 'rule', origin))?.dataset_id ?? null
  const owners = { own: await idOf('own'), shared: await idOf('shared') }
  const period = await findPeriod(tx, days)
  const window = { rule_key, ...owners, from_at: period.from_at, most: MAX_DECISIONS, most_batches: MAX_BATCHES }
  const alone = await countDecisions(tx, window)
  const batched = await countBatches(tx, window)
  const outcomes = await countOutcomes(tx, window)
  const counts = [...alone, ...batched]
  const counted = (of: DecidingVersion | null): PerformanceCounts => {
    const fits = (row: DecidingVersion) => row.version === of?.version && row.origin === of.origin
    const rows = of === null ? counts : counts.filter(fits)
    return {
      decisions: sum(rows, 'decisions'),
      hits: sum(rows, 'hits'),
      outcomes: outcomes.filter((row) => (of === null ? row.version === null : fits(row as DecidingVersion))),
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
    total: computeFigures(counted(null), asked),
    versions: versions.toSorted(newestFirst).map((of) => ({ ...of, ...computeFigures(counted(of), asked) })),
  }
}
