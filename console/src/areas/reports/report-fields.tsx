/** Fields that a report and its schedule have in common: formats, name of the schedule and times. */
import { Checkbox, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { faultsByField } from '#console/ui/problem-texts.ts'
import { firstOfMonth, type Times, TimesFields } from '#console/ui/schedule/times-fields.tsx'
import { TextField } from '#console/ui/text-field.tsx'
import { capabilitiesQuery, type ReportFormat, reportFormats } from './report-queries.ts'

export type Repeat = Times & { readonly name: string }
export const MONTHLY: Repeat = { name: '', ...firstOfMonth }

/** What this installation can make; everything until it is known. */
export function useAvailableFormats(): (format: ReportFormat) => boolean {
  const { data } = useQuery({ ...capabilitiesQuery, throwOnError: false })
  return (format) => data?.report_formats.includes(format) ?? true
}

interface FormatsFieldProps {
  /** Those of the template. */
  readonly offered: readonly ReportFormat[]
  readonly chosen: readonly ReportFormat[]
  readonly isAvailable: (format: ReportFormat) => boolean
  readonly onChange: (chosen: ReportFormat[]) => void
}

export function FormatsField({ offered, chosen, isAvailable, onChange }: FormatsFieldProps) {
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

export function RepeatFields({ repeat, faults, onChange }: RepeatFieldsProps) {
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
