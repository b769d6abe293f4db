/** Payloads in quarantine: what people see of them, and how they are resolved. */
import type { TaskPayload } from '#contract/contract-runner.ts'
import { compileContract } from '#contract/judge-payload.ts'
import type { Admission, Contract } from '#contract/model.ts'
import type { ReadPayload } from '#contract/read-payload.ts'
import { type PayloadSizes, widenJudged, widenLimits } from '#contract/widen-contract.ts'
import type { Scope, Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import { datasetStore, type documentStore } from '#modules/definitions/index.ts'
import { type AdmissionCapabilities, judgePayload } from './admissions.ts'
import {
  CONTRACT_FAMILY,
  findContractLists,
  type LoadedContract,
  loadContractInForce,
  loadContractVersion,
} from './bind-contract.ts'
import { contractThread, failContractThread, toHashedContract } from './contract-thread.ts'
import { describeUnopened, isWithheld, openPayload } from './payloads.ts'
import {
  findLastAdmission,
  findQuarantineView,
  findStoredPayloads,
  listAdmissions,
  type StoredPayload,
} from './queries.ts'

type Read = <T>(body: (tx: Tx) => Promise<T>) => Promise<T>

/** The payload is parsed and redacted in the bounded worker. */
export async function getQuarantinedPayload(
  kernel: Capabilities<'caches' | 'threads' | 'encryption'>,
  read: Read,
  payload_id: string,
  tenant_id: string,
) {
  const { item, admissions, payload, is_kept, contract } = await read(async (tx) => {
    const found = assertFound(await findQuarantineView(tx, payload_id))
    const [stored] = await findStoredPayloads(tx, [payload_id])
    return {
      item: found,
      admissions: await listAdmissions(tx, payload_id),
      payload: await openPayload(kernel, tx, stored as StoredPayload),
      is_kept: stored !== undefined && stored.content !== null && isWithheld(stored),
      contract: await loadJudgingContract(kernel, tx, payload_id),
    }
  })
  const shown =
    payload === null
      ? null
      : await kernel.threads.get(contractThread).redact(contract.contract, payload, tenant_id).catch(failContractThread)
  return {
    ...item,
    violations: [...item.violations],
    admissions: admissions.map(
      ({ admission_id, contract_version, result, incomplete, replaces_admission_id, created_at, created_by }) => ({
        ...{ admission_id, contract_version, result, incomplete, replaces_admission_id, created_at, created_by },
      }),
    ),
    payload: shown,
    records_at: contract.contract.records_at,
    has_content: payload !== null || is_kept,
  }
}

/** The version by which the payload was quarantined. */
async function loadJudgingContract(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  payload_id: string,
): Promise<LoadedContract> {
  const { contract_key, contract_origin, contract_version } = assertFound(await findLastAdmission(tx, payload_id))
  const dataset = assertFound(await datasetStore.findDataset(tx, contract_key, CONTRACT_FAMILY, contract_origin))
  return loadContractVersion(kernel, tx, dataset, contract_version)
}

/** More rounds would mean that a change does not help. */
const MAX_ROUNDS = 5

/** The contract in force with the smallest change that admits the payload. Fails with 409 when no such change is found. */
export async function widenForPayload(
  kernel: AdmissionCapabilities,
  scope: Scope,
  payload_id: string,
): Promise<{ readonly text: documentStore.DefinitionText; readonly based_on: number }> {
  const { transactions } = kernel
  const { stored, payload, current } = await transactions.read(scope, async (tx) => {
    const [row] = await findStoredPayloads(tx, [payload_id])
    const found = assertFound(row)
    const opened = await openPayload(kernel, tx, found)
    if (!opened) return fail('conflict', describeUnopened(found))
    return { stored: found, payload: opened, current: await loadContractInForce(kernel, tx, found.contract_key) }
  })
  let contract = current.contract
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const admission = await judgeWith(kernel, scope, contract, { stored, payload })
    if (admission.result !== 'quarantined') {
      return { text: contract as unknown as documentStore.DefinitionText, based_on: current.version }
    }
    const limited = widenLimits(contract, admission, getSizes(payload))
    const fitting = await kernel.threads
      .get(contractThread)
      .widen(limited, payload, scope.tenant_id)
      .catch(failContractThread)
    contract = widenJudged(fitting, admission, stored.received_at)
  }
  return fail(
    'conflict',
    'No change of the contract admits this payload: it is not readable, or misses what every payload needs.',
  )
}

function getSizes({ bytes }: TaskPayload): PayloadSizes {
  return { bytes: bytes.byteLength, records: 10_000 }
}

async function judgeWith(
  kernel: AdmissionCapabilities,
  scope: Scope,
  contract: Contract,
  { stored, payload }: { readonly stored: StoredPayload; readonly payload: TaskPayload },
): Promise<Admission> {
  const [read] = await kernel.threads
    .get(contractThread)
    .read(toHashedContract(contract), [payload], scope.tenant_id)
    .catch(failContractThread)
  const compiled = compileContract(contract)
  return kernel.transactions.read(scope, async (tx) =>
    judgePayload(kernel, tx, {
      contract: { compiled },
      lists: await findContractLists(tx, compiled),
      read: read as ReadPayload,
      received_at: stored.received_at,
    }),
  )
}
