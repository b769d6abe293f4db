/**
 * Loads the audiences of required actions from the list `action-audiences` in force when a reply is written. Stored
 * documents are not filtered, and roles that read them unfiltered need no look-up.
 */
import { canReadCases } from '#kernel/auth/roles.ts'
import type { RedactionContext } from '#kernel/declare-route.ts'
import { resolver } from '#modules/definitions/index.ts'
import { type ActionAudience, type ActionFilter, ANY_ACTION, createActionFilter } from './action-filter.ts'

export const AUDIENCE_LIST = 'action-audiences'

/** Null where the caller may see everything, or there are no actions. */
export async function getActionFilter(
  { actor, kernel, read }: RedactionContext<'caches'>,
  actions: readonly string[],
): Promise<ActionFilter | null> {
  if (actions.length === 0 || canReadCases(actor.roles)) return null
  const keys = [...new Set([...actions, ANY_ACTION])]
  const entries = await read(async (tx) => {
    const list = (await resolver.findPointersInForce(tx, [AUDIENCE_LIST], {})).get(AUDIENCE_LIST)
    return list ? resolver.lookUpEntries(kernel, tx, list, keys) : new Map<string, unknown>()
  })
  return createActionFilter(entries as ReadonlyMap<string, ActionAudience>, actor.roles)
}
