/** Why a subject has its rating: the reasons of the decision, and the factors that contributed most. */

import { Stack, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { ReasonCodes } from '#console/ui/decision/reason-codes.tsx'
import { formatCount } from '#console/ui/format.ts'
import { formatPoints } from '#console/ui/points.ts'

type Rating = Schemas['Rating']
type Decision = Pick<Schemas['ExplanationOfEvaluation'], 'outcome' | 'explanation'>

const MAX_FACTORS = 4

/** The decision behind a rating, alone or in a batch; null where there is none. */
async function loadDecision(rating: Rating, signal: AbortSignal): Promise<Decision | null> {
  const { evaluation_id, batch_id, subject_id } = rating
  if (evaluation_id !== null) {
    return probity.GET('/api/evaluations/{evaluation_id}/explanation', { params: { path: { evaluation_id } }, signal })
  }
  if (batch_id === null) return null
  const { items } = await probity.GET('/api/batch-evaluations/{batch_id}/items', {
    params: { path: { batch_id }, query: { subject_id, limit: 1 } },
    signal,
  })
  const seq = items[0]?.seq
  if (seq === undefined) return null
  return probity.GET('/api/batch-evaluations/{batch_id}/items/{seq}/explanation', {
    params: { path: { batch_id, seq: String(seq) } },
    signal,
  })
}

export function RatingReasons({ rating }: { readonly rating: Rating }) {
  const may = usePermission()
  const isReadable = may(rating.evaluation_id === null ? 'getBatchItemExplanation' : 'getEvaluationExplanation')
  const { data } = useQuery({
    queryKey: ['subjects', 'reasons', rating.rating_id],
    queryFn: ({ signal }) => loadDecision(rating, signal),
    enabled: isReadable && (rating.evaluation_id !== null || rating.batch_id !== null),
    staleTime: 300_000,
    throwOnError: false,
  })
  if (!data) return null
  const { outcome, explanation } = data
  const contributing = explanation.factors
    .filter(({ contribution_bps }) => Number(contribution_bps) > 0)
    .toSorted((one, two) => Number(two.contribution_bps) - Number(one.contribution_bps))
  const factors = contributing.slice(0, MAX_FACTORS)
  const others = contributing.slice(MAX_FACTORS)
  // The others are among the reason codes.
  const floors = explanation.triggers.filter(({ floor_band }) => floor_band !== null)
  if (outcome.reason_codes.length + factors.length + floors.length === 0) return null
  return (
    <Stack gap={4} role="group" aria-label="Reasons of the rating">
      <Text size="sm" fw={600}>
        Why
      </Text>
      {outcome.reason_codes.length > 0 && (
        <Text size="sm">
          <ReasonCodes of={outcome.reason_codes} />
        </Text>
      )}
      {floors.map(({ key, title, floor_band }) => (
        <Text key={key} size="sm">
          {title} <span className="quiet">at least {floor_band}</span>
        </Text>
      ))}
      {factors.map(({ key, title, contribution_bps }) => (
        <Text key={key} size="sm">
          {title} <span className="number quiet">+{formatPoints(Number(contribution_bps))}</span>
        </Text>
      ))}
      {others.length > 0 && (
        <Text size="sm">
          {formatCount(others.length, 'more factor')}{' '}
          <span className="number quiet">
            +{formatPoints(others.reduce((sum, { contribution_bps }) => sum + Number(contribution_bps), 0))}
          </span>
        </Text>
      )}
    </Stack>
  )
}
