/** The licences of a tenant as editable rows. */
import { ActionIcon, Button, Fieldset, Group, Stack, Text, TextInput } from '@mantine/core'
import { Icon } from '#console/ui/icons.tsx'

export interface Licence {
  readonly authority: string
  readonly kind: string
  readonly reference?: string
}

interface LicencesProps {
  readonly value: readonly Licence[]
  readonly isReadOnly: boolean
  readonly onChange: (licences: Licence[]) => void
}

export function Licences({ value, isReadOnly, onChange }: LicencesProps) {
  const change = (place: number, part: Partial<Licence>) =>
    onChange(value.map((licence, at) => (at === place ? { ...licence, ...part } : licence)))
  return (
    <Fieldset legend="Licences" variant="unstyled">
      <Stack gap="xs">
        {value.length === 0 && (
          <Text size="sm" c="dimmed">
            No licences recorded.
          </Text>
        )}
        {value.map((licence, place) => (
          <Group key={place} gap="xs" wrap="nowrap">
            <TextInput
              size="xs"
              flex={2}
              required
              aria-label={`Authority of licence ${place + 1}`}
              placeholder="Authority"
              readOnly={isReadOnly}
              maxLength={200}
              value={licence.authority}
              onChange={(event) => change(place, { authority: event.currentTarget.value })}
            />
            <TextInput
              size="xs"
              flex={2}
              required
              aria-label={`Kind of licence ${place + 1}`}
              placeholder="Kind"
              readOnly={isReadOnly}
              maxLength={100}
              value={licence.kind}
              onChange={(event) => change(place, { kind: event.currentTarget.value })}
            />
            {!isReadOnly && (
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={`Remove licence ${place + 1}`}
                onClick={() => onChange(value.filter((_, at) => at !== place))}
              >
                <Icon name="cross" size={14} />
              </ActionIcon>
            )}
          </Group>
        ))}
        {!isReadOnly && (
          <Group>
            <Button size="xs" variant="default" onClick={() => onChange([...value, { authority: '', kind: '' }])}>
              Add licence
            </Button>
          </Group>
        )}
      </Stack>
    </Fieldset>
  )
}
