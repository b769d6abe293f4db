/** The calendar by which business days of clocks are counted. */
import { Button, Group, Select, Skeleton, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { Schemas } from '@probity/client'
import { queryOptions, useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { DateTime } from '#console/ui/date-time.tsx'
import { type ListContent, listContentQuery } from '#console/ui/decision/list-entries.ts'
import { ConfirmDialog } from '#console/ui/dialog.tsx'
import { EmptyState } from '#console/ui/empty-state.tsx'
import { PageLink } from '#console/ui/link.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { Section } from '#console/ui/section.tsx'

type Settings = Schemas['WorkSettings']

const CALENDARS = 'business-calendars'

const settingsQuery = queryOptions({
  queryKey: ['work', 'settings'],
  queryFn: ({ signal }) => probity.GET('/api/work/settings', { signal }),
})

export function BusinessCalendar() {
  const may = usePermission()
  const { data: settings } = useSuspenseQuery(settingsQuery)
  const { data: calendars, isLoading } = useQuery(listContentQuery(CALENDARS))
  const link = may('getDataset') && (
    <PageLink to={`/datasets/${CALENDARS}`} size="sm">
      Calendars and their holidays
    </PageLink>
  )
  return (
    <Section title="Business calendar" actions={link}>
      {isLoading ? (
        <Skeleton height={80} />
      ) : calendars === undefined || calendars.entries.length === 0 ? (
        <EmptyState
          title="No calendars"
          about="The list of business calendars has no version in force. Put one in force, then choose the calendar here."
        />
      ) : (
        <CalendarForm key={settings.revision} settings={settings} entries={calendars.entries} />
      )}
    </Section>
  )
}

interface CalendarFormProps {
  readonly settings: Settings
  readonly entries: ListContent['entries']
}

function CalendarForm({ settings, entries }: CalendarFormProps) {
  const canChange = usePermission()('updateWorkSettings')
  const [calendar, setCalendar] = useState(settings.calendar)
  const [isAsking, asking] = useDisclosure(false)
  const save = useApiMutation(
    () => probity.PUT('/api/work/settings', { body: { calendar, expected_revision: settings.revision } }),
    { invalidates: ['work'], successMessage: 'Business calendar saved', onDone: asking.close },
  )
  const choices = entries.map(({ key, entry }) => ({
    value: key,
    label: `${entry['title'] ?? key} · ${entry['time_zone'] ?? ''}`,
  }))
  const name = String(entries.find(({ key }) => key === calendar)?.entry['title'] ?? calendar)
  function submit(event: FormEvent) {
    event.preventDefault()
    asking.open()
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <Text size="sm">
          Targets of queues and deadlines of filings count business days by this calendar: its weekends, holidays and
          time zone.
        </Text>
        <Select
          label="Calendar"
          searchable
          allowDeselect={false}
          maw={480}
          readOnly={!canChange}
          nothingFoundMessage="No calendar has this name"
          // One that is no longer in the list stays chosen until another is.
          data={
            choices.some(({ value }) => value === calendar)
              ? choices
              : [...choices, { value: calendar, label: calendar }]
          }
          value={calendar}
          onChange={(key) => key !== null && setCalendar(key)}
        />
        <Group justify="space-between">
          <Text size="xs" c="dimmed" component="div">
            {settings.updated_at === null ? (
              'Never changed.'
            ) : (
              <>
                Chosen by <Principal of={settings.updated_by ?? ''} />, <DateTime at={settings.updated_at} />
              </>
            )}
          </Text>
          {canChange && (
            <Button type="submit" variant="light" disabled={calendar === settings.calendar}>
              Save calendar
            </Button>
          )}
        </Group>
      </Stack>
      <ConfirmDialog
        title="Change the business calendar"
        isOpen={isAsking}
        onClose={asking.close}
        onConfirm={() => save.run(undefined)}
        confirm="Change"
        change={save}
      >
        Clocks that start or resume from now on count business days by “{name}”. Due times that were computed stay.
      </ConfirmDialog>
    </form>
  )
}
