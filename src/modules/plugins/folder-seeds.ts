/**
 * Plugins of the operator's folder, seeded for all tenants under the system tenant. A package that cannot be used is reported and
 * does not keep the service from starting; a version in force is never replaced by a deployment.
 */
import fs from 'node:fs'
import path from 'node:path'
import { CacheSlots } from '#kernel/cache/caches.ts'
import { unrestrictedScope } from '#kernel/database/scope.ts'
import type { Transactions, Tx } from '#kernel/database/tx.ts'
import { Problem } from '#kernel/problem.ts'
import { slugPattern } from '#kernel/schema.ts'
import { parseStrictJson } from '#kernel/strict-json.ts'
import { SYSTEM_TENANT } from '#kernel/uuid.ts'
import type { WorkerThreads } from '#kernel/worker-threads.ts'
import { activationStore, datasetStore, documentStore, seeding, versionStore } from '#modules/definitions/index.ts'
import { MANIFEST_FILE, MAX_PACKAGE_BYTES, SIGNATURE_FILE } from '#plugin/package.ts'
import { SANDBOX_HASH } from '#sandbox/builds.ts'
import { type CodeValidation, validatePluginCode, wasAccepted } from './code-validation.ts'
import { isReason, loadPlugin } from './load-plugin.ts'
import { PLUGIN_FAMILY } from './model.ts'
import { type ReadPlugin, readStoredPackage, readUpload } from './plugin-library.ts'
import type { StoredPackage } from './plugin-parts.ts'
import { insertValidation, listUnvalidatedVersions, listValidations } from './queries.ts'
import {
  createPlugin,
  findOtherKind,
  findStoredVersion,
  getVersionLabel,
  insertPluginVersion,
  toKindFault,
} from './upload.ts'

const SCOPE = unrestrictedScope(SYSTEM_TENANT, 'seed:plugins')
const KEY = new RegExp(slugPattern)
const MAX_FILES = 50
const MAX_REVALIDATED = 1000

export interface FolderPlugin {
  /** Name of the file or folder. */
  readonly name: string
  /** Or why it cannot be read. */
  readonly stored: StoredPackage | { readonly fault: string }
}

/** One package for each folder with a plugin.json, each zip archive and each JSON file, in name order. */
export async function readPluginFolder(folder: string): Promise<FolderPlugin[]> {
  const found: FolderPlugin[] = []
  const entries = fs.readdirSync(folder, { withFileTypes: true }).filter(({ name }) => !name.startsWith('.'))
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const at = path.join(folder, entry.name)
    if (entry.isDirectory() && fs.existsSync(path.join(at, MANIFEST_FILE))) {
      found.push({ name: entry.name, stored: await readFiles(at).catch(toReadFault) })
    } else if (entry.isFile() && /\.(zip|json)$/.test(entry.name)) {
      const stored = await fs.promises.readFile(at).then(readUpload).catch(toReadFault)
      found.push({ name: entry.name, stored })
    }
  }
  return found
}

/** Of a file that is a folder, or that the service may not read. */
function toReadFault(error: unknown): { readonly fault: string } {
  if (!(error instanceof Error) || !('syscall' in error)) throw error
  return { fault: error.message }
}

/** plugin.json with the files beside it, without those below. */
async function readFiles(folder: string): Promise<StoredPackage> {
  const names = fs
    .readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .map(({ name }) => name)
    .slice(0, MAX_FILES)
  const read = (name: string): Buffer => fs.readFileSync(path.join(folder, name)).subarray(0, MAX_PACKAGE_BYTES + 1)
  const manifest = parseJson(read(MANIFEST_FILE))
  if (manifest === undefined) return { bytes: read(MANIFEST_FILE) }
  const signature = names.includes(SIGNATURE_FILE) ? parseJson(read(SIGNATURE_FILE)) : undefined
  const files = names.filter((name) => name !== MANIFEST_FILE && name !== SIGNATURE_FILE)
  return readUpload({
    manifest,
    files: Object.fromEntries(files.map((name) => [name, read(name).toString('utf8')])),
    ...(signature !== undefined && { signature }),
  })
}

function parseJson(bytes: Buffer): unknown {
  try {
    return parseStrictJson(bytes)
  } catch {
    return undefined
  }
}

export interface PluginSeeding {
  readonly steward: Pick<Transactions, 'write'>
  readonly threads: WorkerThreads
  /** Null: no folder; plugins that were seeded before are validated under a new build nevertheless. */
  readonly folder: string | null
  readonly onStep: (text: string) => void
  /** A package that was not seeded or cannot run. */
  readonly onFault: (text: string) => void
}

/** Repeatable at every start and on every replica. */
export async function seedPlugins(options: PluginSeeding): Promise<void> {
  const cached = { ...options, caches: new CacheSlots() }
  const packages = options.folder === null ? [] : await readPluginFolder(options.folder)
  for (const { name, stored } of packages) {
    if ('fault' in stored) options.onFault(`plugin ${name} was not seeded: ${stored.fault}`)
    else await seedPackage(cached, { name, stored }).catch((error) => reportRefusal(options, name, error))
  }
  await revalidateShared(cached)
}

interface CachedSeeding extends PluginSeeding {
  readonly caches: CacheSlots
}

