/** The shared playbooks an installation starts with, seeded through the same ledger as lists. */
import path from 'node:path'
import type { Tx } from '#kernel/database/tx.ts'
import { documentStore, seeding } from '#modules/definitions/index.ts'
import { listPlaybookLists, playbookKind } from './playbook-kind.ts'

export interface PlaybookSeed {
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

export const readPlaybookSeeds = (folder: string): PlaybookSeed[] =>
  seeding.readJsonFolder<PlaybookSeed>(path.join(folder, 'playbooks'))

/** Runs after the lists, matrices and providers that they name. */
export async function seedPlaybooks(tx: Tx, folder: string, onStep: (text: string) => void): Promise<void> {
  for (const { key, versions, ...settings } of readPlaybookSeeds(folder)) {
    const list = {
      ...settings,
      family: playbookKind.family,
      list_key: key,
      type_key: playbookKind.type_key,
      overlay_policy: 'free' as const,
      versions: versions.map(({ definition, ...version }) => ({
        ...version,
        entries: playbookKind.toEntries(definition),
      })),
    }
    for (const { seed, dataset, version } of await seeding.seedRegistry(tx, { types: [], lists: [list] }, onStep)) {
      const definition = versions[list.versions.indexOf(seed as (typeof list.versions)[number])]?.definition ?? {}
      const list_keys = new Set(listPlaybookLists(definition).map(({ list_key }) => list_key))
      await documentStore.insertReferences(tx, dataset, version, [...list_keys])
    }
  }
}
