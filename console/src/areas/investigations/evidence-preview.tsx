/** What an evidence item shows in place, and a link to its page. */
import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { usePermission } from '#console/session/queries.ts'
import { DocumentContent } from '#console/ui/document/document-content.tsx'
import { documentQuery, hasBytes } from '#console/ui/document/document-queries.ts'
import { formatSize } from '#console/ui/file-drop.tsx'
import { PageLink } from '#console/ui/link.tsx'
import { RestrictionMark } from '#console/ui/restriction/padlock.tsx'
import type { Evidence } from './investigation-queries.ts'

const pages: Readonly<Partial<Record<Evidence['kind'], readonly [path: string, text: string]>>> = {
  document: ['/documents', 'Open the document'],
  provider_call: ['/providers/calls', 'Open the call and its answer'],
  evaluation: ['/evaluations', 'Open the decision'],
  subject_version: ['/subjects', 'Open the subject'],
}

export function EvidencePreview({ item }: { readonly item: Evidence }) {
  const page = pages[item.kind]
  if (item.erased_at !== null) return <Text size="sm">What it named has been erased.</Text>
  return (
    <>
      {item.reference !== null && (
        <Text size="sm" className="break">
          {item.reference}
        </Text>
      )}
      {page !== undefined && item.object_id !== null && (
        <PageLink to={`${page[0]}/${item.object_id}`} size="sm">
          {page[1]}
        </PageLink>
      )}
      {item.kind === 'document' && item.object_id !== null && <DocumentEvidence document_id={item.object_id} />}
    </>
  )
}

function DocumentEvidence({ document_id }: { readonly document_id: string }) {
  const may = usePermission()
  const { data: document } = useQuery({ ...documentQuery(document_id), throwOnError: false })
  if (document === undefined) return null
  return (
    <>
      <Text size="xs" c="dimmed" component="div">
        {document.media_type}, {formatSize(document.size_bytes)}, {document.state}
        <RestrictionMark restriction_id={document.restriction_id} />
      </Text>
      {hasBytes(document) && may('getDocumentContent') && <DocumentContent document={document} isSmall />}
    </>
  )
}
