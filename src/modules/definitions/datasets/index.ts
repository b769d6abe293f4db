/** The master record of a definition: its key, owner, settings and newest version. */
export { getOrigin, hasGovernedChange, type Origin, toViewEtag } from './origin.ts'
export {
  type DatasetFamily,
  type DatasetRow,
  type DatasetViewRow,
  findDataset,
  findDatasetForWrite,
  findDatasetView,
  findOverlay,
  findSharedDataset,
  insertDataset,
  listDatasets,
  listDependents,
  lockDataset,
  type OverlayPolicy,
  staleSinceExpression,
  updateDataset,
} from './queries.ts'
