/** The schema of an entry as a table of fields. */

import { Badge, Group, Table, Text } from '@mantine/core'
import { PlainTable } from '#console/ui/plain-table.tsx'
import { formatUnit } from '#console/ui/points.ts'
import type { DatasetType } from '#console/ui/registry-queries.ts'
import { findField, getFieldTitle } from '#console/ui/type-texts.ts'
import { describeKind, describeLimits, listFields } from './schema-texts.ts'

export function FieldTable({ type }: { readonly type: DatasetType }) {
  return (
    <PlainTable
      label="Fields"
      empty={null}
      head={[
        { name: 'Field' },
        { name: 'Data type' },
        { name: 'Allowed values', from: 'sm' },
        { name: 'Meaning', from: 'md' },
      ]}
    >
      {listFields(type).map(({ pointer, depth, schema, isRequired }) => {
        const field = findField(type, pointer)
        const isKey = type.key_pointers.includes(pointer)
        return (
          <Table.Tr key={pointer}>
            <Table.Td style={{ paddingLeft: 12 + depth * 18 }}>
              <Group gap={6}>
                <Text size="sm" fw={depth === 0 ? 500 : 400}>
                  {getFieldTitle(type, pointer)}
                </Text>
                {isKey && (
                  <Badge variant="light" tt="none">
                    key
                  </Badge>
                )}
                {field !== undefined && 'personal' in field && (
                  <Badge variant="light" color="orange" tt="none">
                    personal data
                  </Badge>
                )}
                {field !== undefined && 'set' in field && (
                  <Badge variant="light" color="gray" tt="none">
                    order ignored
                  </Badge>
                )}
              </Group>
              <Text size="xs" c="dimmed" className="mono">
                {pointer}
              </Text>
            </Table.Td>
            <Table.Td>
              {describeKind(schema)}
              {field?.unit && `, ${formatUnit(field.unit)}`}
              <Text size="xs" c="dimmed">
                {isRequired ? 'required' : 'optional'}
              </Text>
            </Table.Td>
            <Table.Td visibleFrom="sm">
              <span className="cell-text" title={describeLimits(schema)}>
                {describeLimits(schema)}
              </span>
            </Table.Td>
            <Table.Td visibleFrom="md">
              <span className="cell-text">{field?.description ?? schema.description ?? ''}</span>
            </Table.Td>
          </Table.Tr>
        )
      })}
    </PlainTable>
  )
}
