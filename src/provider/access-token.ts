/** OAuth 2.0 client credentials (RFC 6749, section 4.4): the request for an access token, and its response. */

import type { ProviderResponse } from './classify-response.ts'
import type { Auth } from './manifest.ts'
import type { RenderedRequest, RenderedValue } from './render-request.ts'

export type OAuth2 = Extract<Auth, { kind: 'oauth2_client_credentials' }>

export const MAX_TOKEN_RESPONSE_BYTES = 64 * 1024
const MAX_TOKEN_LENGTH = 8192
const DEFAULT_LIFETIME_S = 300
const MAX_LIFETIME_S = 24 * 3600
/** Errors that say that the client itself is not accepted; others may be temporary. */
const rejections = new Set(['invalid_client', 'unauthorized_client', 'invalid_grant', 'access_denied'])

export function renderTokenRequest({ token_url, scope, audience, client_auth = 'basic' }: OAuth2): RenderedRequest {
  const fields: [string, RenderedValue][] = [['grant_type', ['client_credentials']]]
  if (scope) fields.push(['scope', [scope]])
  if (audience) fields.push(['audience', [audience]])
  if (client_auth === 'post') {
    fields.push(['client_id', [{ credential: 'client_id' }]], ['client_secret', [{ credential: 'client_secret' }]])
  }
  return {
    method: 'POST',
    url: token_url,
    headers: {
      accept: ['application/json'],
      'content-type': ['application/x-www-form-urlencoded'],
      ...(client_auth === 'basic' && {
        // Section 2.3.1: both are form-encoded first, so that neither can hold a colon.
        authorization: ['Basic ', { basic: ['client_id', 'client_secret'], form_encoded: true }],
      }),
    },
    body: { form: fields },
    client_certificate: null,
  }
}

export type TokenOutcome =
  | { readonly kind: 'token'; readonly text: string; readonly lifetime_s: number }
  /** The credential is not accepted. */
  | { readonly kind: 'rejected' }
  | { readonly kind: 'failed'; readonly fault: 'token_response_invalid' | 'token_endpoint_failed' }

export function readTokenResponse({ status, body }: ProviderResponse): TokenOutcome {
  const document = parseObject(body)
  if (status === 401) return { kind: 'rejected' }
  if (status === 400 || status === 403) {
    const error = document?.['error']
    return typeof error === 'string' && rejections.has(error) ? { kind: 'rejected' } : failed('token_endpoint_failed')
  }
  if (status !== 200) return failed('token_endpoint_failed')
  if (!document) return failed('token_response_invalid')
  const { access_token, token_type, expires_in } = document
  const lifetime_s = toLifetime(expires_in)
  const isBearer = typeof token_type === 'string' && token_type.toLowerCase() === 'bearer'
  if (!isBearer || !isToken(access_token) || lifetime_s === null) return failed('token_response_invalid')
  return { kind: 'token', text: access_token, lifetime_s }
}

const failed = (fault: Extract<TokenOutcome, { kind: 'failed' }>['fault']): TokenOutcome => ({ kind: 'failed', fault })

/** Visible ASCII, as a header can carry it. */
const isToken = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= MAX_TOKEN_LENGTH && /^[\x21-\x7e]+$/.test(value)

/** Null where it cannot be used. Some servers send the number as text. */
function toLifetime(value: unknown): number | null {
  if (value === undefined || value === null) return DEFAULT_LIFETIME_S
  const seconds = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value
  if (typeof seconds !== 'number' || !Number.isFinite(seconds) || seconds < 1) return null
  return Math.min(Math.floor(seconds), MAX_LIFETIME_S)
}

function parseObject(body: Buffer): Readonly<Record<string, unknown>> | null {
  if (body.length > MAX_TOKEN_RESPONSE_BYTES) return null
  try {
    const document: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
    const isObject = typeof document === 'object' && document !== null && !Array.isArray(document)
    return isObject ? (document as Readonly<Record<string, unknown>>) : null
  } catch {
    return null
  }
}
