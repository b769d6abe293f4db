/** Classifies errors and gives their texts. Pure: no component, no clock. */
import { isProblem, type ProbityProblem } from '@probity/client'
import { formatCount, toWords } from './format.ts'
import { getPluginProblem } from './plugin/plugin-texts.ts'
import { getMissingCredentials } from './provider/provider-texts.ts'
import { getToolProblem } from './tool/tool-texts.ts'

export type ErrorKind =
  | 'signed_out'
  | 'forbidden'
  | 'missing'
  | 'stale'
  | 'conflict'
  | 'refused'
  | 'credential'
  | 'plugin'
  | 'tool'
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
  // Offline, a part of the console could not be loaded.
  if (!isProblem(error)) return isOnline ? 'broken' : 'offline'
  if (error.code === 'unreachable') return isOnline ? 'unreachable' : 'offline'
  if (error.code === 'revision_stale') return 'stale'
  // Answered with 503, but no repetition succeeds.
  if (getToolProblem(error) !== null) return 'tool'
  if (error.code === 'plugin_invalid' || error.code === 'plugin_failed') return 'plugin'
  // An invalid identifier in the address is reported as not found.
  if (error.code === 'validation_failed' && error.errors.some((fault) => fault.in === 'path')) return 'missing'
  return kindsByStatus[error.status] ?? (error.status >= 500 ? 'fault' : 'refused')
}

export const errorTitles: Readonly<Record<ErrorKind, string>> = {
  signed_out: 'You are signed out',
  forbidden: 'Your roles do not include this',
  missing: 'Not found',
  stale: 'Changed by someone else',
  conflict: 'Not possible in the current state',
  refused: 'The request was rejected',
  credential: 'A provider credential is missing',
  plugin: 'A plugin cannot run',
  tool: 'A tool may not be used',
  limited: 'Too many requests',
  busy: 'The service is busy',
  fault: 'Something went wrong on the server',
  offline: 'You are offline',
  unreachable: 'The server is not responding',
  broken: 'This page could not be shown',
}

const errorTexts: Partial<Record<ErrorKind, string>> = {
  forbidden: 'Ask an administrator of your tenant if you need it.',
  missing: 'The address may be wrong, or the object was removed or belongs to another tenant.',
  stale: 'This was changed after you opened it. Reload to see the current state, then try again.',
  offline: 'No network connection. The page reloads when the connection is back.',
  unreachable: 'The connection failed. The server may be restarting.',
  broken: 'A newer version of the console may have been installed. Reload the page; nothing you saved is lost.',
}

export function getAdvice(kind: ErrorKind, problem: ProbityProblem | null): string {
  const missing = kind === 'credential' ? getMissingCredentials(problem).length : 0
  // The credentials follow as a list, each with a link.
  if (missing > 0) return `Nothing was started. ${formatCount(missing, 'provider')} cannot be called:`
  const plugin = kind === 'plugin' ? getPluginProblem(problem) : null
  if (plugin) return describePluginProblem(problem, plugin)
  return errorTexts[kind] ?? problem?.detail ?? ''
}

/** The reasons follow as a list, with a link to the plugin. */
function describePluginProblem(
  problem: ProbityProblem | null,
  { plugin_key, version, reasons }: NonNullable<ReturnType<typeof getPluginProblem>>,
): string {
  const name = `The plugin ${plugin_key}${version === null ? '' : `, version ${version},`}`
  const cause = problem?.code === 'plugin_failed' ? `${name} failed on this input` : `${name} cannot run`
  return `${cause}. Nothing was decided or stored without it, and no other version was used.${reasons.length === 0 ? '' : reasons.length === 1 ? ' The reason:' : ' The reasons:'}`
}

/** Whether the same request may succeed later. */
export const isTransient = (kind: ErrorKind): boolean =>
  ['limited', 'busy', 'fault', 'offline', 'unreachable'].includes(kind)

export function requiredRoles(problem: ProbityProblem | null): readonly string[] {
  const roles = problem?.members['required_roles']
  return Array.isArray(roles) ? roles.filter((role) => typeof role === 'string') : []
}

/** What people call a member where its name is not it. */
const stepWords: Readonly<Record<string, string>> = { upload_id: 'file' }

/** The place of an error in words: `#/rules/0/required_role` → `Rules 1, required role`. */
export function formatLocation(pointer: string): string {
  const steps = pointer.replace(/^#/, '').split('/').filter(Boolean)
  const words = steps.reduce(
    (text, step) =>
      /^\d+$/.test(step) ? `${text} ${Number(step) + 1}` : `${text}${text && ', '}${stepWords[step] ?? toWords(step)}`,
    '',
  )
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** Some details are nothing but the errors one after the other, which are listed below. */
export const repeatsErrors = ({ detail, errors }: Pick<ProbityProblem, 'detail' | 'errors'>): boolean =>
  detail !== '' &&
  errors
    .map((error) => error.detail)
    .join(' ')
    .startsWith(detail)

/** Errors by field: `#/email` → `email`. */
export function faultsByField(problem: ProbityProblem | null): Readonly<Record<string, string>> {
  const located = (problem?.errors ?? []).filter((error) => error.in === 'body')
  return Object.fromEntries(located.map(({ pointer, detail }) => [pointer.split('/')[1] ?? '', detail]))
}
