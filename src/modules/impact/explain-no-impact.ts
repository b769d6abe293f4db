/** Says in words why an impact run found that nothing would change. */

import { formatCount } from '#kernel/count-words.ts'

export const NO_IMPACT_REASONS = [
  'not_read',
  'first_version',
  'no_decisions',
  'lists_missing',
  'unusable',
  'no_effect',
] as const

export interface NoImpact {
  readonly reason: (typeof NO_IMPACT_REASONS)[number]
  readonly detail: string
}

interface MeasuredRun {
  readonly family: 'list' | 'matrix' | 'rule' | 'plugin'
  readonly key: string
}

/** The members of a stored result that tell whether anything changes, and why not. */
interface Totals {
  readonly definitions: readonly { readonly key: string; readonly missing: readonly string[] }[]
  readonly population: { readonly subjects: number }
  readonly decisions: number
  readonly unusable: number
  readonly flips: number
  readonly score_moves: number
  readonly refusals_added: number
  readonly refusals_removed: number
  readonly required_actions: readonly unknown[]
  readonly factors: readonly unknown[]
}

const formatKeys = (keys: readonly string[]): string => [...new Set(keys)].sort().join(', ')

/** Titles of lists, and of the matrix, rule or plugin that is measured, by key; what has none is named by its key. */
type Titles = ReadonlyMap<string, string>

/** Null where something would change. Older results are explained as well, since only their totals are read. */
export function explainNoImpact(
  { family, key }: MeasuredRun,
  totals: Totals,
  titles: Titles = new Map(),
): NoImpact | null {
  const getTitle = (name: string) => titles.get(name) ?? name
  const { definitions, decisions } = totals
  const changed =
    totals.flips + totals.score_moves + totals.refusals_added + totals.refusals_removed > 0 ||
    totals.required_actions.length + totals.factors.length > 0
  if (changed) return null
  if (definitions.length === 0 && family === 'plugin')
    return {
      reason: 'not_read',
      detail: `No matrix that can decide now uses the plugin ${getTitle(key)}, so there is no decision to compare with.`,
    }
  if (definitions.length === 0) {
    return family === 'list'
      ? {
          reason: 'not_read',
          detail: `No matrix or rule in force reads the list ${getTitle(key)}, so no decision depends on it.`,
        }
      : {
          reason: 'first_version',
          detail: `No version of ${getTitle(key)} is in force yet, so there is no decision to compare with.`,
        }
  }
  const names = formatKeys(definitions.map((one) => one.key))
  if (totals.population.subjects === 0)
    return { reason: 'no_decisions', detail: `No active subject has been decided with ${names} in the last 400 days.` }
  if (decisions === 0)
    return { reason: 'unusable', detail: `None of the stored decisions by ${names} could be used: they were altered.` }
  const missing = formatKeys(definitions.flatMap((one) => one.missing).map(getTitle))
  if (missing !== '')
    return {
      reason: 'lists_missing',
      detail: `${names} cannot decide today, because no version of ${missing} is in force.`,
    }
  return {
    reason: 'no_effect',
    detail: `${formatCount(decisions, 'decision')} by ${names} ${decisions === 1 ? 'was repeated. It uses nothing' : 'were repeated. None of them uses anything'} that this change alters.`,
  }
}
