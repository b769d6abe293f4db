/** Sentences of decisions as a reader of a report needs them: one unit for scores, and limits without the keys that they are stored under. */
import type { ReportFormat } from '#kernel/report-template.ts'

/** `(matrix-thresholds v1, customer-risk-person|turnover-large)` after a value: which entry of which version it was read from. */
const ENTRY = / \([a-z0-9-]+ v\d+, [^()]*\)/g
/** Limits on scores are entries of bands. */
const SCORE_LIMIT = /([\d,]+) \([a-z0-9-]*bands v\d+, ([^()]*)\)/g
const INTERVAL = /([[(])([^\s[\]()]+)\.\.([^\s[\]()]+)([\])])/g
const LIMITS = 'By the lists:'

const toRange = (...[, open, from, to, close]: string[]): string =>
  `${open === '[' ? 'from' : 'above'} ${from} ${close === ']' ? 'to' : 'to below'} ${to}`

/** `scores`: numbers in the sentence that are scores. */
export function toReadable(reason: string, format: ReportFormat, scores: readonly number[] = []): string {
  const limits = reason
    .replace(
      SCORE_LIMIT,
      (_, bps: string, band: string) => `${format.share(Number(bps.replaceAll(',', '')))} (${band})`,
    )
    .replace(ENTRY, '')
    .replace(INTERVAL, toRange)
    .replace(LIMITS, 'Limits of the lists:')
  return limits.replace(/\brated (\d+)\b/g, (text, bps: string) =>
    scores.includes(Number(bps)) ? `rated ${format.share(Number(bps))}` : text,
  )
}
