/** A stored package as the plugin library reads it, and the reasons that the key and the place of an upload add. */
import { hash } from 'node:crypto'
import { canonicalJson } from '#kernel/canonical-json.ts'
import { countManifestSteps, type PluginManifest } from '#plugin/manifest.ts'
import { hashContent, MAX_PACKAGE_BYTES, type PluginPackage, readPackage } from '#plugin/package.ts'
import { isObject } from '#registry/content/json-pointer.ts'
import type { PluginReason } from './model.ts'
import type { StoredPackage } from './plugin-parts.ts'

/** A stored package as far as it can be read. */
export interface ReadPlugin {
  /** Null where the package cannot be used. */
  readonly package: PluginPackage | null
  readonly manifest: PluginManifest | null
  /** The manifest as it is written; null where it cannot be read. */
  readonly written: Readonly<Record<string, unknown>> | null
  readonly files: Readonly<Record<string, string>>
  /** The entry file; empty where the package cannot be used. */
  readonly source: string
  /** Of manifest and source; of the whole package where it cannot be used. */
  readonly content_hash: string
  /** Why it cannot be used. */
  readonly reasons: readonly PluginReason[]
  readonly size_bytes: number
  /** Size of the patterns in its schemas. */
  readonly pattern_steps: number
}

/** An upload in the form in which it is stored. */
export async function readUpload(
  upload: Buffer | { readonly manifest: unknown; readonly files: unknown; readonly signature?: unknown },
): Promise<StoredPackage> {
  const read = await readPackage(upload)
  if ('source' in read) {
    const { manifest, source, signature } = read
    return { manifest: { ...manifest }, files: { [manifest.entry]: source }, signature }
  }
  const bytes = Buffer.isBuffer(upload) ? upload : Buffer.from(JSON.stringify(upload))
  const isStorable = !Buffer.isBuffer(upload) && isObject(upload.manifest) && isTexts(upload.files)
  if (!isStorable || bytes.length > MAX_PACKAGE_BYTES) {
    // More than the limit shows that it is too large; the rest is not kept.
    return { bytes: bytes.subarray(0, MAX_PACKAGE_BYTES + 1) }
  }
  const { manifest, files, signature = null } = upload
  return { manifest: manifest as Record<string, unknown>, files: files as Record<string, string>, signature }
}

const isTexts = (files: unknown): files is Record<string, string> =>
  isObject(files) && Object.values(files).every((text) => typeof text === 'string')

export async function readStoredPackage(plugin_key: string, stored: StoredPackage): Promise<ReadPlugin> {
  const read = await readPackage('bytes' in stored ? Buffer.from(stored.bytes) : stored)
  const files = 'bytes' in stored ? {} : stored.files
  const written = isObject(read.manifest) ? (read.manifest as Record<string, unknown>) : null
  const size_bytes = 'bytes' in stored ? stored.bytes.length : JSON.stringify(stored).length
  const named = findKeyReasons(plugin_key, written)
  if ('source' in read && named.length === 0) {
    const { manifest, source } = read
    const content_hash = hashContent(read)
    const pattern_steps = countManifestSteps(manifest)
    return { package: read, manifest, written, files, source, content_hash, reasons: [], size_bytes, pattern_steps }
  }
  const reasons = 'source' in read ? named : [...read.reasons, ...named]
  const content = 'bytes' in stored ? stored.bytes : canonicalJson(stored)
  const content_hash = hash('sha256', content, 'hex')
  const unusable = { package: null, manifest: null, source: '', pattern_steps: 0 }
  return { ...unusable, written, files, content_hash, reasons, size_bytes }
}

/** The manifest must name the plugin that it is a version of. */
function findKeyReasons(plugin_key: string, written: ReadPlugin['written']): PluginReason[] {
  const named = written?.['plugin_key']
  if (typeof named !== 'string' || named === plugin_key) return []
  const message = `The manifest names another plugin, ${named.slice(0, 100)}; this one is ${plugin_key}.`
  return [{ code: 'manifest_invalid', pointer: '/plugin_key', message }]
}
