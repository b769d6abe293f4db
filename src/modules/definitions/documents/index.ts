/** Definitions that are JSON documents: their drafts, versions and routes. */
export {
  createDefinition,
  getDefinition,
  getVersionOrDraft,
  lockOwnDefinition,
  toContentPointer,
  type VersionOrDraft,
} from './document.ts'
export {
  type DefinitionKind,
  type DefinitionOperations,
  type DefinitionText,
  type DocumentEntry,
  type Finding,
  getDefinitionKey,
  type ListReference,
  readVersionParams,
  type Validation,
} from './kind.ts'
export { assertNoErrors } from './publish.ts'
export {
  type DatasetId,
  insertDraft,
  insertReferences,
  listReferencingDefinitions,
  listUpcomingChanges,
  lockDefinitions,
  type ProfileRow,
  upsertProfile,
} from './queries.ts'
export {
  createDefinitionSchemas,
  type DefinitionSchemas,
  Findings,
  FindingView,
  ListVersion,
  toListVersions,
} from './schema.ts'
