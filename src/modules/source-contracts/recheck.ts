/**
 * What a version of a contract would make of stored payloads. Verdicts are computed while no transaction is open, in small batches,
 * and cached by the content of the contract, of its lists and the payload.
 */
import { hash } from 'node:crypto'
import type { ReadPayload } from '#contract/read-payload.ts'
import { declareCache } from '#kernel/cache/caches.ts'
import { canonicalJson } from '#kernel/canonical-json.ts'
import { NeedsPrecompute } from '#kernel/database/precompute.ts'
import { scopeOfTransaction } from '#kernel/database/scope.ts'
import type { Scope, Tx } from '#kernel/database/tx.ts'
import type { documentStore } from '#modules/definitions/index.ts'
import { judgePayload } from './admissions.ts'
import { type ContractLists, findContractLists, type LoadedContract, toListReceipt } from './bind-contract.ts'
import { contractThread, failContractThread } from './contract-thread.ts'
import { openPayload } from './payloads.ts'
import { findStoredPayloads, listRecentPayloads } from './queries.ts'

/** How many of the newest payloads are checked again. */
export const MAX_RECHECKED = 200
const BATCH_PAYLOADS = 20

export interface Verdict {
  /** Null: its bytes are gone. */
  readonly quarantined: boolean | null
  readonly place: { readonly pointer: string; readonly keyword: string } | null
}

const verdicts = declareCache<Verdict>({
  name: 'contract_verdicts',
  summary: 'What one version of a contract makes of one stored payload, with given versions of its lists.',
  bound: { max_entries: 50_000 },
})

const toCacheKey = (scope: Pick<Scope, 'tenant_id'>, { contract_hash }: LoadedContract, lists: ContractLists): string =>
  `${scope.tenant_id} ${contract_hash} ${hash('sha256', canonicalJson(toListReceipt(lists)), 'hex')}`

/** One verdict for each payload, in the same order. Throws NeedsPrecompute while one is not known. */
export async function findVerdicts(
  kernel: documentStore.HookCapabilities,
  tx: Tx,
  contract: LoadedContract,
  payload_ids: readonly string[],
): Promise<Verdict[]> {
  const cache = kernel.caches.get(verdicts)
  const prefix = toCacheKey(tx, contract, await findContractLists(tx, contract.compiled))
  const known = payload_ids.map((payload_id) => cache.get(`${prefix} ${payload_id}`))
  const missing = payload_ids.filter((_, index) => !known[index])
  if (missing.length === 0) return known as Verdict[]
  const scope = scopeOfTransaction(tx)
  throw new NeedsPrecompute(async () => {
    for (let at = 0; at < missing.length; at += BATCH_PAYLOADS) {
      await computeVerdicts(kernel, scope, contract, missing.slice(at, at + BATCH_PAYLOADS))
    }
  })
}

async function computeVerdicts(
  kernel: documentStore.HookCapabilities,
  scope: Scope,
  contract: LoadedContract,
  payload_ids: readonly string[],
): Promise<void> {
  const opened = await kernel.transactions.read(scope, async (tx) => {
    const stored = await findStoredPayloads(tx, payload_ids)
    const payloads = []
    for (const row of stored) payloads.push({ row, payload: await openPayload(kernel, tx, row) })
    return payloads
  })
  const readable = opened.flatMap(({ row, payload }) => (payload ? [{ row, payload }] : []))
  const read = await kernel.threads
    .get(contractThread)
    .read(
      contract,
      readable.map(({ payload }) => payload),
      scope.tenant_id,
    )
    .catch(failContractThread)
  await kernel.transactions.read(scope, async (tx) => {
    const lists = await findContractLists(tx, contract.compiled)
    const cache = kernel.caches.get(verdicts)
    const prefix = toCacheKey(scope, contract, lists)
    for (const payload_id of payload_ids) cache.set(`${prefix} ${payload_id}`, { quarantined: null, place: null })
    for (const [index, { row }] of readable.entries()) {
      const { received_at, payload_id } = row
      const judged = await judgePayload(kernel, tx, { contract, lists, read: read[index] as ReadPayload, received_at })
      const [first] = judged.violations
      cache.set(`${prefix} ${payload_id}`, {
        quarantined: judged.result === 'quarantined',
        place: first ? { pointer: first.pointer, keyword: first.keyword } : null,
      })
    }
  })
}

export interface RecheckResult {
  readonly checked: number
  readonly quarantined: number
  /** Of those that the last admission admitted. */
  readonly lost: number
  readonly places: readonly { readonly pointer: string; readonly keyword: string; readonly payloads: number }[]
  readonly samples: readonly string[]
}

const MAX_PLACES = 20
const MAX_SAMPLES = 5

/** Checks the newest stored payloads by a version of the contract. */
export async function recheckPayloads(
  kernel: documentStore.HookCapabilities,
  tx: Tx,
  contract: LoadedContract,
): Promise<RecheckResult> {
  const recent = await listRecentPayloads(tx, contract.contract_key, MAX_RECHECKED)
  const found = await findVerdicts(
    kernel,
    tx,
    contract,
    recent.map(({ payload_id }) => payload_id),
  )
  const places = new Map<string, { pointer: string; keyword: string; payloads: number }>()
  const samples: string[] = []
  let quarantined = 0
  let lost = 0
  for (const [index, { payload_id, admitted }] of recent.entries()) {
    const verdict = found[index] as Verdict
    if (!verdict.quarantined) continue
    quarantined++
    if (admitted) lost++
    if (samples.length < MAX_SAMPLES) samples.push(payload_id)
    if (verdict.place === null) continue
    const id = `${verdict.place.pointer} ${verdict.place.keyword}`
    const known = places.get(id)
    if (known) known.payloads++
    else places.set(id, { ...verdict.place, payloads: 1 })
  }
  return {
    checked: found.filter((verdict) => verdict.quarantined !== null).length,
    quarantined,
    lost,
    places: [...places.values()].sort((a, b) => b.payloads - a.payloads).slice(0, MAX_PLACES),
    samples,
  }
}
