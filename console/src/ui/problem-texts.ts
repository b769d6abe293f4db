/** What kind of trouble a failure is, and how the console speaks of it. Pure: no component, no clock. */
import { isProblem, type ProbityProblem } from '@probity/client'

export type ErrorKind =
  | 'signed_out'
  | 'forbidden'
  | 'missing'
  | 'stale'
  | 'conflict'
  | 'refused'
  | 'credential'
  | 'limited'
  | 'busy'
  | 'fault'
  | 'offline'
  | 'unreachable'
  | 'broken'

const kindsByStatus: Readonly<Record<number, ErrorKind>> = {
  401: 'signed_out',
  403: 'forbidden',
  404: 'missing',
  409: 'conflict',
  412: 'stale',
  424: 'credential',
  429: 'limited',
  503: 'busy',
}

export function classifyError(error: unknown, isOnline: boolean): ErrorKind {
  // Without a connection it is a part of the console that could not be loaded.
  if (!isProblem(error)) return isOnline ? 'broken' : 'offline'
  if (error.code === 'unreachable') return isOnline ? 'unreachable' : 'offline'
  if (error.code === 'revision_stale') return 'stale'
  // An identifier in the address that cannot be one: to the person it is simply not there.
  if (error.code === 'validation_failed' && error.errors.some((fault) => fault.in === 'path')) return 'missing'
  return kindsByStatus[error.status] ?? (error.status >= 500 ? 'fault' : 'refused')
}

export const errorTitles: Readonly<Record<ErrorKind, string>> = {
  signed_out: 'You are signed out',
  forbidden: 'Your roles do not include this',
  missing: 'There is nothing here',
  stale: 'Somebody was faster',
  conflict: 'That does not fit the present state',
  refused: 'The server did not accept this',
  credential: 'A provider credential is missing',
  limited: 'Too many requests',
  busy: 'The service is busy',
  fault: 'Something went wrong on the server',
  offline: 'You are offline',
  unreachable: 'The server does not answer',
  broken: 'This page failed',
}

const errorTexts: Partial<Record<ErrorKind, string>> = {
  forbidden: 'Ask an administrator of your tenant if you need it.',
  missing: 'The address may be mistyped, or what was here is gone. Rows of another tenant look exactly the same.',
  stale: 'This was changed after you opened it. Reload to see the present state, then decide again.',
  offline: 'This machine has no connection. The page comes back by itself when there is one.',
  unreachable: 'The connection failed. The server may be restarting.',
  broken: 'A newer version of the console may have been installed. Reload the page; nothing you saved is lost.',
}

export const getAdvice = (trouble: ErrorKind, problem: ProbityProblem | null): string =>
  errorTexts[trouble] ?? problem?.detail ?? ''

/** Worth another try without any change, by itself after a pause or by hand. */
export const isTransient = (trouble: ErrorKind): boolean =>
  ['limited', 'busy', 'fault', 'offline', 'unreachable'].includes(trouble)

export function requiredRoles(problem: ProbityProblem | null): readonly string[] {
  const roles = problem?.members['required_roles']
  return Array.isArray(roles) ? roles.filter((role) => typeof role === 'string') : []
}

/** Faults by the field they concern: `#/email` → `email`. */
export function faultsByField(problem: ProbityProblem | null): Readonly<Record<string, string>> {
  const located = (problem?.errors ?? []).filter((error) => error.in === 'body')
  return Object.fromEntries(located.map(({ pointer, detail }) => [pointer.split('/')[1] ?? '', detail]))
}
