/** A decision table as an editable grid with findings at their cells. */
import '../../decision/decision.css'
import { Button, Group, Text } from '@mantine/core'
import type { Finding } from '#console/ui/decision/definition-kind.ts'
import type { Table } from '#console/ui/decision/definition-model.ts'
import { toWords } from '#console/ui/format.ts'
import { toAnchorId } from './anchor.ts'
import { OrderButton } from './collapsible-part.tsx'
import { Faults } from './faults.tsx'
import { onGridKey } from './grid-keys.ts'
import { GridRow, OtherwiseRow } from './grid-row.tsx'
import { GridTools } from './grid-tools.tsx'
import { addRow, moveColumn, moveRow, removeColumn, setOtherwise } from './table-edits.ts'

interface TableGridProps {
  readonly label: string
  readonly table: Table
  /** Its JSON pointer in the definition. */
  readonly pointer: string
  readonly findings: readonly Finding[]
  /** The available columns with their titles. */
  readonly names: readonly { readonly value: string; readonly label: string }[]
  readonly onEdit: (edit: (table: Table) => Table) => void
}

export function TableGrid({ label, table, pointer, findings, names, onEdit }: TableGridProps) {
  const getTitle = (name: string) => names.find(({ value }) => value === name)?.label ?? name
  const columns = table.columns.map((name) => ({ name, title: getTitle(name) }))
  const { outputs, otherwise } = table
  return (
    <div id={toAnchorId(pointer)} tabIndex={-1}>
      <GridTools table={table} names={names} pointer={pointer} findings={findings} onEdit={onEdit} />
      <Faults findings={findTablePart(findings, pointer)} columns={table.columns} />
      <div className="table-card scroll-x">
        <table
          className="grid"
          aria-label={label}
          onKeyDown={(event) =>
            onGridKey(event, {
              onMove: (row, by) => onEdit((now) => moveRow(now, row, by)),
              onAdd: () => onEdit(addRow),
            })
          }
        >
          <GridHead columns={columns} outputs={outputs} onEdit={onEdit} />
          <tbody>
            {table.rows.map((one, row) => (
              <GridRow
                // Keyed by position, because row keys are edited.
                key={row}
                row={row}
                one={one}
                isLast={row === table.rows.length - 1}
                columns={columns}
                outputs={outputs}
                pointer={`${pointer}/rows/${row}`}
                findings={findings}
                onEdit={onEdit}
              />
            ))}
            {otherwise && (
              <OtherwiseRow
                otherwise={otherwise}
                columns={columns}
                outputs={outputs}
                pointer={`${pointer}/otherwise`}
                findings={findings}
                onEdit={onEdit}
              />
            )}
          </tbody>
        </table>
      </div>
      <Group gap="xs" mt={6}>
        <Button size="xs" variant="default" onClick={() => onEdit(addRow)}>
          Add row
        </Button>
        {!otherwise && (
          <Button size="xs" variant="default" onClick={() => onEdit((now) => setOtherwise(now, (said) => said))}>
            Add default row
          </Button>
        )}
        <Text size="xs" c="dimmed">
          {' '}
          Conditions: <span className="mono">-</span> any, <span className="mono">"word"</span>,{' '}
          <span className="mono">&gt;= 10</span>, <span className="mono">[0..5)</span>,{' '}
          <span className="mono">in list(key)</span>, <span className="mono">&gt;= list(key, entry).field</span>,{' '}
          <span className="mono">not(…)</span>. Keyboard: ↑ ↓ move between rows, Alt+↑ ↓ reorders a row, Enter in the
          last row adds one.
        </Text>
      </Group>
    </div>
  )
}

/** Pointers of a table without a cell of their own, with their labels. */
const tableParts = { '': '', '/rows': 'Rows: ', '/columns': 'Columns: ', '/outputs': 'Outputs: ' }

const findTablePart = (findings: readonly Finding[], pointer: string): Finding[] =>
  Object.entries(tableParts).flatMap(([place, name]) =>
    findings
      .filter((finding) => finding.pointer === `${pointer}${place}`)
      .map((finding) => ({ ...finding, message: `${name}${finding.message}` })),
  )

interface GridHeadProps {
  readonly columns: readonly { readonly name: string; readonly title: string }[]
  readonly outputs: Table['outputs']
  readonly onEdit: TableGridProps['onEdit']
}

function GridHead({ columns, outputs, onEdit }: GridHeadProps) {
  return (
    <thead>
      <tr>
        <th scope="col">Row</th>
        {columns.map(({ name, title }, column) => (
          <th scope="col" key={name}>
            {title}
            <Group gap={2} wrap="nowrap">
              {columns.length > 1 && (
                <OrderButton
                  label={`Move the column ${title} to the left`}
                  onClick={column === 0 ? null : () => onEdit((now) => moveColumn(now, column, -1))}
                >
                  ←
                </OrderButton>
              )}
              <OrderButton
                label={`Remove the column ${title}`}
                onClick={() => onEdit((now) => removeColumn(now, column))}
              >
                ×
              </OrderButton>
            </Group>
          </th>
        ))}
        {outputs.map(({ name, title }) => (
          <th scope="col" key={name} className="output">
            {title ?? toWords(name)}
          </th>
        ))}
        <th scope="col">Reason</th>
        <th scope="col">Code</th>
        <th scope="col">
          <span className="sr-only">Order</span>
        </th>
      </tr>
    </thead>
  )
}
