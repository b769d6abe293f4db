/** Changes a schedule of a report: its name, its times, what it is about and its formats. The kind of report stays. */
import { Text } from '@mantine/core'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { FormDialog } from '#console/ui/dialog.tsx'
import { faultsByField } from '#console/ui/problem-texts.ts'
import { parseCron } from '#console/ui/schedule/schedule-texts.ts'
import { toTimes } from '#console/ui/schedule/times-fields.tsx'
import { FormatsField, type Repeat, RepeatFields, useAvailableFormats } from './report-fields.tsx'
import { Parameter, type ParametersSchema, type ParameterValues, toParameters } from './report-parameters.tsx'
import type { ReportFormat, ReportSchedule, ReportTemplate } from './report-queries.ts'

interface EditScheduleProps {
  readonly schedule: ReportSchedule
  readonly template: ReportTemplate
  readonly onClose: () => void
}

export function EditSchedule({ schedule, template, onClose }: EditScheduleProps) {
  const { schedule_id, name, cron, time_zone, revision } = schedule
  const [repeat, setRepeat] = useState<Repeat>({ name, ...parseCron(cron), cron, time_zone })
  const [values, setValues] = useState(schedule.parameters as ParameterValues)
  const [formats, setFormats] = useState<readonly ReportFormat[]>(schedule.formats)
  const isAvailable = useAvailableFormats()
  const { properties = {}, required = [] } = template.parameters as ParametersSchema
  const change = useApiMutation(
    () =>
      probity.PATCH('/api/reports/schedules/{schedule_id}', {
        params: { path: { schedule_id } },
        body: {
          ...{ name: repeat.name, ...toTimes(repeat), expected_revision: revision },
          ...{ parameters: toParameters(properties, values), formats: [...formats] },
        },
      }),
    { invalidates: ['reports'], successMessage: 'Schedule changed', onDone: onClose },
  )
  return (
    <FormDialog
      title={`Change ${name}`}
      isOpen
      onClose={onClose}
      onSubmit={() => change.run(undefined)}
      submit="Change"
      change={change}
    >
      <Text size="sm">{template.title}. Reports that it made already stay as they are.</Text>
      <RepeatFields repeat={repeat} faults={faultsByField(change.problem)} onChange={setRepeat} />
      {Object.entries(properties).map(([member, schema]) => (
        <Parameter
          key={member}
          name={member}
          schema={schema}
          isRequired={required.includes(member)}
          value={values[member] ?? ''}
          onChange={(value) => setValues({ ...values, [member]: value })}
          // The restriction of the case is found again by the service.
          onRestriction={() => undefined}
        />
      ))}
      <FormatsField offered={template.formats} chosen={formats} isAvailable={isAvailable} onChange={setFormats} />
    </FormDialog>
  )
}
