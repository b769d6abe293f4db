/**
 * Who is signed in, in this browser tab: a token, or an API key that is exchanged for tokens and renewed. Both are kept in
 * the session storage of the tab and nowhere else, and are gone when it is closed.
 */
import { apiKeyTokens, isProblem, type ProbityProblem, type TokenSource } from '@probity/client'
import { useSyncExternalStore } from 'react'
import { readPasted } from './token.ts'

const tokenKey = 'probity.token'
const apiKeyKey = 'probity.api_key'
const changes = new EventTarget()
let exchanged: TokenSource | null = null
let ending: ProbityProblem | null = null

const stored = (key: string): string => window.sessionStorage.getItem(key) ?? ''
function store(key: string, value: string): void {
  if (value === '') window.sessionStorage.removeItem(key)
  else window.sessionStorage.setItem(key, value)
}

function subscribe(notify: () => void) {
  changes.addEventListener('session', notify)
  return () => changes.removeEventListener('session', notify)
}
const tell = () => changes.dispatchEvent(new Event('session'))

/** Calls back whenever somebody signs in or out, not when a token is renewed. */
export function onChangeOfPerson(react: () => void): void {
  changes.addEventListener('person', react)
}

/** The token in use, or an empty string. */
export function useToken(): string {
  return useSyncExternalStore(subscribe, () => stored(tokenKey))
}

/** Why the server ended the session, until somebody signs in again. */
export function useEnding(): ProbityProblem | null {
  return useSyncExternalStore(subscribe, () => ending)
}

function begin(token: string, api_key: string, source: TokenSource | null): void {
  store(tokenKey, token)
  store(apiKeyKey, api_key)
  exchanged = source
  ending = null
  changes.dispatchEvent(new Event('person'))
  tell()
}

export const signInWithToken = (token: string): void => begin(token, '', null)
export const signOut = (): void => begin('', '', null)

/** The server no longer accepts the token. The page stays where it is and asks to sign in again. */
export function endSession(problem: ProbityProblem): void {
  if (stored(tokenKey) === '' && stored(apiKeyKey) === '') return
  begin('', '', null)
  ending = problem
  tell()
}

/** A sentence says why when the pasted text cannot be used. */
export async function signIn(pasted: string): Promise<{ readonly fault: string } | null> {
  const given = readPasted(pasted)
  if ('fault' in given) return given
  if ('token' in given) {
    signInWithToken(given.token)
    return null
  }
  const source = tokensOf(given.api_key)
  try {
    begin(await source.get(), given.api_key, source)
    return null
  } catch (error) {
    return {
      fault: isProblem(error) ? `${error.title}. ${error.detail}` : 'The key could not be exchanged. Try again.',
    }
  }
}

const tokensOf = (api_key: string): TokenSource =>
  apiKeyTokens({
    url: '',
    api_key,
    attempts: 2,
    onToken: (token) => {
      // A key that is still being tried is nobody's session yet.
      if (stored(apiKeyKey) !== api_key) return
      store(tokenKey, token)
      tell()
    },
  })

/** What the client asks before every request. */
export const sessionTokens: TokenSource = {
  get: async () => {
    const api_key = stored(apiKeyKey)
    if (api_key === '') return stored(tokenKey)
    exchanged ??= tokensOf(api_key)
    return exchanged.get()
  },
  forget: (refused) => exchanged?.forget(refused) ?? false,
}
