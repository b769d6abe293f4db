/** Schedules of reports: the next and the last run, paused, resumed or removed. */
import { Button, Group, Table, Text } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { RelativeTime } from '#console/ui/date-time.tsx'
import { ConfirmDialog } from '#console/ui/dialog.tsx'
import { PageLink } from '#console/ui/link.tsx'
import { ListTable, usePages } from '#console/ui/list.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { RestrictionMark } from '#console/ui/restriction/padlock.tsx'
import { describeSkip, describeTimes } from '#console/ui/schedule/schedule-texts.ts'
import { Section } from '#console/ui/section.tsx'
import { EditSchedule } from './edit-schedule.tsx'
import { type ReportSchedule, type ReportTemplate, toTemplateTitle } from './report-queries.ts'

interface ReportSchedulesProps {
  readonly templates: readonly ReportTemplate[]
  /** The button that adds one, if the user may. */
  readonly add: ReactNode
}

export function ReportSchedules({ templates, add }: ReportSchedulesProps) {
  const list = usePages<ReportSchedule>(['reports', 'schedules'], (cursor, signal) =>
    probity.GET('/api/reports/schedules', { params: { query: { ...cursor, limit: 50 } }, signal }),
  )
  const isEmpty = list.data?.pages.every(({ items }) => items.length === 0) ?? true
  return (
    <Section title="Schedules">
      {!isEmpty && (
        <Group justify="flex-end" mb="xs">
          {add}
        </Group>
      )}
      <ListTable
        label="Schedules of reports"
        list={list}
        empty={{
          title: 'No schedules',
          about: 'A report that is needed every week or month is made on a schedule, and appears in the list above.',
          action: add,
        }}
        head={[
          { name: 'Schedule' },
          { name: 'Kind', from: 'sm' },
          { name: 'Next run' },
          { name: 'Last run', from: 'sm' },
          { name: 'Actions', isHidden: true },
        ]}
        row={(schedule) => (
          <ScheduleRow
            key={schedule.schedule_id}
            schedule={schedule}
            title={toTemplateTitle(templates, schedule.template_key)}
            template={templates.find(({ key }) => key === schedule.template_key)}
          />
        )}
      />
    </Section>
  )
}

interface ScheduleRowProps {
  readonly schedule: ReportSchedule
  readonly title: string
  /** Undefined where the service has it no more. */
  readonly template: ReportTemplate | undefined
}

function useScheduleChanges({ schedule_id, paused, revision }: ReportSchedule) {
  const path = { schedule_id }
  const pause = useApiMutation(
    () =>
      probity.PATCH('/api/reports/schedules/{schedule_id}', {
        params: { path },
        body: { paused: !paused, expected_revision: revision },
      }),
    { invalidates: ['reports'], successMessage: paused ? 'Schedule resumed' : 'Schedule paused' },
  )
  const remove = useApiMutation(() => probity.DELETE('/api/reports/schedules/{schedule_id}', { params: { path } }), {
    invalidates: ['reports'],
    successMessage: 'Schedule removed',
  })
  return { pause, remove }
}

function ScheduleRow({ schedule, title, template }: ScheduleRowProps) {
  const { name, paused, next_run_at, last_report_id, last_skipped } = schedule
  const may = usePermission()
  const { pause, remove } = useScheduleChanges(schedule)
  const [isRemoving, setRemoving] = useState(false)
  return (
    <Table.Tr>
      <Table.Td>
        <Text span size="sm" fw={500}>
          {name}
        </Text>
        <RestrictionMark restriction_id={schedule.restriction_id} />
        <Text size="xs" c="dimmed">
          {describeTimes(schedule.cron)}, {schedule.time_zone}
        </Text>
        <ProblemNote problem={pause.problem} />
      </Table.Td>
      <Table.Td visibleFrom="sm">{title}</Table.Td>
      <Table.Td>{next_run_at === null ? 'paused' : <RelativeTime at={next_run_at} />}</Table.Td>
      <Table.Td visibleFrom="sm">
        {last_skipped !== null && <Text size="sm">Skipped: {describeSkip(last_skipped)}</Text>}
        {last_report_id !== null && (
          <PageLink to={`/reports/${last_report_id}`} size="sm">
            Open the report
          </PageLink>
        )}
      </Table.Td>
      <Table.Td>
        {may('updateReportSchedule') && (
          <Group gap="xs" justify="flex-end">
            {template !== undefined && <ChangeButton {...{ schedule, template }} />}
            <Button
              size="xs"
              variant="default"
              loading={pause.isRunning}
              aria-label={`${paused ? 'Resume' : 'Pause'} ${name}`}
              onClick={() => pause.run(undefined)}
            >
              {paused ? 'Resume' : 'Pause'}
            </Button>
            <Button size="xs" variant="default" aria-label={`Remove ${name}`} onClick={() => setRemoving(true)}>
              Remove
            </Button>
          </Group>
        )}
        {isRemoving && (
          <ConfirmDialog
            title={`Remove ${name}`}
            isOpen
            onClose={() => setRemoving(false)}
            onConfirm={() => remove.run(undefined)}
            confirm="Remove"
            change={remove}
          >
            No more reports are made on this schedule. Those that it made stay.
          </ConfirmDialog>
        )}
      </Table.Td>
    </Table.Tr>
  )
}

interface ChangeButtonProps {
  readonly schedule: ReportSchedule
  readonly template: ReportTemplate
}

function ChangeButton({ schedule, template }: ChangeButtonProps) {
  const [isChanging, setChanging] = useState(false)
  return (
    <>
      <Button size="xs" variant="default" aria-label={`Change ${schedule.name}`} onClick={() => setChanging(true)}>
        Change
      </Button>
      {isChanging && <EditSchedule {...{ schedule, template }} onClose={() => setChanging(false)} />}
    </>
  )
}
