/** Definitions that are JSON documents: their drafts, versions and routes. */
export {
  createDefinition,
  findDefinition,
  getCurrentText,
  getDefinition,
  getInitialDraft,
  getVersionOrDraft,
  loadVersionText,
  lockOwnDefinition,
  toContentPointer,
  type VersionOrDraft,
} from './document.ts'
export {
  type ActivationHook,
  type DefinitionKind,
  type DefinitionOperations,
  type DefinitionText,
  type DifferenceHook,
  type DocumentEntry,
  type Finding,
  getDefinitionKey,
  type HookCapabilities,
  type ListReference,
  readVersionParams,
  type Validation,
} from './kind.ts'
export { assertNoErrors } from './publish.ts'
export {
  type DatasetId,
  findDraft,
  insertDraft,
  insertReferences,
  listReferencingDefinitions,
  listUpcomingChanges,
  lockDefinitions,
  type ProfileRow,
  updateDraft,
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
