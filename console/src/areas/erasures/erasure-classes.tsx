/** What an erasure would erase and what is kept, by class, with the rule that decides. */
import { Alert, Badge, Stack, Table, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { CalendarDay } from '#console/ui/date-time.tsx'
import { PlainTable } from '#console/ui/plain-table.tsx'

type Preview = Schemas['ErasurePreview']
type ErasureClass = Preview['classes'][number]

export function ErasureClasses({ preview }: { readonly preview: Preview }) {
  return (
    <Stack gap="sm">
      <Alert color={preview.can_erase ? 'teal' : 'orange'} role="status">
        {preview.can_erase
          ? 'Everything below can be erased now.'
          : 'Something must be kept, so no erasure can be confirmed yet.'}
      </Alert>
      <PlainTable
        label="Classes of records"
        head={[{ name: 'Records' }, { name: 'Count' }, { name: 'Outcome' }, { name: 'Rule', from: 'sm' }]}
        empty={{ title: 'Nothing is stored', about: 'There is nothing about this subject that could be erased.' }}
      >
        {preview.classes.map((one) => (
          <Table.Tr key={one.class}>
            <Table.Td>{one.title}</Table.Td>
            <Table.Td>
              {one.count.toLocaleString('en')}
              <Left of={one} />
            </Table.Td>
            <Table.Td>
              <Badge variant="light" tt="none" miw="max-content" color={one.outcome === 'erase' ? 'teal' : 'orange'}>
                {one.outcome === 'erase' ? 'erased' : 'kept'}
              </Badge>
              {one.keep_until !== null && (
                <Text size="xs" c="dimmed">
                  until <CalendarDay at={one.keep_until} />
                </Text>
              )}
            </Table.Td>
            <Table.Td visibleFrom="sm">
              <Rule of={one} />
            </Table.Td>
          </Table.Tr>
        ))}
      </PlainTable>
      {preview.retention_clocks !== null && (
        <Text size="xs" c="dimmed">
          Retention periods by version {preview.retention_clocks.version} of the list.
        </Text>
      )}
    </Stack>
  )
}

/** What stays of a class that is erased, and why. */
function Left({ of: { by_mark, left_for_review, kept_by_hold } }: { readonly of: ErasureClass }) {
  const parts = [
    by_mark > 0 && `${by_mark} found by name`,
    left_for_review > 0 && `${left_for_review} left for review: others may have the name too`,
    kept_by_hold > 0 && `${kept_by_hold} kept by a legal hold`,
  ].filter((part) => part !== false)
  return parts.map((part) => (
    <Text key={part} size="xs" c="dimmed">
      {part}
    </Text>
  ))
}

function Rule({ of: { rule, clock } }: { readonly of: ErasureClass }) {
  if (rule === 'hold') return 'Legal hold'
  if (rule === 'request') return 'Request'
  return (
    <>
      Retention period
      {clock !== null && (
        <Text size="xs" c="dimmed">
          {clock.jurisdiction}: {clock.keep_months} months, {clock.legal_basis}
        </Text>
      )}
    </>
  )
}
