/** Tools, the tool policy, calls and tool servers, in words. Pure. */
import type { ProbityProblem, Schemas } from '@probity/client'
import { toWords } from '../format.ts'
import { describeFault } from '../provider/provider-texts.ts'
import { escapeText } from './escape-text.ts'

export type Tool = Schemas['ToolList']['items'][number]
export type ToolPolicy = Schemas['ToolPolicy']
export type ToolRule = ToolPolicy['rules'][number]
export type ToolDecision = ToolRule['decision']
/** What the policy says to a role; `off`: no rule turns the tool on. */
export type RoleDecision = Tool['decisions'][number]['decision']
export type ToolApproval = Schemas['ToolApproval']
export type ToolCall = Schemas['ToolCall']
export type ToolServer = Schemas['ToolServer']
export type ToolServerItem = Schemas['ToolServerItem']
export type ServerTool = Schemas['ServerTool']
type Role = ToolRule['roles'][number]

export const effectNames: Readonly<Record<Tool['effect'], string>> = {
  read: 'reads',
  work: 'does work',
  propose: 'proposes a change',
}
export const effectTexts: Readonly<Record<Tool['effect'], string>> = {
  read: 'It shows data that the caller may see, and changes nothing.',
  work: 'It computes what the caller may compute, such as an evaluation, and may store the result.',
  propose: 'It always ends in a change request, which another person approves.',
}
export const effectColors: Readonly<Record<Tool['effect'], string>> = { read: 'gray', work: 'cyan', propose: 'indigo' }

export const decisions: readonly ToolDecision[] = ['allow', 'person', 'forbid']
export const decisionNames: Readonly<Record<ToolDecision, string>> = {
  allow: 'allowed',
  person: 'a person approves',
  forbid: 'forbidden',
}
export const roleDecisionNames: Readonly<Record<RoleDecision, string>> = { ...decisionNames, off: 'off' }
export const decisionColors: Readonly<Record<RoleDecision, string>> = {
  allow: 'teal',
  person: 'orange',
  forbid: 'red',
  off: 'gray',
}

/** The rule for every tool without a rule of its own. */
export const EVERY_TOOL = '*'

/** A rule for `*` turns on none of the tools that are off. */
export const EVERY_TOOL_NAME = 'Every tool that is on by default'
export const EVERY_OTHER_TOOL_NAME = 'Every other tool that is on by default'

export interface DecisionGroup {
  readonly decision: RoleDecision
  readonly roles: readonly Role[]
}

/** The roles that may use a tool, by what the policy says to them; the strictest first. */
export const groupByDecision = (said: Tool['decisions']): DecisionGroup[] =>
  [...decisions, 'off' as const]
    .toReversed()
    .map((decision) => ({ decision, roles: said.filter((one) => one.decision === decision).map(({ role }) => role) }))
    .filter(({ roles }) => roles.length > 0)

/** `off for analyst` and `allowed for compliance officer`, each in a line. */
export const formatDecisions = (said: Tool['decisions']): string =>
  groupByDecision(said)
    .map(({ decision, roles }) => `${roleDecisionNames[decision]} for ${roles.map(toWords).join(', ')}`)
    .join('\n')

/** `forbidden for analyst, service`. */
export const formatRuleDecision = ({ roles, decision }: ToolRule): string =>
  `${decisionNames[decision]}${roles.length === 0 ? '' : ` for ${roles.map(toWords).join(', ')}`}`

/** `Every other tool that is on by default: forbidden`; `Every tool …` where no rule names one. */
export const formatRule = (rule: ToolRule, namesNone = false): string => {
  const every = namesNone ? EVERY_TOOL_NAME : EVERY_OTHER_TOOL_NAME
  return `${rule.tool === EVERY_TOOL ? every : rule.tool}: ${formatRuleDecision(rule)}`
}

export const approvalStates: readonly ToolApproval['state'][] = [
  'waiting',
  'succeeded',
  'failed',
  'denied',
  'expired',
  'approved',
]
export const approvalStateNames: Readonly<Record<ToolApproval['state'], string>> = {
  waiting: 'waiting',
  approved: 'approved, no outcome yet',
  succeeded: 'approved, done',
  failed: 'approved, failed',
  denied: 'denied',
  expired: 'expired',
}
export const approvalStateColors: Readonly<Record<ToolApproval['state'], string>> = {
  waiting: 'orange',
  approved: 'cyan',
  succeeded: 'teal',
  failed: 'red',
  denied: 'red',
  expired: 'gray',
}

/** An approved call without an outcome runs, or did not run: then it can be run again or denied. */
export const isStranded = ({ state, running }: Pick<ToolApproval, 'state' | 'running'>): boolean =>
  state === 'approved' && !running

export function nameApprovalState(approval: Pick<ToolApproval, 'state' | 'running' | 'ran_at'>): string {
  if (approval.state !== 'approved') return approvalStateNames[approval.state]
  if (approval.running) return 'approved, running'
  return approval.ran_at === null ? 'approved, not run' : 'approved, done, outcome not stored'
}

export const colorApprovalState = (approval: Pick<ToolApproval, 'state' | 'running'>): string =>
  isStranded(approval) ? 'orange' : approvalStateColors[approval.state]