/** A package that is refused does not keep the others from being seeded; a database that fails does. */
function reportRefusal({ onFault }: PluginSeeding, name: string, error: unknown): void {
  if (!(error instanceof Problem) || error.status >= 500) throw error
  onFault(`plugin ${name} was not seeded: ${error.extra.detail ?? error.code}`)
}

async function seedPackage(
  options: CachedSeeding,
  { name, stored }: { readonly name: string; readonly stored: StoredPackage },
): Promise<void> {
  const { steward, onFault } = options
  const plugin_key = 'manifest' in stored ? stored.manifest['plugin_key'] : undefined
  if (typeof plugin_key !== 'string' || !KEY.test(plugin_key)) {
    const [reason] = (await readStoredPackage('', stored)).reasons
    return onFault(`plugin ${name} was not seeded: ${reason?.message ?? 'its manifest names no plugin_key'}`)
  }
  const read = await readStoredPackage(plugin_key, stored)
  const isKnown = await steward.write(SCOPE, async (tx) => {
    const shared = await datasetStore.findSharedDataset(tx, plugin_key, PLUGIN_FAMILY)
    return shared !== undefined && (await findStoredVersion(options, tx, shared, stored)) !== undefined
  })
  if (isKnown) return
  const code = await validatePluginCode(options, read, { caller: SYSTEM_TENANT, was_accepted: false })
  await steward.write(SCOPE, (tx) => storePackage(tx, options, { name, plugin_key, stored, read, code }))
}

interface CheckedPackage {
  readonly name: string
  readonly stored: StoredPackage
  readonly plugin_key: string
  readonly read: ReadPlugin
  readonly code: CodeValidation
}

async function storePackage(tx: Tx, options: CachedSeeding, given: CheckedPackage): Promise<void> {
  const { onStep, onFault } = options
  const { name, plugin_key, stored, read, code } = given
  await activationStore.lockActivations(tx, PLUGIN_FAMILY, plugin_key)
  const dataset =
    (await datasetStore.findSharedDataset(tx, plugin_key, PLUGIN_FAMILY)) ?? (await createPlugin(tx, plugin_key, read))
  // Another process may have stored it meanwhile.
  if (await findStoredVersion(options, tx, dataset, stored)) return
  const kind = await findOtherKind(tx, dataset, read)
  if (kind !== null) return onFault(`plugin ${name} was not seeded: ${toKindFault(dataset, kind)}`)
  const label = getVersionLabel(read)
  if (label !== null && (await versionStore.findVersion(tx, dataset, label))) {
    return onFault(`plugin ${name} was not seeded: version ${label} of ${plugin_key} exists with other content`)
  }
  const { version } = await insertPluginVersion(options, tx, dataset, { stored, read, code, origin: 'seed', label })
  const reasons = code.reasons.map(({ code: reason }) => reason)
  const [earlier] = await activationStore.listActivations(
    tx,
    { tenant_id: SYSTEM_TENANT, family: PLUGIN_FAMILY, list_key: plugin_key },
    null,
    1,
  )
  const is_activated = reasons.length === 0 && earlier === undefined
  if (is_activated) {
    const reason = `Initial population: ${label ?? version}.`
    await activationStore.activateVersion(tx, {
      family: PLUGIN_FAMILY,
      list_key: plugin_key,
      kind: 'seed',
      version,
      reason,
    })
  }
  const detail = JSON.stringify({ version, label, content_hash: read.content_hash, activated: is_activated, reasons })
  await seeding.insertOperatorEvent(tx, { operation: 'seedPlugin', subject: `plugin:${plugin_key}`, detail })
  onStep(`plugin ${plugin_key} version ${label ?? version}${is_activated ? '' : ', pending'}`)
  if (reasons.length > 0) {
    onFault(`plugin ${name} was seeded and cannot run: ${code.reasons[0]?.code}: ${code.reasons[0]?.message}`)
  }
}

/** The steward validates shared plugins under a new build; jobs of tenants validate their own. */
async function revalidateShared(options: CachedSeeding): Promise<void> {
  const { steward, threads, onFault } = options
  const open = await steward.write(SCOPE, (tx) => listUnvalidatedVersions(tx, SANDBOX_HASH, MAX_REVALIDATED))
  for (const { plugin_key, dataset_id, version } of open) {
    const found = await steward.write(SCOPE, async (tx) => {
      const dataset = await datasetStore.findSharedDataset(tx, plugin_key, PLUGIN_FAMILY)
      const row = dataset && (await versionStore.findVersion(tx, dataset, version))
      if (!row) return null
      const plugin = await loadPlugin(options, tx, documentStore.toContentPointer(dataset, row))
      return { plugin, earlier: await listValidations(tx, row) }
    })
    if (!found || isReason(found.plugin)) continue
    const { plugin, earlier } = found
    const was_accepted = wasAccepted(plugin, earlier)
    const { reasons, fuel_max } = await validatePluginCode({ threads }, plugin, { caller: SYSTEM_TENANT, was_accepted })
    await steward.write(SCOPE, (tx) =>
      insertValidation(
        tx,
        { tenant_id: SYSTEM_TENANT, dataset_id, version },
        {
          sandbox_hash: SANDBOX_HASH,
          content_hash: plugin.content_hash,
          valid: reasons.length === 0,
          reasons,
          fuel_max,
        },
      ),
    )
    if (reasons.length > 0) onFault(`plugin ${plugin_key} version ${version} cannot run: ${reasons[0]?.message}`)
  }
}
