/** Recurring batches: next run, last run, and actions to pause, start or remove a schedule. */
import { ActionIcon, Button, Menu, Stack, Table, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { ApprovalNote } from '#console/ui/approval-note.tsx'
import { StateBadge } from '#console/ui/badges.tsx'
import { RelativeTime } from '#console/ui/date-time.tsx'
import { getKind } from '#console/ui/decision/definition-kind.ts'
import { DefinitionName } from '#console/ui/decision/definition-name.tsx'
import { ConfirmDialog } from '#console/ui/dialog.tsx'
import { Icon } from '#console/ui/icons.tsx'
import { PageLink } from '#console/ui/link.tsx'
import { ListTable, usePages } from '#console/ui/list.tsx'
import { Page } from '#console/ui/page.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { describeSkip, describeTimes } from '#console/ui/schedule/schedule-texts.ts'
import { NewSchedule } from './new-schedule.tsx'

type Schedule = Schemas['BatchSchedule']

const scheduleQueries = ['batch-schedules', 'batches', 'jobs']
const getDefinitionPath = ({ schedule_id }: Schedule) => ({ params: { path: { schedule_id } } })

export default function SchedulesPage() {
  const may = usePermission()
  const [isCreating, setCreating] = useState(false)
  const [leaving, setLeaving] = useState<Schedule | null>(null)
  const list = usePages<Schedule>(
    ['batch-schedules', 'list'],
    (cursor, signal) =>
      probity.GET('/api/batch-evaluations/schedules', { params: { query: { ...cursor, limit: 50 } }, signal }),
    { refetch_ms: 10_000 },
  )
  const pause = useApiMutation(
    (one: Schedule) =>
      probity.PATCH('/api/batch-evaluations/schedules/{schedule_id}', {
        ...getDefinitionPath(one),
        body: { paused: !one.paused },
      }),
    {
      invalidates: scheduleQueries,
      successMessage: ({ paused }) => (paused ? 'Schedule paused' : 'Schedule resumed'),
    },
  )
  const start = useApiMutation(
    (one: Schedule) => probity.POST('/api/batch-evaluations/schedules/{schedule_id}/run', getDefinitionPath(one)),
    { invalidates: scheduleQueries, successMessage: 'Batch started' },
  )
  return (
    <Page
      title="Schedules"
      about="Recurring batches. Each run uses the versions in force at that time."
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
          empty={{
            title: 'No schedules yet',
            about: 'A schedule rates all matching subjects again, for example every night.',
          }}
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
                start.reset()
                pause.run(one)
              }}
              onStart={() => {
                pause.reset()
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
  const may = usePermission()
  return (
    <Table.Tr>
      <Table.Td>
        <Text size="sm" fw={500}>
          {of.name}
        </Text>
        <Text size="xs" c="dimmed">
          {describeTimes(of.cron)}, {of.time_zone}
        </Text>
      </Table.Td>
      <Table.Td>{of.paused ? <StateBadge state="paused" /> : <RelativeTime at={of.next_run_at} />}</Table.Td>
      <Table.Td>
        <LastRun of={of} />
      </Table.Td>
      <Table.Td visibleFrom="md">
        <PageLink to={`${getKind(of.family).basePath}/${of.definition_key}`} size="sm">
          <DefinitionName {...of} />
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
            {may('updateBatchSchedule') && <Menu.Item onClick={onPause}>{of.paused ? 'Resume' : 'Pause'}</Menu.Item>}
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
        <RelativeTime at={last_run.recorded_at} />
      </PageLink>
    )
  }
  return (
    <>
      <RelativeTime at={last_run.recorded_at} />
      <Text size="xs" c="dimmed" title={last_run.detail ?? ''}>
        skipped: {describeSkip(last_run.skipped ?? '')}
      </Text>
    </>
  )
}

function RemoveSchedule({ of, onClose }: { readonly of: Schedule | null; readonly onClose: () => void }) {
  const remove = useApiMutation(
    (one: Schedule) => probity.DELETE('/api/batch-evaluations/schedules/{schedule_id}', getDefinitionPath(one)),
    { invalidates: scheduleQueries, successMessage: 'Schedule removed', onDone: close },
  )
  function close() {
    remove.reset()
    onClose()
  }
  return (
    <ConfirmDialog
      title={`Remove ${of?.name ?? ''}`}
      isOpen={of !== null}
      onClose={close}
      onConfirm={() => of && remove.run(of)}
      confirm="Remove schedule"
      change={remove}
      isDangerous
    >
      The run history of the schedule is removed. Its batches are kept.
      <ApprovalNote request={remove.waiting} />
    </ConfirmDialog>
  )
}
