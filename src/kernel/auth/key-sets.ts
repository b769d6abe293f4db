/**
 * The public keys of one token issuer: from a function, a JWKS URL or OIDC discovery, kept during outages. It decides which key
 * may verify which algorithm; it never sees a token.
 */
import { type CryptoKey, importJWK, type JWK } from 'jose'
import type { Egress } from '../egress/egress.ts'
import { EgressFailed } from '../egress/faults.ts'
import { fail, Problem } from '../problem.ts'

export type TokenAlgorithm = 'RS256' | 'ES256' | 'EdDSA'

export type KeySource =
  | { readonly kind: 'static'; jwks(): Promise<JWK[]> }
  | { readonly kind: 'jwks'; readonly url: string }
  | { readonly kind: 'oidc'; readonly issuer_url: string }

export interface KeySetOptions {
  /** Needed unless the source is static. */
  readonly egress?: Pick<Egress, 'request'>
  readonly timeout_ms?: number
  /** Milliseconds of a monotonic clock: only differences are used. */
  readonly now?: () => number
  /** Called for each failed refresh, since verification continues with the previous keys. */
  readonly on_failure?: (error: unknown) => void
}

export interface KeySet {
  /** The one key that matches, or undefined; several matches count as none. */
  find(alg: TokenAlgorithm, kid: string | undefined): Promise<CryptoKey | undefined>
}

interface PublicKey {
  readonly kid: string | undefined
  readonly alg: TokenAlgorithm
  readonly key: CryptoKey
}

/**
 * After `refresh_after_ms` keys are refreshed in the background; after `wait_after_ms` the caller waits for it, so that a key
 * withdrawn while there was no traffic is not accepted once more.
 */
interface RefreshPolicy {
  readonly refresh_after_ms: number
  readonly wait_after_ms: number
  readonly cooldown_ms: number
}

const LOCAL_REFRESH: RefreshPolicy = { refresh_after_ms: 5_000, wait_after_ms: 5_000, cooldown_ms: 1_000 }
const REMOTE_REFRESH: RefreshPolicy = { refresh_after_ms: 600_000, wait_after_ms: 1_200_000, cooldown_ms: 30_000 }
/** Without any key every token of the issuer waits, so the first success is retried sooner. */
const FIRST_KEYS_COOLDOWN_MS = 1_000

const FETCH_TIMEOUT_MS = 5_000
const MAX_BODY_BYTES = 256 * 1024
const MIN_RSA_BITS = 2048

export function createKeySet(source: KeySource, options: KeySetOptions = {}): KeySet {
  const now = options.now ?? (() => performance.now())
  const refreshPolicy = source.kind === 'static' ? LOCAL_REFRESH : REMOTE_REFRESH
  const readJwks = createJwksReader(source, options)
  let keys: readonly PublicKey[] | undefined
  let loaded_at_ms = Number.NEGATIVE_INFINITY
  let tried_at_ms = Number.NEGATIVE_INFINITY
  let loading: Promise<unknown> | undefined

  async function load(): Promise<unknown> {
    try {
      keys = await importKeys(await readJwks())
      loaded_at_ms = now()
      return undefined
    } catch (error) {
      options.on_failure?.(error)
      return error
    } finally {
      tried_at_ms = now()
    }
  }

  /** Joins the current refresh, starts one, or does nothing within the cool-down. Returns the failure, never rejects. */
  async function refresh(): Promise<unknown> {
    const cooldown_ms = keys ? refreshPolicy.cooldown_ms : FIRST_KEYS_COOLDOWN_MS
    if (!loading && now() - tried_at_ms >= cooldown_ms) {
      loading = load().finally(() => {
        loading = undefined
      })
    }
    return loading
  }

  function findMatching(alg: TokenAlgorithm, kid: string | undefined): readonly PublicKey[] {
    const known = keys ?? fail('dependency_unavailable', { retry_after_s: 1 })
    return known.filter((key) => key.alg === alg && (kid === undefined || key.kid === kid))
  }

  return {
    async find(alg, kid) {
      const age_ms = now() - loaded_at_ms
      if (age_ms >= refreshPolicy.wait_after_ms) {
        const failure = await refresh()
        // Our own keys come from the database that the request needs next: a failure is reported immediately.
        if (failure instanceof Problem && failure.code === 'overloaded') throw failure
      } else if (age_ms >= refreshPolicy.refresh_after_ms) void refresh()
      let found = findMatching(alg, kid)
      if (found.length === 0) {
        await refresh()
        found = findMatching(alg, kid)
      }
      return found.length === 1 ? found[0]?.key : undefined
    },
  }
}

