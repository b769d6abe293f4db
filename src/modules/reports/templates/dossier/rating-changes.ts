/** Why a rating differs from the one before it: computed from the two decisions, so that the same two always give the same text. */
import type { Explanation } from '#decision/model.ts'
import type { ReportFormat } from '#kernel/report-template.ts'

/** What a comparison needs of a decision. */
export interface ComparedDecision {
  readonly version: number
  readonly score_bps: number
  readonly factors: readonly Pick<
    Explanation['factors'][number],
    'key' | 'title' | 'contribution_bps' | 'weight_bps' | 'read'
  >[]
  readonly triggers: readonly Pick<Explanation['triggers'][number], 'key' | 'title'>[]
}

/** The value of an input, by its name. */
export type ShowValue = (value: unknown, name: string) => string

/** Contributions have four decimals: whole numbers of ten-thousandths are compared exactly. */
const toUnits = (contribution_bps: string): number => Math.round(Number(contribution_bps) * 10_000)

function describeFactors(before: ComparedDecision, after: ComparedDecision, show: ShowValue) {
  const keys = [...new Set([...after.factors, ...before.factors].map(({ key }) => key))]
  return keys
    .map((key) => {
      const [old, now] = [before, after].map(({ factors }) => factors.find((one) => one.key === key))
      const change = toUnits(now?.contribution_bps ?? '0') - toUnits(old?.contribution_bps ?? '0')
      const read = (factor: typeof old) =>
        Object.entries(factor?.read ?? {})
          .map(([name, value]) => show(value, name))
          .join('; ')
      const values = old && now && read(old) !== read(now) ? `, was ${read(old)}, is ${read(now)}` : ''
      const isNew = !old ? ', a new factor' : !now ? ', no factor any more' : ''
      const weight = old && now && old.weight_bps !== now.weight_bps ? ', other weight' : ''
      return { key, title: (now ?? old)?.title ?? key, change, why: `${values}${isNew}${weight}` }
    })
    .filter(({ change, why }) => change !== 0 || why !== '')
    .sort((one, two) => Math.abs(two.change) - Math.abs(one.change) || (one.key < two.key ? -1 : 1))
}

/** Sentences; empty where nothing differs. */
export function describeChange(
  before: ComparedDecision,
  after: ComparedDecision,
  format: ReportFormat,
  show: ShowValue,
): string[] {
  const sentences: string[] = []
  const added = after.triggers.filter(({ key }) => !before.triggers.some((one) => one.key === key))
  const gone = before.triggers.filter(({ key }) => !after.triggers.some((one) => one.key === key))
  if (added.length > 0) sentences.push(`Trigger now: ${added.map(({ title }) => title).join(', ')}.`)
  if (gone.length > 0) sentences.push(`Trigger no longer: ${gone.map(({ title }) => title).join(', ')}.`)
  const factors = describeFactors(before, after, show).map(({ title, change, why }) => {
    const points = `${change < 0 ? '−' : '+'}${format.share(Math.abs(change) / 10_000)}`
    return `${title} ${change === 0 ? 'unchanged' : points}${why}`
  })
  if (factors.length > 0) sentences.push(`Factors: ${factors.join('; ')}.`)
  if (before.version !== after.version)
    sentences.push(`By matrix version ${after.version} instead of ${before.version}.`)
  if (sentences.length === 0 && before.score_bps !== after.score_bps) sentences.push('By other rounding only.')
  return sentences
}
