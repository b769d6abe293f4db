/** Calls of providers whose outcome is unknown: each waits until a person settles it. Shown only where some wait. */

import { useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { RelativeTime } from '#console/ui/date-time.tsx'
import { useFirstAnswer } from '#console/ui/first-answers.tsx'
import { formatOperation } from '#console/ui/format.ts'
import { PageLink } from '#console/ui/link.tsx'
import { RestrictionMark } from '#console/ui/restriction/padlock.tsx'
import { SearchLink } from '#console/ui/search-link.tsx'
import { TargetName } from '#console/ui/target-name.tsx'
import { MAX_WAITING, WaitingRows } from './row-list.tsx'

export function UnknownOutcomes() {
  const { data, isLoading } = useQuery({
    queryKey: ['provider-calls', 'unknown'],
    queryFn: ({ signal }) =>
      probity.GET('/api/providers/calls', {
        params: { query: { state: 'outcome_unknown', limit: MAX_WAITING } },
        signal,
      }),
    refetchInterval: 30_000,
    throwOnError: false,
  })
  useFirstAnswer(isLoading)
  return (
    <WaitingRows
      title="Calls with an unknown outcome"
      link={
        <SearchLink to="/providers/calls" search={{ state: 'outcome_unknown' }} size="sm">
          All of them
        </SearchLink>
      }
      rows={(data?.items ?? []).map((call) => ({
        key: call.call_id,
        link: (
          <>
            <PageLink to={`/providers/calls/${call.call_id}`} size="sm" fw={500}>
              {formatOperation(call.capability)} at <TargetName kind="provider" target_key={call.provider_key} />
            </PageLink>
            <RestrictionMark restriction_id={call.restriction_id} />
          </>
        ),
        detail: (
          <>
            Made <RelativeTime at={call.created_at} />. Ask the provider whether it acted on the request.
          </>
        ),
      }))}
    />
  )
}
