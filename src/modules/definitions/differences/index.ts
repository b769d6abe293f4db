/** Counts of what changed between two versions, computed once and stored with the pair. */
export { insertSummary, sumDifferences } from './queries.ts'
export { countDifferences, getDifferenceSummary, storeSummary } from './summary.ts'
