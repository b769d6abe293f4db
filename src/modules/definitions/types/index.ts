/** Types that entries are validated against. */
export {
  assertUsableType,
  failUnusable,
  findTypeBreaks,
  getBaseType,
  hashTypeContent,
  toTypeContent,
  toTypeDefinition,
  typeThread,
} from './dataset-type.ts'
export {
  findSharedType,
  findType,
  findTypeVersion,
  insertType,
  listTypes,
  listTypeVersions,
  listVersionsInForceOfType,
  lockType,
  type TypeRow,
} from './queries.ts'
