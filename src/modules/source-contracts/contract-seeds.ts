/** The shared contracts an installation starts with, seeded through the same ledger as lists. */
import path from 'node:path'
import { toContractEntries } from '#contract/contract-parts.ts'
import { compileContract } from '#contract/judge-payload.ts'
import type { Contract } from '#contract/model.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { documentStore, seeding } from '#modules/definitions/index.ts'
import { contractKind } from './contract-kind.ts'

export interface ContractSeed {
  readonly key: string
  readonly title: string
  readonly description: string
  readonly owner: string
  readonly review_every_days: number
  readonly stale_after_days: number
  readonly versions: readonly (Omit<seeding.SeedVersion, 'entries'> & { readonly definition: Contract })[]
}

export const readContractSeeds = (folder: string): ContractSeed[] =>
  seeding.readJsonFolder<ContractSeed>(path.join(folder, 'contracts'))

/** Runs after the lists they read. A tenant may replace any of them by its own with the same key. */
export async function seedContracts(
  tx: Tx,
  seeds: readonly ContractSeed[],
  onStep: (text: string) => void,
): Promise<void> {
  for (const { key, versions, ...settings } of seeds) {
    const list = {
      ...settings,
      family: contractKind.family,
      list_key: key,
      type_key: contractKind.type_key,
      overlay_policy: 'free' as const,
      versions: versions.map(({ definition, ...version }) => ({ ...version, entries: toContractEntries(definition) })),
    }
    for (const seeded of await seeding.seedRegistry(tx, { types: [], lists: [list] }, onStep)) {
      const { definition } = versions[list.versions.indexOf(seeded.seed as (typeof list.versions)[number])] as {
        definition: Contract
      }
      const { list_keys } = compileContract(definition)
      await documentStore.insertReferences(tx, seeded.dataset, seeded.version, list_keys)
      await documentStore.upsertProfile(tx, seeded.dataset, { subject_types: [], products: [], typologies: [] })
    }
  }
}
