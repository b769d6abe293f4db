/** Credentials of providers as rows: what each can be used for, never its values. */
import { Badge, Group, Table, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { StateBadge } from '../badges.tsx'
import { RelativeTime } from '../date-time.tsx'
import { omitUndefined } from '../format.ts'
import { PageLink } from '../link.tsx'
import { ListTable, usePages } from '../list.tsx'
import { SearchButton } from '../search-link.tsx'
import { credentialGapTexts, gapNames } from './provider-texts.ts'

type Credential = Schemas['ProviderCredential']

export interface CredentialFilters {
  readonly provider_key?: string | undefined
  readonly environment?: Credential['environment'] | undefined
  readonly state?: Credential['state'] | undefined
}

interface CredentialTableProps {
  readonly filters: CredentialFilters
  readonly hidesProvider?: boolean
}

export function CredentialTable({ filters, hidesProvider = false }: CredentialTableProps) {
  const may = usePermission()
  const list = usePages<Credential>(['provider-credentials', 'list', filters], (cursor, signal) =>
    probity.GET('/api/provider-credentials', {
      params: { query: { ...cursor, ...omitUndefined(filters), limit: 50 } },
      signal,
    }),
  )
  return (
    <ListTable
      label="Credentials"
      list={list}
      head={[
        { name: 'Credential' },
        { name: 'State' },
        { name: 'Active version', from: 'sm' },
        { name: 'Staged version', from: 'md' },
        { name: 'Changed', from: 'md' },
      ]}
      row={(one) => (
        <Table.Tr key={one.credential_id}>
          <Table.Td>
            <Group gap={8}>
              <PageLink to={`/provider-credentials/${one.credential_id}`} size="sm" fw={500}>
                {one.label}
              </PageLink>
              {one.environment === 'test' && (
                <Badge variant="default" tt="none" fw={500}>
                  test system
                </Badge>
              )}
            </Group>
            {!hidesProvider && (
              <Text size="xs" c="dimmed" className="mono">
                {one.provider_key}
              </Text>
            )}
          </Table.Td>
          <Table.Td>
            <CredentialState of={one} />
          </Table.Td>
          <Table.Td visibleFrom="sm">{one.active_version ?? <span className="quiet">none</span>}</Table.Td>
          <Table.Td visibleFrom="md">{one.staged_version ?? <span className="quiet">none</span>}</Table.Td>
          <Table.Td visibleFrom="md">
            <RelativeTime at={one.updated_at} />
          </Table.Td>
        </Table.Tr>
      )}
      empty={{
        title: 'No credentials yet',
        about:
          'A credential holds the key or certificate that a provider issued to you. Its values are stored encrypted and cannot be read back. A provider that needs one and has none is listed as missing.',
        filters: ['provider', 'environment', 'state'],
        action: may('createProviderCredential') && (
          <SearchButton to="/provider-credentials" search={{ new: filters.provider_key ?? '' }} size="xs">
            New credential
          </SearchButton>
        ),
      }}
    />
  )
}

/** Whether a credential can be used, and otherwise why not. */
export function CredentialState({ of }: { readonly of: Credential }) {
  if (of.state === 'destroyed') return <StateBadge state="destroyed" />
  if (of.gap === null) {
    const isVerified = of.active_verified_at !== null
    return (
      <Badge variant="light" tt="none" miw="max-content" color={isVerified ? 'teal' : 'yellow'}>
        {isVerified ? 'ready' : 'ready, not verified'}
      </Badge>
    )
  }
  return (
    <div>
      <Badge variant="light" tt="none" miw="max-content" color="red">
        {of.gap === 'absent' ? 'no values' : gapNames[of.gap]}
      </Badge>
      <Text size="xs" c="dimmed">
        {credentialGapTexts[of.gap]}
      </Text>
    </div>
  )
}
