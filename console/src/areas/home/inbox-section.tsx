/** The user's work: what is assigned, and the queues of their team. */
import { Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { RelativeTime, useNow } from '#console/ui/date-time.tsx'
import { useFirstAnswer } from '#console/ui/first-answers.tsx'
import { formatCount } from '#console/ui/format.ts'
import { ButtonLink, PageLink } from '#console/ui/link.tsx'
import { RestrictionMark } from '#console/ui/restriction/padlock.tsx'
import { SearchLink } from '#console/ui/search-link.tsx'
import { Section } from '#console/ui/section.tsx'
import { TimeLeft } from '#console/ui/time-left.tsx'
import { PriorityBadge } from '#console/ui/work/priority.tsx'
import { queuesQuery, REFETCH_MS } from '#console/ui/work/work-queries.ts'
import { MAX_WAITING, RowList } from './row-list.tsx'

const paths: Readonly<Record<string, (id: string) => string>> = {
  alert: (id) => `/inbox/alerts/${id}`,
  second_look: () => '/inbox/second-looks',
  investigation: (id) => `/investigations/${id}`,
}

const toPath = (kind: string, id: string): string => paths[kind]?.(id) ?? '/inbox'

const NOTHING_OPEN = 'Nothing is assigned to you, and your queues are empty: there is nothing to do.'

function DueTime({ at }: { readonly at: string }) {
  const isOverdue = Date.parse(at) <= useNow()
  return (
    <Text span inherit {...(isOverdue && { c: 'red', fw: 600 })}>
      <TimeLeft until={at} ended="overdue" />
    </Text>
  )
}

export function InboxSection() {
  const { data: queues, isLoading: loadsQueues } = useQuery({ ...queuesQuery, throwOnError: false })
  const { data: mine, isLoading: loadsMine } = useQuery({
    queryKey: ['work', 'mine'],
    queryFn: ({ signal }) => probity.GET('/api/work/mine', { params: { query: { limit: MAX_WAITING } }, signal }),
    refetchInterval: REFETCH_MS,
    throwOnError: false,
  })
  useFirstAnswer(loadsQueues || loadsMine)
  const own = (queues?.items ?? []).filter(({ is_mine, open }) => is_mine && open > 0)
  return (
    <Section
      title="Your inbox"
      actions={
        <ButtonLink to="/inbox" size="xs">
          Open the inbox
        </ButtonLink>
      }
    >
      {own.length > 0 && (
        <Group gap="lg" mb="sm" component="ul" className="plain-list" aria-label="Queues">
          {own.map((queue) => (
            <li key={queue.queue_key}>
              <SearchLink to="/inbox" search={{ queue: queue.queue_key }} size="sm" fw={500}>
                {queue.title}: {formatCount(queue.open, 'open item')}
              </SearchLink>
              <Text size="xs" c="dimmed">
                oldest <RelativeTime at={queue.oldest_opened_at} />
                {queue.missed > 0 && (
                  <>
                    {', '}
                    <Text span inherit c="red" fw={600}>
                      {queue.missed} late
                    </Text>
                  </>
                )}
              </Text>
            </li>
          ))}
        </Group>
      )}
      <RowList
        label="Assigned to you"
        rows={(mine?.items ?? []).map((item) => ({
          key: item.object_id,
          link: (
            <>
              <PageLink to={toPath(item.object_kind, item.object_id)} size="sm" fw={500}>
                {item.title ?? item.object_kind}
              </PageLink>
              <RestrictionMark restriction_id={item.restriction_id} />
            </>
          ),
          detail: item.next_due_at !== null && (
            <>
              Due: <DueTime at={item.next_due_at} />
            </>
          ),
          mark: <PriorityBadge priority={item.priority} />,
        }))}
        empty={own.length > 0 ? 'Nothing is assigned to you. Claim the next alert in the inbox.' : NOTHING_OPEN}
      />
    </Section>
  )
}
