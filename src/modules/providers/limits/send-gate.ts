/**
 * Whether a request may be sent to a provider now: rate, circuit breaker and budget, decided from one row that all processes
 * share. Pure: whoever holds the lock of the row calls it with the time of the database.
 */

export interface SendLimits {
  readonly rate: { readonly per_second: number; readonly burst: number } | null
  readonly concurrent: number | null
  readonly breaker: { readonly failures: number; readonly window_s: number; readonly open_s: number }
  readonly calls_per_day: number | null
  readonly spend_per_month_minor: number | null
}

/** Times are milliseconds since 1970, days and months the first instant of each in UTC. */
export interface SendState {
  readonly rate_tokens: number | null
  readonly rate_at_ms: number | null
  readonly failures: number
  readonly failing_since_ms: number | null
  readonly open_until_ms: number | null
  readonly probe_token: string | null
  readonly probe_until_ms: number | null
  readonly day_ms: number | null
  readonly calls_of_day: number
  readonly month_ms: number | null
  readonly spend_of_month_minor: number
}

export interface SendAttempt {
  readonly now_ms: number
  readonly token: string
  /** When the request has ended in every process. */
  readonly deadline_ms: number
  /** Requests to this provider that are under way. */
  readonly in_flight: number
  readonly cost_minor: number
}

export type WaitReason = 'rate' | 'concurrency' | 'breaker'

export type SendDecision =
  | { readonly kind: 'send'; readonly state: SendState }
  | { readonly kind: 'wait'; readonly reason: WaitReason; readonly until_ms: number }
  | { readonly kind: 'refuse'; readonly budget: BudgetName; readonly resets_at_ms: number }

export type BudgetName = 'calls_per_day' | 'spend_per_month'

const DAY_MS = 86_400_000
/** How long to wait where the end of another request decides. */
const CONCURRENCY_WAIT_MS = 500

const toDay = (now_ms: number): number => now_ms - (now_ms % DAY_MS)
const toMonth = (now_ms: number, offset = 0): number => {
  const date = new Date(now_ms)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + offset, 1)
}

export function decideSend(state: SendState, limits: SendLimits, attempt: SendAttempt): SendDecision {
  const { now_ms } = attempt
  const counted = startPeriods(state, now_ms)
  return (
    findClosedBudget(counted, limits, attempt) ??
    findOpenBreaker(counted, limits, now_ms) ??
    findConcurrencyWait(limits, attempt) ??
    takeRate(counted, limits, attempt)
  )
}

function startPeriods(state: SendState, now_ms: number): SendState {
  const day_ms = toDay(now_ms)
  const month_ms = toMonth(now_ms)
  return {
    ...state,
    day_ms,
    month_ms,
    calls_of_day: state.day_ms === day_ms ? state.calls_of_day : 0,
    spend_of_month_minor: state.month_ms === month_ms ? state.spend_of_month_minor : 0,
  }
}

function findClosedBudget(state: SendState, limits: SendLimits, attempt: SendAttempt): SendDecision | undefined {
  const { calls_per_day, spend_per_month_minor } = limits
  const { now_ms, cost_minor } = attempt
  if (calls_per_day !== null && state.calls_of_day >= calls_per_day)
    return { kind: 'refuse', budget: 'calls_per_day', resets_at_ms: toDay(now_ms) + DAY_MS }
  if (spend_per_month_minor !== null && state.spend_of_month_minor + cost_minor > spend_per_month_minor)
    return { kind: 'refuse', budget: 'spend_per_month', resets_at_ms: toMonth(now_ms, 1) }
  return undefined
}

const isTripped = (state: SendState, limits: SendLimits): boolean =>
  state.open_until_ms !== null && state.failures >= limits.breaker.failures

/** While the breaker is open, everybody waits; afterwards one request tries whether the provider is back. */
function findOpenBreaker(state: SendState, limits: SendLimits, now_ms: number): SendDecision | undefined {
  if (!isTripped(state, limits)) return undefined
  const { open_until_ms, probe_token, probe_until_ms } = state
  if (open_until_ms !== null && open_until_ms > now_ms)
    return { kind: 'wait', reason: 'breaker', until_ms: open_until_ms }
  if (probe_token !== null && probe_until_ms !== null && probe_until_ms > now_ms)
    return { kind: 'wait', reason: 'breaker', until_ms: Math.min(probe_until_ms, now_ms + CONCURRENCY_WAIT_MS) }
  return undefined
}

