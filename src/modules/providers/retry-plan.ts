/** When a failed call is tried again. */
import type { EgressFault } from '#kernel/egress/faults.ts'
import { planRetry } from '#provider/plan-retry.ts'
import type { FailedAttempt } from './answers.ts'
import type { Capability } from './capability.ts'
import type { AttemptRow, CallRow } from './queries.ts'

const DAY_MS = 86_400_000
/** After the attempts that the manifest declares, a provider that is down is tried again ever less often. */
const OUTAGE_BASE_MS = 15_000
const OUTAGE_MAX_MS = 600_000

/** Another version of the credential can be used at once. */
export const CREDENTIAL_REJECTED = 'credential_rejected'

/** Distributes over the kinds, so that `kind` still tells them apart. */
type CapabilityRules<Kind> = Kind extends Capability ? Pick<Kind, 'kind' | 'declared'> : never

/** What decides whether and when a call is tried again. */
export interface RetriedCall {
  readonly call: Pick<CallRow, 'promise' | 'created_at'>
  readonly attempts: readonly Pick<AttemptRow, 'outcome' | 'fault'>[]
  readonly capability: CapabilityRules<Capability>
}

const timeouts: readonly (string | null)[] = ['timeout', 'headers_timeout', 'idle_timeout'] satisfies EgressFault[]

/** The provider has the request and may charge for it: no sign that it is down. */
const isSentTimeout = ({ outcome, fault }: Pick<AttemptRow, 'outcome' | 'fault'>): boolean =>
  outcome !== 'not_sent' && timeouts.includes(fault)

/**
 * Milliseconds until the next attempt; null: this was the last one. A request that promises `once` and may have reached the
 * provider is never repeated; a provider that is down is tried for a day, and one that answers too late as often as its manifest
 * declares.
 */
export function planNextAttempt(
  { call, attempts, capability }: RetriedCall,
  failure: Pick<FailedAttempt, 'outcome' | 'fault' | 'http_status' | 'is_outage'>,
  { retry_after_s, now_ms }: { readonly retry_after_s: number | null; readonly now_ms: number },
): number | null {
  const sent = failure.outcome !== 'not_sent'
  if (capability.kind === 'builtin' || failure.outcome === 'refused') return null
  if (failure.fault === CREDENTIAL_REJECTED) return 0
  if (call.promise === 'once' && sent) return null
  if (now_ms - Date.parse(call.created_at) > DAY_MS) return null
  const isTooLate = isSentTimeout(failure)
  const ended = attempts.filter(({ outcome }) => outcome !== null)
  const attempt = (isTooLate ? ended.filter(isSentTimeout) : ended).length + 1
  const cause = failure.http_status ?? (failure.fault as EgressFault)
  const plan = planRetry(capability.declared, { attempt, cause, sent, retry_after_s })
  if (plan) return plan.delay_ms
  if (!failure.is_outage || isTooLate) return null
  const slow = attempt - (capability.declared.retry?.attempts ?? 3)
  const outage_ms = Math.min(OUTAGE_BASE_MS * 2 ** Math.min(Math.max(0, slow), 10), OUTAGE_MAX_MS)
  // Never before the time that the provider names, whatever the manifest declares for retries.
  return Math.max(outage_ms, Math.min((retry_after_s ?? 0) * 1000, DAY_MS))
}
