/** Every call of a tool: who made it with which program, and what came of it. */
import { Group, Stack, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { probity } from '#console/session/client.ts'
import { RelativeTime } from '#console/ui/date-time.tsx'
import { type Choice, KnownFilter, useFilter } from '#console/ui/filters.tsx'
import { omitUndefined } from '#console/ui/format.ts'
import { PageLink } from '#console/ui/link.tsx'
import { ListTable, usePages } from '#console/ui/list.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { RestrictionMark } from '#console/ui/restriction/padlock.tsx'
import { escapeText } from '#console/ui/tool/escape-text.ts'
import { CallOutcomeBadge } from '#console/ui/tool/tool-badges.tsx'
import { toolsQuery } from '#console/ui/tool/tool-queries.ts'
import { describeCallProblem, formatClient, type ToolCall } from '#console/ui/tool/tool-texts.ts'
import { CallerFilter } from './caller-filter.tsx'
import { ToolsFrame } from './tools-frame.tsx'

const outcomes = ['succeeded', 'problem'] as const
const outcomeChoices = [
  { value: 'succeeded', label: 'Succeeded' },
  { value: 'problem', label: 'Problem' },
]

/** Not one of the known tools only: calls of a tool that does not exist are in the log too. */
function useToolFilter(): { readonly tool: string | undefined; readonly choices: readonly Choice[] | undefined } {
  const { data } = useQuery({ ...toolsQuery, throwOnError: false })
  const { tool } = useSearch({ strict: false }) as { tool?: string | number }
  const given = tool === undefined ? undefined : String(tool)
  const known = data?.items.map((one) => ({ value: one.tool, label: one.tool }))
  const isNew = given !== undefined && !known?.some(({ value }) => value === given)
  return { tool: given, choices: known && isNew ? [...known, { value: given, label: given }] : known }
}

export default function ToolCallsPage() {
  const { tool, choices } = useToolFilter()
  const outcome = useFilter('outcome', outcomes)
  const { principal } = useSearch({ strict: false }) as { principal?: string }
  const list = usePages<ToolCall>(
    ['tool-calls', 'list', tool, outcome, principal],
    (cursor, signal) =>
      probity.GET('/api/mcp/calls', {
        params: { query: { ...cursor, ...omitUndefined({ tool, outcome, principal }), limit: 50 } },
        signal,
      }),
    { refetch_ms: 30_000 },
  )
  return (
    <ToolsFrame
      open="/tools/calls"
      about="Every call of an AI assistant, whatever became of it. Arguments and results are kept as hashes: they show whether two calls were equal, not what was in them."
    >
      <Stack gap="sm">
        <Group gap="xs" align="flex-end">
          <KnownFilter name="tool" label="Tool" choices={choices} everything="All tools" />
          <KnownFilter name="outcome" label="Outcome" choices={outcomeChoices} everything="Any outcome" />
          <CallerFilter principal={principal} />
        </Group>
        <ListTable
          label="Tool calls"
          list={list}
          head={[
            { name: 'Tool' },
            { name: 'Outcome' },
            { name: 'Caller', from: 'sm' },
            { name: 'Program', from: 'md' },
            { name: 'Duration', from: 'lg' },
            { name: 'When', from: 'sm' },
          ]}
          row={(call) => <CallRow key={call.call_id} call={call} />}
          empty={{
            title: 'No tool calls yet',
            about: 'When an assistant uses a tool, the call appears here with its caller, program and outcome.',
            filters: ['tool', 'outcome', 'principal'],
          }}
        />
      </Stack>
    </ToolsFrame>
  )
}

function CallRow({ call }: { readonly call: ToolCall }) {
  return (
    <Table.Tr>
      <Table.Td>
        <PageLink to={`/tools/calls/${call.call_id}`} size="sm" fw={500} className="mono break">
          {escapeText(call.tool)}
        </PageLink>
        <RestrictionMark restriction_id={call.restriction_id} />
        <Text size="xs" hiddenFrom="sm" component="div">
          <Principal of={call.principal} isAlwaysNamed />, <RelativeTime at={call.called_at} />
        </Text>
      </Table.Td>
      <Table.Td>
        <CallOutcomeBadge problem={call.problem} />
        {call.problem !== null && (
          <Text size="xs" c="dimmed">
            {describeCallProblem(call.problem)}
          </Text>
        )}
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <Principal of={call.principal} isAlwaysNamed />
      </Table.Td>
      <Table.Td visibleFrom="md">{formatClient(call.client)}</Table.Td>
      <Table.Td visibleFrom="lg">{call.duration_ms.toLocaleString('en')} ms</Table.Td>
      <Table.Td visibleFrom="sm">
        <RelativeTime at={call.called_at} />
      </Table.Td>
    </Table.Tr>
  )
}
