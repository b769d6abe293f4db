/** One row of a decision table: fields for conditions and outputs, reordering, and findings. */
import { Group, TextInput } from '@mantine/core'
import { memo } from 'react'
import type { Finding } from '#console/ui/decision/definition-kind.ts'
import type { Table, TableRow } from '#console/ui/decision/definition-model.ts'
import { toWords } from '#console/ui/format.ts'
import { toAnchorId } from './anchor.ts'
import { OrderButton } from './collapsible-part.tsx'
import { Faults, getFaultText } from './faults.tsx'
import {
  moveRow,
  removeRow,
  setKey,
  setOtherwise,
  setOutput,
  setReason,
  setReasonCode,
  setTest,
} from './table-edits.ts'
import { ValueField } from './value-field.tsx'

type OnEdit = (edit: (table: Table) => Table) => void

interface GridRowProps {
  readonly row: number
  readonly one: TableRow
  readonly isLast: boolean
  readonly columns: readonly { readonly name: string; readonly title: string }[]
  readonly outputs: Table['outputs']
  readonly pointer: string
  readonly findings: readonly Finding[]
  readonly onEdit: OnEdit
}

/** Rows are new objects on each key press, so they are compared by content before rendering. */
const isSame = (a: GridRowProps, b: GridRowProps): boolean =>
  a.findings === b.findings &&
  a.isLast === b.isLast &&
  JSON.stringify([a.one, a.columns, a.outputs]) === JSON.stringify([b.one, b.columns, b.outputs])

export const GridRow = memo(function GridRow(props: GridRowProps) {
  const { row, one, isLast, columns, outputs, pointer, findings, onEdit } = props
  const fault = (place: string) => getFaultText(findings, `${pointer}${place}`)
  return (
    <>
      <tr id={toAnchorId(pointer)} data-row={row}>
        <Cell
          label={`Name of row ${row + 1}`}
          value={one.key}
          fault={fault('/key')}
          onChange={(key) => onEdit((now) => setKey(now, row, key))}
        />
        {columns.map(({ name, title }, column) => (
          <Cell
            key={name}
            label={`${title}, row ${row + 1}`}
            value={one.when[column] ?? '-'}
            fault={fault(`/when/${column}`)}
            onChange={(test) => onEdit((now) => setTest(now, row, column, test))}
          />
        ))}
        {outputs.map(({ name, title }, output) => (
          <OutputCell
            key={name}
            label={`${title ?? toWords(name)}, row ${row + 1}`}
            value={one.then[output]}
            fault={fault(`/then/${output}`) ?? fault('/then')}
            onChange={(value) => onEdit((now) => setOutput(now, row, output, value))}
          />
        ))}
        <Cell
          label={`Reason, row ${row + 1}`}
          value={one.reason ?? ''}
          fault={fault('/reason')}
          isWide
          onChange={(reason) => onEdit((now) => setReason(now, row, reason))}
        />
        <Cell
          label={`Reason code, row ${row + 1}`}
          value={one.reason_code ?? ''}
          fault={fault('/reason_code')}
          onChange={(code) => onEdit((now) => setReasonCode(now, row, code))}
        />
        <RowOrder row={row} isLast={isLast} onEdit={onEdit} />
      </tr>
      <FaultsRow findings={findings} pointer={pointer} columns={columns} span={outputs.length + columns.length + 4} />
    </>
  )
}, isSame)

function RowOrder({ row, isLast, onEdit }: Pick<GridRowProps, 'row' | 'isLast' | 'onEdit'>) {
  return (
    <td>
      <Group gap={2} wrap="nowrap">
        <OrderButton
          label={`Move row ${row + 1} up`}
          onClick={row === 0 ? null : () => onEdit((now) => moveRow(now, row, -1))}
        >
          ↑
        </OrderButton>
        <OrderButton
          label={`Move row ${row + 1} down`}
          onClick={isLast ? null : () => onEdit((now) => moveRow(now, row, 1))}
        >
          ↓
        </OrderButton>
        <OrderButton label={`Remove row ${row + 1}`} onClick={() => onEdit((now) => removeRow(now, row))}>
          ×
        </OrderButton>
      </Group>
    </td>
  )
}

