/** The contract in force with the lists it reads, and the lists bound for judging payloads. */
import { fromContractEntries } from '#contract/contract-parts.ts'
import type { HashedContract } from '#contract/contract-runner.ts'
import type { BoundContract, CompiledContract, ContractListNeeds } from '#contract/judge-payload.ts'
import type { Fact } from '#contract/model.ts'
import type { ReadPayload } from '#contract/read-payload.ts'
import type { BoundList, Finding, ListEntry } from '#decision/model.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { fail } from '#kernel/problem.ts'
import { datasetStore, documentStore, resolver, versionStore } from '#modules/definitions/index.ts'
import { getCompiledContract, toHashedContract } from './contract-thread.ts'

export const CONTRACT_FAMILY = 'contract'

/** A version of a contract, ready to be applied. */
export interface LoadedContract extends HashedContract {
  readonly contract_key: string
  readonly origin: 'own' | 'shared'
  readonly version: number
  readonly compiled: CompiledContract
}

/** The version in force. Fails with 404 `nothing_in_force` when there is none. */
export async function loadContractInForce(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  contract_key: string,
  clocks: resolver.Clocks = {},
): Promise<LoadedContract> {
  const [pointer] = await resolver.resolveVersions(tx, [contract_key], clocks, CONTRACT_FAMILY)
  return loadContract(kernel, tx, pointer ?? fail('nothing_in_force'))
}

/** The same, or null when no version is in force. */
export async function findContractInForce(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  contract_key: string,
  clocks: resolver.Clocks = {},
): Promise<LoadedContract | null> {
  const pointers = await resolver.findPointersInForce(tx, [contract_key], clocks, CONTRACT_FAMILY)
  const pointer = pointers.get(contract_key)
  return pointer ? loadContract(kernel, tx, pointer) : null
}

/** The facts that the version in force declares; null when none is in force. */
export const findContractFacts = async (
  kernel: Capabilities<'caches'>,
  tx: Tx,
  contract_key: string,
): Promise<readonly Fact[] | null> =>
  (await findContractInForce(kernel, tx, contract_key))?.compiled.contract.facts ?? null

/** A published version of a definition. */
export async function loadContractVersion(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  dataset: datasetStore.DatasetRow,
  version: number,
): Promise<LoadedContract> {
  const row = (await versionStore.findVersion(tx, dataset, version)) ?? fail('not_found')
  return loadContract(kernel, tx, documentStore.toContentPointer(dataset, row))
}

async function loadContract(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  pointer: resolver.ContentPointer,
): Promise<LoadedContract> {
  const content = (await resolver.loadList(kernel, tx, pointer)) ?? fail('content_corrupt')
  const contract = fromContractEntries([...content.entries.values()].map(({ entry }) => entry))
  const hashed = toHashedContract(contract)
  return {
    ...hashed,
    contract_key: pointer.list_key,
    origin: datasetStore.getOrigin(pointer.dataset_tenant_id),
    version: pointer.version,
    compiled: getCompiledContract(kernel, hashed),
  }
}

export type ContractLists = ReadonlyMap<string, resolver.VersionPointer>

export const findContractLists = (tx: Tx, compiled: CompiledContract): Promise<ContractLists> =>
  resolver.findPointersInForce(tx, compiled.list_keys, {})

/** Binds the lists; findings when one is missing or does not fit. */
export async function bindContract(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  { compiled, lists }: { readonly compiled: CompiledContract; readonly lists: ContractLists },
  payloads: readonly ReadPayload[],
): Promise<BoundContract | readonly Finding[]> {
  const missing = compiled.references.filter(({ list_key }) => !lists.has(list_key))
  if (missing.length > 0) return missing.map(({ list_key, pointer }) => toNotInForceFinding(list_key, pointer))
  const bound = new Map<string, BoundList>()
  for (const [list_key, need] of compiled.needs(payloads)) {
    bound.set(list_key, await bindList(kernel, tx, lists.get(list_key) as resolver.VersionPointer, need))
  }
  return compiled.bind(bound)
}

export const toNotInForceFinding = (list_key: string, pointer: string): Finding => ({
  code: 'list_not_in_force',
  pointer,
  message: `No version of the list ${list_key} is in force.`,
  severity: 'error',
})

type Need = ContractListNeeds extends ReadonlyMap<string, infer N> ? N : never

/** A small list is bound whole; of a large one only the keys that payloads have. */
async function bindList(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  pointer: resolver.VersionPointer,
  need: Need,
): Promise<BoundList> {
  const { list_key, version, content_hash, overlay_hash } = pointer
  const names = { list_key, version, content_hash, overlay_hash }
  const whole = await resolver.loadList(kernel, tx, pointer)
  const entries =
    whole?.entries ?? (await resolver.lookUpHashedEntries(kernel, tx, pointer, need === 'all' ? [] : [...need]))
  const toEntry = (key: string): ListEntry | undefined => {
    const found = entries.get(key)
    return found && { key, entry: found.entry, hash: found.hash }
  }
  return {
    ...names,
    get: toEntry,
    all: whole && need === 'all' ? [...whole.entries.keys()].map((key) => toEntry(key) as ListEntry) : null,
  }
}

/** Versions of lists as an admission keeps them. */
export const toListReceipt = (lists: ContractLists) => resolver.toPins([...lists.values()])
