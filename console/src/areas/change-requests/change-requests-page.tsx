/** Change requests: those waiting for the user, and all others. */
import { Box, Button, Group, SegmentedControl, Stack, Table, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { StateBadge } from '#console/ui/badges.tsx'
import { BreakGlassInbox } from '#console/ui/break-glass-inbox.tsx'
import { getReason } from '#console/ui/change-request/describe-change.ts'
import { useChangeText } from '#console/ui/change-request/use-target-name.ts'
import { RelativeTime } from '#console/ui/date-time.tsx'
import { Filter, useFilter, useSetFilter } from '#console/ui/filters.tsx'
import { omitUndefined, toWords } from '#console/ui/format.ts'
import { ButtonLink, PageLink } from '#console/ui/link.tsx'
import { ListTable, usePages } from '#console/ui/list.tsx'
import { Page } from '#console/ui/page.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { RestrictionMark } from '#console/ui/restriction/padlock.tsx'

const states = ['open', 'approved', 'rejected', 'withdrawn', 'void'] as const
const views = ['mine', 'all'] as const

type ChangeRequest = Schemas['ChangeRequest']

interface ListQuery {
  readonly cursor?: string
  readonly state?: (typeof states)[number]
  readonly limit: number
}

/** Of requests that concern other roles, only action and state may be read, so they are left out; empty pages are passed over. */
async function readVisible(query: ListQuery, signal: AbortSignal) {
  for (let next: ListQuery = query; ; ) {
    const { items, next_cursor } = await probity.GET('/api/change-requests', { params: { query: next }, signal })
    const visible = items.filter((request): request is ChangeRequest => 'operation' in request)
    if (visible.length > 0 || next_cursor === null) return { items: visible, next_cursor }
    next = { ...query, cursor: next_cursor }
  }
}

export default function ChangeRequestsPage() {
  const may = usePermission()
  const setFilter = useSetFilter()
  const hasInbox = may('listChangeRequestInbox')
  const view = useFilter('view', views) ?? (hasInbox ? 'mine' : 'all')
  const state = useFilter('state', states)
  const list = usePages(
    ['change-requests', 'list', view, state],
    (cursor, signal) =>
      view === 'mine'
        ? probity.GET('/api/change-requests/inbox', { params: { query: { ...cursor, limit: 50 } }, signal })
        : readVisible({ ...cursor, ...omitUndefined({ state }), limit: 50 }, signal),
    { refetch_ms: 15_000 },
  )
  return (
    <Page
      title="Change requests"
      about="Changes that need approval under the approval policy wait here until other users approve them. You see those that your roles may make or approve."
    >
      {view === 'mine' && may('listBreakGlassInbox') && (
        <Box mb="md">
          <BreakGlassInbox hidesEmpty />
        </Box>
      )}
      <Group gap="xs" mb="sm" align="flex-end">
        {hasInbox && (
          <SegmentedControl
            size="xs"
            aria-label="Change requests shown"
            value={view}
            onChange={(chosen) => setFilter('view', chosen)}
            data={[
              { value: 'mine', label: 'For my approval' },
              { value: 'all', label: 'All' },
            ]}
          />
        )}
        {view === 'all' && <Filter name="state" label="State" values={states} everything="Any state" />}
      </Group>
      <ListTable
        label="Change requests"
        list={list}
        empty={
          view === 'mine'
            ? {
                title: 'No change request is waiting for your approval',
                about: 'Changes that others propose and that you may approve or reject appear here.',
                action: (
                  <Button size="xs" variant="default" onClick={() => setFilter('view', 'all')}>
                    Show all change requests
                  </Button>
                ),
              }
            : {
                title: 'No change requests for your roles yet',
                about: 'A change that your roles may make or approve waits here until somebody else approves it.',
                action: (
                  <ButtonLink to="/datasets" size="xs" variant="default">
                    Open the lists
                  </ButtonLink>
                ),
                filters: ['state'],
              }
        }
        head={[
          { name: 'Change' },
          { name: 'Requested by' },
          { name: 'Requested', from: 'sm' },
          { name: 'Approvals', from: 'md' },
          { name: 'State' },
        ]}
        row={(request) => <RequestRow key={request.cr_id} request={request} />}
      />
    </Page>
  )
}

function RequestRow({ request }: { readonly request: ChangeRequest }) {
  const text = useChangeText(request)
  const reason = getReason(request)
  return (
    <Table.Tr>
      <Table.Td>
        <Stack gap={0}>
          <PageLink to={`/change-requests/${request.cr_id}`} fw={500} size="sm">
            {text}
            <RestrictionMark restriction_id={request.restriction_id} />
          </PageLink>
          {reason !== null && (
            <Text size="xs" c="dimmed" lineClamp={2} className="break">
              “{reason}”
            </Text>
          )}
        </Stack>
      </Table.Td>
      <Table.Td>
        <Principal of={request.created_by} />
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <RelativeTime at={request.created_at} />
      </Table.Td>
      <Table.Td visibleFrom="md">
        {request.approvals.length} of {request.approvers}, {toWords(request.required_role)}
      </Table.Td>
      <Table.Td>
        <StateBadge state={request.is_outdated ? 'no longer applicable' : request.state} />
      </Table.Td>
    </Table.Tr>
  )
}
