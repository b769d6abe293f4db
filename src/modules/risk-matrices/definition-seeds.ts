/**
 * The shared matrices and rules an installation starts with, seeded through the same ledger as lists, with their golden
 * cases.
 */
import path from 'node:path'
import { toPartEntries } from '#decision/definition-parts.ts'
import { compileDefinition } from '#decision/engines.ts'
import type { Definition, DefinitionFamily } from '#decision/model.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { assertFound } from '#kernel/problem.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { datasetStore, documentStore, seeding } from '#modules/definitions/index.ts'

import { type GoldenCase, MAX_CASES } from './cases/golden-case.ts'
import { insertCase, listCases } from './cases/queries.ts'

interface SeedFile extends documentStore.ProfileRow {
  readonly key: string
  readonly title: string
  readonly description: string
  readonly owner: string
  readonly review_every_days: number
  readonly stale_after_days: number
  readonly cases: readonly GoldenCase[]
  readonly versions: readonly (Omit<seeding.SeedVersion, 'entries'> & {
    readonly definition: Record<string, unknown>
  })[]
}
export interface DefinitionSeed extends SeedFile {
  readonly family: DefinitionFamily
}

const TYPES = { matrix: 'risk-matrix-part', rule: 'rule-part' } as const

export const readDefinitionSeeds = (folder: string): DefinitionSeed[] =>
  (['matrix', 'rule'] as const).flatMap((family) =>
    seeding.readJsonFolder<SeedFile>(path.join(folder, family === 'matrix' ? 'matrices' : 'rules')).map((seed) => ({
      ...seed,
      family,
    })),
  )

/** Runs after the lists they read. A tenant may replace any of them by its own with the same key. */
export async function seedDefinitions(
  tx: Tx,
  seeds: readonly DefinitionSeed[],
  onStep: (text: string) => void,
): Promise<void> {
  for (const seed of seeds) {
    const { key, family, cases, versions, subject_types, products, typologies, ...settings } = seed
    const definitions = versions.map(({ definition }) => ({ family, ...definition }) as unknown as Definition)
    const list = {
      ...settings,
      family,
      list_key: key,
      type_key: TYPES[family],
      overlay_policy: 'free' as const,
      versions: versions.map(({ definition: _, ...version }, index) => ({
        ...version,
        entries: toPartEntries(definitions[index] as Definition),
      })),
    }
    for (const seeded of await seeding.seedRegistry(tx, { types: [], lists: [list] }, onStep)) {
      const definition = definitions[list.versions.indexOf(seeded.seed as (typeof list.versions)[number])] as Definition
      const { list_keys } = compileDefinition(definition)
      await documentStore.insertReferences(tx, seeded.dataset, seeded.version, list_keys)
      await documentStore.upsertProfile(tx, seeded.dataset, { subject_types, products, typologies })
    }
    const dataset = assertFound(await datasetStore.findSharedDataset(tx, key, family))
    const known = new Set((await listCases(tx, dataset, null, MAX_CASES)).map(({ name }) => name))
    for (const golden of cases.filter(({ name }) => !known.has(name))) {
      await insertCase(tx, dataset, { case_id: uuidv7(), note: null, ...golden })
    }
  }
}
