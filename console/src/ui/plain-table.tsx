/** A table of loaded data, styled like a paginated list. */
import './registry.css'
import { Center, Table, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Column } from './list.tsx'

interface PlainTableProps {
  readonly label: string
  readonly head: readonly Column[]
  readonly children: ReactNode
}

export function PlainTable({ label, head, children }: PlainTableProps) {
  return (
    <div className="table-card">
      <Table aria-label={label} verticalSpacing={8} highlightOnHover tabularNums>
        <Table.Thead>
          <Table.Tr>
            {head.map(({ name, from, isHidden }) => (
              <Table.Th key={name} {...(from && { visibleFrom: from })}>
                {isHidden ? <span className="sr-only">{name}</span> : name}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>{children}</Table.Tbody>
      </Table>
    </div>
  )
}

export function EmptyState({ children }: { readonly children: ReactNode }) {
  return (
    <Center className="empty" role="status">
      <Text size="sm" c="dimmed" component="div" ta="center" p="md">
        {children}
      </Text>
    </Center>
  )
}
