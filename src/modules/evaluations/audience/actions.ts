/** Decisions as the roles of a caller are told them: required actions by their audience, everything else as it is. */
import type { Reader } from '../../../kernel/route.ts'
import { changesOf } from '../../../registry/content/patch.ts'
import { actionFilterFor, actionsIn, filterActions, filterExplanation } from '../../risk-matrices/index.ts'

interface NamesActions {
  readonly required_actions: string[]
}
interface ExplainsActions {
  readonly triggers: readonly NamesActions[]
}

/** One decision with whatever of it is shown. */
interface DecisionView {
  readonly required_actions?: string[]
  readonly outcome: NamesActions
  readonly explanation?: ExplainsActions | undefined
}

export async function redactDecision<T extends DecisionView>(shown: T, reader: Reader): Promise<T> {
  const filter = await actionFilterFor(reader, actionsIn(shown.outcome, shown.explanation))
  if (!filter) return shown
  const { required_actions, outcome, explanation } = shown
  return {
    ...shown,
    ...(required_actions && { required_actions: filter(required_actions) }),
    outcome: filterActions(outcome, filter),
    ...(explanation && { explanation: filterExplanation(explanation, filter) }),
  }
}

export async function redactPage<I extends NamesActions, P extends { items: I[] }>(
  page: P & { items: I[] },
  reader: Reader,
): Promise<P> {
  const filter = await actionFilterFor(reader, actionsIn(...page.items))
  return filter ? { ...page, items: page.items.map((item) => filterActions(item, filter)) } : page
}

interface WhatIfView {
  readonly before: NamesActions
  readonly after: { readonly outcome: NamesActions | null }
  readonly explanation: ExplainsActions | null
  readonly changes: unknown
}

/** The changes are those between what is shown, so that they name no other action either. */
export async function redactWhatIf<T extends WhatIfView>(shown: T, reader: Reader): Promise<T> {
  const { before, after, explanation } = shown
  const filter = await actionFilterFor(reader, actionsIn(before, after.outcome, explanation))
  if (!filter) return shown
  const outcomes = [filterActions(before, filter), after.outcome && filterActions(after.outcome, filter)] as const
  return {
    ...shown,
    before: outcomes[0],
    after: { ...after, outcome: outcomes[1] },
    explanation: filterExplanation(explanation, filter),
    changes: changesOf(outcomes[0], outcomes[1] ?? {}).map((change) => ({ ...change })),
  }
}
