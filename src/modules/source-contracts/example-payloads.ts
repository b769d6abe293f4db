/** Judges payloads that somebody wrote, as examples or as an answer, by the contract in force; nothing is stored. */
import { hash } from 'node:crypto'
import type { Violation } from '#contract/model.ts'
import type { ReadPayload } from '#contract/read-payload.ts'
import { type Cache, declareCache } from '#kernel/cache/caches.ts'
import { NeedsPrecompute } from '#kernel/database/precompute.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { judgePayload } from './admissions.ts'
import { findContractInForce, findContractLists } from './bind-contract.ts'
import { contractThread, failContractThread } from './contract-thread.ts'

type ReadKernel = Capabilities<'caches' | 'threads'>
type ContractInForce = NonNullable<Awaited<ReturnType<typeof findContractInForce>>>

interface Given {
  readonly bytes: Buffer
  readonly media_type: string
}

/** Throws NeedsPrecompute until the thread of the contracts has read them. */
function readGiven(
  kernel: ReadKernel,
  tx: Tx,
  contract: ContractInForce,
  { cache, id, given }: { cache: Cache<readonly ReadPayload[]>; id: string; given: readonly Given[] },
): readonly ReadPayload[] {
  const read = cache.get(id)
  if (read) return read
  const tasks = given.map((one) => ({ payload_id: '', ...one }))
  throw new NeedsPrecompute(async () => {
    cache.set(
      id,
      await kernel.threads.get(contractThread).read(contract, tasks, tx.tenant_id).catch(failContractThread),
    )
  })
}

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
  kernel: ReadKernel,
  tx: Tx,
  contract_key: string,
  payloads: readonly unknown[],
): Promise<readonly (readonly Violation[])[] | null> {
  const contract = await findContractInForce(kernel, tx, contract_key)
  if (!contract) return null
  const texts = payloads.map((payload) => JSON.stringify(payload) ?? 'null')
  const id = `${tx.tenant_id} ${contract.contract_hash} ${hash('sha256', JSON.stringify(texts), 'hex')}`
  const cache = kernel.caches.get(readExamples)
  const given = texts.map((text) => ({ bytes: Buffer.from(text), media_type: 'application/json' }))
  const read = readGiven(kernel, tx, contract, { cache, id, given })
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
  kernel: ReadKernel,
  tx: Tx,
  contract_key: string,
  given: Given,
): Promise<readonly Violation[] | null> {
  const contract = await findContractInForce(kernel, tx, contract_key)
  if (!contract) return null
  const id = `${tx.tenant_id} ${contract.contract_hash} ${given.media_type} ${hash('sha256', given.bytes, 'hex')}`
  const cache = kernel.caches.get(readEntered)
  const [read] = readGiven(kernel, tx, contract, { cache, id, given: [given] })
  // It has personal data, and nobody asks for it again.
  cache.delete(id)
  const lists = await findContractLists(tx, contract.compiled)
  const judged = await judgePayload(kernel, tx, {
    contract,
    lists,
    read: read as ReadPayload,
    received_at: new Date().toISOString(),
  })
  return judged.result === 'quarantined' ? judged.violations : []
}
