/** All imports of the tenant. */
import { Table, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useSearch } from '@tanstack/react-router'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { RelativeTime } from '#console/ui/date-time.tsx'
import { Filter, useFilter } from '#console/ui/filters.tsx'
import { formatCount, omitUndefined } from '#console/ui/format.ts'
import { ButtonLink, PageLink } from '#console/ui/link.tsx'
import { ListTable, usePages } from '#console/ui/list.tsx'
import { Page } from '#console/ui/page.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { TargetName } from '#console/ui/target-name.tsx'
import { ImportState } from './import-state.tsx'

const states = ['queued', 'running', 'published', 'unchanged', 'rejected', 'blocked', 'failed', 'cancelled'] as const

export default function ImportsPage() {
  const may = usePermission()
  const state = useFilter('state', states)
  const { list } = useSearch({ strict: false }) as { list?: string }
  const imports = usePages(
    ['imports', 'list', list, state],
    (cursor, signal) =>
      probity.GET('/api/reference-data/imports', {
        params: { query: { ...cursor, ...omitUndefined({ state, list_key: list }), limit: 50 } },
        signal,
      }),
    { refetch_ms: 15_000 },
  )
  return (
    <Page
      title="Imports"
      about="An import creates a new version of a list. It does not put the version in force."
      actions={may('startImport') && <ButtonLink to="/imports/new">Import file</ButtonLink>}
    >
      <Filter name="state" label="State" values={states} everything="Any state" />
      <div style={{ marginTop: 12 }}>
        <ListTable
          label="Imports"
          list={imports}
          empty={{
            title: 'No imports yet',
            about:
              'An import reads a file into a new version of a list. Nothing is in force until the version is activated.',
            filters: ['state', 'list'],
            action: may('startImport') && (
              <ButtonLink to="/imports/new" size="xs">
                Import a file
              </ButtonLink>
            ),
          }}
          head={[
            { name: 'List' },
            { name: 'File', from: 'md' },
            { name: 'Rows', from: 'sm' },
            { name: 'Started' },
            { name: 'State' },
          ]}
          row={(one) => <ImportRow key={one.import_id} one={one} />}
        />
      </div>
    </Page>
  )
}

function ImportRow({ one }: { readonly one: Schemas['Import'] }) {
  return (
    <Table.Tr>
      <Table.Td>
        <PageLink to={`/imports/${one.import_id}`} fw={500} size="sm">
          <TargetName kind="list" target_key={one.list_key} />
        </PageLink>
        <Text size="xs" c="dimmed">
          {one.adapter_key}
        </Text>
      </Table.Td>
      <Table.Td visibleFrom="md">{one.source.file_name ?? '–'}</Table.Td>
      <Table.Td visibleFrom="sm">
        {one.counts === null ? '–' : one.counts.rows.toLocaleString('en')}
        {one.counts !== null && one.counts.rejected > 0 && (
          <Text size="xs" c="dimmed">
            {formatCount(one.counts.rejected, 'row')} rejected
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <RelativeTime at={one.created_at} />
        <Text size="xs" c="dimmed" component="div">
          by <Principal of={one.created_by} />
        </Text>
      </Table.Td>
      <Table.Td>
        <ImportState one={one} />
      </Table.Td>
    </Table.Tr>
  )
}
