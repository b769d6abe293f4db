/** Contracts in the bounded worker: findings and payloads as read, computed while no transaction is open and found again in a cache. */
import { hash } from 'node:crypto'
import { type ContractCheckResult, createContractRunner, type HashedContract } from '#contract/contract-runner.ts'
import { type CompiledContract, compileContract } from '#contract/judge-payload.ts'
import type { Contract } from '#contract/model.ts'
import { failThreadUnavailable } from '#kernel/bounded-thread.ts'
import { declareCache } from '#kernel/cache/caches.ts'
import { canonicalJson } from '#kernel/canonical-json.ts'
import { NeedsPrecompute } from '#kernel/database/precompute.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { declareThread } from '#kernel/worker-threads.ts'
import type { documentStore } from '#modules/definitions/index.ts'

export const contractThread = declareThread({ script: 'contract-worker', create: createContractRunner })

const checkedContracts = declareCache<ContractCheckResult>({
  name: 'checked_contracts',
  summary: 'Findings about one text of a source contract, without lists, and its examples as read.',
  bound: { max_entries: 500 },
})

/** Any JSON: a lone surrogate, which canonical JSON refuses, gives a hash too. */
export function hashContract(text: documentStore.DefinitionText): string {
  try {
    return hash('sha256', canonicalJson(text), 'hex')
  } catch {
    return hash('sha256', JSON.stringify(text), 'hex')
  }
}

export const failContractThread = (error: unknown): never =>
  failThreadUnavailable(error, 'The contract could not be applied at this moment; nothing was changed.')

/** Findings that need no list. Throws NeedsPrecompute when they are not known yet. */
export function getCheckedContract(
  kernel: Capabilities<'caches' | 'threads'>,
  { tenant_id }: Pick<Tx, 'tenant_id'>,
  text: documentStore.DefinitionText,
): ContractCheckResult {
  const cache = kernel.caches.get(checkedContracts)
  const id = `${tenant_id} ${hashContract(text)}`
  const known = cache.get(id)
  if (known) return known
  throw new NeedsPrecompute(async () => {
    const result = await kernel.threads.get(contractThread).check(text, tenant_id).catch(failContractThread)
    cache.set(id, result)
  })
}

const compiledContracts = declareCache<CompiledContract>({
  name: 'compiled_contracts',
  summary: 'Facts and checks of one text of a source contract.',
  bound: { max_entries: 200 },
})

/** Of a published version, which has no errors. It runs no schema, so this process may compile it. */
export function getCompiledContract(kernel: Capabilities<'caches'>, contract: HashedContract): CompiledContract {
  const cache = kernel.caches.get(compiledContracts)
  const compiled = cache.get(contract.contract_hash) ?? compileContract(contract.contract)
  cache.set(contract.contract_hash, compiled)
  return compiled
}

export const toHashedContract = (contract: Contract): HashedContract => ({
  contract,
  contract_hash: hashContract(contract as unknown as documentStore.DefinitionText),
})