async function importKeys(jwks: readonly unknown[]): Promise<readonly PublicKey[]> {
  const keys = await Promise.all(jwks.map(importPublicKey))
  return keys.filter((key) => key !== undefined)
}

/** A key we cannot use is skipped: an issuer may publish keys for other purposes. */
async function importPublicKey(jwk: unknown): Promise<PublicKey | undefined> {
  if (!isObject(jwk)) return undefined
  const { kty, crv, n, e, x, y, kid } = jwk as JWK
  const alg = inferAlgorithm(jwk)
  if (!alg || !(kid === undefined || typeof kid === 'string')) return undefined
  try {
    // Named members only: a private part published by mistake must not be copied.
    const members = alg === 'RS256' ? { kty, n, e } : alg === 'ES256' ? { kty, crv, x, y } : { kty, crv, x }
    const key = await importJWK(members as JWK, alg)
    if (key instanceof Uint8Array) return undefined
    const { modulusLength } = key.algorithm as { modulusLength?: number }
    return modulusLength !== undefined && modulusLength < MIN_RSA_BITS ? undefined : { kid, alg, key }
  } catch {
    return undefined
  }
}

/** One key, one algorithm: its type leaves a single choice, and its own declaration must not contradict it. */
function inferAlgorithm(jwk: Readonly<Record<string, unknown>>): TokenAlgorithm | undefined {
  const { kty, crv, alg, use, key_ops } = jwk
  if (use !== undefined && use !== 'sig') return undefined
  if (key_ops !== undefined && !(Array.isArray(key_ops) && key_ops.includes('verify'))) return undefined
  const only =
    kty === 'RSA'
      ? 'RS256'
      : kty === 'EC' && crv === 'P-256'
        ? 'ES256'
        : kty === 'OKP' && crv === 'Ed25519'
          ? 'EdDSA'
          : undefined
  return alg === undefined || alg === only ? only : undefined
}

function createJwksReader(source: KeySource, options: KeySetOptions): () => Promise<readonly unknown[]> {
  const { egress, timeout_ms = FETCH_TIMEOUT_MS } = options
  const fetchObject = (url: string) =>
    fetchJsonObject(url, egress ?? failKeySet('there is no client to fetch them with'), timeout_ms)
  const fetchKeys = async (url: string) => {
    const { keys } = await fetchObject(url)
    return Array.isArray(keys) ? keys : failKeySet('the key set has no list of keys')
  }
  switch (source.kind) {
    case 'static':
      return () => source.jwks()
    case 'jwks': {
      const url = requireSecureUrl(source.url)
      return () => fetchKeys(url)
    }
    case 'oidc': {
      const url = requireSecureUrl(`${source.issuer_url.replace(/\/$/, '')}/.well-known/openid-configuration`)
      return async () => {
        const { issuer, jwks_uri } = await fetchObject(url)
        if (issuer !== source.issuer_url) failKeySet('the discovery document names another issuer')
        return fetchKeys(requireSecureUrl(jwks_uri))
      }
    }
  }
}

/** Whoever can answer this request can sign tokens: plain http is allowed for a server on the same machine only. */
function requireSecureUrl(text: unknown): string {
  const url = new URL(typeof text === 'string' ? text : failKeySet('an address of keys must be text'))
  const is_loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(url.hostname)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && is_loopback))
    failKeySet('keys are fetched over https only')
  return url.href
}

async function fetchJsonObject(
  url: string,
  egress: Pick<Egress, 'request'>,
  timeout_ms: number,
): Promise<Record<string, unknown>> {
  const { status, body } = await requestDocument(url, egress, timeout_ms)
  if (status !== 200) failKeySet(`the server answered with status ${status}`)
  const document = parseJson(body)
  return isObject(document) ? document : failKeySet('the document is not an object')
}

/** The issuer is named in the operator's configuration, so it may have a private address. */
async function requestDocument(url: string, egress: Pick<Egress, 'request'>, timeout_ms: number) {
  try {
    return await egress.request({
      pool_key: 'issuer',
      url,
      method: 'GET',
      headers: { accept: 'application/json' },
      allowed_hosts: [],
      trust: 'operator',
      timeout_ms,
      max_bytes: MAX_BODY_BYTES,
    })
  } catch (error) {
    if (error instanceof EgressFailed && error.fault === 'too_large') failKeySet('the document is too large')
    throw error
  }
}

/** The message of the parser would repeat what the server sent. */
function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    return failKeySet('the document is not JSON')
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function failKeySet(message: string): never {
  throw new Error(`token issuer keys: ${message}`)
}
