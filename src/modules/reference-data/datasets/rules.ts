/** Pure decisions about the settings of lists and definitions. */
import { canonicalJson } from '../../../kernel/canonical-json.ts'

/** What a version must keep to, when it is stale and how often it is reviewed: approved changes rely on these. */
const LIMITS = ['guards', 'stale_after_days', 'review_every_days'] as const

/** Whether a change of settings touches more than what describes the list, which may be corrected at once. */
export function changesLimits(present: object, change: unknown): boolean {
  const [now, wanted] = [present as Record<string, unknown>, change as Record<string, unknown>]
  return LIMITS.some(
    (name) => wanted[name] !== undefined && canonicalJson(wanted[name]) !== canonicalJson(now[name] ?? null),
  )
}
