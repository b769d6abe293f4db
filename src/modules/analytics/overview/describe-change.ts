/**
 * Describes a change request in one sentence: what it is about, which version follows which, what differs, and how many customers
 * its impact run moves. Composed of facts that were read before; nothing here reads the database.
 */
import { formatCount } from '#kernel/count-words.ts'
import type { VersionedKind } from '#kernel/module.ts'
import type { ChangeRequestRow } from '#kernel/request/queries.ts'

export interface VersionFacts {
  readonly title: string | null
  /** The version in force now; null where there is none, or it belongs to another owner. */
  readonly from_version: number | null
  readonly entry_count: number | null
  readonly added: number | null
  readonly removed: number | null
  readonly changed: number | null
  /** At most this many entries differ; known where the exact counts are not. */
  readonly at_most: number | null
}

export interface ImpactFacts {
  readonly transitions: readonly {
    readonly family: string
    readonly from: string | null
    readonly to: string | null
    readonly decisions: number
  }[]
  readonly decisions: number
  /** Matrices and rules in force that read what changes. */
  readonly readers: number
  readonly is_sample: boolean
}

export interface ChangeFacts {
  readonly version?: VersionFacts | undefined
  readonly impact?: ImpactFacts | undefined
  /** Of the user, subject or key that the change is about. */
  readonly name?: string | undefined
  /** Bands from the lowest to the highest. */
  readonly bands: readonly string[]
}

type Request = Pick<ChangeRequestRow, 'action' | 'operation' | 'params' | 'body'>

export interface VersionedTarget {
  readonly family: string
  /** Singular noun of its kind. */
  readonly word: string
  readonly key: string
  readonly version: number | null
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value)

/** The list or definition that a request changes, and the version that would be in force; null for other requests. */
export function getVersionedTarget(kinds: readonly VersionedKind[], { params, body }: Request): VersionedTarget | null {
  const kind = kinds.find(({ param }) => params[param] !== undefined)
  if (!kind) return null
  const { version, to_version } = (body ?? {}) as Record<string, unknown>
  const named = version ?? to_version ?? Number(params['version'])
  return {
    family: kind.family,
    word: kind.word,
    key: params[kind.param] as string,
    version: isCount(named) ? named : null,
  }
}

