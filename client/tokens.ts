/** Sources of bearer tokens: a constant, a function, or an API key that is exchanged and renewed. */
import { problemFromResponse, unexpectedBodyProblem } from './problem.ts'
import type { TokenSource, Transport } from './transport.ts'
import type { components } from './types.ts'

export type Token = string | (() => string | Promise<string>) | TokenSource

export function toTokenSource(token: Token): TokenSource {
  if (typeof token === 'object') return token
  return { get: async () => (typeof token === 'function' ? token() : token), invalidate: () => false }
}

/** Renewed when a tenth of its lifetime is left, so that it does not expire during a request. */
const RENEWAL_MARGIN = 0.1

interface CachedToken {
  readonly token: string
  readonly renew_at_ms: number
  readonly expires_at_ms: number
}

export interface KeyExchange {
  readonly url: string
  readonly api_key: string
  /** A transport without a token source. */
  readonly send: Transport
  readonly onToken: ((token: string) => void) | undefined
}

export function createKeyTokenSource({ url, api_key, send, onToken }: KeyExchange): TokenSource {
  let held: CachedToken | null = null
  let exchanging: Promise<CachedToken> | null = null

  async function exchange(): Promise<CachedToken> {
    const asked_at_ms = Date.now()
    const body = JSON.stringify({ api_key })
    const headers = { 'content-type': 'application/json', accept: 'application/json' }
    const response = await send(() => new Request(`${url}/api/auth/token`, { method: 'POST', headers, body }))
    const answer: unknown = await response.json().catch(() => null)
    if (!response.ok) throw problemFromResponse(response, answer)
    const { access_token, expires_in } = (answer ?? {}) as Partial<components['schemas']['Token']>
    if (typeof access_token !== 'string' || access_token === '' || typeof expires_in !== 'number') {
      throw unexpectedBodyProblem('a token', response.status)
    }
    const life_ms = expires_in * 1000
    onToken?.(access_token)
    return {
      token: access_token,
      renew_at_ms: asked_at_ms + life_ms * (1 - RENEWAL_MARGIN),
      expires_at_ms: asked_at_ms + life_ms,
    }
  }

  /** Concurrent requests share one exchange. */
  async function renewed(): Promise<CachedToken> {
    exchanging ??= exchange().finally(() => {
      exchanging = null
    })
    held = await exchanging
    return held
  }

  return {
    get: async () => {
      if (held && Date.now() < held.renew_at_ms) return held.token
      const present = held
      try {
        return (await renewed()).token
      } catch (error) {
        // While the current token is valid, a failed renewal is retried with the next request.
        if (present && Date.now() < present.expires_at_ms && held === present) return present.token
        throw error
      }
    },
    invalidate: (refused) => {
      if (held?.token === refused) held = null
      return true
    },
  }
}
