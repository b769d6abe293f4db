/** Rejected rows with their position, field, error and value. */
import { Table, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { PlainTable } from './plain-table.tsx'

type Reject = Schemas['Reject']

export const rejectHead = [
  { name: 'Position' },
  { name: 'Field', from: 'sm' },
  { name: 'Error' },
  { name: 'Value', from: 'md' },
] as const

export function RejectTable({ rejects }: { readonly rejects: readonly Reject[] }) {
  return (
    <PlainTable label="Rejected rows" empty={null} head={rejectHead}>
      {rejects.map((reject, place) => (
        <RejectRow key={place} reject={reject} />
      ))}
    </PlainTable>
  )
}

export function RejectRow({ reject: { at, pointer, message, code, excerpt } }: { readonly reject: Reject }) {
  return (
    <Table.Tr>
      <Table.Td>{formatPlace(at)}</Table.Td>
      <Table.Td visibleFrom="sm">
        <span className="mono">{pointer || 'the whole row'}</span>
      </Table.Td>
      <Table.Td>
        {message}
        <Text size="xs" c="dimmed" className="mono">
          {code}
        </Text>
      </Table.Td>
      <Table.Td visibleFrom="md">
        {excerpt === null ? <span className="quiet">–</span> : <code className="mono excerpt">{excerpt}</code>}
      </Table.Td>
    </Table.Tr>
  )
}

function formatPlace({ row, line, column, sheet, file }: Reject['at']): string {
  return [
    row === 0 ? 'the whole list' : `row ${row}`,
    line !== undefined && `line ${line}`,
    column !== undefined && `column ${column}`,
    sheet !== undefined && `sheet ${sheet}`,
    file,
  ]
    .filter((part) => typeof part === 'string')
    .join(', ')
}
