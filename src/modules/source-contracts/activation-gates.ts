/** Gates of an activation: readers keep their facts, and payloads that would be quarantined are acknowledged. */
import { compareFacts, type FactChange } from '#contract/compare-contracts.ts'
import type { Contract } from '#contract/model.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import type { FinishReview } from '#kernel/request/change-reviews.ts'
import { integer, Type } from '#kernel/schema.ts'
import {
  type activationStore,
  datasetStore,
  type documentStore,
  type versionStore,
} from '#modules/definitions/index.ts'
import { CONTRACT_FAMILY, findContractInForce, loadContractVersion } from './bind-contract.ts'
import { type FactReaderRow, listFactReaders } from './queries.ts'
import { MAX_RECHECKED, recheckPayloads } from './recheck.ts'

const AcknowledgedPayloads = Type.Optional(
  integer(0, MAX_RECHECKED, {
    description:
      `How many of the last ${MAX_RECHECKED} stored payloads that are admitted now may be quarantined by this version. A gate ` +
      'names the number; give it to put the version in force nevertheless.',
  }),
)

export const activationHook: documentStore.ActivationHook = {
  members: { acknowledged_payloads: AcknowledgedPayloads },
  async findGates(kernel, tx, { key, version, body }) {
    const dataset = await datasetStore.findDatasetForWrite(tx, key, CONTRACT_FAMILY)
    // Whose it is, and whether it may be activated, is checked by the activation itself.
    if (dataset?.tenant_id !== tx.tenant_id) return []
    const contract = await loadContractVersion(kernel, tx, dataset, version)
    const result = await recheckPayloads(kernel, tx, contract)
    const acknowledged = (body['acknowledged_payloads'] as number | undefined) ?? 0
    // A payload that is in quarantine already loses nothing.
    if (result.lost <= acknowledged) return []
    const { checked, lost } = result
    const detail =
      `${lost} of the last ${checked} stored payloads are admitted now and would be quarantined by version ${version} of ${key}. ` +
      'Send the number as acknowledged_payloads if that is intended.'
    return [{ gate: 'guard', detail, overridable: true, facts: { ...result } }]
  },
}

/** A reader of a fact that a change removes or alters. */
export interface LostReader extends Omit<FactReaderRow, 'is_active'> {
  readonly change: FactChange['change']
}

/** Definitions in force that would lose or misread a fact. */
export function findLostReaders(
  before: Pick<Contract, 'facts'> | null,
  after: Pick<Contract, 'facts'> | null,
  readers: readonly FactReaderRow[],
): LostReader[] {
  const changes = new Map(
    compareFacts(before, after)
      .filter(({ breaks_readers }) => breaks_readers)
      .map(({ fact, change }) => [fact, change]),
  )
  return readers.flatMap(({ is_active, ...reader }): LostReader[] => {
    const change = changes.get(reader.fact)
    return is_active && change ? [{ ...reader, change }] : []
  })
}

/** Called before a change of what is in force; the returned function runs after it in the same transaction. */
export async function reviewInForce(kernel: Capabilities<'caches'>, tx: Tx, change: unknown): Promise<FinishReview> {
  const { family, list_key, effective_from } = change as activationStore.InForceChange
  if (family !== CONTRACT_FAMILY) return async () => []
  const readers = await listFactReaders(tx, list_key)
  if (readers.length === 0) return async () => []
  const isLater = effective_from !== null && Date.parse(effective_from) > Date.now()
  const clocks = isLater ? { valid_at: effective_from } : {}
  const before = await findContractInForce(kernel, tx, list_key, clocks)
  return async () => {
    const after = await findContractInForce(kernel, tx, list_key, clocks)
    return toReaderGates(list_key, findLostReaders(before?.contract ?? null, after?.contract ?? null, readers))
  }
}

function toReaderGates(list_key: string, lost: readonly LostReader[]): versionStore.Gate[] {
  const [first] = lost
  if (!first) return []
  const names = [...new Set(lost.map(({ family, key }) => `${family} ${key}`))].join(', ')
  const detail = `${names} would lose facts of ${list_key}: the fact ${first.fact} is ${first.change.replace('_', ' ')}.`
  return [
    {
      gate: 'referenced-by',
      detail: detail.slice(0, 1000),
      overridable: false,
      facts: { readers: lost.slice(0, 200) },
    },
  ]
}
