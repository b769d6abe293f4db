/** How a provider is doing: mode, availability, budget, credential and last events. */
import './providers.css'
import { Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { usePermission } from '#console/session/queries.ts'
import { DateTime, RelativeTime } from '#console/ui/date-time.tsx'
import { formatCount } from '#console/ui/format.ts'
import { PageLink } from '#console/ui/link.tsx'
import { AvailabilityBadge, CredentialBadge, ModeBadge, TestBadge } from '#console/ui/provider/badges.tsx'
import { Budget } from '#console/ui/provider/budget.tsx'
import { GapLink } from '#console/ui/provider/missing-credentials.tsx'
import { gapsQuery } from '#console/ui/provider/provider-queries.ts'
import { describeFault, modeTexts, type ProviderStatus } from '#console/ui/provider/provider-texts.ts'
import { SearchLink } from '#console/ui/search-link.tsx'
import { Facts, Section } from '#console/ui/section.tsx'
import { SwitchMode } from './switch-mode.tsx'

export function StatusSection({ status }: { readonly status: ProviderStatus }) {
  const may = usePermission()
  return (
    <Section title="Status" actions={may('updateProviderMode') && <SwitchMode provider_key={status.provider_key} />}>
      <div className="status-grid">
        <Facts
          of={[
            [
              'Mode',
              <Group key="mode" gap={8}>
                <ModeBadge mode={status.mode} isTest={status.environment === 'test'} />
                <Text size="sm" span>
                  {modeTexts[status.mode]}
                </Text>
              </Group>,
            ],
            ['Availability', <Availability key="breaker" status={status} />],
            ['Credential', <CredentialState key="credential" status={status} />],
            ['Budget', <Budget key="budget" status={status} />],
          ]}
        />
        <Facts
          of={[
            status.rate_available !== null && [
              'Rate',
              status.rate_available === 0
                ? 'Limit reached: calls wait for their turn'
                : `${formatCount(status.rate_available, 'request')} may be sent now`,
            ],
            ['Under way', formatCount(status.in_flight, 'request')],
            [
              'Last call',
              <Group key="call" gap={8}>
                <RelativeTime at={status.last_call_at} />
                {status.last_call_mode !== null && <TestBadge mode={status.last_call_mode} />}
              </Group>,
            ],
            status.last_test_call_at !== null &&
              status.last_call_mode === 'live' && [
                'Last test call',
                <RelativeTime key="test" at={status.last_test_call_at} />,
              ],
            (status.mode === 'live' || status.last_answer_at !== null) && [
              'Last answer of the provider',
              <RelativeTime key="answer" at={status.last_answer_at} />,
            ],
            status.last_fault !== null && [
              'Last failure',
              <span key="fault">
                <RelativeTime at={status.last_fault_at} />: {describeFault(status.last_fault)}
              </span>,
            ],
          ]}
        />
      </div>
    </Section>
  )
}

function Availability({ status }: { readonly status: ProviderStatus }) {
  return (
    <Group gap={8}>
      <AvailabilityBadge status={status} />
      {status.refused.map(({ capability, code, message, tool }, index) => (
        <Text size="sm" span key={`${capability} ${code} ${index}`}>
          {capability}: {message}{' '}
          {tool && (
            <PageLink to={`/tools/servers/${tool.server_key}/tools/${tool.tool}`} size="sm">
              Open the tool {tool.tool}
            </PageLink>
          )}
        </Text>
      ))}
      {status.open_until !== null && (
        <Text size="sm" span>
          until <DateTime at={status.open_until} />; calls wait and are not lost
        </Text>
      )}
    </Group>
  )
}

function CredentialState({ status }: { readonly status: ProviderStatus }) {
  const may = usePermission()
  const { data } = useQuery({
    ...gapsQuery,
    enabled: status.gap !== null && may('listCredentialGaps'),
    throwOnError: false,
  })
  const gap = data?.items.find(({ provider_key }) => provider_key === status.provider_key)
  const isNeeded = status.credential_members.length > 0
  return (
    <Group gap={8}>
      <CredentialBadge status={status} />
      {gap && may('listProviderCredentials') && (
        <Text size="sm" span>
          <GapLink gap={gap} />
        </Text>
      )}
      {!gap && isNeeded && may('listProviderCredentials') && (
        <SearchLink to="/provider-credentials" search={{ provider: status.provider_key }} size="sm">
          Credentials
        </SearchLink>
      )}
    </Group>
  )
}
