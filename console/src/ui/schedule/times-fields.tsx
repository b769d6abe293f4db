/** When a schedule is due: how often, at what time, and in which zone. */
import { Group, Select, TextInput } from '@mantine/core'
import { type Frequency, frequencies, frequencyLabels, toCron } from './schedule-texts.ts'

const localZone = Intl.DateTimeFormat().resolvedOptions().timeZone
const zones = [...new Set([localZone, 'UTC', ...Intl.supportedValuesOf('timeZone')])]
/** There are hundreds of time zones, so the field is searchable. */
const MAX_SHOWN_ZONES = 50

export interface Times {
  readonly frequency: Frequency
  /** As in a time field: 06:30. */
  readonly time: string
  /** Of a custom frequency. */
  readonly cron: string
  readonly time_zone: string
}

export const firstOfMonth: Times = { frequency: 'first-of-month', time: '06:00', cron: '', time_zone: localZone }

/** As the API takes them. */
export const toTimes = ({ frequency, time, cron, time_zone }: Times) => ({
  cron: frequency === 'other' ? cron : toCron(frequency, time),
  time_zone,
})

interface TimesFieldsProps {
  readonly times: Times
  readonly faults: Readonly<Record<string, string>>
  readonly onChange: (change: Partial<Times>) => void
}

export function TimesFields({ times, faults, onChange }: TimesFieldsProps) {
  return (
    <>
      <Group gap="sm" align="flex-start" grow>
        <Select
          label="Frequency"
          allowDeselect={false}
          data={frequencies.map((value) => ({ value, label: frequencyLabels[value] }))}
          value={times.frequency}
          onChange={(frequency) => onChange({ frequency: frequency as Frequency })}
        />
        {times.frequency === 'other' ? (
          <TextInput
            label="Cron expression"
            description="Minute, hour, day, month, day of the week."
            placeholder="0 6 * * 1-5"
            required
            maxLength={200}
            value={times.cron}
            error={faults['cron']}
            onChange={(event) => onChange({ cron: event.currentTarget.value })}
          />
        ) : (
          <TextInput
            label="Time"
            type="time"
            required
            value={times.time}
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
        value={times.time_zone}
        error={faults['time_zone']}
        onChange={(time_zone) => onChange({ time_zone: time_zone ?? localZone })}
      />
    </>
  )
}
