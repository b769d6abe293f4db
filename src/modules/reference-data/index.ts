/**
 * Door of the reference-data router: types, lists, versions, imports, activations, resolution, overlays, exports, seeds.
 * Other modules resolve lists and look values up through here.
 */
import { alias, type Module, type Route } from '../../kernel/route.ts'
import { activationRoutes } from './activations/routes.ts'
import { plantCanary } from './canary.ts'
import { datasetRoutes } from './datasets/routes.ts'
import { datasetExport } from './exports/jobs.ts'
import { exportRoutes } from './exports/routes.ts'
import { datasetImport } from './imports/jobs.ts'
import { importRoutes } from './imports/routes.ts'
import { overlayRoutes } from './overlays/routes.ts'
import { resolveRoutes } from './resolve/routes.ts'
import { seedRoutes } from './seeds/routes.ts'
import { typeRoutes } from './types/routes.ts'
import { versionRoutes } from './versions/routes.ts'

// What the operator's tool does to shared lists, it does through these.
export { activate, rollBack } from './activations/actions.ts'
export { findInForce, listPending } from './activations/queries.ts'
export {
  type DatasetRow,
  findSharedDataset,
  insertDataset,
  listDatasets,
  type OverlayPolicy,
} from './datasets/queries.ts'
export { countsOf, definitionOf, importRows, optionsFor, readSource } from './imports/actions.ts'
export { keepReceipt, lookUp, type Pointer, resolve } from './resolve/actions.ts'
export { type RegistrySeeds, readRegistrySeeds, seedRegistry } from './seeds/actions.ts'
export { insertOperatorEvent } from './seeds/queries.ts'
export { findType, listTypes, type TypeRow } from './types/queries.ts'
export { expectHead, publishStaged, sidesOf, summarise } from './versions/actions.ts'
export { findVersion, listDifferences, updateVersionState, type VersionRow } from './versions/queries.ts'

const routes: readonly Route[] = [
  ...datasetRoutes,
  ...versionRoutes,
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
  jobs: [datasetImport, datasetExport],
  constraints: {
    dataset_list_key_key: ['duplicate', 'A list with this key exists already.'],
    dataset_version_label_key: ['duplicate', 'A version with this label exists already.'],
    dataset_type_pkey: ['duplicate', 'A type with this key exists already.'],
  },
  canary_table: 'dataset',
  canary: plantCanary,
}
