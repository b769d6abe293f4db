/** Investigations of the chosen part of the inbox: its count holds them beside the alerts. */
import { Group, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { useMe, usePermission } from '#console/session/queries.ts'
import { RelativeTime } from '#console/ui/date-time.tsx'
import { ReasonCodes } from '#console/ui/decision/reason-codes.tsx'
import { formatCount } from '#console/ui/format.ts'
import { PageLink } from '#console/ui/link.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { RestrictionMark } from '#console/ui/restriction/padlock.tsx'
import { PriorityBadge } from '#console/ui/work/priority.tsx'
import { useProposedCases } from '#console/ui/work/proposed-cases.ts'
import { REFETCH_MS } from '#console/ui/work/work-queries.ts'

type Case = Schemas['InvestigationSummary']

const MAX_CASES = 50

export interface InboxCasesFound {
  readonly cases: readonly Case[]
  /** There are more than are listed. */
  readonly hasMore: boolean
  readonly second_looks: number
}

/** Of a queue or of the user; for a second person those with a proposed outcome. */
export function useInboxCases(queue: string | undefined, view: string | undefined): InboxCasesFound {
  const { principal } = useMe()
  const may = usePermission()
  const isCounted = queue !== undefined || view === 'mine'
  const isSecond = view === 'second-person'
  const { cases: proposed } = useProposedCases(isSecond)
  const { data } = useQuery({
    queryKey: ['investigations', 'inbox', queue, view],
    queryFn: ({ signal }) =>
      probity.GET('/api/investigations', {
        params: {
          query: {
            limit: MAX_CASES,
            ...(queue !== undefined && { queue_key: queue }),
            ...(view === 'mine' && { assignee: principal.replace(/^user:/, '') }),
          },
        },
        signal,
      }),
    enabled: isCounted && may('listInvestigations'),
    refetchInterval: REFETCH_MS,
    throwOnError: false,
  })
  const { data: looks } = useQuery({
    queryKey: ['alerts', 'waiting', 'looks', 'inbox'],
    queryFn: ({ signal }) =>
      probity.GET('/api/alerts/second-looks', { params: { query: { state: 'waiting', limit: MAX_CASES } }, signal }),
    enabled: isCounted && may('decideAlertSecondLook'),
    refetchInterval: REFETCH_MS,
    throwOnError: false,
  })
  if (isSecond) return { cases: proposed, hasMore: false, second_looks: 0 }
  if (!isCounted) return { cases: [], hasMore: false, second_looks: 0 }
  return {
    cases: data?.items ?? [],
    hasMore: (data?.next_cursor ?? null) !== null,
    second_looks: looks?.items.length ?? 0,
  }
}

export function InboxCases({ of: { cases, hasMore, second_looks } }: { readonly of: InboxCasesFound }) {
  return (
    <>
      {cases.length > 0 && (
        <section aria-label="Investigations" className="inbox-cases">
          <Text size="sm" fw={600}>
            {hasMore ? `The newest ${cases.length} investigations` : formatCount(cases.length, 'investigation')}
          </Text>
          <ul className="plain-list">
            {cases.map((one) => (
              <li key={one.investigation_id}>
                <Group gap={6} justify="space-between" wrap="nowrap" align="flex-start">
                  <div className="break">
                    <PageLink to={`/investigations/${one.investigation_id}`} size="sm" fw={500}>
                      {one.reference}
                    </PageLink>
                    <RestrictionMark restriction_id={one.is_restricted ? one.restriction_id : null} />
                    <Text span size="sm">
                      {' '}
                      {one.subject.name}
                    </Text>
                  </div>
                  <PriorityBadge priority={one.priority} />
                </Group>
                <CaseDetail of={one} />
              </li>
            ))}
          </ul>
          {hasMore && (
            <PageLink to="/investigations" size="sm">
              All investigations
            </PageLink>
          )}
        </section>
      )}
      {second_looks > 0 && (
        <Text size="sm" c="dimmed" mb="xs">
          The queues also count{' '}
          <PageLink to="/inbox/second-looks" inherit>
            second looks
          </PageLink>
          .
        </Text>
      )}
    </>
  )
}

function CaseDetail({ of: { proposal, title, assignee } }: { readonly of: Case }) {
  return (
    <Text size="xs" c="dimmed" component="div" className="break">
      {proposal === null ? (
        <>
          {title} · {assignee === null ? 'nobody works on it' : <Principal of={assignee} />}
        </>
      ) : (
        <>
          <ReasonCodes of={[proposal.outcome]} />, proposed by <Principal of={proposal.proposed_by} isAlwaysNamed />{' '}
          <RelativeTime at={proposal.proposed_at} />
        </>
      )}
    </Text>
  )
}
