/** The ratings of a subject over the time for which they hold, and why each differs from the one before. */
import { toName } from '#kernel/auth/actor-names.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { CollectCapabilities, ReportBlock, ReportFormat, ReportSection } from '#kernel/report-template.ts'
import { explainSubject } from '#modules/batch-evaluations/index.ts'
import type { ratingStore } from '#modules/subjects/index.ts'
import { type CollectedDecision, describeBand, describeOutcome, type NamedBand } from '../decision-parts.ts'
import { describeBatchOrder, nameRequester, type Requesters } from '../requesters.ts'
import { showInput } from '../value-texts.ts'
import { limitNote } from './findings.ts'
import type { OverrideApprovalRow } from './queries.ts'
import { type ComparedDecision, describeChange } from './rating-changes.ts'

type Rating = ratingStore.RatingRow

/** Newest ratings whose reasons are compared: those of batches are decided again for it. */
const MOST_COMPARED = 30

export interface CollectedRating extends Rating {
  /** Null where the decision of a batch can no longer be explained. */
  readonly decision: ComparedDecision | null
}

const byValidTime = (one: Rating, two: Rating): number => {
  const [a, b] = [one, two].map(({ valid_at, recorded_at, rating_id }) => `${valid_at} ${recorded_at} ${rating_id}`)
  return (a as string) < (b as string) ? 1 : -1
}

function toCompared({ definition_version, outcome, explanation }: CollectedDecision): ComparedDecision {
  const { factors, triggers } = explanation
  return { version: definition_version, score_bps: outcome.score_bps ?? 0, ...toParts({ factors, triggers }) }
}

const toParts = ({ factors, triggers }: Pick<CollectedDecision['explanation'], 'factors' | 'triggers'>) => ({
  factors: factors.map(({ key, title, contribution_bps, weight_bps, read }) => ({
    ...{ key, title, contribution_bps, weight_bps, read },
  })),
  triggers: triggers.map(({ key, title }) => ({ key, title })),
})

async function explainRating(
  kernel: CollectCapabilities,
  tx: Tx,
  rating: Rating,
  decisions: readonly CollectedDecision[],
): Promise<ComparedDecision | null> {
  const decision = decisions.find(({ evaluation_id }) => evaluation_id === rating.evaluation_id)
  if (decision) return toCompared(decision)
  if (rating.batch_id === null) return null
  const explained = await explainSubject(kernel, tx, rating.batch_id, rating.subject_id)
  if (!explained || explained.outcome.score_bps === null) return null
  const { outcome, explanation } = explained
  return { version: rating.matrix_version ?? 0, score_bps: outcome.score_bps as number, ...toParts(explanation) }
}

/** Newest first by the time for which they hold. */
export async function collectRatings(
  kernel: CollectCapabilities,
  tx: Tx,
  ratings: readonly Rating[],
  decisions: readonly CollectedDecision[],
): Promise<CollectedRating[]> {
  const collected: CollectedRating[] = []
  for (const rating of [...ratings].sort(byValidTime)) {
    const isCompared = rating.matrix_key !== null && collected.length < MOST_COMPARED
    collected.push({ ...rating, decision: isCompared ? await explainRating(kernel, tx, rating, decisions) : null })
  }
  return collected
}

interface RatingData {
  readonly ratings: readonly CollectedRating[]
  readonly decisions: readonly CollectedDecision[]
  readonly approvals: readonly OverrideApprovalRow[]
  readonly bands: readonly NamedBand[]
  readonly names: Readonly<Record<string, string>>
  readonly requesters: Requesters
}

const isSame = (one: string | null, two: string | null): boolean =>
  one !== null && two !== null && Date.parse(one) === Date.parse(two)

/** Who asked for an override, and who approved it where a second person had to. */
export function describeOverride(
  rating: Rating,
  { approvals, names }: Pick<RatingData, 'approvals' | 'names'>,
): string {
  const approval = approvals.find((one) => one.band === rating.band && isSame(one.expires_at, rating.expires_at))
  if (!approval) return `by ${toName(names, rating.actor)}; no approval of a second person was needed`
  const by = approval.approved_by.map((actor) => toName(names, actor)).join(' and ')
  return `proposed by ${toName(names, approval.proposed_by)}, approved by ${by}`
}

function describeSource(rating: Rating, data: RatingData): string {
  const { requesters, names } = data
  if (rating.cause === 'override') return `Override ${describeOverride(rating, data)}`
  if (rating.cause === 'override-ended') return `End of an override, by ${toName(names, rating.actor)}`
  const how =
    rating.batch_id === null
      ? `requested by ${nameRequester(requesters, names, rating.actor)}`
      : describeBatchOrder(requesters, names, rating.batch_id)
  return `${rating.matrix_key} version ${rating.matrix_version}, ${how}`
}

