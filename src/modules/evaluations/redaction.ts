/** Redacts decisions for the roles of the caller: required actions are shown to their audience only. */
import type { RedactionContext } from '#kernel/declare-route.ts'
import { actionFilters } from '#modules/risk-matrices/index.ts'
import { listFieldChanges } from '#registry/content/json-patch.ts'

interface WithActions {
  readonly required_actions: string[]
}
interface WithTriggers {
  readonly triggers: readonly WithActions[]
}

/** Any view of a decision. */
interface DecisionView {
  readonly required_actions?: string[]
  readonly outcome: WithActions
  readonly explanation?: WithTriggers | undefined
}

export async function redactDecision<T extends DecisionView>(shown: T, reader: RedactionContext<'caches'>): Promise<T> {
  const filter = await actionFilters.getActionFilter(
    reader,
    actionFilters.collectActions(shown.outcome, shown.explanation),
  )
  if (!filter) return shown
  const { required_actions, outcome, explanation } = shown
  return {
    ...shown,
    ...(required_actions && { required_actions: filter(required_actions) }),
    outcome: actionFilters.filterActions(outcome, filter),
    ...(explanation && { explanation: actionFilters.filterExplanation(explanation, filter) }),
  }
}

export async function redactPage<I extends WithActions, P extends { items: I[] }>(
  page: P & { items: I[] },
  reader: RedactionContext<'caches'>,
): Promise<P> {
  const filter = await actionFilters.getActionFilter(reader, actionFilters.collectActions(...page.items))
  return filter ? { ...page, items: page.items.map((item) => actionFilters.filterActions(item, filter)) } : page
}

interface WhatIfView {
  readonly before: WithActions
  readonly after: { readonly outcome: WithActions | null }
  readonly explanation: WithTriggers | null
  readonly changes: unknown
}

/** Compares the redacted views, so that the changes name no hidden action. */
export async function redactWhatIf<T extends WhatIfView>(shown: T, reader: RedactionContext<'caches'>): Promise<T> {
  const { before, after, explanation } = shown
  const filter = await actionFilters.getActionFilter(
    reader,
    actionFilters.collectActions(before, after.outcome, explanation),
  )
  if (!filter) return shown
  const outcomes = [
    actionFilters.filterActions(before, filter),
    after.outcome && actionFilters.filterActions(after.outcome, filter),
  ] as const
  return {
    ...shown,
    before: outcomes[0],
    after: { ...after, outcome: outcomes[1] },
    explanation: actionFilters.filterExplanation(explanation, filter),
    changes: listFieldChanges(outcomes[0], outcomes[1] ?? {}).map((change) => ({ ...change })),
  }
}
