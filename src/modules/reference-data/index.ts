/**
 * Public interface of the reference-data router: lists, types, versions, imports, activations, resolution, overlays, exports
 * and seeds. Lists are a kind of versioned definition; the definitions module has the shared implementation.
 */

import type { Module } from '#kernel/module.ts'
import { aliasRoute, type Route } from '#kernel/route.ts'
import { definitionSearch } from '#modules/definitions/index.ts'
import { activationRoutes } from './activation-routes.ts'
import { insertCanaryRows } from './canary.ts'
import { datasetRoutes } from './datasets/routes.ts'
import { differenceRoutes } from './difference-routes.ts'
import { datasetExportJob } from './exports/export-job.ts'
import { exportRoutes } from './exports/routes.ts'
import { detectionRoutes } from './imports/detection-routes.ts'
import { datasetImportJob } from './imports/import-job.ts'
import { listPluginDependents } from './imports/plugin-adapters.ts'
import { importRejectErasure } from './imports/queries.ts'
import { importRoutes } from './imports/routes.ts'
import { overlayRoutes } from './overlays/routes.ts'
import { resolveRoutes } from './resolve/routes.ts'
import { entrySource } from './search/entry-source.ts'
import { datasetIndexJob } from './search/index-job.ts'
import { typeSource } from './search/type-source.ts'
import { seedRoutes } from './seed-routes.ts'
import { typeRoutes } from './types/routes.ts'
import { versionRoutes } from './versions/routes.ts'

export type { DeltaRequest } from './deltas/request.ts'
// Used by the operator's commands to import and index shared lists.
export { resolveDelta } from './deltas/resolve-delta.ts'
export {
  findTypeMismatch,
  importRows,
  readSource,
  toImportCounts,
  toStagedContent,
} from './imports/import-source.ts'
export { withDefaultColumns } from './imports/options.ts'
export { findUnknownReasonCodes, REASON_CODE_LIST } from './reason-codes.ts'
export { indexVersion, needsIndex } from './search/index-version.ts'

const routes: readonly Route[] = [
  ...datasetRoutes,
  ...versionRoutes,
  ...differenceRoutes,
  ...activationRoutes,
  ...typeRoutes,
  ...importRoutes,
  ...detectionRoutes,
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
    // The specification writes these paths without a prefix, so both forms are registered.
    aliasRoute(routeAt('GET /reference-data/datasets'), 'GET /datasets', 'listDatasetsAtRoot'),
    aliasRoute(routeAt('GET /reference-data/types'), 'GET /types', 'listDatasetTypesAtRoot'),
    aliasRoute(routeAt('GET /reference-data/adapters'), 'GET /adapters', 'listAdaptersAtRoot'),
  ],
  definition_kinds: [{ family: 'list', param: 'list_key', word: 'list' }],
  jobs: [datasetImportJob, datasetIndexJob, datasetExportJob],
  constraints: {
    dataset_list_key_key: ['duplicate', 'A list with this key exists already.'],
    dataset_version_label_key: ['duplicate', 'A version with this label exists already.'],
    dataset_type_pkey: ['duplicate', 'A type with this key exists already.'],
  },
  search: {
    sources: [
      definitionSearch.createDefinitionSource({
        kind: 'list',
        family: 'list',
        title: 'Lists',
        noun: 'List',
        operation: 'getDataset',
      }),
      entrySource,
      typeSource,
    ],
    unsearched: {
      getDatasetVersion: 'A version is opened from its list.',
      getAdapter: 'Adapters are chosen where a file is imported, and are the same for every tenant.',
      getImport: 'An import is opened from its list or its job.',
      getExport: 'An export is opened from its job.',
      getReceipt: 'A receipt is opened from its decision, which is found by the id of the receipt.',
      resolveList: 'What is in force is shown on the page of the list.',
    },
  },
  plugin_dependents: listPluginDependents,
  erases: [importRejectErasure],
  canary_table: 'activation',
  canary: insertCanaryRows,
}
