/** Credentials of providers: what is missing and what it blocks, and the credentials that exist. */
import { Badge, Button, Group, Stack, Table, Text } from '@mantine/core'
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { usePermission } from '#console/session/queries.ts'
import { RelativeTime } from '#console/ui/date-time.tsx'
import { definitionsQuery, getDefinitionKey, providerKind } from '#console/ui/decision/definition-kind.ts'
import { KnownFilter, useFilter, useKnownFilter } from '#console/ui/filters.tsx'
import { toSentence } from '#console/ui/format.ts'
import { PageLink } from '#console/ui/link.tsx'
import { ListSkeleton } from '#console/ui/list.tsx'
import { Page } from '#console/ui/page.tsx'
import { PlainTable } from '#console/ui/plain-table.tsx'
import { BlockedDefinitions } from '#console/ui/provider/blocked-definitions.tsx'
import { CredentialTable } from '#console/ui/provider/credential-table.tsx'
import { GapLink } from '#console/ui/provider/missing-credentials.tsx'
import { gapsQuery } from '#console/ui/provider/provider-queries.ts'
import { type BlockingGap, describeBlocked, gapNames, gapTexts } from '#console/ui/provider/provider-texts.ts'
import { Section } from '#console/ui/section.tsx'
import { toolServersQuery } from '#console/ui/tool/tool-queries.ts'
import { toProviderPath } from '#console/ui/tool/tool-texts.ts'
import { NewCredential } from './new-credential.tsx'

const environments = ['live', 'test'] as const
const states = ['enabled', 'disabled', 'destroyed'] as const
const toChoices = (values: readonly string[]) => values.map((value) => ({ value, label: toSentence(value) }))

export default function CredentialsPage() {
  const may = usePermission()
  const navigate = useNavigate()
  const search = useSearch({ strict: false }) as { new?: string | number; environment?: string }
  const { data: all } = useSuspenseQuery(definitionsQuery(providerKind))
  const { data: servers } = useQuery({ ...toolServersQuery, throwOnError: false })
  const providers = [
    ...new Map(all.map((one) => [getDefinitionKey(one), { value: getDefinitionKey(one), label: one.title }])).values(),
    ...(servers ?? [])
      .filter(({ auth }) => auth.kind !== 'none')
      .map(({ credential_key, title }) => ({ value: credential_key, label: `${title} (tool server)` })),
  ]
  const provider = useKnownFilter('provider', providers)
  const setNew = (key: string | undefined) =>
    navigate({ to: '.', search: (now: Record<string, unknown>) => ({ ...now, new: key }), replace: true })
  const environment = useFilter('environment', environments)
  const canCreate = may('createProviderCredential')
  return (
    <Page
      title="Provider credentials"
      about="Keys and certificates that providers issued to you. Values are stored encrypted, are used for calls only, and cannot be read back by anyone."
      actions={canCreate && <Button onClick={() => setNew('')}>New credential</Button>}
    >
      <Stack gap="md">
        {may('listCredentialGaps') && <Gaps />}
        <div>
          <Group gap="xs" mb="sm" align="flex-end">
            <KnownFilter name="provider" label="Provider" choices={providers} everything="All providers" />
            <KnownFilter
              name="environment"
              label="System"
              choices={toChoices(environments)}
              everything="Live and test"
            />
            <KnownFilter name="state" label="State" choices={toChoices(states)} everything="All states" />
          </Group>
          <CredentialTable filters={{ provider_key: provider.value, environment, state: useFilter('state', states) }} />
        </div>
      </Stack>
      {canCreate && search.new !== undefined && (
        <NewCredential
          providers={providers}
          provider_key={String(search.new)}
          environment={environment ?? 'live'}
          onClose={() => setNew(undefined)}
        />
      )}
    </Page>
  )
}

function Gaps() {
  const { data } = useQuery(gapsQuery)
  if (data === undefined) return <ListSkeleton />
  return (
    <Section title="Missing credentials">
      <Stack gap="xs">
        <PlainTable
          label="Missing credentials"
          head={[{ name: 'Provider' }, { name: 'Why' }, { name: 'Blocks', from: 'sm' }, { name: 'What to do' }]}
          empty={{
            title: 'Nothing is missing',
            about: 'Every provider that is called live has a credential that can be used.',
          }}
        >
          {data.items.map((gap) => (
            <GapRow key={`${gap.provider_key} ${gap.environment}`} gap={gap} />
          ))}
        </PlainTable>
        {data.items.length > 0 && (
          <Text size="xs" c="dimmed">
            Until then, the following does not start where it needs one of these providers:{' '}
            {data.operations.map(describeBlocked).join(', ')}.
          </Text>
        )}
      </Stack>
    </Section>
  )
}

function GapRow({ gap }: { readonly gap: BlockingGap }) {
  return (
    <Table.Tr>
      <Table.Td>
        <PageLink to={toProviderPath(gap.provider_key)} size="sm" fw={500}>
          {gap.provider_key}
        </PageLink>
        {gap.environment === 'test' && (
          <Text size="xs" c="dimmed">
            test system
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <Badge variant="light" tt="none" miw="max-content" color="red">
          {gapNames[gap.reason]}
        </Badge>
        <Text size="xs" c="dimmed">
          {gapTexts[gap.reason]} Began <RelativeTime at={gap.blocked_since} />.
        </Text>
        <Text size="xs" hiddenFrom="sm" component="div">
          Blocks <BlockedDefinitions gap={gap} />
        </Text>
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <BlockedDefinitions gap={gap} />
      </Table.Td>
      <Table.Td>
        <Text size="sm">
          <GapLink gap={gap} />
        </Text>
      </Table.Td>
    </Table.Tr>
  )
}
