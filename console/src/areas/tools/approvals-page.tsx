/** Calls of tools that wait for a person: what exactly would run, for whom, and until when. Nobody decides about their own. */
import { Alert, Card, Group, Stack, Text, Title } from '@mantine/core'
import { useId } from 'react'
import { probity } from '#console/session/client.ts'
import { useMe, usePermission } from '#console/session/queries.ts'
import { RoleBadges } from '#console/ui/badges.tsx'
import { DateTime, RelativeTime } from '#console/ui/date-time.tsx'
import { EmptyState } from '#console/ui/empty-state.tsx'
import { KnownFilter, useFilter } from '#console/ui/filters.tsx'
import { formatOperation, toSentence } from '#console/ui/format.ts'
import { JsonBlock } from '#console/ui/json-block.tsx'
import { ListMore, ListSkeleton, usePages } from '#console/ui/list.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { RestrictionMark } from '#console/ui/restriction/padlock.tsx'
import { Facts } from '#console/ui/section.tsx'
import { CallTargets, hasTargets } from '#console/ui/tool/call-targets.tsx'
import { ApprovalStateBadge } from '#console/ui/tool/tool-badges.tsx'
import {
  approvalStateNames,
  approvalStates,
  describeRunProblem,
  formatClient,
  isStranded,
  type ToolApproval,
} from '#console/ui/tool/tool-texts.ts'
import { DecideApproval } from './decide-approval.tsx'
import { ToolsFrame } from './tools-frame.tsx'

/** By default the page lists calls to decide on or to run again. */
const OPEN = 'open'
const states = [OPEN, ...approvalStates, 'all'] as const
const stateChoices = [
  ...approvalStates.map((value) => ({ value, label: toSentence(approvalStateNames[value]) })),
  { value: 'all', label: 'All' },
]

export default function ApprovalsPage() {
  const state = useFilter('state', states) ?? OPEN
  const list = usePages<ToolApproval>(
    ['tool-approvals', 'list', state],
    (cursor, signal) =>
      probity.GET('/api/mcp/approvals', {
        params: { query: { ...cursor, limit: 20, ...(state !== 'all' && { state }) } },
        signal,
      }),
    { refetch_ms: 15_000 },
  )
  const items = list.data?.pages.flatMap((page) => page.items) ?? []
  return (
    <ToolsFrame
      open="/tools/approvals"
      about="Calls of AI assistants that the tool policy holds back until a person has read them. Approving runs exactly the arguments shown, once, in the name of the caller."
    >
      <Stack gap="sm">
        <Group gap="xs">
          <KnownFilter name="state" label="State" choices={stateChoices} everything="Open" />
        </Group>
        {list.data === undefined ? (
          <ListSkeleton />
        ) : items.length === 0 ? (
          <EmptyState
            title={state === OPEN || state === 'waiting' ? 'No call waits for a person' : 'No calls yet'}
            about="A call appears here when the tool policy says that a person approves it. It expires after 24 hours without a decision."
            // “All” hides nothing, so it cannot be why the list is empty.
            filters={state === 'all' ? [] : ['state']}
          />
        ) : (
          <Stack gap="md">
            {items.map((approval) => (
              <ApprovalCard key={approval.approval_id} approval={approval} />
            ))}
            <ListMore list={list} count={items.length} />
          </Stack>
        )}
      </Stack>
    </ToolsFrame>
  )
}

function ApprovalCard({ approval }: { readonly approval: ToolApproval }) {
  const id = useId()
  const { outcome } = approval
  return (
    <Card component="article" aria-labelledby={id} withBorder padding="md">
      <Stack gap="sm">
        <Group justify="space-between" gap="xs">
          <Group gap="xs">
            <Title order={2} size="h5" id={id} className="mono">
              {approval.tool}
            </Title>
            <ApprovalStateBadge approval={approval} />
            <RestrictionMark restriction_id={approval.restriction_id} />
          </Group>
          {(approval.state === 'waiting' || isStranded(approval)) && <Decision approval={approval} />}
        </Group>
        {isStranded(approval) && (
          <Alert color="orange" role="status">
            <Text size="sm">
              {describeRunProblem(approval)} The approval is kept
              {approval.ran_at === null ? ': run the call again, or deny it.' : ': run it again to store the outcome.'}
            </Text>
          </Alert>
        )}
        <div className="approval-columns">
          <ApprovalFacts approval={approval} />
          <div>
            <Text size="sm" fw={600} mb={4}>
              Arguments
            </Text>
            <JsonBlock value={approval.arguments} name={`Arguments of ${approval.tool}`} />
          </div>
        </div>
        {(approval.state === 'succeeded' || approval.state === 'failed') && (
          <details className="outcome-details">
            <summary>{approval.state === 'failed' ? 'Why it failed' : 'What it answered'}</summary>
            <JsonBlock value={outcome} name={`Outcome of ${approval.tool}`} />
          </details>
        )}
      </Stack>
    </Card>
  )
}

function ApprovalFacts({ approval }: { readonly approval: ToolApproval }) {
  return (
    <Facts
      of={[
        ['Asked by', <Principal key="by" of={approval.requested_by} isAlwaysNamed />],
        ['With the roles', <RoleBadges key="roles" roles={approval.requested_roles} />],
        ['Program', formatClient(approval.client)],
        ['Does', formatOperation(approval.operation)],
        hasTargets(approval.arguments) && ['Concerns', <CallTargets key="targets" of={approval.arguments} />],
        ['Asked', <RelativeTime key="at" at={approval.requested_at} />],
        (approval.state === 'waiting' || (isStranded(approval) && approval.ran_at === null)) && [
          'Until',
          <span key="until">
            <DateTime at={approval.expires_at} /> (<RelativeTime at={approval.expires_at} />)
          </span>,
        ],
        approval.decided_by !== null && [
          'Decided by',
          <span key="decided">
            <Principal of={approval.decided_by} isAlwaysNamed />, <RelativeTime at={approval.decided_at} />
          </span>,
        ],
        approval.note !== null && ['Reason', `“${approval.note}”`],
        (approval.state === 'succeeded' || approval.state === 'failed') && [
          'Collected by the caller',
          <RelativeTime key="collected" at={approval.collected_at} never="not yet" />,
        ],
      ]}
    />
  )
}

function Decision({ approval }: { readonly approval: ToolApproval }) {
  const me = useMe()
  const may = usePermission()
  if (!may('approveToolCall')) return null
  if (approval.requested_by === me.principal)
    return (
      <Text size="sm" c="dimmed">
        You made this call, so another person must decide.
      </Text>
    )
  return <DecideApproval approval={approval} />
}
