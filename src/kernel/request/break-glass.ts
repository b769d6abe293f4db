/**
 * Break glass: a person makes a change immediately, without the approval that the policy requires. Everybody who could have
 * approved it has a review in their inbox until one of them acknowledges it.
 */
import { expectPerson } from '../auth/principal.ts'
import type { Tx } from '../database/tx.ts'
import type { GovernedChange, Route } from '../route.ts'
import { uuidv7 } from '../uuid.ts'
import { findApplicableRule } from './approval.ts'
import { type ApprovalRule, insertBreakGlassReview } from './queries.ts'

export interface BreakGlass {
  readonly reason: string
  /** The rule that was bypassed, or undefined where the policy requires no approval. */
  readonly rule: ApprovalRule | undefined
}

/** Undefined for an ordinary request. Called before the change: the rule may depend on what it changes. */
export async function findBreakGlass(tx: Tx, route: Route, change: GovernedChange): Promise<BreakGlass | undefined> {
  const { governed } = route
  const reason = governed?.breakGlass?.(change.body)
  if (!governed || reason === undefined) return undefined
  expectPerson(tx.actor, 'Only a person may use break_glass, not an API key.')
  return { reason, rule: await findApplicableRule(tx, governed, change) }
}

/** The id of the review, or undefined where no rule was bypassed. */
export async function requestBreakGlassReview(
  tx: Tx,
  route: Route,
  change: GovernedChange,
  { reason, rule }: BreakGlass,
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
