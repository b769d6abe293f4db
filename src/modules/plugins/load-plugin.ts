/** The package of a stored version, read once per content. */
import { declareCache } from '#kernel/cache/caches.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { Problem } from '#kernel/problem.ts'
import { resolver } from '#modules/definitions/index.ts'
import type { PluginReason } from './model.ts'
import { type ReadPlugin, readStoredPackage } from './plugin-library.ts'
import { fromPluginEntries } from './plugin-parts.ts'

const CACHE_BYTES = 32 * 1024 * 1024
/** Patterns of its schemas are compiled when values are checked, and stay in memory with the manifest. */
const BYTES_PER_PATTERN_STEP = 200
const MAX_PATTERN_BYTES = 8 * 1024 * 1024

const estimateBytes = ({ size_bytes, pattern_steps }: ReadPlugin): number =>
  2000 + 2 * size_bytes + Math.min(MAX_PATTERN_BYTES, pattern_steps * BYTES_PER_PATTERN_STEP)

const readPlugins = declareCache<ReadPlugin>({
  name: 'read_plugins',
  summary: 'Manifest and source of one version of a plugin.',
  bound: { max_bytes: CACHE_BYTES, sizeOf: estimateBytes },
})

const HASH_MISMATCH: PluginReason = {
  code: 'hash_mismatch',
  message: 'The stored bytes do not match their hash: the database was altered or damaged.',
}

/** Reads and verifies a version; null with the reason where the stored bytes lost their hash. */
export async function loadPlugin(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  pointer: resolver.ContentPointer,
): Promise<ReadPlugin | PluginReason> {
  const cache = kernel.caches.get(readPlugins)
  const id = `${pointer.dataset_id} ${pointer.content_hash}`
  const known = cache.get(id)
  if (known) return known
  try {
    const content = await resolver.loadList(kernel, tx, pointer)
    if (!content) return HASH_MISMATCH
    const read = await readStoredPackage(
      pointer.list_key,
      fromPluginEntries([...content.entries.values()].map(({ entry }) => entry)),
    )
    cache.set(id, read)
    return read
  } catch (error) {
    if (error instanceof Problem && error.code === 'content_corrupt') return HASH_MISMATCH
    throw error
  }
}

export const isReason = (loaded: ReadPlugin | PluginReason): loaded is PluginReason => 'code' in loaded
