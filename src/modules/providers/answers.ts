/** Stores what came back for an attempt, by call and token: whoever was paid for an answer may store it, lease or not. */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { fail } from '#kernel/problem.ts'
import { payloadStore, storePayload } from '#modules/source-contracts/index.ts'
import { type Capability, isUncharged } from './capability.ts'
import { deferProviderState, lockProviderState } from './limits/queries.ts'
import { applySendEnd, giveBackSpend, type SendEnd } from './limits/send-gate.ts'
import { isPaged } from './pages/page-chain.ts'
import { deletePages } from './pages/queries.ts'
import { storePage } from './pages/stored-pages.ts'
import {
  type AnswerRow,
  type AttemptRow,
  type CallRow,
  insertAnswer,
  listResults,
  updateAttemptEnded,
} from './queries.ts'

export interface ReceivedAnswer {
  readonly source: AnswerRow['source']
  readonly result: AnswerRow['result']
  readonly http_status: number | null
  readonly headers: Readonly<Record<string, string>>
  readonly media_type: string
  readonly bytes: Buffer
  readonly duration_ms: number | null
  readonly reason?: string
  /** Its content is stored and quarantined, and cannot be opened. */
  readonly repeats_credential?: boolean
  /** A payload that is stored already, of a recorded answer. */
  readonly payload_id?: string
  /** The program or tool that made it, beside the provider. */
  readonly made_by?: Readonly<Record<string, unknown>>
}

/** Contract key of payloads that no contract judges. */
export const UNCHECKED = 'unchecked'

type Attempted = Pick<AttemptRow, 'attempt_no' | 'page_no' | 'token'>

/**
 * The answer, its payload, the end of the attempt and what it says about the provider, together. Returns the result of the call, which
 * an earlier answer may be.
 */
export async function storeAnswer(
  kernel: Capabilities<'encryption'>,
  tx: Tx,
  { call, attempt, capability }: { call: CallRow; attempt: Attempted; capability: Capability },
  answer: ReceivedAnswer,
): Promise<AnswerRow | undefined> {
  const payload_id =
    answer.payload_id ??
    (await storePayload(tx, kernel, {
      contract_key: call.contract_key ?? UNCHECKED,
      subject_id: call.subject_id,
      media_type: answer.media_type,
      bytes: answer.bytes,
      source_kind: answer.repeats_credential ? payloadStore.REPEATS_CREDENTIAL : 'provider_answer',
      source_id: attempt.token,
      received_at: new Date().toISOString(),
      restriction_id: call.restriction_id,
    }))
  const { call_id } = call
  const { attempt_no, token } = attempt
  const { source, result, http_status, headers, duration_ms } = answer
  const stored = await insertAnswer(tx, {
    call_id,
    attempt_no,
    token,
    source,
    result,
    http_status,
    headers,
    payload_id,
    reason: answer.reason ?? null,
    made_by: answer.made_by ?? null,
  })
  // What the provider sent is kept; a second answer by hand is refused.
  if (!stored && source === 'person') fail('transition_not_allowed', 'The call has been answered.')
  const end = { outcome: 'answered' as const, fault: null, http_status, duration_ms, is_final: true }
  await updateAttemptEnded(tx, { call_id, attempt_no, token, ...end })
  // The answer has the bytes of all of them, or replaces them.
  if (isPaged(capability)) await deletePages(tx, call_id)
  if (source === 'provider') await recordProviderAnswer(tx, { call, attempt, capability })
  return stored?.is_result ? stored : (await listResults(tx, [call_id]))[0]
}

/** A page that others follow: the attempt is answered, and the call is not. */
export async function storeAnsweredPage(
  kernel: Capabilities<'encryption'>,
  tx: Tx,
  { call, attempt, capability }: { call: CallRow; attempt: Attempted; capability: Capability },
  { bytes, http_status, duration_ms }: ReceivedAnswer,
): Promise<void> {
  const { call_id } = call
  const { attempt_no, token } = attempt
  // Where the call was answered meanwhile, the page is not needed any more.
  const [result] = await listResults(tx, [call_id])
  if (!result) await storePage(kernel, tx, { call, attempt }, bytes)
  const end = { outcome: 'answered' as const, fault: null, http_status, duration_ms, is_final: false }
  await updateAttemptEnded(tx, { call_id, attempt_no, token, ...end })
  await recordProviderAnswer(tx, { call, attempt, capability })
}

async function recordProviderAnswer(
  tx: Tx,
  { call, attempt, capability }: { call: CallRow; attempt: Attempted; capability: Capability },
): Promise<void> {
  const { token } = attempt
  const state = await lockProviderState(tx, call.provider_key)
  const next = applySendEnd(state, capability.limits, {
    now_ms: state.now_ms,
    token,
    cost_minor: 0,
    end: 'answered',
    is_outage: false,
  })
  deferProviderState(tx, call.provider_key, next, { answered: true })
}

export interface FailedAttempt {
  readonly outcome: 'failed' | 'refused' | 'not_sent' | 'unknown'
  /** One of a fixed set of words. */
  readonly fault: string
  readonly http_status: number | null
  readonly duration_ms: number | null
  /** The provider did not answer, or said that it cannot: counted by the breaker. */
  readonly is_outage: boolean
  readonly is_final: boolean
}

function getSendEnd({ outcome, is_outage }: FailedAttempt): SendEnd {
  if (outcome === 'not_sent') return 'not_sent'
  if (is_outage) return 'outage'
  return outcome === 'unknown' ? 'interrupted' : 'answered'
}

export async function recordFailure(
  tx: Tx,
  { call, attempt, capability }: { call: CallRow; attempt: Attempted; capability: Capability },
  failure: FailedAttempt,
): Promise<{ readonly opened_breaker: boolean }> {
  const { call_id, provider_key } = call
  const { attempt_no, token } = attempt
  const { is_outage, ...end } = failure
  const ended = await updateAttemptEnded(tx, { call_id, attempt_no, token, ...end })
  // Its answer arrived meanwhile, or another worker recorded its end.
  if (!ended) return { opened_breaker: false }
  const state = await lockProviderState(tx, provider_key)
  const cost_minor = capability.cost?.minor ?? 0
  const end_of_send = {
    now_ms: state.now_ms,
    token,
    cost_minor,
    end: getSendEnd(failure),
    is_outage,
  } as const
  // An attempt for which nothing was reserved, such as one of recorded answers, says nothing about the provider.
  const after = ended.sent_at === null ? state : applySendEnd(state, capability.limits, end_of_send)
  const isRefunded = ended.sent_at !== null && isUncharged(capability, failure.outcome)
  const next = isRefunded ? giveBackSpend(after, cost_minor) : after
  deferProviderState(tx, provider_key, next, { fault: failure.fault })
  return { opened_breaker: next.open_until_ms !== null && next.open_until_ms !== state.open_until_ms }
}
