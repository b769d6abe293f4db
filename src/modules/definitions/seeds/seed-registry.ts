/**
 * Seeds shared types and lists once per content. Restarts and concurrent replicas repeat nothing, and a version in force is
 * never replaced. Runs as the steward in the system tenant under the seeding lock.
 */
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { canonicalJson } from '#kernel/canonical-json.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import type { StagedRow } from '#registry/import/copy-rows.ts'
import { type CompiledType, compileType } from '#registry/types/compile-type.ts'
import type { TypeDefinition } from '#registry/types/type-definition.ts'
import { activateVersion } from '../activations/activate.ts'
import { hasActivations } from '../activations/queries.ts'
import {
  type DatasetFamily,
  type DatasetRow,
  findSharedDataset,
  insertDataset,
  type OverlayPolicy,
} from '../datasets/queries.ts'
import { stageRows } from '../staging/stage-rows.ts'
import { hashTypeContent, toTypeDefinition } from '../types/dataset-type.ts'
import { findType, insertType, type TypeRow } from '../types/queries.ts'
import type { GuardSettings } from '../versions/guards.ts'
import { publishStaged } from '../versions/publish.ts'
import { insertOperatorEvent, insertSeedLedger, listSeedHashes } from './queries.ts'

export interface SeedVersion {
  readonly label: string
  readonly note?: string
  readonly effective_from?: string
  readonly source?: Record<string, unknown>
  readonly entries: readonly Record<string, unknown>[]
}
export interface SeedList {
  /** A list by default. */
  readonly family?: DatasetFamily
  readonly list_key: string
  readonly type_key: string
  readonly title: string
  readonly description?: string
  readonly owner?: string
  readonly review_every_days?: number
  readonly stale_after_days?: number
  readonly guards?: GuardSettings
  readonly overlay_policy?: OverlayPolicy
  readonly versions: readonly SeedVersion[]
}
type SeedType = Omit<TypeDefinition, 'type_version'>

export interface RegistrySeeds {
  readonly types: readonly SeedType[]
  readonly lists: readonly SeedList[]
}

/** Every JSON file of a folder, in name order. */
export function readJsonFolder<T>(folder: string): T[] {
  if (!fs.existsSync(folder)) return []
  return fs
    .readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => JSON.parse(fs.readFileSync(path.join(folder, name), 'utf8')) as T)
}

export const readRegistrySeeds = (folder: string): RegistrySeeds => ({
  types: readJsonFolder<SeedType>(path.join(folder, 'types')),
  lists: readJsonFolder<SeedList>(path.join(folder, 'lists')),
})

const computeSeedHash = (value: unknown): string => createHash('sha256').update(canonicalJson(value)).digest('hex')

/** The version that a seed was published as. */
export interface SeededVersion {
  readonly dataset: DatasetRow
  readonly seed: SeedVersion
  readonly version: number
}

/** Reports each step and returns the new versions; empty when everything was seeded before. */
export async function seedRegistry(
  tx: Tx,
  seeds: RegistrySeeds,
  onStep: (text: string) => void,
): Promise<SeededVersion[]> {
  const done = new Set((await listSeedHashes(tx)).map(({ subject, seed_hash }) => `${subject} ${seed_hash}`))
  for (const seed of seeds.types) await seedType(tx, seed, done, onStep)
  const seeded: SeededVersion[] = []
  for (const seed of seeds.lists) seeded.push(...(await seedList(tx, seed, done, onStep)))
  return seeded
}

async function seedType(
  tx: Tx,
  seed: SeedType,
  done: ReadonlySet<string>,
  onStep: (text: string) => void,
): Promise<void> {
  const { type_key, ...definition } = seed
  const seed_hash = hashTypeContent(definition)
  const subject = `type:${type_key}`
  if (done.has(`${subject} ${seed_hash}`)) return
  const current = await findType(tx, type_key)
  const type_version = (current?.type_version ?? 0) + 1
  await insertType(tx, { type_key, type_version, definition, definition_hash: seed_hash, compatibility: 'backward' })
  await insertSeedLedger(tx, { subject, seed_hash, version: type_version, outcome: 'applied' })
  await recordSeedEvent(tx, 'seedType', subject, { type_version, seed_hash })
  onStep(`type ${type_key} version ${type_version}`)
}

async function seedList(
  tx: Tx,
  seed: SeedList,
  done: ReadonlySet<string>,
  onStep: (text: string) => void,
): Promise<SeededVersion[]> {
  const { versions: _, family = 'list', list_key, type_key, ...settings } = seed
  const subject = `${family}:${list_key}`
  const hashed = seed.versions.map((version) => ({ version, seed_hash: computeSeedHash(version.entries) }))
  const missing = hashed.filter(({ seed_hash }) => !done.has(`${subject} ${seed_hash}`))
  if (missing.length === 0) return []
  const type = await findType(tx, type_key)
  if (!type) throw new Error(`the seed ${list_key} names the unknown type ${type_key}`)
  const compiled = compileType(toTypeDefinition(type))
  const dataset =
    (await findSharedDataset(tx, list_key, family)) ??
    ((await insertDataset(tx, {
      ...settings,
      dataset_id: uuidv7(),
      family,
      list_key,
      role: 'base',
      type_tenant_id: type.tenant_id,
      type_key,
    })) as DatasetRow)
  // A deployment must not change policy: the version in force stays, and the operator activates the new one.
  const first = !(await hasActivations(tx, family, list_key))
  const seeded: SeededVersion[] = []
  for (const { version, seed_hash } of missing) {
    const number = await publishSeed(tx, { dataset, type, compiled }, version, seed_hash)
    if (first) await activateSeed(tx, dataset, number, version)
    await insertSeedLedger(tx, { subject, seed_hash, version: number, outcome: first ? 'activated' : 'pending' })
    await recordSeedEvent(tx, 'seedList', subject, { version: number, seed_hash, activated: first })
    onStep(`${family} ${list_key} version ${number}${first ? '' : ', pending'}`)
    seeded.push({ dataset, seed: version, version: number })
  }
  return seeded
}

async function publishSeed(
  tx: Tx,
  { dataset, type, compiled }: { dataset: DatasetRow; type: TypeRow; compiled: CompiledType },
  seed: SeedVersion,
  seed_hash: string,
): Promise<number> {
  const rows = seed.entries.map((entry, index): StagedRow => {
    const prepared = compiled.prepare(entry)
    if ('key' in prepared) return { ...prepared, row: index + 1 }
    const [fault] = prepared
    throw new Error(`seed ${dataset.list_key} ${seed.label}, entry ${index + 1}: ${fault?.pointer} ${fault?.message}`)
  })
  const content = await stageRows(tx, rows)
  const version = await publishStaged(tx, {
    dataset,
    type,
    content,
    origin: 'seed',
    provenance: { seed_hash, source: seed.source ?? null },
    label: seed.label,
    note: seed.note ?? null,
    guards: null,
  })
  if (version === 'unchanged') throw new Error('a seed is never skipped')
  return version.version
}

const activateSeed = (tx: Tx, { family, list_key }: DatasetRow, version: number, seed: SeedVersion) =>
  activateVersion(tx, {
    family,
    list_key,
    kind: 'seed',
    version,
    reason: `Initial population: ${seed.label}.`,
    effective_from: seed.effective_from,
  })

const recordSeedEvent = (tx: Tx, operation: string, subject: string, detail: Record<string, unknown>) =>
  insertOperatorEvent(tx, { operation, subject, detail: canonicalJson(detail) })
