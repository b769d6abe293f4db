/** The shared providers an installation starts with, seeded through the same ledger as lists. */
import path from 'node:path'
import type { Tx } from '#kernel/database/tx.ts'
import { documentStore, seeding } from '#modules/definitions/index.ts'
import { listProviderLists } from './manifest-checks.ts'
import { providerKind } from './provider-kind.ts'

interface ProviderSeed {
  readonly key: string
  readonly title: string
  readonly description: string
  readonly owner: string
  readonly review_every_days: number
  readonly stale_after_days: number
  readonly versions: readonly (Omit<seeding.SeedVersion, 'entries'> & {
    readonly definition: documentStore.DefinitionText
  })[]
}

/** Runs after the lists they read. */
export async function seedProviders(tx: Tx, folder: string, onStep: (text: string) => void): Promise<void> {
  for (const { key, versions, ...settings } of seeding.readJsonFolder<ProviderSeed>(path.join(folder, 'providers'))) {
    const list = {
      ...settings,
      family: providerKind.family,
      list_key: key,
      type_key: providerKind.type_key,
      overlay_policy: 'free' as const,
      versions: versions.map(({ definition, ...version }) => ({
        ...version,
        entries: providerKind.toEntries(definition),
      })),
    }
    for (const { seed, dataset, version } of await seeding.seedRegistry(tx, { types: [], lists: [list] }, onStep)) {
      const definition = versions[list.versions.indexOf(seed as (typeof list.versions)[number])]?.definition ?? {}
      const list_keys = new Set(listProviderLists(definition).map(({ list_key }) => list_key))
      await documentStore.insertReferences(tx, dataset, version, [...list_keys])
    }
  }
}
