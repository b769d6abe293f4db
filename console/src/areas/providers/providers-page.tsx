/** All providers: how they are called, whether they can be called now, and what they have cost. */
import { Group, Table, Text } from '@mantine/core'
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { usePermission } from '#console/session/queries.ts'
import { RelativeTime } from '#console/ui/date-time.tsx'
import {
  type DefinitionItem,
  definitionsQuery,
  getDefinitionKey,
  providerKind,
} from '#console/ui/decision/definition-kind.ts'
import { SharedMark } from '#console/ui/definition/definition-marks.tsx'
import { ButtonLink, PageLink } from '#console/ui/link.tsx'
import { Page } from '#console/ui/page.tsx'
import { AvailabilityBadge, CredentialBadge, ModeBadge, TestBadge } from '#console/ui/provider/badges.tsx'
import { Budget } from '#console/ui/provider/budget.tsx'
import { statusQuery } from '#console/ui/provider/provider-queries.ts'
import { providerKindNames } from '#console/ui/provider/provider-texts.ts'
import { SearchLink } from '#console/ui/search-link.tsx'
import { SearchableList } from '#console/ui/searchable-list.tsx'

export default function ProvidersPage() {
  const may = usePermission()
  const { data: all } = useSuspenseQuery({ ...definitionsQuery(providerKind), refetchInterval: 30_000 })
  return (
    <Page
      title="Providers"
      about="Sources of facts outside this service, such as company registers and screening services. Their answers are checked by a source contract before a decision can use them."
      actions={
        <>
          {may('listProviderCalls') && (
            <ButtonLink to="/providers/calls" variant="default">
              Calls
            </ButtonLink>
          )}
          {may('createProvider') && <ButtonLink to="/providers/new">New provider</ButtonLink>}
        </>
      }
    >
      <SearchableList
        {...providerKind}
        items={all}
        searchedBy="name or owner"
        toTexts={(one) => [getDefinitionKey(one), one.title, one.owner]}
        head={[
          { name: 'Provider' },
          { name: 'Mode' },
          { name: 'Status', from: 'sm' },
          { name: 'Budget', from: 'md' },
          { name: 'Credential', from: 'sm' },
          { name: 'Last call', from: 'lg' },
        ]}
        empty={{
          title: 'No providers yet',
          about: emptyText,
          action: may('createProvider') && (
            <ButtonLink to="/providers/new" size="xs">
              New provider
            </ButtonLink>
          ),
        }}
      >
        {(one) => <ProviderRow key={`${one.origin} ${getDefinitionKey(one)}`} of={one} />}
      </SearchableList>
    </Page>
  )
}

const emptyText = (
  <>
    A provider answers questions about customers that this service cannot answer itself. It is described by a manifest:
    what can be asked, how, and what it costs. A policy editor creates one from a template; see the{' '}
    <PageLink to="/api-docs" inherit>
      documentation
    </PageLink>
    .
  </>
)

function ProviderRow({ of }: { readonly of: DefinitionItem }) {
  const provider_key = getDefinitionKey(of)
  const isInForce = of.active !== null
  const { data: status } = useQuery({ ...statusQuery(provider_key), enabled: isInForce, throwOnError: false })
  return (
    <Table.Tr>
      <Table.Td>
        <Group gap={8}>
          <SearchLink to={`/providers/${provider_key}`} search={{ origin: of.origin }} fw={500} size="sm">
            {of.title}
          </SearchLink>
          {of.origin === 'shared' && <SharedMark />}
        </Group>
        <Text size="xs" c="dimmed">
          <span className="mono">{provider_key}</span>
          {status && `, ${providerKindNames[status.kind]}`}
        </Text>
        {/* The columns that a narrow screen leaves out. */}
        {status && (
          <Group gap={6} hiddenFrom="sm" mt={4}>
            <AvailabilityBadge status={status} />
            {status.gap !== null && <CredentialBadge status={status} />}
          </Group>
        )}
      </Table.Td>
      {status ? (
        <>
          <Table.Td>
            <ModeBadge mode={status.mode} isTest={status.environment === 'test'} />
          </Table.Td>
          <Table.Td visibleFrom="sm">
            <AvailabilityBadge status={status} />
            {status.rate_available === 0 && (
              <Text size="xs" c="dimmed">
                at its rate limit
              </Text>
            )}
          </Table.Td>
          <Table.Td visibleFrom="md">
            <Budget status={status} />
          </Table.Td>
          <Table.Td visibleFrom="sm">
            <CredentialBadge status={status} />
          </Table.Td>
          <Table.Td visibleFrom="lg">
            <RelativeTime at={status.last_call_at} />{' '}
            {status.last_call_mode !== null && <TestBadge mode={status.last_call_mode} />}
          </Table.Td>
        </>
      ) : (
        <>
          <Table.Td>{!isInForce && <span className="quiet">not in force</span>}</Table.Td>
          <Table.Td visibleFrom="sm" />
          <Table.Td visibleFrom="md" />
          <Table.Td visibleFrom="sm" />
          <Table.Td visibleFrom="lg" />
        </>
      )}
    </Table.Tr>
  )
}
