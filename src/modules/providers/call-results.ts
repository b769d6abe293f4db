/** What calls gave, for whoever decides with it. */
import type { Tx } from '#kernel/database/tx.ts'
import { fail } from '#kernel/problem.ts'
import { payloadStore } from '#modules/source-contracts/index.ts'
import { type AnswerRow, type CallMode, type CallRow, findCall, listResults } from './queries.ts'

export interface CallResult {
  readonly call_id: string
  readonly subject_id: string | null
  readonly mode: CallMode
  readonly environment: CallRow['environment']
  readonly admission_id: string
}

/** The admissions of answered calls, in the given order. 404 for an unknown call, 409 for one without an answer that was judged. */
export async function findCallResults(tx: Tx, call_ids: readonly string[]): Promise<CallResult[]> {
  const calls: CallRow[] = []
  for (const call_id of call_ids) calls.push((await findCall(tx, call_id)) ?? failUnknown(call_id))
  const answers = new Map((await listResults(tx, call_ids)).map((answer) => [answer.call_id, answer]))
  const payload_ids = [...answers.values()].map(({ payload_id }) => payload_id)
  const admissions = new Map(
    (await payloadStore.findLastAdmissions(tx, payload_ids)).map((row) => [row.payload_id, row]),
  )
  return calls.map(({ call_id, subject_id, mode, environment }) => {
    const admission = admissions.get(answers.get(call_id)?.payload_id ?? '')
    const admission_id = admission?.admission_id ?? failUnanswered(call_id, answers.get(call_id))
    return { call_id, subject_id, mode, environment, admission_id }
  })
}

const failUnknown = (call_id: string): never => fail('not_found', { members: { call_id } })

function failUnanswered(call_id: string, answer: AnswerRow | undefined): never {
  const detail = !answer
    ? `The call ${call_id} has no answer yet.`
    : answer.result === 'not_found'
      ? `The provider found nothing for the call ${call_id}: it gives no facts.`
      : `No source contract has admitted the answer of the call ${call_id}.`
  return fail('conflict', { detail, members: { call_id } })
}
