/**
 * Door of the reference-data router: types, lists, versions, imports, activations, resolution, overlays, exports, seeds.
 * Other modules resolve lists and look values up through here.
 */
import { alias, type Module, type Route } from '../../kernel/route.ts'
import { activationRoutes } from './activations/routes.ts'
import {
  Activation,
  ActivationOrder,
  PinOrder,
  ReasonBody,
  RevokeQuery,
  RollbackOrder,
  SubmissionOrder,
  Timeline,
  TimelineQuery,
} from './activations/schema.ts'
import { plantCanary } from './canary.ts'
import { datasetRoutes } from './datasets/routes.ts'
import { Dataset } from './datasets/schema.ts'
import { differenceSummary } from './differences/jobs.ts'
import { differenceRoutes } from './differences/routes.ts'
import { datasetExport } from './exports/jobs.ts'
import { exportRoutes } from './exports/routes.ts'
import { datasetImport } from './imports/jobs.ts'
import { importRoutes } from './imports/routes.ts'
import { overlayRoutes } from './overlays/routes.ts'
import { resolveRoutes } from './resolve/routes.ts'
import { Label, OfOrigin, Origin, OriginQuery, Sha256, VersionNumber } from './schema.ts'
import { datasetIndex } from './search/jobs.ts'
import { seedRoutes } from './seeds/routes.ts'
import { typeRoutes } from './types/routes.ts'
import { versionRoutes } from './versions/routes.ts'
import { DifferencePage, DifferenceQuery, VersionQuery, VersionView } from './versions/schema.ts'

// What the operator's tool does to shared lists, it does through these.
export {
  activate,
  cancel,
  expectNotGoverning,
  findBreakGlassReason,
  findScheduledRule,
  IN_FORCE,
  type InForceChange,
  pin,
  rollBack,
  unpin,
} from './activations/actions.ts'
export {
  type ActivationRow,
  findInForce,
  listActivations,
  listPending,
  lockActivations,
} from './activations/queries.ts'
export { timelineOf } from './activations/rules.ts'
export {
  type DatasetRow,
  type DatasetViewRow,
  type Family,
  findDataset,
  findDatasetToChange,
  findDatasetView,
  findSharedDataset,
  insertDataset,
  listDatasets,
  lockDataset,
  type OverlayPolicy,
  updateDataset,
} from './datasets/queries.ts'
export { changesLimits, etagOfView, type Origin, originOf } from './datasets/rules.ts'
export { resolveDelta } from './deltas/actions.ts'
export type { DeltaRequest } from './deltas/request.ts'
export { countAll } from './differences/actions.ts'
export {
  countsOf,
  importRows,
  misfitOf,
  readSource,
  stagedContentOf,
} from './imports/actions.ts'
export { optionsFor } from './imports/options.ts'
export {
  keepReceipt,
  keepReceiptOfNow,
  type Manifest,
  manifestOf,
  writtenManifest,
} from './receipts/actions.ts'
export {
  type Clocks,
  type ContentPointer,
  type ListPointer,
  listsInForce,
  lookUp,
  lookUpHashed,
  type Pointer,
  readOverlay,
  repin,
  resolve,
  resolveWithLists,
  shown as shownPointer,
  typeOf as baseTypeAt,
  WHOLE_LIST_BYTES,
  wholeList,
} from './resolve/actions.ts'
export { findReceipt, type Pinned, type ReceiptRow } from './resolve/queries.ts'
export { indexVersion, isIndexed } from './search/index-version.ts'
export {
  type RegistrySeeds,
  readFolder,
  readRegistrySeeds,
  type SeedList,
  type SeedVersion,
  seedRegistry,
} from './seeds/actions.ts'
export { insertOperatorEvent } from './seeds/queries.ts'
export { buildTree, createProver } from './trees/actions.ts'
export { definitionOf } from './types/actions.ts'
export { findSharedType, findType, findTypeVersion, listTypes, type TypeRow } from './types/queries.ts'
export {
  differencePage,
  expectHead,
  expectOwn,
  expectVersion,
  type Publication,
  publishStaged,
  shownVersion,
  stageRows,
} from './versions/actions.ts'
export { entryOf, sidesOf } from './versions/entries.ts'
export {
  findVersion,
  listDifferences,
  listEntriesByKey,
  listVersions,
  updateVersionState,
  type VersionRow,
} from './versions/queries.ts'
export type { Gate } from './versions/rules.ts'

/** Shapes that other definitions kept in the registry are shown in. */
export const wire = {
  Activation,
  ActivationOrder,
  Dataset,
  DifferencePage,
  DifferenceQuery,
  Label,
  OfOrigin,
  Origin,
  OriginQuery,
  PinOrder,
  ReasonBody,
  RevokeQuery,
  RollbackOrder,
  Sha256,
  SubmissionOrder,
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
    alias(routeAt('GET /reference-data/datasets'), 'GET /datasets', 'listDatasetsAtRoot'),
    alias(routeAt('GET /reference-data/types'), 'GET /types', 'listDatasetTypesAtRoot'),
    alias(routeAt('GET /reference-data/adapters'), 'GET /adapters', 'listAdaptersAtRoot'),
  ],
  jobs: [datasetImport, datasetIndex, datasetExport, differenceSummary],
  constraints: {
    dataset_list_key_key: ['duplicate', 'A list with this key exists already.'],
    dataset_version_label_key: ['duplicate', 'A version with this label exists already.'],
    dataset_type_pkey: ['duplicate', 'A type with this key exists already.'],
  },
  canary_table: 'dataset',
  canary: plantCanary,
}
