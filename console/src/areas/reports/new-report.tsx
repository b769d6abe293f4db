/** Requests a report, once or on a schedule. The fields come from the schema of the template's parameters. */
import { Select, Switch, Text } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useMe, usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { FormDialog } from '#console/ui/dialog.tsx'
import { faultsByField } from '#console/ui/problem-texts.ts'
import { RestrictionSelect } from '#console/ui/restriction/restriction-select.tsx'
import { toTimes } from '#console/ui/schedule/times-fields.tsx'
import { FormatsField, MONTHLY, type Repeat, RepeatFields, useAvailableFormats } from './report-fields.tsx'
import { Parameter, type ParametersSchema, type ParameterValues, toParameters } from './report-parameters.tsx'
import { type ReportFormat, type ReportTemplate, toReportId } from './report-queries.ts'

interface NewReportProps {
  readonly templates: readonly ReportTemplate[]
  readonly first?: string
  readonly subject_id?: string
  /** Chosen already: the dialog was opened from the case. */
  readonly investigation_id?: string
  readonly restriction_id?: string
  /** Begins with a schedule. */
  readonly isRepeated?: boolean
  readonly onClose: () => void
}

export function NewReport(props: NewReportProps) {
  const { templates, first, subject_id, investigation_id, isRepeated = false, onClose } = props
  const navigate = useNavigate()
  const may = usePermission()
  const { roles } = useMe()
  const offered = templates.filter((template) => template.roles.some((role) => roles.includes(role)))
  const [key, setKey] = useState<string | null>(first ?? offered[0]?.key ?? null)
  const [values, setValues] = useState<ParameterValues>({
    ...(subject_id !== undefined && { subject_id }),
    ...(investigation_id !== undefined && { investigation_id }),
  })
  const [restriction_id, setRestriction] = useState<string | null>(props.restriction_id ?? null)
  const isAvailable = useAvailableFormats()
  const [formats, setFormats] = useState<ReportFormat[] | null>(null)
  const [repeat, setRepeat] = useState<Repeat | null>(isRepeated ? MONTHLY : null)
  const template = offered.find((one) => one.key === key)
  const { properties = {}, required = [] } = (template?.parameters ?? {}) as ParametersSchema
  const chosen = formats ?? (template?.formats ?? []).filter(isAvailable)
  const parameters = toParameters(properties, values)
  const request = useApiMutation(
    () =>
      probity.POST('/api/reports', { body: { template: key ?? '', parameters, formats: [...chosen], restriction_id } }),
    {
      invalidates: ['reports'],
      successMessage: 'The report is being made',
      onDone: ({ resource }) => navigate({ to: `/reports/${toReportId(resource)}` }),
    },
  )
  const schedule = useApiMutation(
    ({ name, ...times }: Repeat) =>
      probity.POST('/api/reports/schedules', {
        body: { name, ...toTimes(times), template: key ?? '', parameters, formats: [...chosen] },
      }),
    { invalidates: ['reports'], successMessage: 'Schedule created', onDone: onClose },
  )
  return (
    <FormDialog
      title={repeat === null ? 'Request a report' : 'Schedule a report'}
      isOpen
      onClose={onClose}
      onSubmit={() => (repeat === null ? request.run(undefined) : schedule.run(repeat))}
      submit={repeat === null ? 'Request' : 'Schedule'}
      change={repeat === null ? request : schedule}
    >
      <Select
        label="Kind"
        data-autofocus
        required
        allowDeselect={false}
        value={key}
        data={offered.map((one) => ({ value: one.key, label: one.title }))}
        onChange={(next) => {
          setKey(next)
          setFormats(null)
        }}
      />
      {template && (
        <Text size="sm" c="dimmed">
          {template.description}
        </Text>
      )}
      {Object.entries(properties).map(([name, schema]) => (
        <Parameter
          key={name}
          name={name}
          schema={schema}
          isRequired={required.includes(name)}
          value={values[name] ?? ''}
          onChange={(value) => setValues({ ...values, [name]: value })}
          onRestriction={setRestriction}
        />
      ))}
      <FormatsField offered={template?.formats ?? []} chosen={chosen} isAvailable={isAvailable} onChange={setFormats} />
      {repeat === null && (
        <RestrictionSelect
          description="The report then includes what is restricted, and only people with access can see it. Without a restriction the report includes nothing restricted."
          restriction_id={restriction_id}
          onChange={setRestriction}
        />
      )}
      {may('createReportSchedule') && (
        <Switch
          label="On a schedule"
          checked={repeat !== null}
          onChange={(event) => setRepeat(event.currentTarget.checked ? MONTHLY : null)}
        />
      )}
      {repeat !== null && (
        <RepeatFields repeat={repeat} faults={faultsByField(schedule.problem)} onChange={setRepeat} />
      )}
    </FormDialog>
  )
}