const describeMove = (rating: Rating, before: Rating, { bands }: RatingData, format: ReportFormat): string => {
  const order = bands.map(({ band }) => band)
  const [old, now] = [before, rating].map(({ band }) => order.indexOf(band ?? ''))
  const score = (rating.score_bps ?? 0) - (before.score_bps ?? 0)
  if (old === now && score === 0) return 'Unchanged.'
  const verb = (now as number) - (old as number) || score
  const from = `${describeBand(bands, before.band)} ${format.share(before.score_bps)}`
  return `${verb > 0 ? 'Rose' : 'Fell'} from ${from}.`
}

/** Ratings by a matrix are compared with the one of the same matrix before them; overrides state their reason. */
function describeReason(rating: CollectedRating, data: RatingData, format: ReportFormat): string {
  if (rating.matrix_key === null)
    return [rating.reason_code, rating.reason, rating.expires_at && `until ${format.day(rating.expires_at)}`]
      .filter(Boolean)
      .join('; ')
  const at = data.ratings.indexOf(rating)
  const before = data.ratings.slice(at + 1).find(({ matrix_key }) => matrix_key === rating.matrix_key)
  if (!before) return 'First rating by this matrix.'
  const move = describeMove(rating, before, data, format)
  if (!before.decision || !rating.decision)
    return at < MOST_COMPARED ? `${move} The reasons of one of the two can no longer be read.` : move
  const texts = data.decisions.find(({ definition_key }) => definition_key === rating.matrix_key)?.input_texts ?? {}
  const show = (value: unknown, name: string) => showInput(value, texts[name], format)
  return [move, ...describeChange(before.decision, rating.decision, format, show)].join(' ')
}

const SCORE_STEPS = 4

/** The scale ends at the next 5 % above the highest score. */
function toTicks(values: readonly number[], format: ReportFormat) {
  const most = Math.max(500, Math.ceil(Math.max(0, ...values) / 500) * 500)
  return Array.from({ length: SCORE_STEPS + 1 }, (_, at) => {
    const value = Math.round((most * at) / SCORE_STEPS)
    return { value, text: format.share(value) }
  })
}

function drawScores(ratings: readonly Rating[], format: ReportFormat): ReportBlock[] {
  const scored = ratings.filter(({ score_bps }) => score_bps !== null).toReversed()
  const values = scored.map(({ score_bps }) => score_bps as number)
  if (scored.length < 2) return []
  return [
    {
      kind: 'chart',
      type: 'line',
      title: 'Score over the time for which the ratings hold',
      labels: scored.map(({ valid_at }) => format.day(valid_at)),
      positions: scored.map(({ valid_at }) => Math.floor(Date.parse(valid_at) / 1000)),
      series: [{ title: 'Score', values, texts: values.map(format.share) }],
      ticks: toTicks(values, format),
    },
  ]
}

export function arrangeHistory(data: RatingData, format: ReportFormat): ReportSection {
  const { ratings, decisions, bands } = data
  const others = decisions.filter(
    ({ evaluation_id }) => !ratings.some((rating) => rating.evaluation_id === evaluation_id),
  )
  return {
    title: 'Ratings over time',
    blocks: [
      {
        kind: 'table',
        title: 'Ratings',
        columns: [
          { title: 'Holds from', width: 3 },
          { title: 'Rating', width: 2, style: 'strong' },
          { title: 'Score', width: 0, align: 'right' },
          { title: 'Against the one before', width: 6 },
          { title: 'By', width: 4 },
          { title: 'Recorded', width: 3 },
        ],
        rows: ratings.map((rating) => [
          format.instant(rating.valid_at),
          describeBand(bands, rating.band),
          format.share(rating.score_bps),
          describeReason(rating, data, format),
          describeSource(rating, data),
          format.instant(rating.recorded_at),
        ]),
        empty: 'The subject was never rated.',
      },
      ...limitNote(ratings),
      ...drawScores(ratings, format),
      ...(others.length === 0
        ? []
        : [
            {
              kind: 'table' as const,
              title: 'Latest decisions that are no ratings',
              columns: [
                { title: 'Decided', width: 3 },
                { title: 'By', width: 4 },
                { title: 'Outcome', width: 3, style: 'strong' as const },
                { title: 'Reasons', width: 5 },
              ],
              rows: others.map((decision) => [
                format.instant(decision.decided_at),
                `${decision.definition_key} version ${decision.definition_version}`,
                describeOutcome(decision, bands, format).title,
                decision.reasons.map(({ title }) => title).join('; ') || '–',
              ]),
              empty: '–',
            },
          ]),
    ],
  }
}
