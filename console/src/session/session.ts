/**
 * The session of this browser tab: a token and, if available, an API key or a grant of the identity provider that
 * renews it. Everything is in session storage and is removed when the tab is closed.
 */
import { apiKeyTokens, isProblem, type TokenSource } from '@probity/client'
import { useSyncExternalStore } from 'react'
import { type Grant, type GrantedToken, refreshGrant } from '#console/oidc.ts'
import { parsePasted } from './token.ts'

const tokenKey = 'probity.token'
const apiKeyKey = 'probity.api_key'
const grantKey = 'probity.grant'
const sessionEvents = new EventTarget()
let keyTokens: TokenSource | null = null
let ending: SessionEnd | null = null

/** Why a session ended, as text for the user. */
export interface SessionEnd {
  readonly title: string
  readonly detail: string
}

const NOT_RENEWED: SessionEnd = {
  title: 'Your session has ended',
  detail: 'Your identity provider no longer renews it. Sign in again to return to this page.',
}

const readStored = (key: string): string => window.sessionStorage.getItem(key) ?? ''
function store(key: string, value: string): void {
  if (value === '') window.sessionStorage.removeItem(key)
  else window.sessionStorage.setItem(key, value)
}

function subscribe(notify: () => void) {
  sessionEvents.addEventListener('session', notify)
  return () => sessionEvents.removeEventListener('session', notify)
}
const notifySession = () => sessionEvents.dispatchEvent(new Event('session'))

/** Calls back when a user signs in or out, not when a token is renewed. */
export function onUserChange(react: () => void): void {
  sessionEvents.addEventListener('person', react)
}

/** The token in use, or an empty string. */
export function useToken(): string {
  return useSyncExternalStore(subscribe, () => readStored(tokenKey))
}

/** Why the session ended, until the next sign-in. */
export function useSessionEnd(): SessionEnd | null {
  return useSyncExternalStore(subscribe, () => ending)
}

interface SessionCredentials {
  readonly api_key?: string
  readonly source?: TokenSource
  readonly grant?: Grant | null
}

function startSession(token: string, { api_key = '', source, grant = null }: SessionCredentials = {}): void {
  store(tokenKey, token)
  store(apiKeyKey, api_key)
  store(grantKey, grant === null ? '' : JSON.stringify(grant))
  keyTokens = source ?? null
  ending = null
  sessionEvents.dispatchEvent(new Event('person'))
  notifySession()
}

export const signInAtProvider = ({ token, grant }: GrantedToken): void => startSession(token, { grant })
export const signInWithToken = (token: string): void => startSession(token)
export const signOut = (): void => startSession('')

/** Ends a session whose token is no longer accepted and cannot be renewed. The page keeps its address and asks for sign-in. */
export function endSession(reason: SessionEnd): void {
  if (readStored(tokenKey) === '' && readStored(apiKeyKey) === '') return
  startSession('')
  ending = reason
  notifySession()
}

/** Returns an error text if the pasted text cannot be used. */
export async function signIn(pasted: string): Promise<{ readonly fault: string } | null> {
  const given = parsePasted(pasted)
  if ('fault' in given) return given
  if ('token' in given) {
    startSession(given.token)
    return null
  }
  const source = createKeyTokens(given.api_key)
  try {
    startSession(await source.get(), { api_key: given.api_key, source })
    return null
  } catch (error) {
    return {
      fault: isProblem(error) ? `${error.title}. ${error.detail}` : 'The key could not be exchanged. Try again.',
    }
  }
}

const createKeyTokens = (api_key: string): TokenSource =>
  apiKeyTokens({
    url: '',
    api_key,
    attempts: 2,
    onToken: (token) => {
      // The key is stored only after its first exchange succeeds.
      if (readStored(apiKeyKey) !== api_key) return
      store(tokenKey, token)
      notifySession()
    },
  })

const readGrant = (): Grant | null => {
  const text = readStored(grantKey)
  return text === '' ? null : (JSON.parse(text) as Grant)
}

/** One renewal at a time: a refresh token may be valid for one use only. */
let renewal: Promise<void> | null = null

async function renewOnce(grant: Grant): Promise<void> {
  const renewed = await refreshGrant(grant)
  // The user signed out or changed during the renewal.
  if (readGrant()?.refresh_token !== grant.refresh_token) return
  if (renewed === 'refused') return endSession(NOT_RENEWED)
  // The provider is unavailable: the current token is used while it is valid, and the next request retries.
  if (renewed === 'unreachable') return
  store(tokenKey, renewed.token)
  store(grantKey, JSON.stringify(renewed.grant))
  notifySession()
}

async function providerToken(grant: Grant): Promise<string> {
  if (grant.renew_at_ms !== null && Date.now() >= grant.renew_at_ms) {
    renewal ??= renewOnce(grant).finally(() => {
      renewal = null
    })
    await renewal
  }
  return readStored(tokenKey)
}

/** The token source of the API client. */
export const sessionTokens: TokenSource = {
  get: async () => {
    const api_key = readStored(apiKeyKey)
    const grant = readGrant()
    if (grant !== null) return providerToken(grant)
    if (api_key === '') return readStored(tokenKey)
    keyTokens ??= createKeyTokens(api_key)
    return keyTokens.get()
  },
  invalidate: (refused) => {
    const grant = readGrant()
    if (grant === null) return keyTokens?.invalidate(refused) ?? false
    // Due now, unless another request has renewed it.
    if (readStored(tokenKey) === refused) store(grantKey, JSON.stringify({ ...grant, renew_at_ms: 0 }))
    return true
  },
}
