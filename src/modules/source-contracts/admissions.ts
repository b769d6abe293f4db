/**
 * Admission of a stored payload by the contract in force. The payload is read in the bounded worker while no transaction is open;
 * lists, checks and the result are one transaction.
 */
import { getNamePolicy } from '#contract/member-tree.ts'
import type { Admission, Contract, FactRecord, Note } from '#contract/model.ts'
import { generalisePointer, hideNames } from '#contract/places.ts'
import type { ReadPayload } from '#contract/read-payload.ts'
import type { Finding } from '#decision/model.ts'
import { findObjectRestriction } from '#kernel/audit/queries.ts'
import type { Scope, Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { raiseContractAlert } from '#modules/alerts/index.ts'
import {
  bindContract,
  findContractLists,
  type LoadedContract,
  loadContractInForce,
  toListReceipt,
} from './bind-contract.ts'
import { contractThread, failContractThread } from './contract-thread.ts'
import { upsertViolationGroups } from './drift/queries.ts'
import { payloadAdmissions } from './payload-metrics.ts'
import { describeUnopened, getOwner, isWithheld, openPayload } from './payloads.ts'
import {
  type AdmissionRow,
  findAdmission,
  findLastAdmission,
  findStoredPayloads,
  insertAdmission,
  listAdmissions,
  resolveQuarantineItem,
  type StoredPayload,
  upsertQuarantineItem,
} from './queries.ts'

export type AdmissionCapabilities = Capabilities<'transactions' | 'caches' | 'threads' | 'encryption'>

export interface AdmitRequest {
  readonly payload_id: string
  /** A new admission that cites the last one, under the version in force now. */
  readonly reprocess?: { readonly replaces_admission_id: string }
}

/** The contract may change between reading and judging; after this many changes the admission fails. */
const ATTEMPTS = 5

/**
 * Admits or quarantines a payload. It opens transactions of its own, so no other may be open. A payload that has an admission keeps
 * it: repeating the call returns the same one.
 */
export async function admitPayload(
  kernel: AdmissionCapabilities & Capabilities<'metrics'>,
  scope: Scope,
  { payload_id, reprocess }: AdmitRequest,
): Promise<AdmissionRow> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const prepared = await kernel.transactions.read(scope, async (tx) => {
      const last = await findLastAdmission(tx, payload_id)
      if (last && last.admission_id !== reprocess?.replaces_admission_id) return { last }
      const [stored] = await findStoredPayloads(tx, [payload_id])
      const payload = await openPayload(kernel, tx, assertFound(stored))
      if (!payload && !isWithheld(stored as StoredPayload)) return fail('conflict', describeUnopened(stored))
      return { payload, contract: await loadContractInForce(kernel, tx, (stored as StoredPayload).contract_key) }
    })
    if ('last' in prepared) return prepared.last as AdmissionRow
    const { payload, contract } = prepared
    const [read] = payload
      ? await kernel.threads.get(contractThread).read(contract, [payload], scope.tenant_id).catch(failContractThread)
      : [WITHHELD]
    const admission = await kernel.transactions.write(scope, async (tx) => {
      const current = await loadContractInForce(kernel, tx, contract.contract_key)
      if (current.contract_hash !== contract.contract_hash) return null
      return storeAdmission(kernel, tx, { contract: current, read: read as ReadPayload, payload_id, reprocess })
    })
    if (admission) {
      kernel.metrics.increment(payloadAdmissions, { result: admission.result })
      return admission
    }
  }
  return fail('overloaded', {
    detail: 'The contract changed during every attempt. Repeat the request.',
    retry_after_s: 1,
  })
}

/** Whatever the contract says: an answer that repeats the credential is no evidence. */
const WITHHELD: ReadPayload = {
  is_unreadable: true,
  violations: [
    {
      code: 'credential_repeated',
      pointer: '',
      keyword: 'credential',
      expected: 'an answer without the credential of the provider',
      record_index: null,
    },
  ],
  more: 0,
  refused: [],
  notes: [],
  record_count: 0,
  facts: [],
  provenance: { source: null, as_of: null },
}

interface JudgedPayload {
  readonly contract: LoadedContract
  readonly read: ReadPayload
  readonly payload_id: string
  readonly reprocess: AdmitRequest['reprocess']
}

async function storeAdmission(
  kernel: Capabilities<'caches' | 'encryption'>,
  tx: Tx,
  { contract, read, payload_id, reprocess }: JudgedPayload,
): Promise<AdmissionRow | null> {
  const [stored] = await findStoredPayloads(tx, [payload_id])
  const payload = assertFound(stored)
  const lists = await findContractLists(tx, contract.compiled)
  const given = { contract, lists, read, received_at: payload.received_at }
  const judged = hidePlaces(contract.contract, await judgePayload(kernel, tx, given))
  const admission_id = uuidv7()
  const facts =
    judged.result === 'quarantined'
      ? null
      : await kernel.encryption.encrypt(
          tx,
          getOwner(payload),
          factsLocation(admission_id),
          Buffer.from(JSON.stringify(judged.facts)),
        )
  const row = await insertAdmission(tx, {
    admission_id,
    payload_id,
    contract_key: contract.contract_key,
    contract_origin: contract.origin,
    contract_version: contract.version,
    contract_hash: contract.contract_hash,
    result: judged.result,
    incomplete: judged.incomplete,
    record_count: judged.record_count,
    violations: judged.violations,
    more_violations: judged.more,
    notes: judged.notes,
    provenance: judged.provenance,
    list_receipt: toListReceipt(lists) as unknown as AdmissionRow['list_receipt'],
    facts,
    replaces_admission_id: reprocess?.replaces_admission_id ?? null,
  })
  // Another process was first: its admission is the result.
  if (!row) return (await findLastAdmission(tx, payload_id)) ?? null
  await updateQuarantine(tx, row, judged)
  if (!row.admitted) await raiseRefusal(kernel, tx, row)
  return row
}

