/** Judges payloads that somebody wrote, as examples or as an answer, by the contract in force; nothing is stored. */
import { hash } from 'node:crypto'
import type { Violation } from '#contract/model.ts'
import type { ReadPayload } from '#contract/read-payload.ts'
import { declareCache } from '#kernel/cache/caches.ts'
import { NeedsPrecompute } from '#kernel/database/precompute.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { judgePayload } from './admissions.ts'
import { findContractInForce, findContractLists } from './bind-contract.ts'
import { contractThread, failContractThread } from './contract-thread.ts'

const readExamples = declareCache<readonly ReadPayload[]>({
  name: 'read_example_payloads',
  summary: 'Example payloads of one plugin, read by one contract.',
  bound: { max_entries: 200 },
})

/**
 * The violations of each payload; null when no version of the contract is in force. Throws NeedsPrecompute when they were not read
 * yet. An example is as fresh as it says, so that it does not become invalid with time.
 */
export async function judgeExamplePayloads(
  kernel: Capabilities<'caches' | 'threads'>,
  tx: Tx,
  contract_key: string,
  payloads: readonly unknown[],
): Promise<readonly (readonly Violation[])[] | null> {
  const contract = await findContractInForce(kernel, tx, contract_key)
  if (!contract) return null
  const texts = payloads.map((payload) => JSON.stringify(payload) ?? 'null')
  const id = `${tx.tenant_id} ${contract.contract_hash} ${hash('sha256', JSON.stringify(texts), 'hex')}`
  const cache = kernel.caches.get(readExamples)
  const read = cache.get(id)
  if (!read) {
    const tasks = texts.map((text) => ({
      payload_id: '',
      bytes: Buffer.from(text),
      media_type: 'application/json',
    }))
    throw new NeedsPrecompute(async () => {
      const result = await kernel.threads
        .get(contractThread)
        .read(contract, tasks, tx.tenant_id)
        .catch(failContractThread)
      cache.set(id, result)
    })
  }
  const lists = await findContractLists(tx, contract.compiled)
  const found: (readonly Violation[])[] = []
  for (const payload of read) {
    const { as_of } = payload.provenance
    const received_at = typeof as_of === 'string' && !Number.isNaN(Date.parse(as_of)) ? new Date(as_of) : new Date()
    const judged = await judgePayload(kernel, tx, {
      contract,
      lists,
      read: payload,
      received_at: received_at.toISOString(),
    })
    found.push(judged.result === 'quarantined' ? judged.violations : [])
  }
  return found
}

const readEntered = declareCache<readonly ReadPayload[]>({
  name: 'read_entered_payloads',
  summary: 'Answers that people entered, read by their contract and not judged yet.',
  bound: { max_entries: 50 },
})

/** What the contract in force refuses of an answer that a person enters; null when no version is in force. Throws NeedsPrecompute. */
export async function judgeEnteredPayload(
  kernel: Capabilities<'caches' | 'threads'>,
  tx: Tx,
  contract_key: string,
  { bytes, media_type }: { readonly bytes: Buffer; readonly media_type: string },
): Promise<readonly Violation[] | null> {
  const contract = await findContractInForce(kernel, tx, contract_key)
  if (!contract) return null
  const id = `${tx.tenant_id} ${contract.contract_hash} ${media_type} ${hash('sha256', bytes, 'hex')}`
  const cache = kernel.caches.get(readEntered)
  const [read] = cache.get(id) ?? []
  if (!read) {
    const task = { payload_id: '', bytes, media_type }
    throw new NeedsPrecompute(async () => {
      cache.set(
        id,
        await kernel.threads.get(contractThread).read(contract, [task], tx.tenant_id).catch(failContractThread),
      )
    })
  }
  // It has personal data, and nobody asks for it again.
  cache.delete(id)
  const lists = await findContractLists(tx, contract.compiled)
  const judged = await judgePayload(kernel, tx, { contract, lists, read, received_at: new Date().toISOString() })
  return judged.result === 'quarantined' ? judged.violations : []
}
