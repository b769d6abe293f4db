/** Makes and stores a decision about a subject for another module, on the answers of providers that the definition reads. */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { findCallResults } from '#modules/providers/index.ts'
import { binding } from '#modules/risk-matrices/index.ts'
import { evidenceStore } from '#modules/source-contracts/index.ts'
import type { EvaluationRow } from '../records/record.ts'
import { type DecisionRequest, decide, getRequestedDefinition, storeDecision } from './decide.ts'
import { openCitedCalls } from './evidence.ts'
import { createRecordedRuns } from './recorded-runs.ts'

type MakeKernel = binding.DecideCapabilities &
  binding.RunCapabilities &
  Capabilities<'encryption' | 'integrity' | 'transactions'>

type MadeRequest = Pick<DecisionRequest, 'matrix_key' | 'rule_key'> & {
  /** The same in each attempt of the transaction. */
  readonly evaluation_id: string
  readonly subject_id: string
  /** Answered calls; those whose contract gives no input of the definition are not cited. */
  readonly call_ids: readonly string[]
}

/** Decides with the versions in force now. 409 where an input is missing or invalid: nothing is guessed. */
export async function makeDecision(
  kernel: MakeKernel,
  tx: Tx,
  { call_ids, ...request }: MadeRequest,
): Promise<Omit<EvaluationRow, 'mac'>> {
  const read = await listReadCalls(kernel, tx, request, call_ids)
  const cited = await openCitedCalls(kernel, tx, { call_ids: read, subject_id: request.subject_id })
  const decided = await decide(
    kernel,
    tx,
    { ...request, cited },
    {
      runs: createRecordedRuns(kernel, tx, request.evaluation_id),
    },
  )
  return storeDecision(kernel, tx, request, decided)
}

/** A decision cites a call only for inputs that come from its contract. */
async function listReadCalls(
  kernel: MakeKernel,
  tx: Tx,
  request: DecisionRequest,
  call_ids: readonly string[],
): Promise<string[]> {
  if (call_ids.length === 0) return []
  const wanted = { ...getRequestedDefinition(request), valid_at: undefined, without_plugins: true }
  const { compiled } = await binding.getResolution(kernel, tx, wanted)
  const contracts = new Set(compiled.definition.inputs.flatMap(({ from }) => (from ? [from.contract_key] : [])))
  const read: string[] = []
  for (const { call_id, admission_id } of await findCallResults(tx, call_ids)) {
    const { facts } = await evidenceStore.openEvidence(kernel, tx, admission_id)
    if (contracts.has(facts.contract_key)) read.push(call_id)
  }
  return read
}
