/** From the key of a matrix or rule to a decision. */
export {
  type Bindable,
  bindDefinition,
  decideWith,
  type FoundResolution,
  findResolution,
  getCompiled,
  getResolution,
  getResolutionManifest,
  getResolutionPins,
  isFindings,
  type Resolution,
  type ResolutionQuery,
  restoreResolution,
  toPointers,
} from './bind-definition.ts'
