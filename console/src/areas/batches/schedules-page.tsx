/** Recurring batches: when each is due next, what became of its last time, and the way to pause, start or remove it. */
import { ActionIcon, Button, Menu, Stack, Table, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useState } from 'react'
import { probity } from '../../session/client.ts'
import { useMay } from '../../session/queries.ts'
import { ApprovalNote } from '../../ui/approval-note.tsx'
import { StateBadge } from '../../ui/badges.tsx'
import { useChange } from '../../ui/change.ts'
import { kindOf } from '../../ui/decision/kind.ts'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { Icon } from '../../ui/icons.tsx'
import { PageLink } from '../../ui/link.tsx'
import { ListTable, usePages } from '../../ui/list.tsx'
import { Page } from '../../ui/page.tsx'
import { ProblemNote } from '../../ui/problem-note.tsx'
import { When } from '../../ui/when.tsx'
import { NewSchedule } from './new-schedule.tsx'
import { skippedWords, timesInWords } from './schedule-words.ts'

type Schedule = Schemas['BatchSchedule']

const touches = ['batch-schedules', 'batches', 'jobs']
const pathOf = ({ schedule_id }: Schedule) => ({ params: { path: { schedule_id } } })

export default function SchedulesPage() {
  const may = useMay()
  const [isCreating, setCreating] = useState(false)
  const [leaving, setLeaving] = useState<Schedule | null>(null)
  const list = usePages<Schedule>(
    ['batch-schedules', 'list'],
    (cursor, signal) =>
      probity.GET('/api/batch-evaluations/schedules', { params: { query: { ...cursor, limit: 50 } }, signal }),
    { refetch_ms: 10_000 },
  )
  const pause = useChange(
    (one: Schedule) =>
      probity.PATCH('/api/batch-evaluations/schedules/{schedule_id}', {
        ...pathOf(one),
        body: { paused: !one.paused },
      }),
    { touches, done: ({ paused }) => (paused ? 'The schedule is paused' : 'The schedule goes on') },
  )
  const start = useChange(
    (one: Schedule) => probity.POST('/api/batch-evaluations/schedules/{schedule_id}/run', pathOf(one)),
    { touches, done: 'The batch is started' },
  )
  return (
    <Page
      title="Schedules"
      about="Batches that are ordered again and again, each on the versions in force when it is due."
      trail={
        <PageLink to="/batches" inherit>
          Batches
        </PageLink>
      }
      actions={may('createBatchSchedule') && <Button onClick={() => setCreating(true)}>New schedule</Button>}
    >
      <Stack gap="sm">
        <ProblemNote problem={pause.problem ?? start.problem} />
        <ApprovalNote request={pause.waiting} />
        <ListTable<Schedule>
          label="Schedules"
          list={list}
          empty="No schedule yet."
          head={[
            { name: 'Schedule' },
            { name: 'Next run' },
            { name: 'Last run' },
            { name: 'Decided by', from: 'md' },
            { name: 'Actions', isHidden: true },
          ]}
          row={(one) => (
            <ScheduleRow
              key={one.schedule_id}
              of={one}
              onPause={() => {
                start.forget()
                pause.run(one)
              }}
              onStart={() => {
                pause.forget()
                start.run(one)
              }}
              onRemove={() => setLeaving(one)}
            />
          )}
        />
      </Stack>
      <NewSchedule isOpen={isCreating} onClose={() => setCreating(false)} />
      <RemoveSchedule of={leaving} onClose={() => setLeaving(null)} />
    </Page>
  )
}

interface ScheduleRowProps {
  readonly of: Schedule
  readonly onPause: () => void
  readonly onStart: () => void
  readonly onRemove: () => void
}

function ScheduleRow({ of, onPause, onStart, onRemove }: ScheduleRowProps) {
  const may = useMay()
  return (
    <Table.Tr>
      <Table.Td>
        <Text size="sm" fw={500}>
          {of.name}
        </Text>
        <Text size="xs" c="dimmed">
          {timesInWords(of.cron)}, {of.time_zone}
        </Text>
      </Table.Td>
      <Table.Td>{of.paused ? <StateBadge state="paused" /> : <When at={of.next_run_at} />}</Table.Td>
      <Table.Td>
        <LastRun of={of} />
      </Table.Td>
      <Table.Td visibleFrom="md">
        <PageLink to={`${kindOf(of.family).place}/${of.definition_key}`} size="sm">
          {of.definition_key}
        </PageLink>
      </Table.Td>
      <Table.Td ta="right">
        <Menu position="bottom-end" transitionProps={{ duration: 100 }}>
          <Menu.Target>
            <ActionIcon variant="subtle" color="gray" aria-label={`Actions for ${of.name}`}>
              <Icon name="more" />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            {may('startBatchSchedule') && <Menu.Item onClick={onStart}>Start now</Menu.Item>}
            {may('updateBatchSchedule') && <Menu.Item onClick={onPause}>{of.paused ? 'Go on' : 'Pause'}</Menu.Item>}
            {may('deleteBatchSchedule') && (
              <Menu.Item color="red" onClick={onRemove}>
                Remove
              </Menu.Item>
            )}
          </Menu.Dropdown>
        </Menu>
      </Table.Td>
    </Table.Tr>
  )
}

function LastRun({ of: { last_run } }: { readonly of: Schedule }) {
  if (last_run === null) return 'never'
  if (last_run.batch_id !== null) {
    return (
      <PageLink to={`/batches/${last_run.batch_id}`} size="sm">
        <When at={last_run.recorded_at} />
      </PageLink>
    )
  }
  return (
    <>
      <When at={last_run.recorded_at} />
      <Text size="xs" c="dimmed" title={last_run.detail ?? ''}>
        skipped: {skippedWords(last_run.skipped ?? '')}
      </Text>
    </>
  )
}

function RemoveSchedule({ of, onClose }: { readonly of: Schedule | null; readonly onClose: () => void }) {
  const remove = useChange(
    (one: Schedule) => probity.DELETE('/api/batch-evaluations/schedules/{schedule_id}', pathOf(one)),
    { touches, done: 'The schedule is removed', onDone: close },
  )
  function close() {
    remove.forget()
    onClose()
  }
  return (
    <ConfirmDialog
      title={`Remove ${of?.name ?? ''}`}
      isOpen={of !== null}
      onClose={close}
      onConfirm={() => of && remove.run(of)}
      confirm="Remove the schedule"
      change={remove}
      isDangerous
    >
      The record of its runs goes with it. The batches it started stay.
      <ApprovalNote request={remove.waiting} />
    </ConfirmDialog>
  )
}
