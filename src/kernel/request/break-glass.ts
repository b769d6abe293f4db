/**
 * Break glass: a change that a person makes at once, without the approval its policy asks for. Everybody else who could have
 * approved it finds it in their inbox until one of them acknowledges it.
 */
import type { Tx } from '../database/tx.ts'
import { fail } from '../problem.ts'
import type { GovernedChange, Route } from '../route.ts'
import { uuidv7 } from '../uuid.ts'
import { findRule } from './governed.ts'
import { type ApprovalRule, insertBreakGlassReview } from './queries.ts'

export interface Emergency {
  readonly reason: string
  /** The rule that is passed over, or undefined where the policy asks for nobody. */
  readonly rule: ApprovalRule | undefined
}

/** Undefined where the request is no emergency. Asked before the change is made: the rule may depend on what it changes. */
export async function findEmergency(tx: Tx, route: Route, change: GovernedChange): Promise<Emergency | undefined> {
  const { governed } = route
  const reason = governed?.breakGlass?.(change.body)
  if (!governed || reason === undefined) return undefined
  if (!tx.actor.startsWith('user:')) fail('person_required', 'Only a person may use break_glass, not an API key.')
  return { reason, rule: await findRule(tx, governed, change) }
}

/** The id of the review that now waits, or undefined where nothing was passed over. */
export async function requestReview(
  tx: Tx,
  route: Route,
  change: GovernedChange,
  { reason, rule }: Emergency,
): Promise<string | undefined> {
  if (!rule || !route.governed) return undefined
  const review_id = uuidv7()
  await insertBreakGlassReview(tx, {
    review_id,
    action: route.governed.action,
    operation: route.id,
    params: change.params,
    body: change.body,
    reason,
    required_role: rule.role,
  })
  return review_id
}
