/** Matrices and rules in force whose inputs come from what providers answer. */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import type { ProviderDependent } from '#kernel/module.ts'
import { listContractProviders } from '#modules/providers/index.ts'
import { listContractReaders } from './queries.ts'

export async function listProviderDependents(
  kernel: Capabilities<'caches' | 'forced_provider_mode'>,
  tx: Tx,
  provider_keys: readonly string[],
): Promise<ProviderDependent[]> {
  const readers = await listContractReaders(tx)
  const contract_keys = [...new Set(readers.map(({ contract_key }) => contract_key))]
  const answering = contract_keys.length === 0 ? [] : await listContractProviders(kernel, tx, contract_keys)
  return readers.flatMap(({ family, key, version, title, contract_key, is_optional }) => {
    const able = answering.filter((each) => each.contract_key === contract_key)
    const ready = able.filter(({ readiness }) => readiness.ready).map(({ provider_key }) => provider_key)
    return provider_keys
      .filter((provider_key) => able.some((each) => each.provider_key === provider_key))
      .map((provider_key) => ({
        ...{ provider_key, kind: family, key, version, title, is_required: !is_optional },
        alternatives: [...new Set(ready.filter((each) => each !== provider_key))],
      }))
  })
}
