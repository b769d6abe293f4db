/** Turns the changed members of a change request into rows of words: what, before, after. */
import type { Schemas } from '@probity/client'
import { formatDateTime } from '../date-format.ts'
import { formatPercent } from '../decision/definition-model.ts'
import { formatCount, toSentence, toWords } from '../format.ts'
import { describeOverlap } from '../provider/credential-texts.ts'
import { escapeText } from '../tool/escape-text.ts'
import {
  EVERY_OTHER_TOOL_NAME,
  EVERY_TOOL,
  formatDecisions,
  formatRuleDecision,
  type RoleDecision,
  type Tool,
  type ToolRule,
} from '../tool/tool-texts.ts'
import { formatEntryValue } from '../type-texts.ts'
import { getVersionChange } from './describe-change.ts'

type MemberChange = NonNullable<Schemas['ChangeRequest']['changes']>[number]

export interface ChangeRow {
  readonly label: string
  /** Null: not set. */
  readonly before: string | null
  /** Null: removed. */
  readonly after: string | null
}

/** The reason has a place of its own; hashes and ids stand under "Details". */
const isHidden = (member: string): boolean => member === 'reason' || /(_hash|_id)$/.test(member)

const labels: Readonly<Record<string, string>> = {
  version: 'Version in force',
  pinned: 'Pinned version',
  scheduled: 'Scheduled version',
  overlay: 'Overlay of this tenant',
  origin: 'Owner of the version',
  effective_from: 'In force from',
  expires_at: 'Until',
  override_expires_at: 'Override until',
  rating: 'Rating',
  roles: 'Roles',
  golden_case: 'Golden case',
  active_version: 'Active version',
  overlap_s: 'Version before',
  inputSchema: 'Input schema',
  outputSchema: 'Output schema',
  break_glass: 'Without approval, because',
}
const versionMembers = ['version', 'pinned', 'scheduled', 'overlay', 'type_version', 'active_version']

/** Members whose list is a list of named settings, with the name of each. */
const identities: Readonly<Record<string, string>> = {
  rules: 'action',
  classes: 'record_class',
  inputs: 'name',
  fields: 'name',
}

/** An action that the approval policy does not name. */
const NO_APPROVAL = 'no approval needed'

const TOOL_DECISIONS = 'decisions'

/** What the tool policy says of a tool, by role. */
type DecisionsByRole = Readonly<Record<string, RoleDecision>>

const toDecisions = (said: unknown): Tool['decisions'] =>
  Object.entries((said ?? {}) as DecisionsByRole).map(
    ([role, decision]) => ({ role, decision }) as Tool['decisions'][number],
  )

/** One row per tool for which something else would hold than now, with the roles that this is about. */
const compareToolDecisions = (before: Settings, after: Settings): ChangeRow[] =>
  Object.keys(after).map((tool) => ({
    label: tool,
    before: formatDecisions(toDecisions(before[tool])),
    after: formatDecisions(toDecisions(after[tool])),
  }))

/** A tool that the tool policy does not name. */
const NO_RULE = 'no rule'

type Settings = Readonly<Record<string, unknown>>

const isSettings = (value: unknown): value is Settings =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const ISO_INSTANT = /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/

/** A rule of the approval policy, a retention class, or any other settings as words. */
function formatSettings(value: Settings): string {
  if ('approvers' in value) {
    const { approvers, role, require_impact } = value as { approvers: number; role: string; require_impact?: boolean }
    if (approvers === 0) return NO_APPROVAL
    return `${formatCount(approvers, 'approver')} with the role ${toWords(role)}${require_impact ? ', with an impact analysis' : ''}`
  }
  if ('keep_days' in value) {
    const { keep_days, basis } = value as { keep_days: number | null; basis?: string }
    return `${keep_days === null ? 'kept without limit' : formatCount(keep_days, 'day')}${basis ? ` (${basis})` : ''}`
  }
  return Object.entries(value)
    .filter(([, part]) => part !== null)
    .map(
      ([name, part]) =>
        `${toWords(toMemberName(name))}: ${isSettings(part) ? formatSettings(part) : formatMember(name, part)}`,
    )
    .join('; ')
}

/** Shares are shown as percent, so their unit is not part of the name. */
const toMemberName = (name: string): string => name.replace(/_bps$/, '')

function formatMember(member: string, value: unknown): string {
  if (versionMembers.includes(member) && typeof value === 'number') return `Version ${value}`
  if (member.endsWith('_bps') && typeof value === 'number') return formatPercent(value)
  if (member === 'origin') return value === 'own' ? 'this tenant' : 'shared'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'string' && ISO_INSTANT.test(value)) return formatDateTime(value)
  if (member === 'roles' && Array.isArray(value))
    return value.map((role) => toWords(String(role))).join(', ') || 'no roles'
  if (Array.isArray(value))
    return value.map((part) => (isSettings(part) ? formatSettings(part) : formatEntryValue(part))).join('\n') || 'none'
  return isSettings(value) ? formatSettings(value) : formatEntryValue(value)
}

const formatSide = (member: string, value: unknown): string | null => {
  if (member === 'version' && value === null) return 'no version of this tenant'
  return value === null || value === undefined ? null : formatMember(member, value)
}

/** Settings by name: one row per setting that differs. */
function compareSettings(label: string, before: Settings, after: Settings): ChangeRow[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((name) => !isHidden(name) && JSON.stringify(before[name] ?? null) !== JSON.stringify(after[name] ?? null))
    .map((name) => ({
      label: label === '' ? toSentence(toMemberName(name)) : `${label}, ${toWords(toMemberName(name))}`,
      before: formatSide(name, before[name]),
      after: formatSide(name, after[name]),
    }))
}