function findConcurrencyWait({ concurrent }: SendLimits, attempt: SendAttempt): SendDecision | undefined {
  if (concurrent === null || attempt.in_flight < concurrent) return undefined
  return { kind: 'wait', reason: 'concurrency', until_ms: attempt.now_ms + CONCURRENCY_WAIT_MS }
}

function takeRate(state: SendState, limits: SendLimits, attempt: SendAttempt): SendDecision {
  const { now_ms, cost_minor, token, deadline_ms } = attempt
  const tokens = limits.rate ? refill(state, limits.rate, now_ms) : null
  if (limits.rate && tokens !== null && tokens < 1)
    return {
      kind: 'wait',
      reason: 'rate',
      until_ms: now_ms + Math.ceil(((1 - tokens) / limits.rate.per_second) * 1000),
    }
  const isProbe = isTripped(state, limits)
  return {
    kind: 'send',
    state: {
      ...state,
      rate_tokens: tokens === null ? null : tokens - 1,
      rate_at_ms: tokens === null ? null : now_ms,
      calls_of_day: state.calls_of_day + 1,
      spend_of_month_minor: state.spend_of_month_minor + cost_minor,
      ...(isProbe && { probe_token: token, probe_until_ms: deadline_ms }),
    },
  }
}

function refill(state: SendState, rate: NonNullable<SendLimits['rate']>, now_ms: number): number {
  if (state.rate_tokens === null || state.rate_at_ms === null) return rate.burst
  const elapsed_s = Math.max(0, now_ms - state.rate_at_ms) / 1000
  return Math.min(rate.burst, state.rate_tokens + elapsed_s * rate.per_second)
}

/** `outage`: the provider did not answer or says that it cannot; anything else it said shows that it is there. */
export type SendEnd = 'answered' | 'outage' | 'not_sent' | 'interrupted'

/** The state after a request has ended. One that was provably not sent costs nothing. */
export function applySendEnd(
  state: SendState,
  limits: SendLimits,
  ended: {
    readonly now_ms: number
    readonly token: string
    readonly cost_minor: number
    readonly end: SendEnd
    readonly is_outage: boolean
  },
): SendState {
  const { now_ms, token, end } = ended
  const isProbe = state.probe_token === token
  const released = isProbe ? { probe_token: null, probe_until_ms: null } : {}
  if (end === 'answered') {
    return { ...state, ...released, failures: 0, failing_since_ms: null, open_until_ms: null }
  }
  const refunded =
    end === 'not_sent'
      ? {
          calls_of_day: Math.max(0, state.calls_of_day - 1),
          spend_of_month_minor: Math.max(0, state.spend_of_month_minor - ended.cost_minor),
        }
      : {}
  // What never left this machine for a reason of its own, or was not waited for, says nothing about the provider.
  if (!ended.is_outage) return { ...state, ...released, ...refunded }
  const { breaker } = limits
  const isNewWindow =
    state.open_until_ms === null &&
    (state.failing_since_ms === null || now_ms - state.failing_since_ms > breaker.window_s * 1000)
  const failures = isNewWindow ? 1 : state.failures + 1
  return {
    ...state,
    ...released,
    ...refunded,
    failures,
    failing_since_ms: isNewWindow ? now_ms : state.failing_since_ms,
    open_until_ms: failures >= breaker.failures ? now_ms + breaker.open_s * 1000 : state.open_until_ms,
  }
}

/** For a request that was sent and is not charged. */
export const giveBackSpend = (state: SendState, cost_minor: number): SendState => ({
  ...state,
  spend_of_month_minor: Math.max(0, state.spend_of_month_minor - cost_minor),
})

export type BreakerState = 'closed' | 'open' | 'half_open'

export function getBreakerState(state: SendState, limits: SendLimits, now_ms: number): BreakerState {
  if (!isTripped(state, limits)) return 'closed'
  return (state.open_until_ms ?? 0) > now_ms ? 'open' : 'half_open'
}
