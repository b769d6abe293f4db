/**
 * The state of a provider as the caller may know it. Rate, breaker and budget are shared by all calls of the tenant; those of a restricted
 * case would show in them.
 */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { listUsageItems } from '../usage/usage-items.ts'
import { countFaultsSince, listSendTimes, type ProviderStateRow } from './queries.ts'
import { decideSend, type SendLimits, type SendState } from './send-gate.ts'

export const EMPTY_STATE: SendState = {
  rate_tokens: null,
  rate_at_ms: null,
  failures: 0,
  failing_since_ms: null,
  open_until_ms: null,
  probe_token: null,
  probe_until_ms: null,
  day_ms: null,
  calls_of_day: 0,
  month_ms: null,
  spend_of_month_minor: 0,
}

export interface VisibleState extends Pick<SendState, 'failures' | 'open_until_ms'> {
  readonly rate_tokens: number | null
  readonly calls_of_day: number
  readonly spend_of_month_minor: number
}

/** `state`: the stored one; undefined: nothing was ever sent. */
export async function readVisibleState(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  provider_key: string,
  { state, limits, now_ms }: { state: ProviderStateRow | undefined; limits: SendLimits; now_ms: number },
): Promise<VisibleState> {
  const today = new Date(now_ms).toISOString().slice(0, 10)
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
  const ofDay = await listUsageItems(kernel, tx, provider_key, { from: today, to: today })
  const ofMonth = await listUsageItems(kernel, tx, provider_key, { from: `${today.slice(0, 8)}01`, to: today })
  return {
    ...(await readBreaker(tx, provider_key, state, limits)),
    rate_tokens: limits.rate && (await computeTokens(tx, provider_key, limits.rate, now_ms)),
    calls_of_day: sum(ofDay.map(({ sent }) => sent)),
    spend_of_month_minor: sum(ofMonth.map(({ cost_minor }) => cost_minor)),
  }
}

/** Open only where the faults that the caller may see would have opened it. */
async function readBreaker(
  tx: Tx,
  provider_key: string,
  state: ProviderStateRow | undefined,
  { breaker }: SendLimits,
): Promise<Pick<SendState, 'failures' | 'open_until_ms'>> {
  const { failures, failing_since_ms, open_until_ms } = state ?? EMPTY_STATE
  const isSeen =
    failing_since_ms !== null && (await countFaultsSince(tx, provider_key, failing_since_ms)) >= breaker.failures
  return isSeen ? { failures, open_until_ms } : { failures: 0, open_until_ms: null }
}

/** What is left after the requests that the caller may see. */
async function computeTokens(
  tx: Tx,
  provider_key: string,
  rate: NonNullable<SendLimits['rate']>,
  now_ms: number,
): Promise<number> {
  const unlimited = { concurrent: null, calls_per_day: null, spend_per_month_minor: null }
  const limits = { ...unlimited, rate, breaker: { failures: 1, window_s: 1, open_s: 1 } }
  const send = (state: SendState, at_ms: number) => {
    const attempt = { now_ms: at_ms, token: '', deadline_ms: at_ms, in_flight: 0, cost_minor: 0 }
    return decideSend(state, limits, attempt)
  }
  let state = EMPTY_STATE
  for (const at_ms of await listSendTimes(tx, provider_key, now_ms - (rate.burst / rate.per_second) * 1000)) {
    const decided = send(state, at_ms)
    if (decided.kind === 'send') state = decided.state
  }
  // The next request would take one.
  const next = send(state, now_ms)
  return next.kind === 'send' ? (next.state.rate_tokens ?? 0) + 1 : 0
}