interface FaultsRowProps extends Pick<GridRowProps, 'findings' | 'pointer' | 'columns'> {
  readonly span: number
}

/** Findings of the row as a whole. */
function FaultsRow({ findings, pointer, columns, span }: FaultsRowProps) {
  const whole = findings.filter((finding) => finding.pointer === pointer)
  if (whole.length === 0) return null
  return (
    <tr>
      <td colSpan={span} className="cell-fault">
        <Faults findings={whole} columns={columns.map(({ name }) => name)} />
      </td>
    </tr>
  )
}

type OtherwiseRowProps = Pick<GridRowProps, 'columns' | 'outputs' | 'pointer' | 'findings' | 'onEdit'> & {
  readonly otherwise: NonNullable<Table['otherwise']>
}

/** The default row, used if no row matches. */
export function OtherwiseRow({ otherwise, columns, outputs, pointer, findings, onEdit }: OtherwiseRowProps) {
  const fault = (place: string) => getFaultText(findings, `${pointer}${place}`)
  const edit = (change: (now: typeof otherwise) => typeof otherwise) => onEdit((now) => setOtherwise(now, change))
  return (
    <>
      <tr id={toAnchorId(pointer)} className="otherwise">
        <th scope="row" colSpan={columns.length + 1}>
          Default
        </th>
        {outputs.map(({ name, title }, output) => (
          <OutputCell
            key={name}
            label={`${title ?? toWords(name)}, default row`}
            value={otherwise.then[output]}
            fault={fault(`/then/${output}`) ?? fault('/then')}
            onChange={(value) =>
              edit((now) => ({ ...now, then: now.then.map((one, at) => (at === output ? value : one)) }))
            }
          />
        ))}
        <Cell
          label="Reason, default row"
          value={otherwise.reason ?? ''}
          fault={fault('/reason')}
          isWide
          onChange={(reason) => edit((now) => ({ ...now, reason }))}
        />
        <Cell
          label="Reason code, default row"
          value={otherwise.reason_code ?? ''}
          fault={fault('/reason_code')}
          onChange={(code) => edit(({ reason_code: _, ...now }) => (code === '' ? now : { ...now, reason_code: code }))}
        />
        <td>
          <OrderButton label="Remove default row" onClick={() => onEdit((now) => setOtherwise(now, null))}>
            ×
          </OrderButton>
        </td>
      </tr>
      <FaultsRow findings={findings} pointer={pointer} columns={columns} span={outputs.length + columns.length + 4} />
    </>
  )
}

interface CellProps {
  readonly label: string
  readonly value: string
  readonly fault: string | undefined
  readonly isWide?: boolean
  readonly onChange: (value: string) => void
}

const inputProps = { size: 'xs', variant: 'unstyled', px: 4 } as const

const cellClass = (fault: string | undefined, ...more: readonly (string | false)[]): string =>
  ['cell', fault !== undefined && 'cell-fault', ...more].filter(Boolean).join(' ')

function Cell({ label, value, fault, isWide = false, onChange }: CellProps) {
  return (
    <td className={cellClass(fault, isWide && 'cell-wide')}>
      <TextInput
        {...inputProps}
        aria-label={label}
        spellCheck={false}
        autoComplete="off"
        value={value}
        title={value}
        error={fault}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    </td>
  )
}

interface OutputCellProps extends Pick<CellProps, 'label' | 'fault'> {
  readonly value: TableRow['then'][number] | undefined
  readonly onChange: (value: TableRow['then'][number]) => void
}

function OutputCell({ label, value, fault, onChange }: OutputCellProps) {
  return (
    <td className={cellClass(fault, 'output')}>
      <ValueField
        inputProps={inputProps}
        name={label}
        isLabelled={false}
        value={value}
        error={fault}
        onChange={(typed) => onChange(typed ?? '')}
      />
    </td>
  )
}
