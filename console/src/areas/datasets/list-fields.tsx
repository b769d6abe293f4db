/** The settings form of a list: owner, review interval, description and guards. */
import { Group, NumberInput, SimpleGrid, Stack, Text, Textarea, TextInput } from '@mantine/core'
import type { Dataset } from '#console/ui/registry-queries.ts'
import { findFillRateFault, type GuardTexts, parseGuards, toGuardTexts } from './guards.ts'

export interface ListSettings {
  readonly title: string
  readonly owner: string
  readonly description: string
  readonly review_every_days: number | string
  readonly stale_after_days: number | string
  readonly guards: GuardTexts
}

export const toSettings = (dataset: Partial<Dataset>): ListSettings => ({
  title: dataset.title ?? '',
  owner: dataset.owner ?? '',
  description: dataset.description ?? '',
  review_every_days: dataset.review_every_days ?? '',
  stale_after_days: dataset.stale_after_days ?? '',
  guards: toGuardTexts(dataset.guards ?? {}),
})

const days = (value: number | string): number | null => (typeof value === 'number' ? value : null)

/** Converts the form to the request body. */
export const buildRequest = ({
  title,
  owner,
  description,
  review_every_days,
  stale_after_days,
  guards,
}: ListSettings) => ({
  title,
  owner: owner || null,
  description: description || null,
  review_every_days: days(review_every_days),
  stale_after_days: days(stale_after_days),
  guards: parseGuards(guards),
})

export const isComplete = ({ guards }: ListSettings): boolean => findFillRateFault(guards.filled) === null

interface ListFieldsProps {
  readonly settings: ListSettings
  readonly onChange: (settings: ListSettings) => void
  readonly faults: Readonly<Record<string, string>>
}

export function ListFields({ settings, onChange, faults }: ListFieldsProps) {
  const field = (name: 'owner' | 'description') => ({
    value: settings[name],
    error: faults[name],
    onChange: (event: { currentTarget: HTMLInputElement | HTMLTextAreaElement }) =>
      onChange({ ...settings, [name]: event.currentTarget.value }),
  })
  const number = (name: 'review_every_days' | 'stale_after_days') => ({
    value: settings[name],
    error: faults[name],
    min: 1,
    max: 3660,
    allowDecimal: false,
    onChange: (value: number | string) => onChange({ ...settings, [name]: value }),
  })
  return (
    <>
      <TextInput label="Owner" description="Person or team responsible" maxLength={200} {...field('owner')} />
      <Group grow align="flex-start">
        <NumberInput label="Review interval in days" {...number('review_every_days')} />
        <NumberInput label="Out of date after (days)" {...number('stale_after_days')} />
      </Group>
      <Textarea label="Description" autosize minRows={2} maxLength={4000} {...field('description')} />
      <GuardFields
        guards={settings.guards}
        fault={faults['guards']}
        onChange={(guards) => onChange({ ...settings, guards })}
      />
    </>
  )
}

interface GuardFieldsProps {
  readonly guards: GuardTexts
  readonly fault: string | undefined
  readonly onChange: (guards: GuardTexts) => void
}

interface GuardField {
  readonly name: Exclude<keyof GuardTexts, 'filled'>
  readonly label: string
  readonly description?: string
  readonly placeholder?: string
  readonly unit?: 'count' | 'percent'
}

const guardUnits = {
  count: { allowDecimal: false },
  percent: { max: 100, decimalScale: 2, suffix: ' %' },
}
const guardFields: readonly GuardField[] = [
  { name: 'min_entries', label: 'Minimum number of entries', placeholder: '1' },
  { name: 'max_entries', label: 'Maximum number of entries' },
  { name: 'removed_percent', label: 'Maximum share of removed entries', placeholder: '10 %', unit: 'percent' },
  { name: 'max_removed_entries', label: 'Removed entries always allowed', placeholder: '10' },
  { name: 'changed_percent', label: 'Maximum share of changed entries', placeholder: '50 %', unit: 'percent' },
  {
    name: 'max_orphan_rows',
    label: 'Maximum number of orphan rows',
    description: 'For example aliases of parties that are not on the list',
    placeholder: '0',
  },
  {
    name: 'lost_percent',
    label: 'Maximum share of lost values',
    description: 'In aliases, addresses and other multi-value fields',
    placeholder: '10 %',
    unit: 'percent',
  },
  { name: 'max_members_lost', label: 'Lost values always allowed', placeholder: '10' },
  {
    name: 'emptied_percent',
    label: 'Maximum share of entries losing all values',
    placeholder: '10 %',
    unit: 'percent',
  },
  { name: 'max_emptied_entries', label: 'Entries losing all values always allowed', placeholder: '10' },
]

function GuardFields({ guards, fault, onChange }: GuardFieldsProps) {
  const hasGuards = Object.values(guards).some((value) => value !== '')
  return (
    <details open={hasGuards || fault !== undefined}>
      <summary>
        <Text span size="sm">
          Guards: limits for new versions
        </Text>
      </summary>
      <Stack gap="sm" mt="xs">
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
          {guardFields.map(({ name, label, unit = 'count', ...texts }) => (
            <NumberInput
              key={name}
              label={label}
              {...texts}
              {...guardUnits[unit]}
              size="xs"
              min={0}
              value={guards[name]}
              onChange={(value) => onChange({ ...guards, [name]: value })}
            />
          ))}
        </SimpleGrid>
        <Textarea
          label="Required fill rates"
          description="One per line: a field and the minimum percentage of entries with a value"
          placeholder="/country 95"
          size="xs"
          autosize
          minRows={2}
          value={guards.filled}
          error={findFillRateFault(guards.filled) ?? fault}
          onChange={(event) => onChange({ ...guards, filled: event.currentTarget.value })}
        />
      </Stack>
    </details>
  )
}
