/** Who is told which required action: by the list of audiences, and applied to every part of a decision that names actions. */
import type { Role } from '#kernel/auth/roles.ts'

export interface ActionAudience {
  /** Roles that are told the action itself. */
  readonly audience: readonly string[]
  /** What others are told in its place; without it nothing. */
  readonly caller_code?: string
}

/** Key of the entry for actions that have none of their own. */
export const ANY_ACTION = '*'

/** Gives the actions as a caller is told them. */
export type ActionFilter = (actions: readonly string[]) => string[]

/** An action that the list does not name is told to nobody, unless the list says otherwise for any action. */
export function createActionFilter(
  audiences: ReadonlyMap<string, ActionAudience>,
  held: readonly Role[],
): ActionFilter {
  const toVisibleCode = (action: string): string | undefined => {
    const entry = audiences.get(action) ?? audiences.get(ANY_ACTION)
    if (!entry) return undefined
    return held.some((role) => entry.audience.includes(role)) ? action : entry.caller_code
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

/** An outcome, an explanation, or whatever else names actions. */
export type DecisionPart = WithActions | WithTriggers | null | undefined

/** Every action that the parts name. */
export const collectActions = (...parts: readonly DecisionPart[]): string[] =>
  parts.flatMap((part) => {
    if (!part) return []
    return 'triggers' in part ? collectActions(...part.triggers) : [...part.required_actions]
  })
