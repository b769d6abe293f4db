/**
 * Door of the reference-data router: types, lists, versions, imports, activations, resolution, overlays, exports, seeds.
 * Other modules resolve lists and look values up through here.
 */

import type { Module } from '#kernel/module.ts'
import { aliasRoute, type Route } from '#kernel/route.ts'
import { activationRoutes } from './activations/routes.ts'
import {
  Activation,
  ActivationRequest,
  BreakGlassReviewId,
  PinRequest,
  ReasonBody,
  RevokeQuery,
  RollbackRequest,
  SubmissionRequest,
  Timeline,
  TimelineQuery,
} from './activations/schema.ts'
import { insertCanaryRows } from './canary.ts'
import { datasetRoutes } from './datasets/routes.ts'
import { Dataset } from './datasets/schema.ts'
import { differenceRoutes } from './differences/routes.ts'
import { differenceSummaryJob } from './differences/summary-job.ts'
import { datasetExportJob } from './exports/export-job.ts'
import { exportRoutes } from './exports/routes.ts'
import { datasetImportJob } from './imports/import-job.ts'
import { importRoutes } from './imports/routes.ts'
import { overlayRoutes } from './overlays/routes.ts'
import { resolveRoutes } from './resolve/routes.ts'
import { Label, OptionalOrigin, Origin, OriginQuery, Sha256, VersionNumber } from './schema.ts'
import { datasetIndexJob } from './search/index-job.ts'
import { seedRoutes } from './seeds/routes.ts'
import { typeRoutes } from './types/routes.ts'
import { versionRoutes } from './versions/routes.ts'
import { DifferencePage, DifferenceQuery, VersionQuery, VersionView } from './versions/schema.ts'

// What the operator's tool does to shared lists, it does through these.
export {
  activateVersion,
  assertNotInForce,
  cancelActivation,
  findBreakGlassReason,
  findRollbackApprovalRule,
  IN_FORCE_REVIEW,
  type InForceChange,
  pinVersion,
  rollBack,
  unpinVersion,
} from './activations/activate.ts'
export {
  type ActivationRow,
  findActivationInForce,
  listActivations,
  listScheduledActivations,
  lockActivations,
} from './activations/queries.ts'
export { buildTimeline } from './activations/timeline.ts'
export { changesGovernedSettings, getOrigin, type Origin, toViewEtag } from './datasets/origin.ts'
export {
  type DatasetFamily,
  type DatasetRow,
  type DatasetViewRow,
  findDataset,
  findDatasetForWrite,
  findDatasetView,
  findSharedDataset,
  insertDataset,
  listDatasets,
  lockDataset,
  type OverlayPolicy,
  updateDataset,
} from './datasets/queries.ts'
export { resolveDelta } from './deltas/actions.ts'
export type { DeltaRequest } from './deltas/request.ts'
export { countDifferences } from './differences/summary.ts'
export {
  findTypeMismatch,
  importRows,
  readSource,
  toImportCounts,
  toStagedContent,
} from './imports/import-source.ts'
export { withDefaultColumns } from './imports/options.ts'
export { findUnknownReasonCodes, REASON_CODE_LIST } from './reason-codes.ts'
export { findReceipt, type PinnedVersion, type ReceiptRow } from './resolve/queries.ts'
export {
  buildManifest,
  createCurrentReceipt,
  createReceipt,
  type Manifest,
  toPins,
} from './resolve/receipts.ts'
export {
  type Clocks,
  type ContentPointer,
  findPointersInForce,
  type ListPointer,
  loadBaseType,
  loadList,
  lookUpEntries,
  lookUpHashedEntries,
  MAX_CACHED_LIST_BYTES,
  readOverlay,
  resolvePins,
  resolveVersions,
  resolveWithLists,
  toResolvedListView,
  type VersionPointer,
} from './resolve/resolver.ts'
export { indexVersion, needsIndex } from './search/index-version.ts'
export { insertOperatorEvent } from './seeds/queries.ts'
export {
  type RegistrySeeds,
  readJsonFolder,
  readRegistrySeeds,
  type SeedList,
  type SeedVersion,
  seedRegistry,
} from './seeds/seed-registry.ts'
export { buildTree, createProver } from './trees/stored-tree.ts'
export { toTypeDefinition } from './types/dataset-type.ts'
export { findSharedType, findType, findTypeVersion, listTypes, type TypeRow } from './types/queries.ts'
export { parseDifference, parseEntry } from './versions/entries.ts'
export type { Gate } from './versions/guards.ts'
export {
  assertHeadVersion,
  assertWritable,
  getDifferencePage,
  getVersion,
  type Publication,
  publishStaged,
  stageRows,
  toVersionView,
} from './versions/publish.ts'
export {
  findVersion,
  listDifferences,
  listEntriesByKey,
  listVersions,
  updateVersionState,
  type VersionRow,
} from './versions/queries.ts'

/** Shapes that other definitions kept in the registry are shown in. */
export const registrySchemas = {
  Activation,
  ActivationOrder: ActivationRequest,
  BreakGlassReviewId,
  Dataset,
  DifferencePage,
  DifferenceQuery,
  Label,
  OfOrigin: OptionalOrigin,
  Origin,
  OriginQuery,
  PinOrder: PinRequest,
  ReasonBody,
  RevokeQuery,
  RollbackOrder: RollbackRequest,
  Sha256,
  SubmissionOrder: SubmissionRequest,
  Timeline,
  TimelineQuery,
  VersionNumber,
  VersionQuery,
  VersionView,
}

const routes: readonly Route[] = [
  ...datasetRoutes,
  ...versionRoutes,
  ...differenceRoutes,
  ...activationRoutes,
  ...typeRoutes,
  ...importRoutes,
  ...resolveRoutes,
  ...overlayRoutes,
  ...exportRoutes,
  ...seedRoutes,
]
const routeAt = (at: string): Route => routes.find((route) => route.at === at) as Route

export const referenceData: Module = {
  name: 'reference-data',
  segments: ['reference-data', 'datasets', 'types', 'adapters'],
  tier: 'domain',
  summary: 'The registry: typed, versioned, effective-dated lists that every rule, matrix and resolution consults.',
  routes: [
    ...routes,
    // The specification gives these paths without a prefix: either reading works.
    aliasRoute(routeAt('GET /reference-data/datasets'), 'GET /datasets', 'listDatasetsAtRoot'),
    aliasRoute(routeAt('GET /reference-data/types'), 'GET /types', 'listDatasetTypesAtRoot'),
    aliasRoute(routeAt('GET /reference-data/adapters'), 'GET /adapters', 'listAdaptersAtRoot'),
  ],
  jobs: [datasetImportJob, datasetIndexJob, datasetExportJob, differenceSummaryJob],
  constraints: {
    dataset_list_key_key: ['duplicate', 'A list with this key exists already.'],
    dataset_version_label_key: ['duplicate', 'A version with this label exists already.'],
    dataset_type_pkey: ['duplicate', 'A type with this key exists already.'],
  },
  canary_table: 'dataset',
  canary: insertCanaryRows,
}
