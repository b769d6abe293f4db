/** Payloads of providers that wait in quarantine, by contract. Shown only where some wait. */

import { Badge } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { RelativeTime } from '#console/ui/date-time.tsx'
import { useFirstAnswer } from '#console/ui/first-answers.tsx'
import { PageLink } from '#console/ui/link.tsx'
import { SearchLink } from '#console/ui/search-link.tsx'
import { TargetName } from '#console/ui/target-name.tsx'
import { WaitingRows } from './row-list.tsx'

export function QuarantinedPayloads() {
  const { data, isLoading } = useQuery({
    queryKey: ['definitions', 'contract', 'activity'],
    queryFn: ({ signal }) => probity.GET('/api/source-contracts/activity', { signal }),
    refetchInterval: 30_000,
    throwOnError: false,
  })
  useFirstAnswer(isLoading)
  const waiting = (data?.items ?? [])
    .filter(({ open_quarantine }) => open_quarantine > 0)
    .toSorted((one, two) => two.open_quarantine - one.open_quarantine)
  return (
    <WaitingRows
      title="Payloads in quarantine"
      link={
        <PageLink to="/source-contracts/quarantine" size="sm">
          Open the quarantine
        </PageLink>
      }
      rows={waiting.map((one) => ({
        key: one.contract_key,
        link: (
          <SearchLink to="/source-contracts/quarantine" search={{ contract: one.contract_key }} size="sm" fw={500}>
            <TargetName kind="contract" target_key={one.contract_key} />
          </SearchLink>
        ),
        detail: (
          <>
            Last payload <RelativeTime at={one.last_payload_at} />
          </>
        ),
        mark: (
          <Badge variant="light" color="red" tt="none" miw="max-content">
            {one.open_quarantine.toLocaleString('en')} open
          </Badge>
        ),
      }))}
    />
  )
}