/** Why an approved call did not run. */
export function describeRunProblem({ run_problem, ran_at }: Pick<ToolApproval, 'run_problem' | 'ran_at'>): string {
  if (ran_at !== null) return 'The call took effect, but the server stopped before it stored the outcome.'
  if (run_problem === null) return 'The server stopped while it ran the call.'
  return runProblemTexts[run_problem] ?? `The server could not run it: ${toWords(run_problem)}.`
}

const runProblemTexts: Readonly<Record<string, string>> = {
  plugin_invalid: 'A plugin that it needs could not run.',
  plugin_failed: 'A plugin that it needs failed.',
  overloaded: 'The server was too busy to run it.',
  dependency_unavailable: 'The database could not be reached.',
}

const callProblemTexts: Readonly<Record<string, string>> = {
  tool_approval_required: 'The call waited for a person.',
  tool_confirmation_required: 'It had to be confirmed first, by the person at the program or by an argument.',
  tool_declined: 'A person declined or denied it.',
  tool_forbidden: 'The tool policy forbids it.',
  role_required: 'The caller has no role that may do this.',
  malformed_request: 'The message could not be read.',
  validation_failed: 'The arguments were not valid.',
  not_found: 'There is no such tool or object.',
  rate_limited: 'The caller made too many calls.',
}

/** Why a call had no result; codes without a text of their own in words. */
export const describeCallProblem = (code: string): string => callProblemTexts[code] ?? `${toWords(code)}.`

export type ServerToolState = ServerTool['state']

export const toolStateNames: Readonly<Record<ServerToolState, string>> = {
  pinned: 'pinned',
  new: 'new',
  changed: 'changed',
  vanished: 'vanished',
}
export const toolStateTexts: Readonly<Record<ServerToolState, string>> = {
  pinned: 'The server offers exactly what was reviewed. Providers may call the tool.',
  new: 'Nobody has reviewed this tool yet. It cannot be called before its definition is pinned.',
  changed:
    'The server offers, or has offered since, something else than what was reviewed. The tool is in quarantine: it is not called until it is reviewed and pinned again.',
  vanished:
    'The server no longer offers the tool that was reviewed. It is in quarantine and is not called. When the server offers it again, it is reviewed and pinned again.',
}
export const toolStateColors: Readonly<Record<ServerToolState, string>> = {
  pinned: 'teal',
  new: 'gray',
  changed: 'red',
  vanished: 'red',
}

export const refusedTexts: Readonly<Record<ToolServer['refused'][number]['reason'], string>> = {
  name_missing: 'It has no name.',
  name_not_allowed: 'Its name has characters other than letters, digits, dot, hyphen and underscore.',
  name_repeated: 'Several tools have this name.',
  definition_too_large: 'Its definition is too large.',
  text_not_storable: 'Its definition has text that cannot be stored.',
}

const serverFaultTexts: Readonly<Record<string, string>> = {
  unauthorized: 'The server does not accept the credential.',
  rate_limited: 'The server asks to be called less often.',
  status_unexpected: 'The server answered with a status that the protocol does not have.',
  media_type_unexpected: 'The answer is neither JSON nor an event stream.',
  message_invalid: 'The answer cannot be read.',
  response_missing: 'The server did not answer the question.',
  negotiation_failed: 'The server speaks no version of the protocol that this service speaks.',
  protocol_error: 'The server answered with an error.',
  result_invalid: 'The answer is not what the protocol prescribes.',
  too_many_pages: 'The list of tools is too long.',
  cursor_repeated: 'The list of tools does not end.',
  too_many_tools: 'The server lists too many tools.',
  input_required: 'The server asks for more input, which is never given.',
}

export const describeServerFault = (fault: string): string => serverFaultTexts[fault] ?? describeFault(fault)

/** The key of the server whose credential this is; null where it is that of a provider. */
export const getServerKey = (credential_key: string): string | null =>
  credential_key.startsWith('mcp/') ? credential_key.slice('mcp/'.length) : null

/** The page of the provider or tool server that a credential belongs to. */
export function toProviderPath(provider_key: string): string {
  const server_key = getServerKey(provider_key)
  return server_key === null ? `/providers/${provider_key}` : `/tools/servers/${server_key}`
}

/** What a program calls itself, which may be anything. */
export const formatClient = (client: string | null): string =>
  client === null ? 'does not say its name' : escapeText(client)

export interface ToolOrigin {
  readonly tool: string | null
  readonly client: string | null
}

/** How an audit event came about, where an assistant caused it; null where none did. */
export function getToolOrigin(detail: Readonly<Record<string, unknown>>): ToolOrigin | null {
  if (detail['via'] !== 'mcp') return null
  const toText = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null)
  return { tool: toText(detail['tool']), client: toText(detail['client']) }
}

export interface ToolReference {
  readonly server_key: string
  readonly tool: string
}

/** The tool of a server that keeps work from being done; null where the problem is another. */
export function getToolProblem(problem: ProbityProblem | null): ToolReference | null {
  const { kind, server_key, tool } = problem?.members ?? {}
  if (problem?.code !== 'plugin_invalid' || kind !== 'tool') return null
  return typeof server_key === 'string' && typeof tool === 'string' ? { server_key, tool } : null
}
