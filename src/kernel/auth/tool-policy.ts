/** The tool policy of a tenant: which operations assistants may call as tools, and which calls wait for a person. */
import type { Route } from '../route.ts'
import type { Role } from './roles.ts'

/** For callers with one of the roles, or everybody where there are none; the tool `*` is every tool without a rule of its own. */
export interface ToolRule {
  readonly tool: string
  readonly roles: readonly Role[]
  readonly decision: 'allow' | 'forbid' | 'person'
}
export type ToolDecision = ToolRule['decision']

/** Who may use the tool protocol at all. */
export const toolCallers = ['analyst', 'policy_editor', 'compliance_officer', 'auditor', 'service'] as const

/**
 * Tools that are off until a rule names them: they read or open cases about people. A rule for every tool does not turn them on, and a
 * test compares this list with the operations that are offered.
 */
export const optInTools: ReadonlySet<string> = new Set([
  'add_investigation_note',
  'get_investigation',
  'list_investigations',
  'open_investigation',
])

/** The stricter of two rules holds for a caller with several roles. */
const STRICTNESS: Readonly<Record<ToolDecision, number>> = { allow: 0, person: 1, forbid: 2 }

/** Tools whose result includes that of another tool: its policy applies to them too. */
const readsThrough: Readonly<Record<string, string>> = { evaluate_what_if: 'explain_evaluation' }

/** Tools to which the policy of one of these applies too. */
export const listFollowers = (tools: ReadonlySet<string>): string[] =>
  Object.keys(readsThrough).filter((tool) => tools.has(readsThrough[tool] as string))

const selectStricter = (one: ToolDecision, other: ToolDecision): ToolDecision =>
  STRICTNESS[other] > STRICTNESS[one] ? other : one

/** The stricter decision where the result includes that of another tool. */
export function decideTool(rules: readonly ToolRule[], tool: string, held: readonly Role[]): ToolDecision {
  const decision = decideNamed(rules, tool, held)
  const other = readsThrough[tool]
  return other === undefined ? decision : selectStricter(decision, decideNamed(rules, other, held))
}

/** Rules that name the tool come before rules for every tool; without one it is allowed, unless it has to be turned on. */
function decideNamed(rules: readonly ToolRule[], tool: string, held: readonly Role[]): ToolDecision {
  const applicable = rules.filter(({ roles }) => roles.length === 0 || roles.some((role) => held.includes(role)))
  const named = applicable.filter((rule) => rule.tool === tool)
  if (named.length === 0 && optInTools.has(tool)) return 'forbid'
  const relevant = named.length > 0 ? named : applicable.filter((rule) => rule.tool === '*')
  return relevant.reduce<ToolDecision>((strictest, { decision }) => selectStricter(strictest, decision), 'allow')
}

/** What the policy says to a caller with one role alone. `off`: no rule that holds for the role names a tool that has to be turned on. */
export type RoleDecision = ToolDecision | 'off'

export function decideForRole(rules: readonly ToolRule[], tool: string, role: Role): RoleDecision {
  const isNamed = rules.some((rule) => rule.tool === tool && (rule.roles.length === 0 || rule.roles.includes(role)))
  return optInTools.has(tool) && !isNamed ? 'off' : decideTool(rules, tool, [role])
}

/** Whether the second policy lets any caller do more with any tool than the first. */
export function isLooser(before: readonly ToolRule[], after: readonly ToolRule[]): boolean {
  const rules = [...before, ...after]
  // `*` also stands for a tool that no rule names.
  const tools = new Set(['*', ...rules.map(({ tool }) => tool)])
  const callers = listSubsets([...new Set(rules.flatMap(({ roles }) => roles))])
  return [...tools].some((tool) =>
    callers.some((held) => STRICTNESS[decideTool(after, tool, held)] < STRICTNESS[decideTool(before, tool, held)]),
  )
}

/** Of several roles a caller may have any: what one of them allows another may forbid. */
const listSubsets = (roles: readonly Role[]): readonly (readonly Role[])[] => {
  const [first, ...others] = roles
  if (first === undefined) return [[]]
  const rest = listSubsets(others)
  return rest.concat(rest.map((set) => [first, ...set]))
}

/** Whether the roles allow the operation behind a tool, and the tool protocol itself. */
export const mayCallTool = (route: Route, held: readonly Role[]): boolean =>
  route.roles.some((role) => held.includes(role)) && toolCallers.some((role) => held.includes(role))

/** Names of the tools that a caller can use now. */
export const listUsableTools = (
  routes: readonly Route[],
  rules: readonly ToolRule[] = [],
  held: readonly Role[] = [],
): string[] =>
  routes.flatMap((route) =>
    route.tool && mayCallTool(route, held) && decideTool(rules, route.tool.name, held) !== 'forbid'
      ? [route.tool.name]
      : [],
  )
