/** One tool server: whether it answers, its credential, its tools with their pins, and tools that cannot be used. */
import { Alert, Stack, Table, Text } from '@mantine/core'
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { usePermission } from '#console/session/queries.ts'
import { CopyValue } from '#console/ui/copy-value.tsx'
import { RelativeTime } from '#console/ui/date-time.tsx'
import { PageLink } from '#console/ui/link.tsx'
import { Page } from '#console/ui/page.tsx'
import { PlainTable } from '#console/ui/plain-table.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { authNames } from '#console/ui/provider/manifest.ts'
import { GapLink } from '#console/ui/provider/missing-credentials.tsx'
import { gapsQuery } from '#console/ui/provider/provider-queries.ts'
import { gapTexts } from '#console/ui/provider/provider-texts.ts'
import { SearchLink } from '#console/ui/search-link.tsx'
import { Facts, Section } from '#console/ui/section.tsx'
import { escapeText } from '#console/ui/tool/escape-text.ts'
import { ToolStateBadge } from '#console/ui/tool/tool-badges.tsx'
import { toolServerQuery } from '#console/ui/tool/tool-queries.ts'
import { refusedTexts, type ToolServer } from '#console/ui/tool/tool-texts.ts'
import { DiscoverTools } from './discover-tools.tsx'
import { EditServer, RemoveServer } from './server-dialogs.tsx'
import { ServerState } from './servers-page.tsx'

export default function ToolServerPage() {
  const { server_key = '' } = useParams({ strict: false }) as { server_key?: string }
  const may = usePermission()
  const { data: server } = useSuspenseQuery(toolServerQuery(server_key))
  return (
    <Page
      title={server.title}
      about={server.description ?? 'A tool server of another party.'}
      trail={
        <PageLink to="/tools/servers" inherit>
          Tool servers
        </PageLink>
      }
      actions={
        <>
          {may('deleteToolServer') && <RemoveServer server={server} />}
          {may('updateToolServer') && <EditServer key={server.revision} server={server} />}
        </>
      }
    >
      <Stack gap="md">
        <QuarantineNote server={server} />
        <CredentialNote server={server} />
        <Tools server={server} />
        <Refused server={server} />
        <Details server={server} />
      </Stack>
    </Page>
  )
}

function QuarantineNote({ server }: { readonly server: ToolServer }) {
  if (server.tools_quarantined === 0) return null
  return (
    <Alert color="red" title="Tools in quarantine" role="status">
      <Text size="sm">
        The server offers something else than what was reviewed. Providers that need these tools are refused until a
        compliance officer has reviewed them and another has approved the new pin.
      </Text>
    </Alert>
  )
}

/** Without its credential nothing can be asked of the server. */
function CredentialNote({ server }: { readonly server: ToolServer }) {
  const may = usePermission()
  const { data } = useQuery({ ...gapsQuery, enabled: may('listCredentialGaps'), throwOnError: false })
  const gap = data?.items.find(({ provider_key }) => provider_key === server.credential_key)
  if (gap === undefined) return null
  return (
    <Alert color="orange" title="Its credential cannot be used" role="status">
      <Text size="sm">
        {gapTexts[gap.reason]} Until then its tools cannot be listed or called.{' '}
        {may('listProviderCredentials') && <GapLink gap={gap} />}
      </Text>
    </Alert>
  )
}

function Tools({ server }: { readonly server: ToolServer }) {
  const may = usePermission()
  return (
    <Section title="Tools" actions={may('discoverServerTools') && <DiscoverTools server_key={server.server_key} />}>
      <PlainTable
        label="Tools of the server"
        head={[
          { name: 'Tool' },
          { name: 'State' },
          { name: 'Pinned', from: 'sm' },
          { name: 'Last offered', from: 'md' },
        ]}
        empty={{
          title: server.checked_at === null ? 'Its tools are not known yet' : 'The server offers no tool',
          about:
            server.checked_at === null
              ? 'List the tools to see what the server offers. Nothing of it can be called before it is pinned.'
              : 'The server answered with an empty list, or with tools that cannot be used.',
        }}
      >
        {server.tools.map((tool) => (
          <Table.Tr key={tool.tool_name}>
            <Table.Td>
              <PageLink
                to={`/tools/servers/${server.server_key}/tools/${tool.tool_name}`}
                size="sm"
                fw={500}
                className="mono break"
              >
                {tool.tool_name}
              </PageLink>
              {tool.title !== null && (
                <Text size="xs" c="dimmed" className="break">
                  {escapeText(tool.title)}
                </Text>
              )}
            </Table.Td>
            <Table.Td>
              <ToolStateBadge state={tool.state} />
              {tool.quarantined_at !== null && (
                <Text size="xs" c="dimmed">
                  in quarantine <RelativeTime at={tool.quarantined_at} />
                </Text>
              )}
            </Table.Td>
            <Table.Td visibleFrom="sm">
              {tool.pinned_by === null ? (
                <span className="quiet">never</span>
              ) : (
                <>
                  <RelativeTime at={tool.pinned_at} /> by <Principal of={tool.pinned_by} />
                </>
              )}
            </Table.Td>
            <Table.Td visibleFrom="md">
              <RelativeTime at={tool.last_seen_at} />
            </Table.Td>
          </Table.Tr>
        ))}
      </PlainTable>
    </Section>
  )
}

function Refused({ server }: { readonly server: ToolServer }) {
  if (server.refused.length === 0) return null
  return (
    <Section title="Tools that cannot be used">
      <PlainTable label="Tools that cannot be used" empty={null} head={[{ name: 'Name' }, { name: 'Why' }]}>
        {server.refused.map(({ name, reason }, place) => (
          <Table.Tr key={`${place} ${name}`}>
            <Table.Td>
              {name === null ? <span className="quiet">none</span> : <span className="mono">{name}</span>}
            </Table.Td>
            <Table.Td>{refusedTexts[reason]}</Table.Td>
          </Table.Tr>
        ))}
      </PlainTable>
    </Section>
  )
}

function Details({ server }: { readonly server: ToolServer }) {
  const may = usePermission()
  const { auth, protocol_version, server_name, server_version } = server
  const named = [server_name, server_version].filter((text) => text !== null).map((text) => escapeText(text))
  return (
    <Section title="Details">
      <Facts
        of={[
          ['State', <ServerState key="state" server={server} />],
          ['Address', <CopyValue key="url" value={server.url} name="the address" />],
          ['Authentication', authNames[auth.kind] ?? 'None'],
          auth.kind !== 'none' &&
            may('listProviderCredentials') && [
              'Credential',
              <SearchLink
                key="credential"
                to="/provider-credentials"
                search={{ provider: server.credential_key }}
                inherit
              >
                {server.credential_key}
              </SearchLink>,
            ],
          named.length > 0 && ['Calls itself', named.join(' ')],
          protocol_version !== null && ['Protocol', escapeText(protocol_version)],
          ['Tools listed', <RelativeTime key="checked" at={server.checked_at} />],
          [
            'Registered',
            <span key="created">
              <RelativeTime at={server.created_at} /> by <Principal of={server.created_by} />
            </span>,
          ],
          ['Key', <CopyValue key="key" value={server.server_key} name="the key" />],
        ]}
      />
    </Section>
  )
}
