/** Making a schedule: what decides, about whom, and when, on the clocks of which place. */
import { Group, Select, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { ApprovalNote } from '#console/ui/approval-note.tsx'
import { definitionsQuery, getDefinitionKey, matrixKind, ruleKind } from '#console/ui/decision/definition-kind.ts'
import { FormDialog } from '#console/ui/dialog.tsx'
import { faultsByField } from '#console/ui/problem-texts.ts'
import { type Frequency, frequencies, frequencyLabels, toCron } from './schedule-texts.ts'

const localZone = Intl.DateTimeFormat().resolvedOptions().timeZone
const zones = [...new Set([localZone, 'UTC', ...Intl.supportedValuesOf('timeZone')])]
/** There are hundreds; whoever looks for one types a part of its name. */
const MAX_SHOWN_ZONES = 50

const blank = {
  name: '',
  chosen: null as string | null,
  segment: '',
  rhythm: 'first-of-month' as Frequency,
  time: '06:00',
  cron: '',
  time_zone: localZone,
}
type ScheduleForm = typeof blank

function buildRequest({ name, chosen, segment, rhythm, time, cron, time_zone }: ScheduleForm) {
  const [family, key = ''] = (chosen ?? '').split(' ')
  return {
    name,
    ...(family === 'rule' ? { rule_key: key } : { matrix_key: key }),
    filter: segment === '' ? {} : { segment },
    cron: rhythm === 'other' ? cron : toCron(rhythm, time),
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
    successMessage: 'The schedule is made',
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
      submit="Make the schedule"
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
        description="Of the subjects it is about; empty: all of them."
        maxLength={100}
        value={form.segment}
        onChange={(event) => set({ segment: event.currentTarget.value })}
      />
      <Times order={form} faults={faults} onChange={set} />
    </FormDialog>
  )
}

function DefinitionSelect({
  chosen,
  onChange,
}: {
  readonly chosen: string | null
  onChange(chosen: string | null): void
}) {
  const { data: matrices = [] } = useQuery(definitionsQuery(matrixKind))
  const { data: rules = [] } = useQuery(definitionsQuery(ruleKind))
  const choices = (all: typeof matrices, family: string) =>
    [...new Map(all.map((one) => [getDefinitionKey(one), one.title]))].map(([key, label]) => ({
      value: `${family} ${key}`,
      label,
    }))
  return (
    <Select
      label="What decides"
      placeholder="Choose a matrix or a rule"
      required
      searchable
      value={chosen}
      data={[
        { group: 'Matrices', items: choices(matrices, 'matrix') },
        { group: 'Rules', items: choices(rules, 'rule') },
      ]}
      onChange={onChange}
    />
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
          label="How often"
          allowDeselect={false}
          data={frequencies.map((value) => ({ value, label: frequencyLabels[value] }))}
          value={order.rhythm}
          onChange={(rhythm) => onChange({ rhythm: rhythm as Frequency })}
        />
        {order.rhythm === 'other' ? (
          <TextInput
            label="Expression"
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
            label="At"
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
