/** Above a decision table: which of the rows that fire count, and which columns there are. */
import { Group, Select, TagsInput } from '@mantine/core'
import { memo } from 'react'
import type { Finding } from '#console/ui/decision/definition-kind.ts'
import type { Table } from '#console/ui/decision/definition-model.ts'
import { formatCell, parseCell } from './cell-text.ts'
import { getFaultText } from './faults.tsx'
import { addColumn, setHitPolicy } from './table-edits.ts'

const policies = [
  { value: 'unique', label: 'Only one row may fire' },
  { value: 'any', label: 'All that fire must agree' },
  { value: 'first', label: 'The first that fires' },
  { value: 'priority', label: 'The most important one' },
  { value: 'collect', label: 'All that fire' },
]
const collections = [
  { value: 'sum', label: 'added up' },
  { value: 'min', label: 'the lowest of them' },
  { value: 'max', label: 'the highest of them' },
  { value: 'count', label: 'counted' },
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
        label="Which row counts"
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
          label="What they give is"
          placeholder="all of it, in order"
          clearable
          clearButtonProps={{ 'aria-label': 'All of it, in order' }}
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
          label="Most important first"
          value={(table.priorities ?? []).map(formatCell)}
          error={getFaultText(findings, `${pointer}/priorities`)}
          onChange={(typed) => onEdit((now) => ({ ...now, priorities: typed.map(parseCell) }))}
        />
      )}
      {rest.length > 0 && (
        <Select
          size="xs"
          w={220}
          label="Add a column"
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
