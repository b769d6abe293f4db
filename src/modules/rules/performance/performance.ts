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
const compareVersions = (a: DecidingVersion, b: DecidingVersion) =>
  b.version - a.version || (a.origin < b.origin ? -1 : 1)

const sumCounts = (rows: readonly CountRow[], of: 'decisions' | 'hits') => rows.reduce((all, row) => all + row[of], 0)

export async function getPerformance(
  tx: Tx,
  key: string,
  { days = DEFAULT_DAYS, ...options }: Static<typeof PerformanceQuery>,
): Promise<Static<typeof PerformanceView>> {
  const { list_key: rule_key } = await documentStore.getDefinition(tx, 'rule', key)
  const findDatasetId = async (origin: datasetStore.Origin) =>
    (await datasetStore.findDataset(tx, key, 'rule', origin))?.dataset_id ?? null
  const owners = { own: await findDatasetId('own'), shared: await findDatasetId('shared') }
  const period = await findPeriod(tx, days)
  const window = { rule_key, ...owners, from_at: period.from_at, most: MAX_DECISIONS, most_batches: MAX_BATCHES }
  const single = await countDecisions(tx, window)
  const batched = await countBatches(tx, window)
  const outcomes = await countOutcomes(tx, window)
  const counts = [...single, ...batched]
  const countFor = (of: DecidingVersion | null): PerformanceCounts => {
    const isSameVersion = (row: DecidingVersion) => row.version === of?.version && row.origin === of.origin
    const rows = of === null ? counts : counts.filter(isSameVersion)
    return {
      decisions: sumCounts(rows, 'decisions'),
      hits: sumCounts(rows, 'hits'),
      outcomes: outcomes.filter((row) => (of === null ? row.version === null : isSameVersion(row as DecidingVersion))),
    }
  }
  const versions = [
    ...new Map(counts.map(({ version, origin }) => [`${version} ${origin}`, { version, origin }])).values(),
  ]
  return {
    rule_key,
    ...period,
    complete:
      sumCounts(single, 'decisions') < MAX_DECISIONS &&
      sumCounts(batched, 'hits') < MAX_DECISIONS &&
      batched.reduce((all, { batches }) => all + batches, 0) < MAX_BATCHES,
    total: computeFigures(countFor(null), options),
    versions: versions.toSorted(compareVersions).map((of) => ({ ...of, ...computeFigures(countFor(of), options) })),
  }
}
