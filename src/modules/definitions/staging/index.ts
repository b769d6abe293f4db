/** Rows of a new version before it is published, in a temporary table of the transaction. */
export {
  analyseStage,
  countDelta,
  countDeltaMembers,
  countStagedDuplicates,
  createStage,
  listStaged,
  listStagedDuplicates,
  raiseStageWorkMem,
} from './queries.ts'
export { type StagedContent, stageEncodedRows, stageRows, summarizeRows } from './stage-rows.ts'
