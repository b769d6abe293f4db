/** The hit policy and columns of a decision table. */
import { Group, Select, TagsInput } from '@mantine/core'
import { memo } from 'react'
import type { Finding } from '#console/ui/decision/definition-kind.ts'
import type { Table } from '#console/ui/decision/definition-model.ts'
import { formatCell, parseCell } from './cell-text.ts'
import { getFaultText } from './faults.tsx'
import { addColumn, setHitPolicy } from './table-edits.ts'

const policies = [
  { value: 'unique', label: 'Unique: at most one row matches' },
  { value: 'any', label: 'Any: matching rows must agree' },
  { value: 'first', label: 'First matching row' },
  { value: 'priority', label: 'Priority: highest-ranked matching row' },
  { value: 'collect', label: 'Collect: all matching rows' },
]
const collections = [
  { value: 'sum', label: 'sum' },
  { value: 'min', label: 'minimum' },
  { value: 'max', label: 'maximum' },
  { value: 'count', label: 'count' },
]

interface GridToolsProps {
  readonly table: Table
  readonly names: readonly { readonly value: string; readonly label: string }[]
  readonly pointer: string
  readonly findings: readonly Finding[]
  readonly onEdit: (edit: (table: Table) => Table) => void
}

const findFault = ({ table: { hit_policy, collect, priorities, columns }, names }: GridToolsProps): string =>
  JSON.stringify([hit_policy, collect, priorities, columns, names])
const isSame = (a: GridToolsProps, b: GridToolsProps): boolean =>
  a.findings === b.findings && findFault(a) === findFault(b)

export const GridTools = memo(function GridTools({ table, names, pointer, findings, onEdit }: GridToolsProps) {
  const rest = names.filter(({ value }) => !table.columns.includes(value))
  return (
    <Group gap="xs" mb={6} align="flex-start">
      <Select
        size="xs"
        w={210}
        label="Hit policy"
        allowDeselect={false}
        value={table.hit_policy}
        data={policies}
        error={getFaultText(findings, `${pointer}/hit_policy`)}
        onChange={(chosen) => chosen && onEdit((now) => setHitPolicy(now, chosen))}
      />
      {table.hit_policy === 'collect' && (
        <Select
          size="xs"
          w={170}
          label="Collect operator"
          placeholder="list of all values"
          clearable
          clearButtonProps={{ 'aria-label': 'List of all values' }}
          value={table.collect ?? null}
          data={collections}
          error={getFaultText(findings, `${pointer}/collect`)}
          onChange={(chosen) =>
            onEdit(({ collect: _, ...now }) => (chosen === null ? now : { ...now, collect: chosen }))
          }
        />
      )}
      {table.hit_policy === 'priority' && (
        <TagsInput
          size="xs"
          miw={260}
          label="Priority order"
          value={(table.priorities ?? []).map(formatCell)}
          error={getFaultText(findings, `${pointer}/priorities`)}
          onChange={(typed) => onEdit((now) => ({ ...now, priorities: typed.map(parseCell) }))}
        />
      )}
      {rest.length > 0 && (
        <Select
          size="xs"
          w={220}
          label="Add column"
          placeholder="Choose an input"
          searchable
          value={null}
          data={[...rest]}
          onChange={(name) => name && onEdit((now) => addColumn(now, name))}
        />
      )}
    </Group>
  )
}, isSame)
