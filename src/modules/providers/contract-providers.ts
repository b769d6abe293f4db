/** Which providers answer under a source contract, for whoever needs its facts. */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { listReadiness, type ProviderReadiness } from '#modules/provider-credentials/index.ts'
import { findCapability } from './capability.ts'

export interface ContractProvider {
  readonly provider_key: string
  readonly contract_key: string
  readonly capability: string
  /** Names of the members of its input. */
  readonly members: readonly string[]
  readonly readiness: ProviderReadiness
}

type Json = Readonly<Record<string, unknown>>
const toObject = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {})

/** Every capability in force whose answers one of the contracts judges. */
export async function listContractProviders(
  kernel: Capabilities<'caches' | 'forced_provider_mode'>,
  tx: Tx,
  contract_keys: readonly string[],
): Promise<ContractProvider[]> {
  const found: ContractProvider[] = []
  for (const [provider_key, readiness] of await listReadiness(kernel, tx)) {
    const { manifest } = readiness.provider
    const declared = toObject(manifest['capabilities'])
    for (const name of Object.keys(declared).sort()) {
      const contract_key = findCapability(manifest, name)?.contract_key
      if (!contract_key || !contract_keys.includes(contract_key)) continue
      const members = Object.keys(toObject(toObject(toObject(declared[name])['input'])['properties']))
      found.push({ provider_key, contract_key, capability: name, members, readiness })
    }
  }
  return found
}
