/** Payloads as evidence of decisions: opened with their facts when something is decided, and read again for a replay. */
import type { FactRecord } from '#contract/model.ts'
import type { Scope, Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import { datasetStore } from '#modules/definitions/index.ts'
import { type AdmissionCapabilities, type AdmittedFacts, findAdmittedFacts } from './admissions.ts'
import { CONTRACT_FAMILY, type LoadedContract, loadContractVersion } from './bind-contract.ts'
import { contractThread, failContractThread } from './contract-thread.ts'
import { describeUnopened, openPayload } from './payloads.ts'
import { type AdmissionRow, findAdmission, findStoredPayloads, listEvidence } from './queries.ts'

export { insertEvidence, listEvidence } from './queries.ts'

export interface OpenedEvidence {
  readonly facts: AdmittedFacts
  readonly bytes: Uint8Array
  /** Until when the contract calls the payload fresh; null without a limit. */
  readonly fresh_until: string | null
}

/** An admitted payload with its bytes. 409 for one in quarantine, and where retention has removed the bytes. */
export async function openEvidence(
  kernel: Capabilities<'caches' | 'encryption'>,
  tx: Tx,
  admission_id: string,
): Promise<OpenedEvidence> {
  const facts = await findAdmittedFacts(tx, kernel, admission_id)
  const row = assertFound(await findAdmission(tx, admission_id))
  const [stored] = await findStoredPayloads(tx, [facts.payload_id])
  const payload = stored && (await openPayload(kernel, tx, stored))
  if (!payload) return fail('conflict', describeUnopened(stored))
  const { freshness } = (await loadAdmittingContract(kernel, tx, row)).contract
  const { as_of } = row.provenance
  const fresh_until =
    freshness && as_of !== null ? new Date(Date.parse(as_of) + freshness.max_age_s * 1000).toISOString() : null
  return { facts, bytes: payload.bytes, fresh_until }
}

async function loadAdmittingContract(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  { contract_key, contract_origin, contract_version }: AdmissionRow,
): Promise<LoadedContract> {
  const dataset = assertFound(await datasetStore.findDataset(tx, contract_key, CONTRACT_FAMILY, contract_origin))
  return loadContractVersion(kernel, tx, dataset, contract_version)
}

export interface RereadEvidence {
  readonly contract_key: string
  readonly contract_version: number
  /** Of the version as it is stored now. */
  readonly contract_hash: string
  /** Null: retention has removed the bytes. */
  readonly bytes: Uint8Array | null
  /** As the contract reads them from the bytes now; as they were stored where the bytes are gone. */
  readonly records: readonly FactRecord[]
}

/** Reads what a decision was made on from the stored bytes again. No transaction may be open. */
export async function rereadEvidence(
  kernel: AdmissionCapabilities,
  scope: Scope,
  consumer: { readonly consumer_kind: string; readonly consumer_id: string },
): Promise<RereadEvidence[]> {
  const opened = await kernel.transactions.read(scope, async (tx) => {
    const found = []
    for (const { admission_id } of await listEvidence(tx, consumer)) {
      const { records, payload_id, contract_key, contract_version } = await findAdmittedFacts(tx, kernel, admission_id)
      const contract = await loadAdmittingContract(kernel, tx, assertFound(await findAdmission(tx, admission_id)))
      const [stored] = await findStoredPayloads(tx, [payload_id])
      const payload = stored ? await openPayload(kernel, tx, stored) : null
      found.push({ contract_key, contract_version, contract, payload, records })
    }
    return found
  })
  const thread = kernel.threads.get(contractThread)
  const reread: RereadEvidence[] = []
  for (const { contract, payload, records, ...pinned } of opened) {
    const [read] = payload
      ? await thread.read(contract, [payload], scope.tenant_id).catch(failContractThread)
      : [undefined]
    const admitted = new Set(records.map(({ record_index }) => record_index))
    reread.push({
      ...pinned,
      contract_hash: contract.contract_hash,
      bytes: payload?.bytes ?? null,
      records: read ? read.facts.filter(({ record_index }) => admitted.has(record_index)) : records,
    })
  }
  return reread
}
