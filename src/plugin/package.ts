/** Reads what an author uploads: a zip archive or JSON with the same content. Nothing of it is trusted. */
import { hash } from 'node:crypto'
import { canonicalJson } from '#kernel/canonical-json.ts'
import { Problem } from '#kernel/problem.ts'
import { parseStrictJson } from '#kernel/strict-json.ts'
import { isObject } from '#registry/content/json-pointer.ts'
import { checkPluginManifest, type PluginManifest } from './manifest.ts'
import { isSafeName, readArchive } from './read-archive.ts'
import type { Reason } from './reasons.ts'

export const MAX_PACKAGE_BYTES = 256 * 1024
export const MANIFEST_FILE = 'plugin.json'
export const SIGNATURE_FILE = 'signature.json'

export interface PluginSignature {
  readonly publisher: string
  /** Ed25519 over the 32 bytes of the content hash, in Base64. */
  readonly signature: string
}

export interface PluginPackage {
  readonly manifest: PluginManifest
  readonly source: string
  readonly signature: PluginSignature | null
}

/** A manifest is kept even when the rest cannot be used: it says which plugin was meant. */
export interface UnusablePackage {
  readonly reasons: readonly Reason[]
  readonly manifest: unknown
}

/** As JSON: the manifest as an object, the files as texts. */
export interface PackageContent {
  readonly manifest: unknown
  readonly files: unknown
  readonly signature?: unknown
}

/** Sha256 of the manifest and the module: other files of the package do not run and do not count. */
export const hashContent = ({ manifest, source }: Pick<PluginPackage, 'manifest' | 'source'>): string =>
  hash('sha256', canonicalJson({ manifest, source }), 'hex')

export async function readPackage(given: Buffer | PackageContent): Promise<PluginPackage | UnusablePackage> {
  if (!Buffer.isBuffer(given)) return readContent(given)
  if (given.length > MAX_PACKAGE_BYTES) return refuseSize(null)
  if (given.subarray(0, 2).toString('latin1') === 'PK') return readZip(given)
  // Advice about the text of something that is no text would lead astray.
  if (!/^\s*\{/.test(given.subarray(0, 200).toString('latin1'))) return refuseForm()
  const parsed = parseJson(given, 'The package')
  if ('reasons' in parsed) return parsed
  const { value } = parsed
  if (!isObject(value) || !('manifest' in value) || !('files' in value)) return refuseForm()
  return readContent(value as unknown as PackageContent)
}

async function readZip(bytes: Buffer): Promise<PluginPackage | UnusablePackage> {
  const read = await readArchive(bytes, MAX_PACKAGE_BYTES)
  if ('code' in read) return { reasons: [read], manifest: null }
  const files = stripFolder(read.files)
  const text = files.get(MANIFEST_FILE)
  if (!text) {
    return {
      reasons: [{ code: 'manifest_unreadable', message: `The archive has no ${MANIFEST_FILE}.` }],
      manifest: null,
    }
  }
  const manifest = parseJson(text, MANIFEST_FILE)
  if ('reasons' in manifest) return manifest
  const signed = files.get(SIGNATURE_FILE)
  const signature = signed ? parseJson(signed, SIGNATURE_FILE) : { value: null }
  if ('reasons' in signature) return { ...signature, manifest: manifest.value }
  return assemble(manifest.value, signature.value, (name) => files.get(name))
}

/** An archive of a folder holds its name before each file. */
function stripFolder(files: ReadonlyMap<string, Buffer>): ReadonlyMap<string, Buffer> {
  const [folder, ...others] = new Set([...files.keys()].map((name) => name.slice(0, name.indexOf('/') + 1)))
  if (others.length > 0 || !folder) return files
  return new Map([...files].map(([name, bytes]) => [name.slice(folder.length), bytes]))
}

function readContent({ manifest, files, signature = null }: PackageContent): PluginPackage | UnusablePackage {
  if (!isObject(files)) {
    const message = 'The member files must be an object of file names and texts.'
    return { reasons: [{ code: 'manifest_invalid', message }], manifest }
  }
  const unsafe = Object.keys(files).find((name) => !isSafeName(name))
  if (unsafe !== undefined) {
    const message = `The file name ${JSON.stringify(unsafe.slice(0, 100))} leads out of the package.`
    return { reasons: [{ code: 'package_unsafe', message }], manifest }
  }
  if (Buffer.byteLength(JSON.stringify({ manifest, files })) > MAX_PACKAGE_BYTES) return refuseSize(manifest)
  return assemble(manifest, signature, (name) => {
    const text = Object.hasOwn(files, name) ? files[name] : undefined
    return typeof text === 'string' ? Buffer.from(text) : undefined
  })
}

function assemble(
  manifest: unknown,
  signature: unknown,
  findFile: (name: string) => Buffer | undefined,
): PluginPackage | UnusablePackage {
  const reasons = checkPluginManifest(manifest)
  if (reasons.length > 0) return { reasons, manifest }
  const { entry } = manifest as PluginManifest
  const source = findFile(entry)
  if (!source) {
    const message = `The package has no file ${entry}.`
    return { reasons: [{ code: 'entry_missing', pointer: '/entry', message }], manifest }
  }
  const text = source.toString('utf8')
  if (!Buffer.from(text).equals(source)) {
    return { reasons: [{ code: 'syntax', message: `The file ${entry} is not valid UTF-8.` }], manifest }
  }
  if (signature !== null && !isSignature(signature)) {
    const message = 'A signature has the members publisher and signature, both texts.'
    return { reasons: [{ code: 'signature_invalid', message }], manifest }
  }
  return { manifest: manifest as PluginManifest, source: text, signature }
}

const isSignature = (value: unknown): value is PluginSignature =>
  isObject(value) && typeof value['publisher'] === 'string' && typeof value['signature'] === 'string'

function refuseForm(): UnusablePackage {
  const message = 'The package is neither a zip archive nor JSON with the members manifest and files.'
  return { reasons: [{ code: 'manifest_unreadable', message }], manifest: null }
}

const refuseSize = (manifest: unknown): UnusablePackage => ({
  reasons: [{ code: 'too_large', message: `A package has at most ${MAX_PACKAGE_BYTES / 1024} KiB, also unpacked.` }],
  manifest,
})

function parseJson(bytes: Buffer, name: string): { readonly value: unknown } | UnusablePackage {
  try {
    return { value: parseStrictJson(bytes) }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const message = (error.extra.detail ?? 'It is not JSON.').replace('The body', name)
    return { reasons: [{ code: 'manifest_unreadable', message: `${name} cannot be read: ${message}` }], manifest: null }
  }
}
