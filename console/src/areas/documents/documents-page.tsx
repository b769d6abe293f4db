/** Documents, newest first. */
import { Button, Group, Table } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useSearch } from '@tanstack/react-router'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { RelativeTime } from '#console/ui/date-time.tsx'
import type { StoredDocument } from '#console/ui/document/document-queries.ts'
import { formatSize } from '#console/ui/file-drop.tsx'
import { Filter, useFilter } from '#console/ui/filters.tsx'
import { PageLink } from '#console/ui/link.tsx'
import { ListTable, usePages } from '#console/ui/list.tsx'
import { Page } from '#console/ui/page.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { RestrictionMark } from '#console/ui/restriction/padlock.tsx'
import { StateBadge } from './document-badges.tsx'
import { NewDocument } from './new-document.tsx'

const states = ['storing', 'stored', 'damaged', 'failed', 'deleted', 'erased'] as const

export default function DocumentsPage() {
  const may = usePermission()
  const { store_for } = useSearch({ strict: false }) as { store_for?: string }
  // A link from the page of a subject opens the dialog.
  const [isAdding, adding] = useDisclosure(store_for !== undefined)
  const state = useFilter('state', states)
  const list = usePages<StoredDocument>(['documents', 'list', state], (cursor, signal) =>
    probity.GET('/api/documents', {
      params: { query: { ...cursor, limit: 50, ...(state !== undefined && { state }) } },
      signal,
    }),
  )
  const add = may('createDocument') && <Button onClick={adding.open}>Store a document</Button>
  return (
    <Page
      title="Documents"
      about="Files about subjects and cases. They are stored encrypted, compared with their hash every night, and every download is recorded."
      actions={add}
    >
      <Group gap="xs" mb="sm" align="flex-end">
        <Filter name="state" label="State" values={states} everything="Any state" />
      </Group>
      <ListTable
        label="Documents"
        list={list}
        empty={{
          title: 'No documents',
          about: 'Identity documents, contracts and statements that a decision or a case rests on are kept here.',
          filters: ['state'],
          action: add,
        }}
        head={[
          { name: 'Document' },
          { name: 'State' },
          { name: 'Size', from: 'sm' },
          { name: 'Stored by', from: 'md' },
          { name: 'Stored', from: 'sm' },
        ]}
        row={(document) => <DocumentRow key={document.document_id} document={document} />}
      />
      {isAdding && <NewDocument subject_id={store_for ?? null} onClose={adding.close} />}
    </Page>
  )
}

function DocumentRow({ document }: { readonly document: StoredDocument }) {
  return (
    <Table.Tr>
      <Table.Td>
        <PageLink to={`/documents/${document.document_id}`} fw={500} size="sm">
          {document.title ?? `Document ${document.document_id.slice(-8)}`}
        </PageLink>
        <RestrictionMark restriction_id={document.restriction_id} />
      </Table.Td>
      <Table.Td>
        <StateBadge of={document} />
      </Table.Td>
      <Table.Td visibleFrom="sm">{formatSize(document.size_bytes)}</Table.Td>
      <Table.Td visibleFrom="md">
        <Principal of={document.created_by} />
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <RelativeTime at={document.created_at} />
      </Table.Td>
    </Table.Tr>
  )
}
