/** Tool servers of other parties: whether they answer, which of their tools are pinned, and which are in quarantine. */
import { Badge, Group, Stack, Table, Text } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { usePermission } from '#console/session/queries.ts'
import { RelativeTime } from '#console/ui/date-time.tsx'
import { PageLink } from '#console/ui/link.tsx'
import { PlainTable } from '#console/ui/plain-table.tsx'
import { toolServersQuery } from '#console/ui/tool/tool-queries.ts'
import { describeServerFault, type ToolServerItem } from '#console/ui/tool/tool-texts.ts'
import { RegisterServer } from './server-dialogs.tsx'
import { ToolsFrame } from './tools-frame.tsx'

export default function ToolServersPage() {
  const may = usePermission()
  const { data: servers } = useSuspenseQuery(toolServersQuery)
  return (
    <ToolsFrame
      open="/tools/servers"
      about="Programs of other parties whose tools your providers may call. A tool is called only as it was reviewed: its definition is pinned, and one that changes is in quarantine until it is reviewed again."
      actions={may('createToolServer') && <RegisterServer />}
    >
      <PlainTable
        label="Tool servers"
        head={[
          { name: 'Server' },
          { name: 'State' },
          { name: 'Pinned', from: 'sm' },
          { name: 'New', from: 'sm' },
          { name: 'In quarantine' },
          { name: 'Tools listed', from: 'md' },
        ]}
        empty={{
          title: 'No tool servers yet',
          about:
            'A tool server offers look-ups or services over the Model Context Protocol. An administrator registers it and stores its credential, its tools are listed, and a compliance officer reviews and pins those that providers may call.',
          action: may('createToolServer') && <RegisterServer isSmall />,
        }}
      >
        {servers.map((server) => (
          <ServerRow key={server.server_key} server={server} />
        ))}
      </PlainTable>
    </ToolsFrame>
  )
}

function ServerRow({ server }: { readonly server: ToolServerItem }) {
  return (
    <Table.Tr>
      <Table.Td>
        <PageLink to={`/tools/servers/${server.server_key}`} size="sm" fw={500}>
          {server.title}
        </PageLink>
        <Text size="xs" c="dimmed" className="mono">
          {server.server_key}
        </Text>
      </Table.Td>
      <Table.Td>
        <ServerState server={server} />
      </Table.Td>
      <Table.Td visibleFrom="sm">{server.tools_pinned}</Table.Td>
      <Table.Td visibleFrom="sm">{server.tools_new}</Table.Td>
      <Table.Td>
        {server.tools_quarantined === 0 ? (
          <span className="quiet">none</span>
        ) : (
          <Badge variant="light" color="red" tt="none" miw="max-content">
            {server.tools_quarantined}
          </Badge>
        )}
      </Table.Td>
      <Table.Td visibleFrom="md">
        <RelativeTime at={server.checked_at} />
      </Table.Td>
    </Table.Tr>
  )
}

/** Whether its tools can be listed. */
export function ServerState({ server }: { readonly server: ToolServerItem }) {
  if (server.failing_since !== null) {
    return (
      <Stack gap={2} align="flex-start">
        <Badge variant="light" color="red" tt="none" miw="max-content">
          not answering
        </Badge>
        <Text size="xs" c="dimmed">
          {describeServerFault(server.last_fault ?? '')} Since <RelativeTime at={server.failing_since} />.
        </Text>
      </Stack>
    )
  }
  return (
    <Group gap={6}>
      {server.checked_at === null ? (
        <Badge variant="light" color="gray" tt="none" miw="max-content">
          not asked yet
        </Badge>
      ) : (
        <Badge variant="light" color="teal" tt="none" miw="max-content">
          answering
        </Badge>
      )}
    </Group>
  )
}
