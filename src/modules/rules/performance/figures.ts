/** Pure computation of a rule's figures from counts. An unknown figure is null with a reason. */
import type { Static } from '#kernel/schema.ts'
import type { PerformanceView, unknownReasons } from './schema.ts'

type Unknown = (typeof unknownReasons)[number]
type Figures = Static<typeof PerformanceView>['total']
type Figure = Figures['true_positives']

export interface PerformanceCounts {
  readonly decisions: number
  readonly hits: number
  /** Subjects with a hit, by the band of their override; null: no override. */
  readonly outcomes: readonly { readonly band: string | null; readonly subjects: number }[]
}

export interface FigureOptions {
  readonly positive_band?: readonly string[]
  readonly cost_per_hit?: number
}

const toKnownFigure = (value: number): Figure => ({ value: Math.round(value), unknown: null })
const toUnknownFigure = (reason: Unknown): Figure => ({ value: null, unknown: reason })

export function computeFigures(
  { decisions, hits, outcomes }: PerformanceCounts,
  { positive_band, cost_per_hit }: FigureOptions,
): Figures {
  const overridden = outcomes.flatMap(({ band, subjects }) => (band === null ? [] : [{ band, subjects }]))
  const sumSubjects = (of: readonly { subjects: number }[]) => of.reduce((all, { subjects }) => all + subjects, 0)
  const subjects_judged = sumSubjects(overridden)
  const true_positive_subjects = sumSubjects(overridden.filter(({ band }) => positive_band?.includes(band)))
  const reason: Unknown | undefined =
    decisions === 0
      ? 'no_decisions'
      : positive_band === undefined
        ? 'bands_not_named'
        : subjects_judged === 0
          ? 'nothing_judged'
          : undefined
  const cost_unknown: Unknown | undefined =
    reason ??
    (cost_per_hit === undefined ? 'cost_not_named' : true_positive_subjects === 0 ? 'no_true_positives' : undefined)
  return {
    decisions,
    hits,
    hit_rate_bps: decisions === 0 ? toUnknownFigure('no_decisions') : toKnownFigure((hits * 10_000) / decisions),
    subjects_hit: sumSubjects(outcomes),
    subjects_judged,
    outcomes: overridden.toSorted((a, b) => b.subjects - a.subjects || (a.band < b.band ? -1 : 1)),
    true_positives: reason ? toUnknownFigure(reason) : toKnownFigure(true_positive_subjects),
    true_positive_rate_bps: reason
      ? toUnknownFigure(reason)
      : toKnownFigure((true_positive_subjects * 10_000) / subjects_judged),
    cost_per_true_positive: cost_unknown
      ? toUnknownFigure(cost_unknown)
      : toKnownFigure(((cost_per_hit as number) * subjects_judged) / true_positive_subjects),
  }
}