const indexBy = (list: unknown, identity: string): Settings =>
  Object.fromEntries(
    (Array.isArray(list) ? (list as Settings[]) : []).map((item) => [String(item[identity]), item] as const),
  )

/** How long the version of a credential that was active before stays usable. */
const OVERLAP = 'overlap_s'

const isToolRules = (value: unknown): value is readonly ToolRule[] =>
  Array.isArray(value) && value.every((rule) => isSettings(rule) && 'tool' in rule)

/** One row per tool whose rules differ. */
function compareToolRules(before: readonly ToolRule[], after: readonly ToolRule[]): ChangeRow[] {
  const format = (rules: readonly ToolRule[], tool: string) =>
    rules
      .filter((rule) => rule.tool === tool)
      .map(formatRuleDecision)
      .join('\n') || NO_RULE
  return [...new Set([...before, ...after].map(({ tool }) => tool))]
    .map((tool) => ({
      label: tool === EVERY_TOOL ? EVERY_OTHER_TOOL_NAME : tool,
      before: format(before, tool),
      after: format(after, tool),
    }))
    .filter((row) => row.before !== row.after)
}

function toRows({ member, before, after }: MemberChange): ChangeRow[] {
  const label = labels[member] ?? toSentence(toMemberName(member))
  if (member === OVERLAP) return [{ label, before: 'in use', after: describeOverlap(Number(after ?? 0)) }]
  if (member === TOOL_DECISIONS && isSettings(before) && isSettings(after)) return compareToolDecisions(before, after)
  if (member === 'rules' && isToolRules(before) && isToolRules(after)) return compareToolRules(before, after)
  const identity = identities[member]
  if (identity !== undefined && (Array.isArray(before) || Array.isArray(after)))
    return compareSettings('', indexBy(before, identity), indexBy(after, identity)).map((row) =>
      member === 'rules' ? { ...row, before: row.before ?? NO_APPROVAL, after: row.after ?? NO_APPROVAL } : row,
    )
  if (isSettings(before) && isSettings(after)) return compareSettings(label, before, after)
  return [{ label, before: formatSide(member, before), after: formatSide(member, after) }]
}

/** Operations that put a version in force at the instant of their approval, unless the request names another. */
const isActivation = (operation: string): boolean => /^activate/.test(operation)

const START = 'effective_from'

/** A first version of the tenant may replace the shared one of the same number. */
function describeInForce(change: ReturnType<typeof getVersionChange>): string {
  if (!change?.from) return 'nothing in force'
  const { from, to } = change
  return from.origin === to.origin ? 'in force already' : `${from.origin} version ${from.version} in force`
}

/**
 * The start of a request that names no instant is that of its approval. Requests that were stored with the instant of their dry
 * run are corrected.
 */
function correctStart(request: StoredRequest, changes: readonly MemberChange[]): MemberChange[] {
  const { effective_from } = (request.body ?? {}) as { readonly effective_from?: string }
  const others = changes.filter(({ member }) => member !== START)
  const before = describeInForce(getVersionChange({ ...request, changes: [...changes] }))
  if (!isActivation(request.operation)) return [...changes]
  if (effective_from !== undefined)
    return changes.map((one) => (one.member === START ? { ...one, before: one.before ?? before } : one))
  if (request.state === 'open') return [...others, { member: START, before, after: 'when it is approved' }]
  if (request.state !== 'approved' || request.decided_at === null) return others
  const executed = changes.find(({ member }) => member === START)?.after
  const isDryRun = typeof executed !== 'string' || Date.parse(executed) < Date.parse(request.decided_at)
  return [...others, { member: START, before, after: isDryRun ? request.decided_at : executed }]
}

/** Requests that were stored before changes were recorded show what they ask for. */
const toBodyChanges = ({ body, query }: StoredRequest): MemberChange[] =>
  Object.entries({ ...query, ...((body ?? {}) as Record<string, unknown>) })
    .filter(([member]) => !member.startsWith('expected_'))
    .map(([member, after]) => ({ member, before: null, after }))

type StoredRequest = Pick<Schemas['ChangeRequest'], 'operation' | 'body' | 'query' | 'changes' | 'state' | 'decided_at'>

/** What the request changes or has changed. */
export function toRequestRows(request: StoredRequest): ChangeRow[] {
  const rows = toChangeRows(correctStart(request, request.changes ?? toBodyChanges(request)))
  return request.operation === 'pinServerTool' ? rows.map(escapeRow) : rows
}

/** The definition of a tool is a text of another party: nothing in it may be hidden from the person who approves it. */
const escapeRow = ({ label, before, after }: ChangeRow): ChangeRow => ({
  label: escapeText(label),
  before: before && escapeText(before),
  after: after && escapeText(after),
})

/** The first version of a credential ends no other. */
const isFirstVersion = (changes: readonly MemberChange[]): boolean =>
  changes.some(({ member, before }) => member === 'active_version' && before === null)

export const toChangeRows = (changes: readonly MemberChange[]): ChangeRow[] => {
  const rows = changes
    .filter(({ member }) => !isHidden(member) && !(member === OVERLAP && isFirstVersion(changes)))
    .flatMap(toRows)
  if (!changes.some(({ member }) => member === TOOL_DECISIONS)) return rows
  // What holds for each role, which comes first, says more than the rules of the tool.
  return rows.filter(({ label }, place) => rows.findIndex((row) => row.label === label) === place)
}
