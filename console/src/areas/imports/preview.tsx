/** The first rows of a file as the adapter reads them. */
import { Alert, Stack, Table, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { formatCount } from '#console/ui/format.ts'
import { PlainTable } from '#console/ui/plain-table.tsx'
import type { DatasetType, Entry } from '#console/ui/registry-queries.ts'
import { RejectTable } from '#console/ui/reject-table.tsx'
import { formatEntryValue, getFieldTitle, listMembers } from '#console/ui/type-texts.ts'
import { DeltaSentence } from './delta-counts.tsx'
import { SourceFiles } from './source-files.tsx'

const COLUMNS = 6

export function Preview({ preview, type }: { readonly preview: Schemas['Preview']; readonly type: DatasetType }) {
  const { rows, accepted, rejected, entries, rejects, warnings, files, truncated, delta } = preview
  const columns = chooseColumns(
    type,
    entries.map(({ entry }) => entry as Entry),
  )
  return (
    <Stack gap="md">
      <Alert
        color={rejected > 0 ? 'orange' : accepted === 0 ? 'red' : 'teal'}
        title={`${formatCount(rows, 'row')} read: ${accepted.toLocaleString('en')} accepted, ${rejected.toLocaleString('en')} rejected`}
        role="status"
      >
        <Text size="sm">Nothing is stored yet.</Text>
        {delta && <DeltaSentence counts={delta} />}
        {truncated && (
          <Text size="sm">
            {truncated.reason === 'rows'
              ? `Only the first ${formatCount(truncated.limit, 'row')} were read.`
              : `Reading stopped after ${truncated.limit / 1000} seconds.`}{' '}
            The import reads the whole file.
          </Text>
        )}
        {warnings.map(({ code, message }) => (
          <Text size="sm" key={`${code} ${message}`}>
            {message}
          </Text>
        ))}
        <SourceFiles files={files} />
      </Alert>
      {rejects.length > 0 && <RejectTable rejects={rejects} />}
      {entries.length > 0 && (
        <PlainTable
          label="First rows"
          empty={null}
          head={[
            { name: 'Row' },
            ...columns.map((name, place) => ({
              name: getFieldTitle(type, `/${name}`),
              ...(place > 2 && { from: 'md' as const }),
            })),
          ]}
        >
          {entries.map(({ at, entry }) => (
            <Table.Tr key={at.row}>
              <Table.Td>{at.row}</Table.Td>
              {columns.map((name, place) => (
                <Table.Td key={name} {...(place > 2 && { visibleFrom: 'md' })}>
                  <span className="cell-text">{formatEntryValue((entry as Entry)[name])}</span>
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </PlainTable>
      )}
    </Stack>
  )
}

/** Fields that at least one row fills, in display order. */
const chooseColumns = (type: DatasetType, entries: readonly Entry[]): string[] =>
  listMembers(type)
    .filter((name) => entries.some((entry) => formatEntryValue(entry[name]) !== '–'))
    .slice(0, COLUMNS)
