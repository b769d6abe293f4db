/** Creates a schedule: matrix or rule, subjects, frequency and time zone. */
import { Group, Select, TextInput } from '@mantine/core'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { ApprovalNote } from '#console/ui/approval-note.tsx'
import { FormDialog } from '#console/ui/dialog.tsx'
import { faultsByField } from '#console/ui/problem-texts.ts'
import { DefinitionSelect } from './definition-select.tsx'
import { type Frequency, frequencies, frequencyLabels, toCron } from './schedule-texts.ts'

const localZone = Intl.DateTimeFormat().resolvedOptions().timeZone
const zones = [...new Set([localZone, 'UTC', ...Intl.supportedValuesOf('timeZone')])]
/** There are hundreds of time zones, so the field is searchable. */
const MAX_SHOWN_ZONES = 50

const blank = {
  name: '',
  chosen: null as string | null,
  segment: '',
  frequency: 'first-of-month' as Frequency,
  time: '06:00',
  cron: '',
  time_zone: localZone,
}
type ScheduleForm = typeof blank

function buildRequest({ name, chosen, segment, frequency, time, cron, time_zone }: ScheduleForm) {
  const [family, key = ''] = (chosen ?? '').split(' ')
  return {
    name,
    ...(family === 'rule' ? { rule_key: key } : { matrix_key: key }),
    filter: segment === '' ? {} : { segment },
    cron: frequency === 'other' ? cron : toCron(frequency, time),
    time_zone,
  }
}

interface NewScheduleProps {
  readonly isOpen: boolean
  readonly onClose: () => void
}

export function NewSchedule({ isOpen, onClose }: NewScheduleProps) {
  const [form, setOrder] = useState(blank)
  const set = (change: Partial<ScheduleForm>) => setOrder({ ...form, ...change })
  const create = useApiMutation(() => probity.POST('/api/batch-evaluations/schedules', { body: buildRequest(form) }), {
    invalidates: ['batch-schedules'],
    successMessage: 'Schedule created',
    onDone: close,
  })
  const faults = faultsByField(create.problem)
  function close() {
    setOrder(blank)
    create.reset()
    onClose()
  }
  return (
    <FormDialog
      title="New schedule"
      isOpen={isOpen}
      onClose={close}
      onSubmit={() => create.run(undefined)}
      submit="Create schedule"
      change={create}
      size="lg"
    >
      <ApprovalNote request={create.waiting} />
      <TextInput
        label="Name"
        required
        maxLength={100}
        data-autofocus
        autoComplete="off"
        value={form.name}
        error={faults['name']}
        onChange={(event) => set({ name: event.currentTarget.value })}
      />
      {isOpen && <DefinitionSelect chosen={form.chosen} onChange={(chosen) => set({ chosen })} />}
      <TextInput
        label="Segment"
        description="Leave empty for all subjects."
        maxLength={100}
        value={form.segment}
        onChange={(event) => set({ segment: event.currentTarget.value })}
      />
      <Times order={form} faults={faults} onChange={set} />
    </FormDialog>
  )
}

interface TimesProps {
  readonly order: ScheduleForm
  readonly faults: Readonly<Record<string, string>>
  readonly onChange: (change: Partial<ScheduleForm>) => void
}

function Times({ order, faults, onChange }: TimesProps) {
  return (
    <>
      <Group gap="sm" align="flex-start" grow>
        <Select
          label="Frequency"
          allowDeselect={false}
          data={frequencies.map((value) => ({ value, label: frequencyLabels[value] }))}
          value={order.frequency}
          onChange={(frequency) => onChange({ frequency: frequency as Frequency })}
        />
        {order.frequency === 'other' ? (
          <TextInput
            label="Cron expression"
            description="Minute, hour, day, month, day of the week."
            placeholder="0 6 * * 1-5"
            required
            maxLength={200}
            value={order.cron}
            error={faults['cron']}
            onChange={(event) => onChange({ cron: event.currentTarget.value })}
          />
        ) : (
          <TextInput
            label="Time"
            type="time"
            required
            value={order.time}
            error={faults['cron']}
            onChange={(event) => onChange({ time: event.currentTarget.value })}
          />
        )}
      </Group>
      <Select
        label="Time zone"
        required
        searchable
        allowDeselect={false}
        data={zones}
        limit={MAX_SHOWN_ZONES}
        value={order.time_zone}
        error={faults['time_zone']}
        onChange={(time_zone) => onChange({ time_zone: time_zone ?? localZone })}
      />
    </>
  )
}
