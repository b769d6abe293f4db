/** The facts that came out of a payload, record by record. */
import { Stack, Table, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { formatCount } from '#console/ui/format.ts'
import { PlainTable } from '#console/ui/plain-table.tsx'
import { formatEntryValue } from '#console/ui/type-texts.ts'
import type { Fact } from './contract-model.ts'

/** More records are counted, not shown. */
const MAX_SHOWN = 20

interface RecordFactsProps {
  readonly records: Schemas['ContractCheck']['records']
  readonly facts: readonly Fact[]
}

export function RecordFacts({ records, facts }: RecordFactsProps) {
  const titles = new Map(facts.map(({ name, title }) => [name, title ?? name]))
  const rows = records
    .slice(0, MAX_SHOWN)
    .flatMap(({ record_index, facts: values }) =>
      Object.entries(values).map(([name, value]) => ({ record_index, name, value })),
    )
  return (
    <Stack gap="xs">
      <PlainTable
        label="Facts of the payload"
        empty={{
          title: 'No facts came out',
          about: 'A quarantined payload gives no facts, and a record gives only those that it has.',
        }}
        head={[{ name: 'Record' }, { name: 'Fact' }, { name: 'Value' }]}
      >
        {rows.map(({ record_index, name, value }) => (
          <Table.Tr key={`${record_index} ${name}`}>
            <Table.Td>{record_index + 1}</Table.Td>
            <Table.Td>{titles.get(name) ?? name}</Table.Td>
            <Table.Td className="pointer">{formatEntryValue(value)}</Table.Td>
          </Table.Tr>
        ))}
      </PlainTable>
      {records.length > MAX_SHOWN && (
        <Text size="xs" c="dimmed">
          {formatCount(records.length - MAX_SHOWN, 'more record')} not shown.
        </Text>
      )}
    </Stack>
  )
}
