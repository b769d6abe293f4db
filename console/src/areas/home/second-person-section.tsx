/**
 * Proposals of other people that the user may decide: dismissals, outcomes of cases, suppressions, erasures, designations of the MLRO and
 * second looks.
 */
import { useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { useMe, usePermission } from '#console/session/queries.ts'
import { RelativeTime } from '#console/ui/date-time.tsx'
import { ReasonCodes } from '#console/ui/decision/reason-codes.tsx'
import { useFirstAnswer } from '#console/ui/first-answers.tsx'
import { formatCount } from '#console/ui/format.ts'
import { PageLink } from '#console/ui/link.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { RestrictionMark } from '#console/ui/restriction/padlock.tsx'
import { SearchLink } from '#console/ui/search-link.tsx'
import { Section } from '#console/ui/section.tsx'
import { useSubjectName } from '#console/ui/subject-name.ts'
import { PriorityBadge } from '#console/ui/work/priority.tsx'
import { useProposedCases } from '#console/ui/work/proposed-cases.ts'
import { REFETCH_MS } from '#console/ui/work/work-queries.ts'
import { MAX_WAITING, RowList } from './row-list.tsx'

/** The first of one kind, if the user may decide about them. A change of `kind` reads them again. */
function useWaiting<T>(
  kind: readonly string[],
  isAllowed: boolean,
  read: (signal: AbortSignal) => Promise<{ items: T[] }>,
): T[] {
  const { data, isLoading } = useQuery({
    queryKey: [...kind, 'waiting'],
    queryFn: ({ signal }) => read(signal),
    enabled: isAllowed,
    refetchInterval: REFETCH_MS,
    throwOnError: false,
  })
  useFirstAnswer(isLoading)
  return data?.items ?? []
}

const SubjectName = ({ subject_id }: { readonly subject_id: string }) => useSubjectName(subject_id) ?? 'a subject'

const limit = MAX_WAITING

export function SecondPersonSection() {
  const { principal } = useMe()
  const may = usePermission()
  const dismissals = useWaiting(['alerts', 'dismissals'], may('confirmAlertDismissal'), (signal) =>
    probity.GET('/api/alerts', { params: { query: { dismissal: 'waiting_for_me', sort: 'urgent', limit } }, signal }),
  )
  const suppressions = useWaiting(['alerts', 'suppressions'], may('confirmAlertSuppression'), (signal) =>
    probity.GET('/api/alerts/suppressions', { params: { query: { state: 'proposed', limit } }, signal }),
  ).filter(({ proposed_by }) => proposed_by !== principal)
  const erasures = useWaiting(['erasures'], may('confirmErasure'), (signal) =>
    probity.GET('/api/erasures', { params: { query: { state: 'requested', limit } }, signal }),
  ).filter(({ requested_by }) => requested_by !== principal)
  const looks = useWaiting(['alerts', 'looks'], may('decideAlertSecondLook'), (signal) =>
    probity.GET('/api/alerts/second-looks', { params: { query: { state: 'waiting', limit } }, signal }),
  ).filter(({ dismissed_by }) => dismissed_by !== principal)
  const designations = useWaiting(['mlro-designations'], may('confirmMlroDesignation'), (signal) =>
    probity.GET('/api/mlro-designations', { params: { query: { state: 'waiting', limit } }, signal }),
  ).filter(({ proposed_by, user_id }) => ![proposed_by, `user:${user_id}`].includes(principal))
  const proposed = useProposedCases()
  useFirstAnswer(proposed.isLoading)
  const cases = proposed.cases.slice(0, MAX_WAITING)
  const rows = [
    ...dismissals.map((alert) => ({
      key: alert.alert_id,
      link: (
        <>
          <PageLink to={`/inbox/alerts/${alert.alert_id}`} size="sm" fw={500}>
            Dismiss: {alert.title}
          </PageLink>
          <RestrictionMark restriction_id={alert.is_restricted ? alert.restriction_id : null} />
        </>
      ),
      detail: (
        <>
          Proposed by <Principal of={alert.dismissal?.proposed_by ?? ''} />{' '}
          <RelativeTime at={alert.dismissal?.proposed_at ?? alert.updated_at} />
        </>
      ),
      mark: <PriorityBadge priority={alert.priority} />,
    })),
    ...cases.map(({ investigation_id, reference, subject, proposal, is_restricted, restriction_id, priority }) => ({
      key: investigation_id,
      link: (
        <>
          <PageLink to={`/investigations/${investigation_id}`} size="sm" fw={500}>
            Close: {reference} {subject.name}
          </PageLink>
          <RestrictionMark restriction_id={is_restricted ? restriction_id : null} />
        </>
      ),
      detail: proposal !== null && (
        <>
          <ReasonCodes of={[proposal.outcome]} />, proposed by <Principal of={proposal.proposed_by} />{' '}
          <RelativeTime at={proposal.proposed_at} />
        </>
      ),
      mark: <PriorityBadge priority={priority} />,
    })),
    ...erasures.map((erasure) => ({
      key: erasure.erasure_id,
      link: (
        <PageLink to={`/erasures/${erasure.erasure_id}`} size="sm" fw={500}>
          Erasure of <SubjectName subject_id={erasure.subject_id} />
        </PageLink>
      ),
      detail: (
        <>
          Requested by <Principal of={erasure.requested_by} /> <RelativeTime at={erasure.requested_at} />
        </>
      ),
    })),
    ...designations.map(({ designation_id, effect, user_id, proposed_by, proposed_at }) => ({
      key: designation_id,
      link: (
        <PageLink to="/mlro" size="sm" fw={500}>
          {effect === 'designate' ? 'Designation of the MLRO' : 'End of a designation of the MLRO'}
        </PageLink>
      ),
      detail: (
        <>
          <Principal of={`user:${user_id}`} isAlwaysNamed />, proposed by <Principal of={proposed_by} />{' '}
          <RelativeTime at={proposed_at} />
        </>
      ),
    })),
    ...suppressions.map((suppression) => ({
      key: suppression.suppression_id,
      link: (
        <SearchLink to="/inbox/suppressions" search={{ state: 'proposed' }} size="sm" fw={500}>
          Suppression of {suppression.source}
        </SearchLink>
      ),
      detail: (
        <>
          Proposed by <Principal of={suppression.proposed_by} /> <RelativeTime at={suppression.proposed_at} />
        </>
      ),
    })),
    ...(looks.length > 0
      ? [
          {
            key: 'looks',
            link: (
              <PageLink to="/inbox/second-looks" size="sm" fw={500}>
                {formatCount(looks.length, 'second look')}
              </PageLink>
            ),
            detail: 'A sample of dismissed alerts to check',
          },
        ]
      : []),
  ]
  if (rows.length === 0) return null
  return (
    <Section title="Needs a second person">
      <RowList label="Needs a second person" rows={rows} empty={null} />
    </Section>
  )
}
