/** What AI assistants may do: how they connect, the tools with what each does and who may use it, and the tool policy. */
import { Stack, Table, Text } from '@mantine/core'
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { RoleBadges } from '#console/ui/badges.tsx'
import { CopyValue } from '#console/ui/copy-value.tsx'
import { Filter, useFilter } from '#console/ui/filters.tsx'
import { toWords } from '#console/ui/format.ts'
import { PlainTable } from '#console/ui/plain-table.tsx'
import { Facts, Section } from '#console/ui/section.tsx'
import { DecisionBadge, EffectBadge } from '#console/ui/tool/tool-badges.tsx'
import { discoveryQuery, toolPolicyQuery, toolsQuery } from '#console/ui/tool/tool-queries.ts'
import { groupByDecision, type Tool } from '#console/ui/tool/tool-texts.ts'
import { PolicySection } from './policy-section.tsx'
import { ToolsFrame } from './tools-frame.tsx'

export default function ToolsPage() {
  const { data: tools } = useSuspenseQuery(toolsQuery)
  const { data: policy } = useSuspenseQuery(toolPolicyQuery)
  return (
    <ToolsFrame
      open="/tools"
      about="The Model Context Protocol is the open standard by which AI assistants use other programs as tools. An assistant acts here in the name of the person or API key that signed it in, with the same roles, checks, approvals and audit record."
    >
      <Stack gap="md">
        <Connection />
        <PolicySection policy={policy} tools={tools.items} />
        <ToolTable tools={tools.items} />
      </Stack>
    </ToolsFrame>
  )
}

function Connection() {
  const { data: discovery } = useQuery({ ...discoveryQuery, throwOnError: false })
  const address = discovery?.resource ?? `${window.location.origin}/api/mcp`
  return (
    <Section title="Connection">
      <Facts
        of={[
          ['Address for clients', <CopyValue key="address" value={address} name="the address" />],
          discovery !== undefined && [
            'Sign-in by the client',
            discovery === null ? (
              <span key="discovery">
                Not configured: a client must be given an access token, which lasts at most a day. The operator turns
                discovery on by stating the public address of this service; then each person signs in from the client.
              </span>
            ) : (
              <span key="discovery">
                Configured: a client finds out by itself where to sign in
                {discovery.authorization_servers === undefined
                  ? ', but no identity provider is set up yet.'
                  : ` (${discovery.authorization_servers.join(', ')}).`}
              </span>
            ),
          ],
        ]}
      />
    </Section>
  )
}

const effects = ['read', 'work', 'propose'] as const

function ToolTable({ tools }: { readonly tools: readonly Tool[] }) {
  const effect = useFilter('effect', effects)
  const shown = tools.filter((tool) => effect === undefined || tool.effect === effect)
  return (
    <Section title="Tools" actions={<Filter name="effect" label="Effect" values={effects} everything="Every effect" />}>
      <Stack gap="xs">
        <PlainTable
          label="Tools"
          head={[
            { name: 'Tool' },
            { name: 'Effect', from: 'sm' },
            { name: 'Roles that may use it', from: 'md' },
            { name: 'Policy' },
          ]}
          empty={{
            title: 'No tools in this view',
            about: 'Tools are the operations of this service that assistants may be given.',
            filters: ['effect'],
          }}
        >
          {shown.map((tool) => (
            <Table.Tr key={tool.tool}>
              <Table.Td>
                <Text size="sm" fw={500}>
                  {tool.title}
                </Text>
                <Text size="xs" className="mono">
                  {tool.tool}
                </Text>
                <Text size="xs" c="dimmed" maw={560}>
                  {tool.description}
                </Text>
                {tool.usable && !tool.listed && (
                  <Text size="xs" maw={560}>
                    Your list of tools is full, so a client does not see this one; it can be called by its name.
                  </Text>
                )}
                <Text size="xs" hiddenFrom="sm" component="div" mt={4}>
                  <EffectBadge effect={tool.effect} />
                </Text>
              </Table.Td>
              <Table.Td visibleFrom="sm">
                <EffectBadge effect={tool.effect} />
              </Table.Td>
              <Table.Td visibleFrom="md">
                <RoleBadges roles={tool.roles} />
              </Table.Td>
              <Table.Td>
                <Decisions tool={tool} />
              </Table.Td>
            </Table.Tr>
          ))}
        </PlainTable>
        <Text size="xs" c="dimmed">
          Approving changes, credentials, roles and restricted objects are never tools.
        </Text>
      </Stack>
    </Section>
  )
}

/** One badge where the policy says the same to everybody. */
function Decisions({ tool }: { readonly tool: Tool }) {
  const groups = groupByDecision(tool.decisions)
  return (
    <Stack gap={4} align="flex-start">
      {groups.map(({ decision, roles }) => (
        <div key={decision}>
          <DecisionBadge decision={decision} />
          {groups.length > 1 && (
            <Text size="xs" c="dimmed">
              {roles.map(toWords).join(', ')}
            </Text>
          )}
        </div>
      ))}
    </Stack>
  )
}
