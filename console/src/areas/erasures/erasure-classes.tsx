/** What an erasure would erase and what is kept, by class, with the rule that decides. */
import { Alert, Badge, Stack, Table, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { usePermission } from '#console/session/queries.ts'
import { CalendarDay } from '#console/ui/date-time.tsx'
import { PageLink } from '#console/ui/link.tsx'
import { PlainTable } from '#console/ui/plain-table.tsx'

type Preview = Schemas['ErasurePreview']
type ErasureClass = Preview['classes'][number]

export function ErasureClasses({ preview }: { readonly preview: Preview }) {
  return (
    <Stack gap="sm">
      <RetentionWarning preview={preview} />
      <Alert color={getColor(preview)} role="status">
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
              {one.count === 0 ? (
                <span className="quiet">nothing to erase</span>
              ) : (
                <Badge variant="light" tt="none" miw="max-content" color={one.outcome === 'erase' ? 'teal' : 'orange'}>
                  {one.outcome === 'erase' ? 'will be erased' : 'will be kept'}
                </Badge>
              )}
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
      {preview.retention_clocks !== null && preview.warnings.length === 0 && (
        <Text size="xs" c="dimmed">
          Retention periods of {preview.jurisdictions.join(', ')} by version {preview.retention_clocks.version} of the
          list.
        </Text>
      )}
    </Stack>
  )
}

/** Green would say that the retention periods have ended, although none was looked at. */
function getColor({ can_erase, warnings }: Preview): string {
  if (!can_erase) return 'orange'
  return warnings.length === 0 ? 'teal' : 'gray'
}

/** Nothing keeps the records, because no period is known. Also in the dialog of the person who confirms. */
export function RetentionWarning({ preview: { warnings, jurisdictions } }: { readonly preview: Preview }) {
  const may = usePermission()
  if (warnings.length === 0) return null
  return (
    <Alert color="red" role="alert" title="No retention period was applied">
      {warnings.includes('no_jurisdiction')
        ? 'The tenant names no jurisdiction, so no retention period is known and records that the law says to keep can be erased. '
        : `The list of retention periods has none for ${jurisdictions.join(', ')}, so records that the law says to keep can be erased. `}
      {may('updateTenant') ? (
        <>
          Set the jurisdictions in the{' '}
          <PageLink to="/tenant" inherit>
            settings of the tenant
          </PageLink>
          .
        </>
      ) : (
        'A tenant administrator sets the jurisdictions in the settings of the tenant.'
      )}
    </Alert>
  )
}

/** What stays of a class that is erased, and why. */
export function Left({
  of: { by_mark = 0, left_for_review, kept_by_hold },
}: {
  readonly of: Pick<ErasureClass, 'left_for_review' | 'kept_by_hold'> & { readonly by_mark?: number }
}) {
  const parts = [
    by_mark > 0 && `${by_mark} found by name`,
    left_for_review > 0 && `${left_for_review} left for review: others may have the name too`,
    kept_by_hold > 0 && `${kept_by_hold} kept by a legal hold or an open investigation`,
  ].filter((part) => part !== false)
  return parts.map((part) => (
    <Text key={part} size="xs" c="dimmed">
      {part}
    </Text>
  ))
}

function Rule({ of: { rule, clock } }: { readonly of: ErasureClass }) {
  if (rule === 'hold') return 'Legal hold'
  if (rule === 'open_case') return 'Open investigation'
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
