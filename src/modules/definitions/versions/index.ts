/** Published versions: publish, read and compare them. */
export { getVerifiedText, parseDifference, parseEntry } from './entries.ts'
export { type Gate, type GuardSettings, getLossLimits, type MemberLoss } from './guards.ts'
export {
  assertHeadVersion,
  assertIfMatchHead,
  assertWritable,
  type ContentWriter,
  createDeltaWriter,
  getAuthor,
  getDifferencePage,
  getVersion,
  type Publication,
  type PublishPhase,
  publishStaged,
  readEntries,
  toVersionView,
} from './publish.ts'
export {
  type EntryRow,
  findTextBatch,
  findVersion,
  listDifferences,
  listEntries,
  listEntriesByKey,
  listEntriesWithPrefix,
  listVersions,
  OPEN_VERSION,
  updateVersionState,
  type VersionRow,
} from './queries.ts'
export type { EntryForm } from './value-losses.ts'
