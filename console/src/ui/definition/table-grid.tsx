/** A decision table as a grid to write in: a column for each input, a row for each way it can go, faults at their cell. */
import '../decision/decision.css'
import { ActionIcon, Button, Group, Select, Text } from '@mantine/core'
import { memo } from 'react'
import type { Finding } from '../decision/kind.ts'
import type { Table } from '../decision/model.ts'
import { Icon } from '../icons.tsx'
import { spaced } from '../words.ts'
import { anchorOf } from './anchor.ts'
import { GridRow } from './grid-row.tsx'
import { addColumn, addRow, removeColumn } from './table-edits.ts'

export const policies = ['unique', 'any', 'first', 'priority', 'collect'] as const

interface TableGridProps {
  readonly label: string
  readonly table: Table
  /** Where it stands in the definition. */
  readonly pointer: string
  readonly findings: readonly Finding[]
  /** What a column may be, with its title. */
  readonly names: readonly { readonly value: string; readonly label: string }[]
  readonly onEdit: (edit: (table: Table) => Table) => void
}

export function TableGrid({ label, table, pointer, findings, names, onEdit }: TableGridProps) {
  const titleOf = (name: string) => names.find(({ value }) => value === name)?.label ?? name
  const rest = names.filter(({ value }) => !table.columns.includes(value))
  return (
    <div id={anchorOf(pointer)} tabIndex={-1}>
      <GridTools hit_policy={table.hit_policy} rest={rest} onEdit={onEdit} />
      <div className="table-card scroll-x">
        <table className="grid" aria-label={label}>
          <GridHead table={table} titleOf={titleOf} onEdit={onEdit} />
          <tbody>
            {table.rows.map((one, row) => (
              <GridRow
                // Rows are known by their place: their keys are being typed.
                key={row}
                row={row}
                one={one}
                isLast={row === table.rows.length - 1}
                columns={table.columns.map((name) => ({ name, title: titleOf(name) }))}
                outputs={table.outputs}
                pointer={`${pointer}/rows/${row}`}
                findings={findings}
                onEdit={onEdit}
              />
            ))}
          </tbody>
        </table>
      </div>
      <Group gap="xs" mt={6}>
        <Button size="xs" variant="default" onClick={() => onEdit(addRow)}>
          Add a row
        </Button>
        <Text size="xs" c="dimmed">
          Tests: <span className="mono">-</span> any, <span className="mono">"word"</span>,{' '}
          <span className="mono">&gt;= 10</span>, <span className="mono">[0..5)</span>,{' '}
          <span className="mono">in list(key)</span>, <span className="mono">not(…)</span>. Outputs: a value, or{' '}
          <span className="mono">list &gt; key &gt; field</span>.
        </Text>
      </Group>
    </div>
  )
}

interface GridToolsProps {
  readonly hit_policy: string
  /** Columns that are not there yet. */
  readonly rest: TableGridProps['names']
  readonly onEdit: TableGridProps['onEdit']
}

const isSame = (a: GridToolsProps, b: GridToolsProps): boolean =>
  a.hit_policy === b.hit_policy && JSON.stringify(a.rest) === JSON.stringify(b.rest)

const GridTools = memo(function GridTools({ hit_policy, rest, onEdit }: GridToolsProps) {
  return (
    <Group gap="xs" mb={6} align="flex-end">
      <Select
        size="xs"
        w={170}
        label="Which row counts"
        allowDeselect={false}
        value={hit_policy}
        data={policies.map((policy) => ({ value: policy, label: spaced(policy) }))}
        onChange={(chosen) => chosen && onEdit((now) => ({ ...now, hit_policy: chosen }))}
      />
      {rest.length > 0 && (
        <Select
          size="xs"
          w={220}
          label="Add a column"
          placeholder="Choose an input"
          value={null}
          data={[...rest]}
          onChange={(name) => name && onEdit((now) => addColumn(now, name))}
        />
      )}
    </Group>
  )
}, isSame)

interface GridHeadProps {
  readonly table: Table
  readonly titleOf: (name: string) => string
  readonly onEdit: (edit: (table: Table) => Table) => void
}

function GridHead({ table, titleOf, onEdit }: GridHeadProps) {
  return (
    <thead>
      <tr>
        <th scope="col">Row</th>
        {table.columns.map((name, column) => (
          <th scope="col" key={name}>
            <Group gap={4} wrap="nowrap">
              {titleOf(name)}
              <ActionIcon
                size="xs"
                variant="subtle"
                color="gray"
                aria-label={`Remove the column ${titleOf(name)}`}
                onClick={() => onEdit((now) => removeColumn(now, column))}
              >
                <Icon name="cross" size={12} />
              </ActionIcon>
            </Group>
          </th>
        ))}
        {table.outputs.map(({ name, title }) => (
          <th scope="col" key={name} className="output">
            {title ?? spaced(name)}
          </th>
        ))}
        <th scope="col">Reason</th>
        <th scope="col">
          <span className="sr-only">Order</span>
        </th>
      </tr>
    </thead>
  )
}
