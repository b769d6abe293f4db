/** Requests a report, once or on a schedule. The fields come from the schema of the template's parameters. */
import { Checkbox, Group, NumberInput, Select, Switch, Text, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useMe, usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { FormDialog } from '#console/ui/dialog.tsx'
import { toSentence } from '#console/ui/format.ts'
import { type ReportFormat, type ReportTemplate, reportFormats, toReportId } from './report-queries.ts'

interface ParameterSchema {
  readonly type?: string
  readonly description?: string
  readonly minimum?: number
  readonly maximum?: number
}

interface ParametersSchema {
  readonly properties?: Readonly<Record<string, ParameterSchema>>
  readonly required?: readonly string[]
}

type Values = Readonly<Record<string, string | number>>

interface NewReportProps {
  readonly templates: readonly ReportTemplate[]
  readonly first?: string
  /** Of parameters, to begin with. */
  readonly values: Values
  readonly onClose: () => void
}

export function NewReport({ templates, first, values: given, onClose }: NewReportProps) {
  const navigate = useNavigate()
  const may = usePermission()
  const { roles } = useMe()
  const offered = templates.filter((template) => template.roles.some((role) => roles.includes(role)))
  const [key, setKey] = useState<string | null>(first ?? offered[0]?.key ?? null)
  const [values, setValues] = useState<Values>(given)
  const [formats, setFormats] = useState<ReportFormat[] | null>(null)
  const [repeat, setRepeat] = useState<{ name: string; cron: string } | null>(null)
  const template = offered.find((one) => one.key === key)
  const { properties = {}, required = [] } = (template?.parameters ?? {}) as ParametersSchema
  const chosen = formats ?? template?.formats ?? []
  const parameters = Object.fromEntries(
    Object.keys(properties).flatMap((name) =>
      values[name] === undefined || values[name] === '' ? [] : [[name, values[name]]],
    ),
  )
  const request = useApiMutation(
    () => probity.POST('/api/reports', { body: { template: key ?? '', parameters, formats: [...chosen] } }),
    {
      invalidates: ['reports'],
      successMessage: 'The report is being made',
      onDone: ({ resource }) => navigate({ to: `/reports/${toReportId(resource)}` }),
    },
  )
  const schedule = useApiMutation(
    (settings: { name: string; cron: string }) =>
      probity.POST('/api/reports/schedules', {
        body: {
          ...settings,
          template: key ?? '',
          parameters,
          formats: [...chosen],
          time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
        },
      }),
    { invalidates: ['reports'], successMessage: 'Schedule created', onDone: onClose },
  )
  const toggle = (format: ReportFormat, isChosen: boolean) =>
    setFormats(isChosen ? [...chosen, format] : chosen.filter((one) => one !== format))
  return (
    <FormDialog
      title="Request a report"
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
        />
      ))}
      <Checkbox.Group label="Formats" value={[...chosen]}>
        <Group gap="md" mt={4}>
          {reportFormats.map((format) => (
            <Checkbox
              key={format}
              value={format}
              label={format.toUpperCase()}
              disabled={!template?.formats.includes(format)}
              onChange={(event) => toggle(format, event.currentTarget.checked)}
            />
          ))}
        </Group>
      </Checkbox.Group>
      {may('createReportSchedule') && (
        <Switch
          label="On a schedule"
          checked={repeat !== null}
          onChange={(event) => setRepeat(event.currentTarget.checked ? { name: '', cron: '0 6 1 * *' } : null)}
        />
      )}
      {repeat !== null && (
        <>
          <TextInput
            label="Name of the schedule"
            required
            maxLength={100}
            value={repeat.name}
            onChange={(event) => setRepeat({ ...repeat, name: event.currentTarget.value })}
          />
          <TextInput
            label="Due"
            description="Minute, hour, day of the month, month, day of the week. 0 6 1 * * is at 6:00 on the first of each month."
            required
            value={repeat.cron}
            onChange={(event) => setRepeat({ ...repeat, cron: event.currentTarget.value })}
          />
        </>
      )}
    </FormDialog>
  )
}

interface ParameterProps {
  readonly name: string
  readonly schema: ParameterSchema
  readonly isRequired: boolean
  readonly value: string | number
  readonly onChange: (value: string | number) => void
}

function Parameter({ name, schema, isRequired, value, onChange }: ParameterProps) {
  const shared = { label: toSentence(name), description: schema.description, required: isRequired }
  if (schema.type === 'integer')
    return (
      <NumberInput
        {...shared}
        allowDecimal={false}
        {...(schema.minimum !== undefined && { min: schema.minimum })}
        {...(schema.maximum !== undefined && { max: schema.maximum })}
        value={value}
        onChange={onChange}
      />
    )
  return <TextInput {...shared} value={value} onChange={(event) => onChange(event.currentTarget.value.trim())} />
}
