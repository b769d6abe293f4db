/** Moves the open work of one person to another, or back to its queues: after an absence has begun, or somebody has left. */
import { Box, Button, Checkbox, Group, Skeleton, Stack, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { formatCount } from '#console/ui/format.ts'
import { PageLink } from '#console/ui/link.tsx'
import { PersonSelect } from '#console/ui/person-select.tsx'
import { PlainTable } from '#console/ui/plain-table.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { RestrictionMark } from '#console/ui/restriction/padlock.tsx'
import { Section } from '#console/ui/section.tsx'
import { PriorityBadge } from '#console/ui/work/priority.tsx'
import { REFETCH_MS } from '#console/ui/work/work-queries.ts'
import { type Alert, getAlertHeading } from './alert-queries.ts'
import type { MovableItem } from './move-groups.ts'
import { MoveWorkDialog } from './move-work-dialog.tsx'

const MAX_LISTED = 200

interface PersonItem extends MovableItem {
  readonly title: string
  readonly detail: string | null
  readonly priority: Alert['priority']
}

/** The first of either kind; what remains is listed when these are moved. */
async function readWork(assignee: string, signal: AbortSignal) {
  const query = { assignee, limit: MAX_LISTED }
  const [alerts, cases] = await Promise.all([
    probity.GET('/api/alerts', { params: { query: { ...query, state: 'open', sort: 'urgent' } }, signal }),
    probity.GET('/api/investigations', { params: { query }, signal }),
  ])
  const items: PersonItem[] = [
    ...cases.items.map(({ investigation_id, reference, subject, priority, restriction_id, is_restricted }) => ({
      object_kind: 'investigation' as const,
      object_id: investigation_id,
      title: `${reference} ${subject.name}`,
      detail: null,
      priority,
      restriction_id,
      is_restricted,
    })),
    ...alerts.items.map((alert) => ({
      object_kind: 'alert' as const,
      object_id: alert.alert_id,
      title: getAlertHeading(alert),
      detail: alert.subject_name === null ? null : alert.title,
      priority: alert.priority,
      restriction_id: alert.restriction_id,
      is_restricted: alert.is_restricted,
    })),
  ]
  return { items, hasMore: alerts.next_cursor !== null || cases.next_cursor !== null }
}

export function MoveWork() {
  const [user_id, setUser] = useState<string | null>(null)
  return (
    <Section title="Move work">
      <Stack gap="sm">
        <Text size="sm">
          Gives the open alerts and investigations of one person to another, or returns them to their queues. Restricted
          work that you have no access to is not listed.
        </Text>
        <Box maw={480}>
          <PersonSelect label="Work of" hasInactive user_id={user_id} onChange={setUser} />
        </Box>
        {user_id !== null && <WorkOf key={user_id} user_id={user_id} />}
      </Stack>
    </Section>
  )
}

function WorkOf({ user_id }: { readonly user_id: string }) {
  const [deselected, setDeselected] = useState<ReadonlySet<string>>(new Set())
  const [isMoving, moving] = useDisclosure(false)
  const { data } = useQuery({
    queryKey: ['work', 'of', user_id],
    queryFn: ({ signal }) => readWork(user_id, signal),
    refetchInterval: REFETCH_MS,
  })
  if (data === undefined) return <Skeleton height={120} />
  const chosen = data.items.filter(({ object_id }) => !deselected.has(object_id))
  function choose({ object_id }: PersonItem, isChosen: boolean) {
    setDeselected((now) => {
      const next = new Set(now)
      if (isChosen) next.delete(object_id)
      else next.add(object_id)
      return next
    })
  }
  return (
    <>
      <PlainTable
        label="Open work"
        head={[
          { name: 'Select', isHidden: true },
          { name: 'Work' },
          { name: 'Kind', from: 'sm' },
          { name: 'Priority' },
        ]}
        empty={{
          title: 'No open work',
          about: (
            <>
              <Principal of={`user:${user_id}`} isAlwaysNamed /> works on no alert and no investigation that you may
              see.
            </>
          ),
        }}
      >
        {data.items.map((item) => (
          <ItemRow
            key={item.object_id}
            item={item}
            isChosen={!deselected.has(item.object_id)}
            onChoose={(isChosen) => choose(item, isChosen)}
          />
        ))}
      </PlainTable>
      {data.items.length > 0 && (
        <Group justify="space-between">
          <Text size="xs" c="dimmed" role="status">
            {chosen.length} of {formatCount(data.items.length, 'item')} selected
            {data.hasMore && ', more when these are moved'}
          </Text>
          <Button variant="light" disabled={chosen.length === 0} onClick={moving.open}>
            {chosen.length === 0 ? 'Move' : `Move ${formatCount(chosen.length, 'item')}`}
          </Button>
        </Group>
      )}
      {isMoving && <MoveWorkDialog from_id={user_id} items={chosen} onClose={moving.close} />}
    </>
  )
}

interface ItemRowProps {
  readonly item: PersonItem
  readonly isChosen: boolean
  readonly onChoose: (isChosen: boolean) => void
}

function ItemRow({ item, isChosen, onChoose }: ItemRowProps) {
  const { object_kind, object_id, title, detail, priority, restriction_id, is_restricted } = item
  const path = object_kind === 'alert' ? '/inbox/alerts' : '/investigations'
  return (
    <Table.Tr>
      <Table.Td w={32}>
        <Checkbox
          size="xs"
          aria-label={`Select ${title}${detail === null ? '' : `: ${detail}`}`}
          checked={isChosen}
          onChange={(event) => onChoose(event.currentTarget.checked)}
        />
      </Table.Td>
      <Table.Td>
        <PageLink to={`${path}/${object_id}`} size="sm" fw={500}>
          {title}
        </PageLink>
        <RestrictionMark restriction_id={is_restricted ? restriction_id : null} />
        {detail !== null && (
          <Text size="xs" c="dimmed" lineClamp={2}>
            {detail}
          </Text>
        )}
      </Table.Td>
      <Table.Td visibleFrom="sm">{object_kind}</Table.Td>
      <Table.Td>
        <PriorityBadge priority={priority} />
      </Table.Td>
    </Table.Tr>
  )
}
