/** Types that entries are validated against. */
export {
  assertUsableType,
  failUnusable,
  findTypeBreaks,
  getBaseType,
  getTypeRunner,
  hashTypeContent,
  toTypeContent,
  toTypeDefinition,
} from './dataset-type.ts'
export {
  findSharedType,
  findType,
  findTypeVersion,
  insertType,
  listTypes,
  listTypeVersions,
  lockType,
  type TypeRow,
} from './queries.ts'
