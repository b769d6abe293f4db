/** Erasures of subjects, newest first. */
import { Badge, Group, Table } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { RelativeTime } from '#console/ui/date-time.tsx'
import { Filter, useFilter } from '#console/ui/filters.tsx'
import { omitUndefined } from '#console/ui/format.ts'
import { ButtonLink, PageLink } from '#console/ui/link.tsx'
import { ListTable, usePages } from '#console/ui/list.tsx'
import { Page } from '#console/ui/page.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { getErasureName } from './erasure-name.ts'

type Erasure = Schemas['Erasure']
const states = ['requested', 'executing', 'done', 'withdrawn'] as const

export default function ErasuresPage() {
  const may = usePermission()
  const state = useFilter('state', states)
  const list = usePages<Erasure>(
    ['erasures', 'list', state],
    (cursor, signal) =>
      probity.GET('/api/erasures', {
        params: { query: { ...cursor, ...omitUndefined({ state }), limit: 50 } },
        signal,
      }),
    { refetch_ms: 15_000 },
  )
  const preview = may('previewErasure') && <ButtonLink to="/erasures/new">Preview an erasure</ButtonLink>
  return (
    <Page
      title="Erasures"
      about="An erasure makes what is stored about a subject unreadable for good. One person requests it and another confirms it. Holds and retention periods take precedence."
      actions={preview}
    >
      <Group gap="xs" mb="sm" align="flex-end">
        <Filter name="state" label="State" values={states} everything="Any state" />
      </Group>
      <ListTable
        label="Erasures"
        list={list}
        empty={{
          title: 'No erasures',
          about: 'When a person asks for it, or the retention period has ended, preview what would be erased.',
          filters: ['state'],
          action: preview,
        }}
        head={[
          { name: 'Erasure' },
          { name: 'State' },
          { name: 'Requested' },
          { name: 'Confirmed', from: 'sm' },
          { name: 'Done', from: 'md' },
        ]}
        row={(erasure) => (
          <Table.Tr key={erasure.erasure_id}>
            <Table.Td>
              <PageLink to={`/erasures/${erasure.erasure_id}`} fw={500} size="sm">
                {getErasureName(erasure.erasure_id)}
              </PageLink>
            </Table.Td>
            <Table.Td>
              <ErasureBadge state={erasure.state} />
            </Table.Td>
            <Table.Td>
              <RelativeTime at={erasure.requested_at} />, by <Principal of={erasure.requested_by} />
            </Table.Td>
            <Table.Td visibleFrom="sm">
              {erasure.confirmed_by !== null && <Principal of={erasure.confirmed_by} />}
            </Table.Td>
            <Table.Td visibleFrom="md">{erasure.done_at !== null && <RelativeTime at={erasure.done_at} />}</Table.Td>
          </Table.Tr>
        )}
      />
    </Page>
  )
}

const badges = {
  requested: { text: 'waits for a second person', color: 'orange' },
  executing: { text: 'executing', color: 'cyan' },
  done: { text: 'done', color: 'teal' },
  withdrawn: { text: 'withdrawn', color: 'gray' },
} as const

export function ErasureBadge({ state }: { readonly state: Erasure['state'] }) {
  const { text, color } = badges[state]
  return (
    <Badge variant="light" tt="none" miw="max-content" color={color}>
      {text}
    </Badge>
  )
}
