/** What is committed before the first byte of a request: that rate, breaker and budget allow it, what it costs, and that it is sent. */
import type { Tx } from '#kernel/database/tx.ts'
import { Problem } from '#kernel/problem.ts'
import type { CalledOperation } from '../capability.ts'
import type { CallRun, LoadedCall } from '../load-call.ts'
import { budgetUsed } from '../provider-metrics.ts'
import { type AttemptRow, countInFlight, updateAttemptSent } from '../queries.ts'
import { deferProviderState, lockProviderState } from './queries.ts'
import { decideSend, type SendDecision, type SendLimits, type SendState } from './send-gate.ts'

/** A call that asks somebody over the network. */
export type CalledCall = LoadedCall & { readonly capability: CalledOperation }

/** The limits of the provider do not allow the request now: nothing was written. */
export class SendHeld extends Error {
  readonly decision: Exclude<SendDecision, { kind: 'send' }> & { readonly now_ms: number }
  readonly provider_key: string
  constructor(provider_key: string, decision: SendHeld['decision']) {
    super('the request is held back')
    this.provider_key = provider_key
    this.decision = decision
  }
}

/** How long after its time-out a request has ended in every process. */
const DEADLINE_MARGIN_MS = 10_000

/** Decides under the lock of the provider, and records that the request is about to be sent. */
export async function reserveSend(
  tx: Tx,
  { call, capability }: CalledCall,
  attempt: AttemptRow,
  credential: { readonly credential_id: string; readonly version: number } | null,
): Promise<SendState> {
  const { provider_key, call_id } = call
  const state = await lockProviderState(tx, provider_key)
  const { now_ms } = state
  const deadline_ms = now_ms + capability.timeout_ms + DEADLINE_MARGIN_MS
  const decision = decideSend(state, capability.limits, {
    now_ms,
    token: attempt.token,
    deadline_ms,
    in_flight: capability.limits.concurrent === null ? 0 : await countInFlight(tx, provider_key),
    cost_minor: capability.cost?.minor ?? 0,
  })
  if (decision.kind !== 'send') throw new SendHeld(provider_key, { ...decision, now_ms })
  const sent = await updateAttemptSent(tx, {
    call_id,
    attempt_no: attempt.attempt_no,
    token: attempt.token,
    deadline_ms,
    credential_id: credential?.credential_id ?? null,
    credential_version: credential?.version ?? null,
    cost_minor: capability.cost?.minor ?? null,
    currency: capability.cost?.currency ?? null,
  })
  if (sent !== 1) throw new Problem('conflict', 'Another worker has sent this attempt.')
  deferProviderState(tx, provider_key, decision.state)
  return decision.state
}

export function observeBudget({ kernel }: CallRun, limits: SendLimits, state: SendState): void {
  const { calls_per_day, spend_per_month_minor } = limits
  if (calls_per_day !== null) {
    kernel.metrics.observe(budgetUsed, { budget: 'calls_per_day' }, state.calls_of_day / calls_per_day)
  }
  if (spend_per_month_minor !== null && spend_per_month_minor > 0) {
    const share = state.spend_of_month_minor / spend_per_month_minor
    kernel.metrics.observe(budgetUsed, { budget: 'spend_per_month' }, share)
  }
}
