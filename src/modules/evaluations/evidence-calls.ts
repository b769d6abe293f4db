/** Which calls of providers gave the evidence of a decision. */
import { type DecisionContent, getEvidence } from '#decision/document.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { listCallsOfPayloads } from '#modules/providers/index.ts'
import { evidenceStore } from '#modules/source-contracts/index.ts'

export async function findEvidenceCalls(tx: Tx, content: DecisionContent, evaluation_id: string) {
  // Most decisions cite no call.
  if (getEvidence(content).length === 0) return []
  const admissions = await evidenceStore.listEvidence(tx, { consumer_kind: 'evaluation', consumer_id: evaluation_id })
  const calls = await listCallsOfPayloads(
    tx,
    admissions.map(({ payload_id }) => payload_id),
  )
  return admissions.flatMap(({ contract_key, admission_id, payload_id }) =>
    calls
      .filter((call) => call.payload_id === payload_id)
      .map(({ call_id, provider_key, capability, answered_at }) => ({
        ...{ contract_key, admission_id, call_id, provider_key, capability, answered_at },
      })),
  )
}
