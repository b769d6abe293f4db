/**
 * Who is signed in, in this browser tab: a token, with what renews it if there is anything: an API key, or a grant of the
 * identity provider. All are kept in the session storage of the tab and nowhere else, and are gone when it is closed.
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

/** Why a session is over, in words for the person. */
export interface SessionEnd {
  readonly title: string
  readonly detail: string
}

const NOT_RENEWED: SessionEnd = {
  title: 'Your session has ended',
  detail: 'Your identity provider does not renew it any more. Sign in again; you come back to this page.',
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

/** Calls back whenever somebody signs in or out, not when a token is renewed. */
export function onUserChange(react: () => void): void {
  sessionEvents.addEventListener('person', react)
}

/** The token in use, or an empty string. */
export function useToken(): string {
  return useSyncExternalStore(subscribe, () => readStored(tokenKey))
}

/** Why the session ended, until somebody signs in again. */
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
export const signOut = (): void => startSession('')

/** The token is no longer accepted and nothing renews it. The page stays where it is and asks to sign in again. */
export function endSession(reason: SessionEnd): void {
  if (readStored(tokenKey) === '' && readStored(apiKeyKey) === '') return
  startSession('')
  ending = reason
  notifySession()
}

/** A sentence says why when the pasted text cannot be used. */
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
      // A key that is still being tried is nobody's session yet.
      if (readStored(apiKeyKey) !== api_key) return
      store(tokenKey, token)
      notifySession()
    },
  })

const readGrant = (): Grant | null => {
  const text = readStored(grantKey)
  return text === '' ? null : (JSON.parse(text) as Grant)
}

/** One renewal at a time: a refresh token may be good for one use only. */
let renewal: Promise<void> | null = null

async function renewOnce(grant: Grant): Promise<void> {
  const renewed = await refreshGrant(grant)
  // Somebody signed out, or in as another, while the provider was asked.
  if (readGrant()?.refresh_token !== grant.refresh_token) return
  if (renewed === 'refused') return endSession(NOT_RENEWED)
  // The provider is away: the present token is used as long as it is good, and the next request asks again.
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

/** What the client asks before every request. */
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
    // Due at once, unless another request has renewed it meanwhile.
    if (readStored(tokenKey) === refused) store(grantKey, JSON.stringify({ ...grant, renew_at_ms: 0 }))
    return true
  },
}
