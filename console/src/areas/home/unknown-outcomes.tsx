/** Calls of providers whose outcome is unknown: each waits until a person settles it. Shown only where some wait. */
import { useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { RelativeTime } from '#console/ui/date-time.tsx'
import { PageLink } from '#console/ui/link.tsx'
import { SearchLink } from '#console/ui/search-link.tsx'
import { Section } from '#console/ui/section.tsx'
import { RowList } from './row-list.tsx'

const MAX_SHOWN = 5

export function UnknownOutcomes() {
  const { data } = useQuery({
    queryKey: ['provider-calls', 'unknown'],
    queryFn: ({ signal }) =>
      probity.GET('/api/providers/calls', {
        params: { query: { state: 'outcome_unknown', limit: MAX_SHOWN } },
        signal,
      }),
    refetchInterval: 30_000,
    throwOnError: false,
  })
  if (data === undefined || data.items.length === 0) return null
  return (
    <Section
      title="Calls with an unknown outcome"
      actions={
        <SearchLink to="/providers/calls" search={{ state: 'outcome_unknown' }} size="sm">
          All of them
        </SearchLink>
      }
    >
      <RowList
        label="Calls with an unknown outcome"
        rows={data.items.map((call) => ({
          key: call.call_id,
          link: (
            <PageLink to={`/providers/calls/${call.call_id}`} size="sm" fw={500}>
              {call.capability} at {call.provider_key}
            </PageLink>
          ),
          detail: (
            <>
              Made <RelativeTime at={call.created_at} />. Ask the provider whether it acted on the request.
            </>
          ),
        }))}
        empty="No call has an unknown outcome."
      />
    </Section>
  )
}
