/** Filters required actions by the roles of the caller, according to the list of audiences, in every part of a decision. */
import type { Role } from '#kernel/auth/roles.ts'

export interface ActionAudience {
  /** Roles that may see the action itself. */
  readonly audience: readonly string[]
  /** The code shown to other roles; without it the action is omitted. */
  readonly caller_code?: string
}

/** Key of the entry for actions without their own entry. */
export const ANY_ACTION = '*'

/** Returns the actions that a caller may see. */
export type ActionFilter = (actions: readonly string[]) => string[]

/** An action without an entry is hidden from everybody, unless the list has an entry for any action. */
export function createActionFilter(
  audiences: ReadonlyMap<string, ActionAudience>,
  roles: readonly Role[],
): ActionFilter {
  const toVisibleCode = (action: string): string | undefined => {
    const entry = audiences.get(action) ?? audiences.get(ANY_ACTION)
    if (!entry) return undefined
    return roles.some((role) => entry.audience.includes(role)) ? action : entry.caller_code
  }
  return (actions) => [...new Set(actions.map(toVisibleCode))].filter((code) => code !== undefined)
}

interface WithActions {
  readonly required_actions: readonly string[]
}
interface WithTriggers {
  readonly triggers: readonly WithActions[]
}

export const filterActions = <T extends WithActions>(part: T, filter: ActionFilter): T => ({
  ...part,
  required_actions: filter(part.required_actions),
})

export const filterExplanation = <T extends WithTriggers | null>(explanation: T, filter: ActionFilter): T =>
  explanation === null
    ? explanation
    : { ...explanation, triggers: explanation.triggers.map((trigger) => filterActions(trigger, filter)) }

/** An outcome, an explanation, or another object with actions. */
export type DecisionPart = WithActions | WithTriggers | null | undefined

/** All actions in the parts. */
export const collectActions = (...parts: readonly DecisionPart[]): string[] =>
  parts.flatMap((part) => {
    if (!part) return []
    return 'triggers' in part ? collectActions(...part.triggers) : [...part.required_actions]
  })
