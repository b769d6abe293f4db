/**
 * Signing in at an identity provider: authorization code with PKCE, as a public client. The verifier stays in this tab.
 * The only file of the console that calls fetch itself, because the provider is not the Probity server.
 */

export interface Provider {
  readonly issuer: string
  readonly client_id: string
  readonly authorization_endpoint: string
  readonly token_endpoint: string
  readonly scopes: readonly string[]
}

/** The state kept across the redirect to the provider. */
interface PendingSignIn {
  readonly provider: Provider
  readonly state: string
  readonly verifier: string
  readonly redirect_uri: string
  /** The path to return to. */
  readonly place: string
}

export const callbackPath = '/sign-in/callback'
const storageKey = 'probity.oidc'

/** None if the server has no public client configured. */
export async function loadProviders(signal?: AbortSignal): Promise<readonly Provider[]> {
  // Browsers offer hashing, which PKCE needs, only on pages from TLS or localhost.
  if (!globalThis.isSecureContext) return []
  const response = await fetch('/api/auth/oidc', { headers: { accept: 'application/json' }, ...(signal && { signal }) })
  if (!response.ok) return []
  const { items = [] } = (await response.json()) as { items?: Provider[] }
  return items
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}

const createVerifier = (): string => base64url(crypto.getRandomValues(new Uint8Array(32)))

export async function createChallenge(verifier: string): Promise<string> {
  return base64url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))))
}

/** Stores the state needed on return, and returns the address of the provider. */
export async function startSignIn(provider: Provider, origin: string, place: string, storage: Storage): Promise<URL> {
  const started: PendingSignIn = {
    provider,
    state: createVerifier(),
    verifier: createVerifier(),
    redirect_uri: origin + callbackPath,
    place,
  }
  storage.setItem(storageKey, JSON.stringify(started))
  const url = new URL(provider.authorization_endpoint)
  const parameters = {
    response_type: 'code',
    client_id: provider.client_id,
    redirect_uri: started.redirect_uri,
    scope: provider.scopes.join(' '),
    state: started.state,
    code_challenge: await createChallenge(started.verifier),
    code_challenge_method: 'S256',
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url
}

/** Renews a token at its provider, if the provider issued a refresh token. */
export interface Grant {
  readonly token_endpoint: string
  readonly client_id: string
  readonly refresh_token: string
  /** Null if the provider does not state a lifetime; the token is then renewed when it is refused. */
  readonly renew_at_ms: number | null
}

export interface GrantedToken {
  readonly token: string
  readonly grant: Grant | null
}

export type SignInResult = (GrantedToken & { readonly place: string }) | { readonly fault: string }

/** The stored state is removed in any case, because a code can be used once. */
export async function finishSignIn(answer: URLSearchParams, storage: Storage): Promise<SignInResult> {
  const started = takePendingSignIn(storage)
  if (started === null) return { fault: 'This sign-in was not started in this tab. Start again.' }
  if (answer.get('state') !== started.state) return { fault: 'The response belongs to another sign-in. Start again.' }
  const refusal = answer.get('error')
  if (refusal !== null)
    return { fault: `The provider refused the sign-in: ${answer.get('error_description') ?? refusal}.` }
  const code = answer.get('code')
  if (code === null) return { fault: 'The provider sent no code. Start again.' }
  const granted = await exchangeCode(code, started)
  if (typeof granted === 'string') return { fault: 'The provider issued no token for the code.' }
  return { ...granted, place: started.place }
}

function takePendingSignIn(storage: Storage): PendingSignIn | null {
  const text = storage.getItem(storageKey)
  storage.removeItem(storageKey)
  return text === null ? null : (JSON.parse(text) as PendingSignIn)
}

const exchangeCode = (code: string, { provider, redirect_uri, verifier }: PendingSignIn) =>
  requestToken(provider, { grant_type: 'authorization_code', code, redirect_uri, code_verifier: verifier })

/** A provider may rotate the refresh token with each renewal; the previous one is then invalid. */
export const refreshGrant = (grant: Grant): Promise<GrantedToken | 'refused' | 'unreachable'> =>
  requestToken(grant, { grant_type: 'refresh_token', refresh_token: grant.refresh_token })

/** Tokens are renewed when a tenth of their lifetime is left, so that they do not expire during a request. */
const RENEW_SHARE = 0.1

async function requestToken(
  { token_endpoint, client_id }: Pick<Provider, 'token_endpoint' | 'client_id'>,
  form: Readonly<Record<string, string>>,
): Promise<GrantedToken | 'refused' | 'unreachable'> {
  const asked_at_ms = Date.now()
  try {
    const body = new URLSearchParams({ ...form, client_id })
    const response = await fetch(token_endpoint, { method: 'POST', body })
    if (response.status >= 500) return 'unreachable'
    if (!response.ok) return 'refused'
    const { access_token, refresh_token, expires_in } = (await response.json()) as Record<string, unknown>
    if (typeof access_token !== 'string') return 'refused'
    const kept = typeof refresh_token === 'string' ? refresh_token : form['refresh_token']
    if (kept === undefined) return { token: access_token, grant: null }
    const renew_at_ms = typeof expires_in === 'number' ? asked_at_ms + expires_in * 1000 * (1 - RENEW_SHARE) : null
    return { token: access_token, grant: { token_endpoint, client_id, refresh_token: kept, renew_at_ms } }
  } catch {
    return 'unreachable'
  }
}
