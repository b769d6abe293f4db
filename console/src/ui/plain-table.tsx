/** A table of loaded data, styled like a paginated list. */
import './registry.css'
import { Table } from '@mantine/core'
import { Children, type ReactNode } from 'react'
import { type EmptyContent, EmptyState } from './empty-state.tsx'
import type { Column } from './list.tsx'

interface PlainTableProps {
  readonly label: string
  readonly head: readonly Column[]
  /** Shown when there are no rows; null where there is always one. */
  readonly empty: EmptyContent | null
  readonly children: ReactNode
}

export function PlainTable({ label, head, empty, children }: PlainTableProps) {
  if (empty !== null && Children.toArray(children).length === 0) return <EmptyState {...empty} />
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
