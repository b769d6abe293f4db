/** When a failed attempt is repeated. */
import type { EgressFault } from '#kernel/egress/faults.ts'
import { type HttpCapability, retryFaults, toCapabilityPromise } from './manifest.ts'

type RetryFault = (typeof retryFaults)[number]

/** Faults of the network by the word of the manifest; the others are not temporary. */
const retryWords: Readonly<Partial<Record<EgressFault, RetryFault>>> = {
  timeout: 'timeout',
  headers_timeout: 'timeout',
  idle_timeout: 'timeout',
  connection_reset: 'reset',
  connect_timeout: 'connect',
  connect_failed: 'connect',
  dns_failed: 'connect',
  proxy_failed: 'connect',
  overloaded: 'connect',
}

const DEFAULT_ON: readonly (number | RetryFault)[] = [429, 502, 503, 504, ...retryFaults]
const DEFAULT_ATTEMPTS = 3
const DEFAULT_BASE_MS = 500
const DEFAULT_MAX_MS = 20_000
const DEFAULT_HONOUR_S = 60
const MAX_DEFER_MS = 24 * 3_600_000

export interface FailedAttempt {
  /** Counted from 1. */
  readonly attempt: number
  /** A status of the provider, or a fault of the network. */
  readonly cause: number | EgressFault
  /** False: no byte of the request was sent. */
  readonly sent: boolean
  readonly retry_after_s: number | null
}

/** `defer`: longer than somebody waits; the work is put off, and the attempt does not count against its retries. */
export interface RetryPlan {
  readonly kind: 'retry' | 'defer'
  readonly delay_ms: number
}

/** Null: it is not repeated. `random` is between 0 and 1. */
export function planRetry(
  capability: Pick<HttpCapability, 'retry' | 'safe' | 'idempotency_header'>,
  failed: FailedAttempt,
  random = Math.random(),
): RetryPlan | null {
  const { retry = {} } = capability
  const { attempt, cause, sent, retry_after_s } = failed
  if (sent && toCapabilityPromise(capability) === 'once') return null
  const word = typeof cause === 'number' ? cause : retryWords[cause]
  if (word === undefined || !(retry.on ?? DEFAULT_ON).includes(word)) return null
  const wait_ms = (retry_after_s ?? 0) * 1000
  if (wait_ms > (retry.honour_retry_after_s ?? DEFAULT_HONOUR_S) * 1000) {
    return { kind: 'defer', delay_ms: Math.min(wait_ms, MAX_DEFER_MS) }
  }
  if (attempt >= (retry.attempts ?? DEFAULT_ATTEMPTS)) return null
  const max_ms = retry.max_ms ?? DEFAULT_MAX_MS
  const backoff_ms = Math.min((retry.base_ms ?? DEFAULT_BASE_MS) * 2 ** (attempt - 1), max_ms)
  // Half of it is random, so that callers who failed together do not return together.
  return { kind: 'retry', delay_ms: Math.max(wait_ms, Math.round(backoff_ms * (0.5 + random / 2))) }
}
