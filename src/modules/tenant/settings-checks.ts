/** Checks of tenant settings, without I/O. */
import type { Route } from '#kernel/route.ts'

export const findDuplicateName = (names: readonly string[]): string | undefined =>
  names.find((name, index) => names.indexOf(name) !== index)

export function isUnknownTimeZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone })
    return false
  } catch {
    return true
  }
}

interface ImpactRule {
  readonly action: string
  readonly approvers: number
  readonly require_impact?: boolean
}

/** A sentence that says why a rule cannot require an impact run, or null: only measurable actions with approvers can. */
export function findImpactFault(rules: readonly ImpactRule[], measured: readonly string[]): string | null {
  const wrong = rules.find((rule) => rule.require_impact && (rule.approvers === 0 || !measured.includes(rule.action)))
  if (!wrong) return null
  return wrong.approvers === 0
    ? `require_impact of ${wrong.action} needs at least one approver, who is shown the impact.`
    : `The impact of ${wrong.action} is not measured, or must not be waited for; it is of: ${measured.join(', ')}.`
}

interface NamedRule {
  readonly action: string
  readonly approvers: number
  readonly role: string
}

/** Whether the rule of an action differs between two policies. */
export function isRuleChanged(before: readonly NamedRule[], after: readonly NamedRule[], action: string): boolean {
  const find = (rules: readonly NamedRule[]) => rules.find((rule) => rule.action === action)
  const [old, now] = [find(before), find(after)]
  return old?.approvers !== now?.approvers || old?.role !== now?.role
}

/** Whether two policies require the same, in whatever order they name it. */
export function hasSameRules(before: readonly ImpactRuleOfRole[], after: readonly ImpactRuleOfRole[]): boolean {
  const toText = (rules: readonly ImpactRuleOfRole[]) =>
    JSON.stringify(
      rules
        .map(({ action, approvers, role, require_impact = false }) => [action, approvers, role, require_impact])
        .sort(),
    )
  return toText(before) === toText(after)
}
type ImpactRuleOfRole = NamedRule & Pick<ImpactRule, 'require_impact'>

export const listGovernedActions = (routes: readonly Route[]): string[] =>
  [...new Set(routes.flatMap((route) => (route.governed ? [route.governed.action] : [])))].sort()
