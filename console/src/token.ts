/**
 * The bearer token of this browser tab: where it is kept, what it says about itself, and how an API key becomes one.
 * Reading a token here proves nothing; only the server checks signatures. An API key is exchanged and never stored.
 */
import { useSyncExternalStore } from 'react'

const storageKey = 'probity.token'
const changed = new EventTarget()

function subscribe(notify: () => void) {
  changed.addEventListener('token', notify)
  return () => changed.removeEventListener('token', notify)
}

/** The token in use, or an empty string. */
export function useToken(): string {
  return useSyncExternalStore(subscribe, () => window.sessionStorage.getItem(storageKey) ?? '')
}

export function keepToken(token: string): void {
  if (token === '') window.sessionStorage.removeItem(storageKey)
  else window.sessionStorage.setItem(storageKey, token)
  changed.dispatchEvent(new Event('token'))
}

export interface TokenClaims {
  readonly tenant_id: string | null
  readonly subject: string | null
  readonly roles: readonly string[]
  readonly expires_at: Date | null
}

export type TokenReading = { readonly claims: TokenClaims } | { readonly fault: string }

export function readToken(token: string): TokenReading {
  const parts = token.split('.')
  if (parts.length !== 3) {
    return { fault: `A token has three parts with dots between them; this has ${parts.length}.` }
  }
  const payload = parsePayload(parts[1] ?? '')
  if (payload === null) return { fault: 'The middle part of this token cannot be read. Was it copied completely?' }
  const { tenant_id, sub, roles, exp } = payload
  return {
    claims: {
      tenant_id: typeof tenant_id === 'string' ? tenant_id : null,
      subject: typeof sub === 'string' ? sub : null,
      roles: Array.isArray(roles) ? roles.filter((role) => typeof role === 'string') : [],
      expires_at: typeof exp === 'number' ? new Date(exp * 1000) : null,
    },
  }
}

function parsePayload(base64url: string): Record<string, unknown> | null {
  try {
    const binary = atob(base64url.replaceAll('-', '+').replaceAll('_', '/'))
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0))
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    return typeof value === 'object' && value !== null ? { ...value } : null
  } catch {
    return null
  }
}

export function isApiKey(text: string): boolean {
  return text.startsWith('pk_')
}

/** A pasted token or API key becomes the token to use; a sentence says why when it does not. */
export async function tokenFrom(pasted: string): Promise<{ readonly token: string } | { readonly fault: string }> {
  const text = pasted.trim().replace(/^bearer\s+/i, '')
  if (text === '') return { fault: 'Paste a token or an API key first.' }
  const exchanged = isApiKey(text) ? await exchange(text) : { token: text }
  if ('fault' in exchanged) return exchanged
  const reading = readToken(exchanged.token)
  return 'fault' in reading ? reading : exchanged
}

async function exchange(api_key: string): Promise<{ readonly token: string } | { readonly fault: string }> {
  try {
    const response = await fetch('/api/auth/token', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ api_key }),
    })
    const answer: { access_token?: string; title?: string; detail?: string } = await response.json()
    if (response.ok && answer.access_token) return { token: answer.access_token }
    const sentences = [answer.title ?? `The server answered ${response.status}`, answer.detail]
    return { fault: sentences.filter(Boolean).join('. ') }
  } catch {
    return { fault: 'The server could not be reached to exchange the key. Try again.' }
  }
}