const formatNumber = (count: number): string => count.toLocaleString('en-GB')
const formatRole = (role: string): string => role.replaceAll('_', ' ')
const customers = (count: number): string => formatCount(count, 'customer')
const joinWords = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`

function describeDifference(family: VersionedTarget['family'], facts: VersionFacts): string | null {
  const { from_version, entry_count, added, removed, changed, at_most } = facts
  if (added === null || removed === null || changed === null) {
    if (from_version === null && entry_count !== null && family === 'list')
      return formatCount(entry_count, 'entry', 'entries')
    return at_most === null
      ? null
      : `at most ${formatNumber(at_most)} ${family === 'list' ? 'entries' : 'parts'} differ`
  }
  const parts = [
    [added, 'added'],
    [changed, 'changed'],
    [removed, 'removed'],
  ] as const
  const said = parts.filter(([count]) => count > 0).map(([count, word]) => `${formatNumber(count)} ${word}`)
  if (said.length === 0) return 'same content'
  return family === 'list' ? said.join(', ') : `parts: ${said.join(', ')}`
}

/** Customers whose band rises or falls, whom a rule newly finds or no longer finds, or about whom nothing can be decided. */
export function describeImpact(impact: ImpactFacts, bands: readonly string[]): string {
  const { transitions, decisions, readers, is_sample } = impact
  if (readers === 0) return 'no matrix or rule in force reads it'
  const moved = new Map<string, number>()
  for (const { family, from, to, decisions: count } of transitions) {
    if (from === to || count === 0) continue
    const phrase = describeMove(family, from, to, bands)
    moved.set(phrase, (moved.get(phrase) ?? 0) + count)
  }
  const scope = is_sample ? ` of ${formatCount(decisions, 'sampled decision')}` : ''
  if (moved.size === 0) {
    return decisions === 0
      ? 'no past decision would change, because there is none yet'
      : `no customer would move (${formatCount(decisions, 'decision')} measured)`
  }
  const phrases = [...moved].sort((one, two) => two[1] - one[1])
  const said = phrases.slice(0, 3).map(([phrase, count]) => `${customers(count)} would ${phrase}`)
  const rest = phrases.slice(3).reduce((sum, [, count]) => sum + count, 0)
  if (rest > 0) said.push(`${customers(rest)} would move in other ways`)
  return `${said.join(', ')}${scope}`
}

function describeMove(family: string, from: string | null, to: string | null, bands: readonly string[]): string {
  if (to === null) return 'no longer be decidable'
  if (from === null) return 'become decidable'
  if (family === 'rule') return to === 'hit' ? 'be newly found by the rule' : 'no longer be found by the rule'
  const [low, high] = [bands.indexOf(from), bands.indexOf(to)]
  if (low < 0 || high < 0) return `move from ${from} to ${to}`
  return low < high ? `rise to ${to}` : `fall to ${to}`
}

function describeVersions(target: VersionedTarget, facts: ChangeFacts, verb: string): string {
  const { version } = facts
  const name = version?.title ?? target.key
  const from = version?.from_version ?? null
  const versions =
    target.version === null
      ? verb
      : from === null
        ? `${verb} version ${target.version}`
        : from === target.version
          ? `${verb} version ${target.version}, which is in force`
          : `${verb} version ${from} → ${target.version}`
  const differs = version && target.version !== null ? describeDifference(target.family, version) : null
  const moves = facts.impact ? describeImpact(facts.impact, facts.bands) : null
  return `${name}: ${[versions.trim(), differs, moves].filter(Boolean).join(', ')}`
}

const listRoles = (body: unknown): string => {
  const { roles } = (body ?? {}) as { roles?: unknown }
  return Array.isArray(roles) && roles.length > 0 ? joinWords(roles.map((role) => formatRole(String(role)))) : 'none'
}

/** Verbs of the operations on versions; the first pattern that the operationId matches. */
const versionVerbs: readonly (readonly [operation: RegExp, verb: string])[] = [
  [/^activate/, ''],
  [/^submit/, ''],
  [/^rollBack/, 'roll back'],
  [/^pin/, 'pin'],
  [/^unpin/, 'end the pin'],
  [/^delete\w*Activation$/, 'cancel the scheduled change'],
  [/^updateOverlay/, 'change our own additions'],
  [/^rebaseOverlay/, 'move our own additions to the new version'],
  [/^deleteOverlay/, 'remove our own additions'],
  [/^archive/, 'archive'],
  [/^update/, 'change the settings'],
  [/^create/, 'add a test case'],
  [/^delete/, 'remove a test case'],
]

const describeOverride = (request: Request, facts: ChangeFacts): string => {
  const { band } = (request.body ?? {}) as { band?: unknown }
  const name = facts.name ?? 'A customer'
  return band === undefined ? `${name}: end the override of the rating` : `${name}: override the rating, ${band}`
}

const describeUser = ({ operation, body }: Request, facts: ChangeFacts): string => {
  const name = facts.name ?? String((body as { name?: unknown } | null)?.name ?? 'A user')
  if (operation === 'createUser') return `New user ${name}, roles: ${listRoles(body)}`
  if (operation === 'createApiKey') return `New API key ${name}, roles: ${listRoles(body)}`
  if (operation === 'reactivateUser') return `${name}: reactivate the account with its roles`
  return `${name}: roles ${listRoles(body)}`
}

const describeToolServer = ({ operation, params, body }: Request, summary: string): string => {
  const { server_key = String((body as { server_key?: unknown } | null)?.server_key), tool_name } = params
  if (operation === 'pinServerTool') return `Tool ${tool_name} of the server ${server_key}: pin its definition`
  return `Tool server ${server_key}: ${summary.slice(0, 1).toLowerCase()}${summary.slice(1)}`
}

const otherActions: Readonly<Record<string, string>> = {
  'tenant-profile': 'Organisation profile: change',
  'approval-policy': 'Approval policy: change which actions need approval',
  'retention-policy': 'Retention policy: change how long records are kept',
  'tool-policy': 'Tool policy: change what AI assistants may do',
  'batch-schedules': 'Batch schedule',
  types: 'List type',
}

/** For readers who may not read the request in full: its action only. */
export const describeUnreadable = (action: string): string => {
  const words = action.replaceAll('-', ' ')
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}: your roles do not show what changes`
}

/** `summary` is the summary of the operation, for changes that have no sentence of their own. */
export function describeChange(
  request: Request,
  target: VersionedTarget | null,
  facts: ChangeFacts,
  summary: string,
): string {
  const { action, operation } = request
  if (target) {
    const [, verb] = versionVerbs.find(([pattern]) => pattern.test(operation)) ?? [null, `change the ${target.word}`]
    return describeVersions(target, facts, verb)
  }
  if (action === 'risk-override') return describeOverride(request, facts)
  if (action === 'roles') return describeUser(request, facts)
  if (action === 'tool-servers' || action === 'tool-pins') return describeToolServer(request, summary)
  if (operation === 'createDataset') {
    const { title, list_key } = (request.body ?? {}) as { title?: unknown; list_key?: unknown }
    return `New list ${title ?? list_key}`
  }
  const known = otherActions[action]
  const { name, title } = (request.body ?? {}) as { name?: unknown; title?: unknown }
  const named = typeof name === 'string' ? name : typeof title === 'string' ? title : null
  return known ? (named ? `${known} ${named}` : known) : summary
}
