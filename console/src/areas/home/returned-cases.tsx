/** Cases of the user that an officer returned, with the reason. */
import { useQueries, useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { useMe } from '#console/session/queries.ts'
import { RelativeTime } from '#console/ui/date-time.tsx'
import { useFirstAnswer } from '#console/ui/first-answers.tsx'
import { PageLink } from '#console/ui/link.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { RestrictionMark } from '#console/ui/restriction/padlock.tsx'
import { Section } from '#console/ui/section.tsx'
import { lastActQuery } from '#console/ui/work/case-acts.ts'
import { PriorityBadge } from '#console/ui/work/priority.tsx'
import { REFETCH_MS } from '#console/ui/work/work-queries.ts'
import { MAX_WAITING, RowList } from './row-list.tsx'

/** A return is the last change of its case. The acts are read once per revision: a read of a restricted case is recorded. */
function useReturnedCases() {
  const { principal } = useMe()
  const { data, isLoading } = useQuery({
    queryKey: ['investigations', 'own-open', principal],
    queryFn: ({ signal }) =>
      probity.GET('/api/investigations', {
        params: { query: { state: 'open', assignee: principal.replace(/^user:/, ''), limit: 50 } },
        signal,
      }),
    refetchInterval: REFETCH_MS,
    throwOnError: false,
  })
  const candidates = (data?.items ?? [])
    .filter(({ updated_by }) => updated_by.startsWith('user:') && updated_by !== principal)
    .slice(0, MAX_WAITING)
  const acts = useQueries({ queries: candidates.map((one) => ({ ...lastActQuery(one), throwOnError: false })) })
  useFirstAnswer(isLoading || acts.some((act) => act.isLoading))
  return candidates.flatMap((one, place) => {
    const act = acts[place]?.data ?? null
    return act?.kind === 'returned' ? [{ ...one, act }] : []
  })
}

export function ReturnedCases() {
  const cases = useReturnedCases()
  if (cases.length === 0) return null
  const title = 'Returned to you'
  return (
    <Section title={title}>
      <RowList
        label={title}
        rows={cases.map(
          ({ investigation_id, reference, title: about, subject, priority, is_restricted, restriction_id, act }) => ({
            key: investigation_id,
            link: (
              <>
                <PageLink to={`/investigations/${investigation_id}`} size="sm" fw={500}>
                  {reference} {subject.name}: {about}
                </PageLink>
                <RestrictionMark restriction_id={is_restricted ? restriction_id : null} />
              </>
            ),
            detail: (
              <>
                By <Principal of={act.recorded_by} />, <RelativeTime at={act.recorded_at} />: {act.note}
              </>
            ),
            mark: <PriorityBadge priority={priority} />,
          }),
        )}
        empty={null}
      />
    </Section>
  )
}
