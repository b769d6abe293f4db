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

/** What must survive the way to the provider and back. */
interface Started {
  readonly provider: Provider
  readonly state: string
  readonly verifier: string
  readonly redirect_uri: string
  /** The path to come back to. */
  readonly place: string
}

export const callbackPath = '/sign-in/callback'
const storageKey = 'probity.oidc'

/** None when the server has no public client configured, or is too old to say. */
export async function loadProviders(signal?: AbortSignal): Promise<readonly Provider[]> {
  // Hashing, which PKCE needs, is only offered to pages that came over TLS or from this machine.
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

const random = (): string => base64url(crypto.getRandomValues(new Uint8Array(32)))

export async function challengeOf(verifier: string): Promise<string> {
  return base64url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))))
}

/** Remembers what is needed on return and gives the address to go to. */
export async function startSignIn(provider: Provider, origin: string, place: string, storage: Storage): Promise<URL> {
  const started: Started = { provider, state: random(), verifier: random(), redirect_uri: origin + callbackPath, place }
  storage.setItem(storageKey, JSON.stringify(started))
  const url = new URL(provider.authorization_endpoint)
  const parameters = {
    response_type: 'code',
    client_id: provider.client_id,
    redirect_uri: started.redirect_uri,
    scope: provider.scopes.join(' '),
    state: started.state,
    code_challenge: await challengeOf(started.verifier),
    code_challenge_method: 'S256',
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url
}

export type SignedIn = { readonly token: string; readonly place: string } | { readonly fault: string }

/** What was started is forgotten whatever the outcome: a code is good for one try. */
export async function finishSignIn(answer: URLSearchParams, storage: Storage): Promise<SignedIn> {
  const started = takeStarted(storage)
  if (started === null) return { fault: 'This sign-in was not started in this tab. Start again.' }
  if (answer.get('state') !== started.state) return { fault: 'The answer belongs to another sign-in. Start again.' }
  const refusal = answer.get('error')
  if (refusal !== null) return { fault: `The provider refused: ${answer.get('error_description') ?? refusal}.` }
  const code = answer.get('code')
  if (code === null) return { fault: 'The provider sent no code. Start again.' }
  const token = await redeem(code, started)
  return token === null ? { fault: 'The provider gave no token for the code.' } : { token, place: started.place }
}

function takeStarted(storage: Storage): Started | null {
  const text = storage.getItem(storageKey)
  storage.removeItem(storageKey)
  return text === null ? null : (JSON.parse(text) as Started)
}

async function redeem(code: string, { provider, redirect_uri, verifier }: Started): Promise<string | null> {
  const form = {
    grant_type: 'authorization_code',
    code,
    redirect_uri,
    client_id: provider.client_id,
    code_verifier: verifier,
  }
  try {
    const response = await fetch(provider.token_endpoint, { method: 'POST', body: new URLSearchParams(form) })
    if (!response.ok) return null
    const { access_token } = (await response.json()) as { access_token?: unknown }
    return typeof access_token === 'string' ? access_token : null
  } catch {
    return null
  }
}