/** An alert about a restricted payload has its restriction. */
async function raiseRefusal(kernel: Capabilities<'caches'>, tx: Tx, row: AdmissionRow): Promise<void> {
  const { payload_id, contract_key, contract_version } = row
  const restriction = await findObjectRestriction(tx, 'source_payload', payload_id)
  await raiseContractAlert(kernel, tx, {
    on: 'contract_refusal',
    contract_key,
    contract_version,
    findings: row.violations.map(({ code }) => code),
    reference: `payload:${payload_id}`,
    restriction_id: restriction?.restriction_id ?? null,
  })
}

/** Notes and violations are stored in clear, and the names in them may be those of people. */
function hidePlaces(contract: Contract, { violations, notes, ...judged }: Admission): Admission {
  const policy = getNamePolicy(contract)
  const seen = new Set<string>()
  const isFirst = ({ code, pointer }: Note): boolean => seen.size < seen.add(`${code} ${pointer}`).size
  return { ...judged, violations: hideNames(violations, policy), notes: hideNames(notes, policy).filter(isFirst) }
}

const factsLocation = (admission_id: string) => ({ table: 'payload_admission', row_id: admission_id, column: 'facts' })

async function updateQuarantine(tx: Tx, row: AdmissionRow, judged: Admission): Promise<void> {
  const { payload_id, admission_id, contract_key, contract_version } = row
  if (judged.violations.length > 0) {
    // A payload counts once for each version, however often it is checked again.
    const earlier = row.replaces_admission_id === null ? [] : await listAdmissions(tx, payload_id)
    const counted = new Set(
      earlier
        .filter((other) => other.admission_id !== admission_id && other.contract_version === contract_version)
        .flatMap((other) => groupViolations(other).map(({ id }) => id)),
    )
    const groups = groupViolations(judged).filter(({ id }) => !counted.has(id))
    if (groups.length > 0) await upsertViolationGroups(tx, { contract_key, contract_version, payload_id }, groups)
  }
  if (!row.admitted) await upsertQuarantineItem(tx, { payload_id, admission_id, contract_key })
  else if (row.replaces_admission_id !== null) await resolveQuarantineItem(tx, payload_id, 'reprocessed', null)
}

/** The places of one payload, each once, sorted. */
function groupViolations({ violations }: Pick<Admission, 'violations'>) {
  const groups = new Map<string, { id: string; pointer: string; keyword: string }>()
  for (const violation of violations) {
    const pointer = generalisePointer(violation.pointer).slice(0, 600)
    const keyword = violation.keyword.slice(0, 100)
    const id = `${pointer} ${keyword}`
    groups.set(id, { id, pointer, keyword })
  }
  return [...groups.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
}

/** A contract whose list is not in force admits nothing. */
export async function judgePayload(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  given: {
    readonly contract: Pick<LoadedContract, 'compiled'>
    readonly lists: Awaited<ReturnType<typeof findContractLists>>
    readonly read: ReadPayload
    readonly received_at: string | null
  },
): Promise<Admission> {
  const { contract, lists, read, received_at } = given
  const bound = await bindContract(kernel, tx, { compiled: contract.compiled, lists }, [read])
  return 'judge' in bound ? bound.judge(read, received_at) : refuseForLists(read, bound)
}

const refuseForLists = (read: ReadPayload, findings: readonly Finding[]): Admission => ({
  result: 'quarantined',
  incomplete: false,
  violations: findings.slice(0, 100).map(({ code, pointer, message }) => ({
    code,
    pointer: '',
    keyword: 'lists',
    expected: `${message} (${pointer} of the contract)`.slice(0, 300),
    record_index: null,
  })),
  more: 0,
  notes: [],
  record_count: read.record_count,
  facts: [],
  provenance: { source: null, as_of: null },
})

export interface AdmittedFacts {
  readonly admission_id: string
  readonly payload_id: string
  readonly payload_hash: string
  readonly contract_key: string
  readonly contract_version: number
  readonly contract_hash: string
  /** Some records of the payload were refused: whoever needs all of them must not use it. */
  readonly incomplete: boolean
  readonly received_at: string
  readonly records: readonly FactRecord[]
}

/** The facts of an admitted payload. Fails with 409 `contract_violated` for a quarantined one. */
export async function findAdmittedFacts(
  tx: Tx,
  kernel: Capabilities<'encryption'>,
  admission_id: string,
): Promise<AdmittedFacts> {
  const row = assertFound(await findAdmission(tx, admission_id))
  if (!row.admitted || row.facts === null) {
    return fail('contract_violated', {
      detail: `The payload ${row.payload_id} is in quarantine.`,
      members: { payload_id: row.payload_id },
    })
  }
  const text = await kernel.encryption.decrypt(tx, getOwner(row), factsLocation(admission_id), row.facts)
  const { payload_id, payload_hash, contract_key, contract_version, contract_hash, incomplete, received_at } = row
  return {
    ...{
      admission_id,
      payload_id,
      payload_hash,
      contract_key,
      contract_version,
      contract_hash,
      incomplete,
      received_at,
    },
    records: JSON.parse(text.toString('utf8')) as FactRecord[],
  }
}
