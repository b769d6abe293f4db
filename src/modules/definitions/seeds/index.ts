/** The shared definitions an installation starts with, and the ledger of what was seeded. */
export { insertOperatorEvent, listOperatorEvents, listSeedLedger } from './queries.ts'
export { readJsonFolder, readRegistrySeeds, type SeedVersion, seedRegistry } from './seed-registry.ts'
