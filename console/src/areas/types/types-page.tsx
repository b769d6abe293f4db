/** All types the tenant can use. */
import { Badge, Group, Table, Text } from '@mantine/core'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { Filter, useFilter } from '#console/ui/filters.tsx'
import { omitUndefined } from '#console/ui/format.ts'
import { ButtonLink, PageLink } from '#console/ui/link.tsx'
import { ListTable, usePages } from '#console/ui/list.tsx'
import { Page } from '#console/ui/page.tsx'
import type { DatasetType } from '#console/ui/registry-queries.ts'
import { getFieldTitle } from '#console/ui/type-texts.ts'

const origins = ['own', 'shared'] as const

export default function TypesPage() {
  const may = usePermission()
  const origin = useFilter('origin', origins)
  const list = usePages<DatasetType>(['types', 'list', origin], (cursor, signal) =>
    probity.GET('/api/reference-data/types', {
      params: { query: { ...cursor, ...omitUndefined({ origin }), limit: 100 } },
      signal,
    }),
  )
  return (
    <Page
      title="Types"
      about="A type defines the fields, key and rules of list entries."
      actions={may('createDatasetType') && <ButtonLink to="/types/new">New type</ButtonLink>}
    >
      <Group gap="xs" mb="sm" align="flex-end">
        <Filter name="origin" label="Owner" values={origins} everything="Own and shared" />
      </Group>
      <ListTable
        label="Types"
        list={list}
        empty={{
          title: 'No types yet',
          about: 'A type defines the fields and keys of the entries of a list. Most lists use a shared type.',
          filters: ['origin'],
        }}
        head={[{ name: 'Type' }, { name: 'Key', from: 'sm' }, { name: 'Fields', from: 'md' }, { name: 'Version' }]}
        row={(type) => (
          <Table.Tr key={type.type_key}>
            <Table.Td>
              <Group gap={8} wrap="nowrap">
                <PageLink to={`/types/${type.type_key}`} fw={500} size="sm">
                  {type.title}
                </PageLink>
                {type.origin === 'shared' && (
                  <Badge variant="default" tt="none" fw={500} miw="max-content">
                    shared
                  </Badge>
                )}
              </Group>
              <Text size="xs" c="dimmed" className="mono">
                {type.type_key}
              </Text>
            </Table.Td>
            <Table.Td visibleFrom="sm">
              {type.key_pointers.map((pointer) => getFieldTitle(type, pointer)).join(' and ')}
            </Table.Td>
            <Table.Td visibleFrom="md">{Object.keys(listProperties(type)).length}</Table.Td>
            <Table.Td>{type.type_version}</Table.Td>
          </Table.Tr>
        )}
      />
    </Page>
  )
}

const listProperties = ({ schema }: DatasetType): object => (schema as { properties?: object }).properties ?? {}
