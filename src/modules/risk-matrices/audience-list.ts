/**
 * The audience of a required action is data beside the decision: the list `action-audiences` as the tenant has it in force when
 * an answer is written. Documents stay as they are stored; those who read them exactly are never asked about.
 */
import { canReadCases } from '#kernel/auth/roles.ts'
import type { RedactionContext } from '#kernel/declare-route.ts'
import { resolver } from '#modules/definitions/index.ts'
import { type ActionAudience, type ActionFilter, ANY_ACTION, createActionFilter } from './action-filter.ts'

export const AUDIENCE_LIST = 'action-audiences'

/** Null where the caller is told everything, or there is nothing to tell. */
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
