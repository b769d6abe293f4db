/** The settings of a list as a form: its name, who answers for it, how often it is looked at, what a new version must keep to. */
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

/** As the server takes them. */
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
      <TextInput label="Owner" description="Who answers for it" maxLength={200} {...field('owner')} />
      <Group grow align="flex-start">
        <NumberInput label="Review every so many days" {...number('review_every_days')} />
        <NumberInput label="Stale after so many days" {...number('stale_after_days')} />
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

function GuardFields({ guards, fault, onChange }: GuardFieldsProps) {
  const number = (name: Exclude<keyof GuardTexts, 'filled'>) => ({
    size: 'xs' as const,
    min: 0,
    value: guards[name],
    onChange: (value: number | string) => onChange({ ...guards, [name]: value }),
  })
  const share = { max: 100, decimalScale: 2, suffix: ' %' }
  const isSaid = Object.values(guards).some((value) => value !== '')
  return (
    <details open={isSaid || fault !== undefined}>
      <summary>
        <Text span size="sm">
          Guards: what a new version must keep to
        </Text>
      </summary>
      <Stack gap="sm" mt="xs">
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
          <NumberInput
            label="At least so many entries"
            placeholder="1"
            allowDecimal={false}
            {...number('min_entries')}
          />
          <NumberInput label="At most so many entries" allowDecimal={false} {...number('max_entries')} />
          <NumberInput label="Removed at once, at most" placeholder="10 %" {...share} {...number('removed_percent')} />
          <NumberInput
            label="So many may always go"
            placeholder="10"
            allowDecimal={false}
            {...number('max_removed_entries')}
          />
          <NumberInput label="Changed at once, at most" placeholder="50 %" {...share} {...number('changed_percent')} />
          <NumberInput
            label="Rows without their entry, at most"
            description="For example aliases of parties that are not on the list"
            placeholder="0"
            allowDecimal={false}
            {...number('max_orphan_rows')}
          />
          <NumberInput
            label="Values lost, at most"
            description="Of aliases, addresses and other fields with several values"
            placeholder="10 %"
            {...share}
            {...number('lost_percent')}
          />
          <NumberInput
            label="So many values may always be lost"
            placeholder="10"
            allowDecimal={false}
            {...number('max_members_lost')}
          />
          <NumberInput
            label="Entries that lose all values, at most"
            placeholder="10 %"
            {...share}
            {...number('emptied_percent')}
          />
          <NumberInput
            label="So many entries may always lose all"
            placeholder="10"
            allowDecimal={false}
            {...number('max_emptied_entries')}
          />
        </SimpleGrid>
        <Textarea
          label="Fields that must be filled"
          description="One a line: a field and in how many per cent of the entries"
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
