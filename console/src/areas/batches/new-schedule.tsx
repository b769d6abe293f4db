/** Creates a schedule: matrix or rule, subjects, frequency and time zone. */
import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { ApprovalNote } from '#console/ui/approval-note.tsx'
import { FormDialog } from '#console/ui/dialog.tsx'
import { faultsByField } from '#console/ui/problem-texts.ts'
import { firstOfMonth, TimesFields, toTimes } from '#console/ui/schedule/times-fields.tsx'
import { DefinitionSelect } from './definition-select.tsx'

const blank = {
  name: '',
  chosen: null as string | null,
  segment: '',
  ...firstOfMonth,
}
type ScheduleForm = typeof blank

function buildRequest({ name, chosen, segment, ...times }: ScheduleForm) {
  const [family, key = ''] = (chosen ?? '').split(' ')
  return {
    name,
    ...(family === 'rule' ? { rule_key: key } : { matrix_key: key }),
    filter: segment === '' ? {} : { segment },
    ...toTimes(times),
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
      <TimesFields times={form} faults={faults} onChange={set} />
    </FormDialog>
  )
}
