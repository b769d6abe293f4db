/** Emergency changes made without approval, to be acknowledged by a user who could have approved them. */

import { Button, Group, Skeleton, Stack, Text } from '@mantine/core'
import { isProblem, type Schemas } from '@probity/client'
import { useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from './api-mutation.ts'
import { RelativeTime } from './date-time.tsx'
import { formatEvent } from './event-texts.ts'
import { useFirstAnswer } from './first-answers.tsx'
import { Principal } from './principal.tsx'
import { ProblemNote } from './problem-note.tsx'
import { Section } from './section.tsx'

type Review = Schemas['BreakGlassReview']

interface BreakGlassInboxProps {
  /** Hides the section if there is nothing to acknowledge. */
  readonly hidesEmpty?: boolean
}

export function BreakGlassInbox({ hidesEmpty = false }: BreakGlassInboxProps) {
  const { data, error, isLoading } = useQuery({
    queryKey: ['break-glass-reviews', 'inbox'],
    queryFn: ({ signal }) =>
      probity.GET('/api/break-glass-reviews/inbox', { params: { query: { limit: 20 } }, signal }),
    refetchInterval: 15_000,
    throwOnError: false,
  })
  useFirstAnswer(isLoading)
  if (hidesEmpty && error === null && (data === undefined || data.items.length === 0)) return null
  return (
    <Section title="Emergency changes to acknowledge">
      <ProblemNote problem={isProblem(error) ? error : null} />
      {data === undefined && error === null && <Skeleton height={60} />}
      {data?.items.length === 0 && (
        <Text size="sm" c="dimmed">
          No emergency change to acknowledge.
        </Text>
      )}
      <Stack gap="sm" component="ul" className="plain-list">
        {data?.items.map((review) => (
          <li key={review.review_id}>
            <ReviewItem review={review} />
          </li>
        ))}
      </Stack>
    </Section>
  )
}

const findTarget = ({ params }: Review): string | undefined =>
  Object.entries(params).find(([name]) => name.endsWith('_key'))?.[1]

function ReviewItem({ review }: { readonly review: Review }) {
  const acknowledge = useApiMutation(
    () =>
      probity.POST('/api/break-glass-reviews/{review_id}/acknowledge', {
        params: { path: { review_id: review.review_id } },
        body: {},
      }),
    { invalidates: ['break-glass-reviews'], successMessage: 'Acknowledged' },
  )
  const target = findTarget(review)
  return (
    <Stack gap={4}>
      <Group justify="space-between" align="flex-start" wrap="nowrap">
        <div>
          <Text size="sm" fw={500}>
            {formatEvent(review.operation)}
            {target !== undefined && (
              <>
                : <span className="mono">{target}</span>
              </>
            )}
          </Text>
          <Text size="sm" c="dimmed" component="div">
            Made without approval by <Principal of={review.created_by} />, <RelativeTime at={review.created_at} />
          </Text>
          <Text size="sm">{review.reason}</Text>
        </div>
        <Button
          size="xs"
          variant="default"
          loading={acknowledge.isRunning}
          onClick={() => acknowledge.run(undefined)}
          aria-label={`Acknowledge: ${formatEvent(review.operation)}${target === undefined ? '' : `, ${target}`}`}
        >
          Acknowledge
        </Button>
      </Group>
      <ProblemNote problem={acknowledge.problem} />
    </Stack>
  )
}
