/**
 * The audience of a required action is data beside the decision: the list `action-audiences` as the tenant has it in force when
 * an answer is written. Documents stay as they are stored; those who read them exactly are never asked about.
 */
import { readsCases } from '../../../kernel/auth/roles.ts'
import type { Reader } from '../../../kernel/route.ts'
import { listsInForce, lookUp } from '../../reference-data/index.ts'
import { type ActionAudience, type ActionFilter, ANY_ACTION, createActionFilter } from './rules.ts'

export const AUDIENCES = 'action-audiences'

/** Null where the caller is told everything, or there is nothing to tell. */
export async function actionFilterFor(
  { actor, kernel, read }: Reader,
  actions: readonly string[],
): Promise<ActionFilter | null> {
  if (actions.length === 0 || readsCases(actor.roles)) return null
  const keys = [...new Set([...actions, ANY_ACTION])]
  const entries = await read(async (tx) => {
    const list = (await listsInForce(tx, [AUDIENCES], {})).get(AUDIENCES)
    return list ? lookUp(kernel, tx, list, keys) : new Map<string, unknown>()
  })
  return createActionFilter(entries as ReadonlyMap<string, ActionAudience>, actor.roles)
}
