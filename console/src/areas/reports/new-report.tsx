/** Requests a report, once or on a schedule. The fields come from the schema of the template's parameters. */
import { Checkbox, Group, Select, Switch, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useMe, usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { FormDialog } from '#console/ui/dialog.tsx'
import { faultsByField } from '#console/ui/problem-texts.ts'
import { RestrictionSelect } from '#console/ui/restriction/restriction-select.tsx'
import { firstOfMonth, type Times, TimesFields, toTimes } from '#console/ui/schedule/times-fields.tsx'
import { TextField } from '#console/ui/text-field.tsx'
import { Parameter, type ParametersSchema, type ParameterValues } from './report-parameters.tsx'
import {
  capabilitiesQuery,
  type ReportFormat,
  type ReportTemplate,
  reportFormats,
  toReportId,
} from './report-queries.ts'

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

type Repeat = Times & { readonly name: string }
const MONTHLY: Repeat = { name: '', ...firstOfMonth }

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
  const { data: capabilities } = useQuery({ ...capabilitiesQuery, throwOnError: false })
  const isAvailable = (format: ReportFormat) => capabilities?.report_formats.includes(format) ?? true
  const [formats, setFormats] = useState<ReportFormat[] | null>(null)
  const [repeat, setRepeat] = useState<Repeat | null>(isRepeated ? MONTHLY : null)
  const template = offered.find((one) => one.key === key)
  const { properties = {}, required = [] } = (template?.parameters ?? {}) as ParametersSchema
  const chosen = formats ?? (template?.formats ?? []).filter(isAvailable)
  const parameters = Object.fromEntries(
    Object.keys(properties).flatMap((name) =>
      values[name] === undefined || values[name] === '' ? [] : [[name, values[name]]],
    ),
  )
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

interface FormatsFieldProps {
  /** Those of the template. */
  readonly offered: readonly ReportFormat[]
  readonly chosen: readonly ReportFormat[]
  readonly isAvailable: (format: ReportFormat) => boolean
  readonly onChange: (chosen: ReportFormat[]) => void
}

function FormatsField({ offered, chosen, isAvailable, onChange }: FormatsFieldProps) {
  const toggle = (format: ReportFormat, isChosen: boolean) =>
    onChange(isChosen ? [...chosen, format] : chosen.filter((one) => one !== format))
  return (
    <>
      <Checkbox.Group label="Formats" value={[...chosen]}>
        <Group gap="md" mt={4}>
          {reportFormats.map((format) => (
            <Checkbox
              key={format}
              value={format}
              label={format.toUpperCase()}
              disabled={!offered.includes(format) || !isAvailable(format)}
              onChange={(event) => toggle(format, event.currentTarget.checked)}
            />
          ))}
        </Group>
      </Checkbox.Group>
      {!isAvailable('pdf') && (
        <Text size="sm" c="dimmed">
          PDF is not available: the package that prints it is not installed with this service. HTML can be printed
          instead.
        </Text>
      )}
    </>
  )
}

interface RepeatFieldsProps {
  readonly repeat: Repeat
  readonly faults: ReturnType<typeof faultsByField>
  readonly onChange: (repeat: Repeat) => void
}

function RepeatFields({ repeat, faults, onChange }: RepeatFieldsProps) {
  return (
    <>
      <TextField
        label="Name of the schedule"
        isRequired
        max={100}
        value={repeat.name}
        onChange={(name) => onChange({ ...repeat, name })}
      />
      <TimesFields times={repeat} faults={faults} onChange={(change) => onChange({ ...repeat, ...change })} />
    </>
  )
}
