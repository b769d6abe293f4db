/** One row of a decision table in its grid: a field for each test and output, its order, and its faults where they are. */
import { ActionIcon, Group, TextInput } from '@mantine/core'
import { memo } from 'react'
import type { Finding } from '../decision/kind.ts'
import type { Table, TableRow } from '../decision/model.ts'
import { spaced } from '../words.ts'
import { anchorOf } from './anchor.ts'
import { cellText, cellValue } from './cell-text.ts'
import { moveRow, removeRow, setKey, setOutput, setReason, setTest } from './table-edits.ts'

interface GridRowProps {
  readonly row: number
  readonly one: TableRow
  readonly isLast: boolean
  readonly columns: readonly { readonly name: string; readonly title: string }[]
  readonly outputs: Table['outputs']
  readonly pointer: string
  readonly findings: readonly Finding[]
  readonly onEdit: (edit: (table: Table) => Table) => void
}

/** Rows are made anew with each letter typed anywhere; only one that says something else is drawn again. */
const isSame = (a: GridRowProps, b: GridRowProps): boolean =>
  a.findings === b.findings &&
  a.isLast === b.isLast &&
  JSON.stringify([a.one, a.columns, a.outputs]) === JSON.stringify([b.one, b.columns, b.outputs])

export const GridRow = memo(function GridRow(props: GridRowProps) {
  const { row, one, isLast, columns, outputs, pointer, findings, onEdit } = props
  const faultAt = (place: string) => findings.find((finding) => finding.pointer === `${pointer}${place}`)
  const whole = findings.filter((finding) => finding.pointer === pointer)
  return (
    <tr id={anchorOf(pointer)}>
      <Cell
        label={`Name of row ${row + 1}`}
        value={one.key}
        faults={[...whole, faultAt('/key')]}
        onChange={(key) => onEdit((now) => setKey(now, row, key))}
      />
      {columns.map(({ name, title }, column) => (
        <Cell
          key={name}
          label={`${title}, row ${row + 1}`}
          value={one.when[column] ?? '-'}
          faults={[faultAt(`/when/${column}`)]}
          onChange={(test) => onEdit((now) => setTest(now, row, column, test))}
        />
      ))}
      {outputs.map(({ name, title }, output) => (
        <Cell
          key={name}
          isOutput
          label={`${title ?? spaced(name)}, row ${row + 1}`}
          value={cellText(one.then[output])}
          faults={[faultAt(`/then/${output}`), faultAt('/then')]}
          onChange={(text) => onEdit((now) => setOutput(now, row, output, cellValue(text)))}
        />
      ))}
      <Cell
        label={`Reason, row ${row + 1}`}
        value={one.reason ?? ''}
        faults={[faultAt('/reason')]}
        onChange={(reason) => onEdit((now) => setReason(now, row, reason))}
      />
      <td>
        <Group gap={2} wrap="nowrap">
          <RowButton
            label={`Move row ${row + 1} up`}
            isOff={row === 0}
            onClick={() => onEdit((now) => moveRow(now, row, -1))}
          >
            ↑
          </RowButton>
          <RowButton
            label={`Move row ${row + 1} down`}
            isOff={isLast}
            onClick={() => onEdit((now) => moveRow(now, row, 1))}
          >
            ↓
          </RowButton>
          <RowButton label={`Remove row ${row + 1}`} onClick={() => onEdit((now) => removeRow(now, row))}>
            ×
          </RowButton>
        </Group>
      </td>
    </tr>
  )
}, isSame)

interface CellProps {
  readonly label: string
  readonly value: string
  readonly faults: readonly (Finding | undefined)[]
  readonly isOutput?: boolean
  readonly onChange: (value: string) => void
}

function Cell({ label, value, faults, isOutput = false, onChange }: CellProps) {
  const messages = faults.flatMap((fault) => (fault ? [fault.message] : []))
  const look = ['cell', isOutput && 'output', messages.length > 0 && 'cell-fault'].filter(Boolean).join(' ')
  return (
    <td className={look}>
      <TextInput
        size="xs"
        variant="unstyled"
        px={4}
        aria-label={label}
        spellCheck={false}
        autoComplete="off"
        value={value}
        error={messages.length > 0 ? messages.join(' ') : undefined}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    </td>
  )
}

interface RowButtonProps {
  readonly label: string
  readonly isOff?: boolean
  readonly onClick: () => void
  readonly children: string
}

function RowButton({ label, isOff = false, onClick, children }: RowButtonProps) {
  return (
    <ActionIcon
      size="sm"
      variant="subtle"
      color="gray"
      aria-label={label}
      title={label}
      disabled={isOff}
      onClick={onClick}
    >
      {children}
    </ActionIcon>
  )
}
