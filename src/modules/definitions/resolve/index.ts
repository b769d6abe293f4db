/** Resolution: which version is in force at a valid time as known at another, its entries by key, and receipts. */

export { cachePointers, findListsInForce, getCachedPointers } from './pointer-cache.ts'
export { loadPolicyEntries, loadPolicyList, type PolicyList, readPolicyEntries } from './policy-list.ts'
export {
  type ContentPointer,
  findEpochs,
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
  createOverlayApplier,
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
