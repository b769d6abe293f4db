/** Which version governs an instant, as it was known at another; receipts of such resolutions; entries by key. */
export { cachePointers, getCachedPointers } from './pointer-cache.ts'
export {
  type ContentPointer,
  findReceipt,
  type ListPointer,
  listPointers,
  type PinnedVersion,
  type PointerRow,
  type ReceiptRow,
  selectInForce,
  selectPointers,
  type VersionPointer,
} from './queries.ts'
export { buildManifest, createCurrentReceipt, createReceipt, type Manifest, toPins } from './receipts.ts'
export {
  assertInForce,
  type Clocks,
  createOverlayLayer,
  findPointersInForce,
  getCachedList,
  isRecent,
  isSingleStatementLookup,
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
} from './resolver.ts'
