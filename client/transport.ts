/**
 * Sends one logical request: adds the token and the Idempotency-Key, and retries. A change whose effect is unknown is
 * retried only if the server can recognise the repetition.
 */
import { parseRetryAfter, unreachableProblem } from './problem.ts'

export interface TokenSource {
  /** An empty string: send none. */
  get(): Promise<string>
  /** The server refused this token. True when another can be had. */
  invalidate(refused: string): boolean
}

export interface TransportOptions {
  readonly fetch: typeof globalThis.fetch
  readonly tokens: TokenSource | null
  /** The maximum number of attempts. */
  readonly attempts: number
  /** The timeout of one attempt, including reading a JSON response. */
  readonly timeout_ms: number
  /** With a longer Retry-After the response is returned instead of waiting. */
  readonly longest_pause_ms: number
}

export interface SendOptions {
  /** False for a body that can be read once. */
  readonly repeatable?: boolean
  readonly timeout_ms?: number | null
  /** Overrides the configured fetch. */
  readonly fetch?: typeof globalThis.fetch
}

export type Transport = (make: () => Request, sending?: SendOptions) => Promise<Response>

export function createTransport(options: TransportOptions): Transport {
  return async (make, { repeatable = true, timeout_ms = options.timeout_ms, fetch = options.fetch } = {}) => {
    const key = randomId()
    const attempts = repeatable ? options.attempts : 1
    let hasInvalidated = false
    for (let attempt = 1; ; attempt++) {
      const request = make()
      const isLast = attempt >= attempts
      if (request.method === 'POST' && !request.headers.has('idempotency-key')) {
        request.headers.set('idempotency-key', key)
      }
      const token = await authorize(request, options.tokens)
      let pause_ms: number | null
      try {
        const response = await sendOnce(fetch, request, timeout_ms)
        if (
          response.status === 401 &&
          token !== null &&
          repeatable &&
          !hasInvalidated &&
          options.tokens?.invalidate(token)
        ) {
          hasInvalidated = true
          attempt--
          continue
        }
        const isFinal = isLast || (await isNotRetryable(response))
        pause_ms = isFinal ? null : retryDelay(response, request.method, attempt, options.longest_pause_ms)
        if (pause_ms === null) return response
      } catch (error) {
        request.signal.throwIfAborted()
        if (isLast || !isSafeToRetry(request.method)) throw unreachableProblem(error)
        pause_ms = backoffDelay(attempt)
      }
      await sleep(pause_ms, request.signal)
    }
  }
}

/** Adds the token and returns it, or null if there is none. */
async function authorize(request: Request, tokens: TokenSource | null): Promise<string | null> {
  if (tokens === null || request.headers.has('authorization')) return null
  const token = await rejectOnAbort(tokens.get(), request.signal)
  if (token !== '') request.headers.set('authorization', `Bearer ${token}`)
  return token === '' ? null : token
}

/**
 * Reads a JSON response completely, so that a connection that breaks during the body counts as a failed attempt. For other responses the timeout ends with the headers, because a download may take long.
 */
async function sendOnce(fetch: typeof globalThis.fetch, request: Request, timeout_ms: number | null) {
  const late = new AbortController()
  const giveUp = () => late.abort(new DOMException('There was no answer in time.', 'TimeoutError'))
  const timer = timeout_ms === null ? undefined : setTimeout(giveUp, timeout_ms)
  try {
    const response = await fetch(request, { signal: AbortSignal.any([request.signal, late.signal]) })
    if (response.body === null || !/\bjson\b/.test(response.headers.get('content-type') ?? '')) return response
    const { status, statusText, headers } = response
    return new Response(await response.arrayBuffer(), { status, statusText, headers })
  } finally {
    clearTimeout(timer)
  }
}

/** A POST carries an Idempotency-Key; the server cannot recognise a repeated PUT, PATCH or DELETE. */
const isSafeToRetry = (method: string): boolean => method === 'GET' || method === 'POST'

/** A problem says whether a repetition can succeed: a plugin that failed validation answers 503 until it is corrected. */
async function isNotRetryable(response: Response): Promise<boolean> {
  if (response.status !== 503 || !response.headers.get('content-type')?.startsWith('application/problem+json'))
    return false
  const problem: unknown = await response
    .clone()
    .json()
    .catch(() => null)
  return (problem as { retryable?: unknown } | null)?.retryable === false
}

/** The delay before the next attempt, or null if the response is final. */
function retryDelay(response: Response, method: string, attempt: number, longest_ms: number): number | null {
  const asked_s = parseRetryAfter(response)
  const { status } = response
  const isRefusedUnseen = status === 429
  // Proxies return 502 and 504 while a server behind them is replaced.
  const isPassing = [502, 503, 504].includes(status) && isSafeToRetry(method)
  // An earlier attempt of this request is still running on the server.
  const isOwnEcho = status === 409 && method === 'POST' && asked_s !== null
  if (!isRefusedUnseen && !isPassing && !isOwnEcho) return null
  if (asked_s === null) return backoffDelay(attempt)
  const asked_ms = asked_s * 1000
  return asked_ms > longest_ms ? null : asked_ms + Math.random() * Math.max(100, asked_ms / 5)
}

/** Exponential backoff from 250 ms to 8 s, with jitter in the upper half. */
function backoffDelay(attempt: number): number {
  const full_ms = Math.min(8000, 250 * 2 ** (attempt - 1))
  return full_ms / 2 + (Math.random() * full_ms) / 2
}

export function sleep(duration_ms: number, signal: AbortSignal): Promise<void> {
  return rejectOnAbort(new Promise((resolve) => setTimeout(resolve, duration_ms)), signal)
}

/** Resolves with the promise, or rejects when the caller aborts. The underlying work continues for others. */
function rejectOnAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) return Promise.reject(signal.reason)
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

/** A random UUID. `crypto.randomUUID` is missing in browsers on pages without TLS. */
export function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
