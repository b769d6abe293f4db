/** Counts of the differences between two versions, computed once and stored for the pair. */
export { insertSummary, sumDifferences } from './queries.ts'
export { countDifferences, getDifferenceSummary, storeSummary } from './summary.ts'
