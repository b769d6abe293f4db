/** The object of a hold: the name of a subject, the title of a document, the number of a case, the kind and id of anything else. */
import { Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { toSentence } from '#console/ui/format.ts'
import { PageLink } from '#console/ui/link.tsx'
import { RestrictionMark } from '#console/ui/restriction/padlock.tsx'
import { subjectQuery } from '#console/ui/subject-queries.ts'
import { CaseName, useCase } from '#console/ui/work/case-name.tsx'

type Held = Pick<Schemas['Hold'], 'object_kind' | 'object_id'>

export function HeldObject({ hold: { object_kind, object_id } }: { readonly hold: Held }) {
  const may = usePermission()
  const isReadable = object_kind === 'subject' && may('getSubject')
  const { data } = useQuery({ ...subjectQuery(object_id), enabled: isReadable, throwOnError: false })
  const isDocument = object_kind === 'document' && may('getDocument')
  const { data: document } = useQuery({
    queryKey: ['documents', 'held', object_id],
    queryFn: ({ signal }) =>
      probity.GET('/api/documents/{document_id}', { params: { path: { document_id: object_id } }, signal }),
    enabled: isDocument,
    throwOnError: false,
  })
  if (isDocument && document)
    return (
      <>
        <PageLink to={`/documents/${object_id}`} size="sm">
          {document.title ?? 'Document'}
        </PageLink>
        <RestrictionMark restriction_id={document.restriction_id} />
      </>
    )
  if (isReadable && data)
    return (
      <PageLink to={`/subjects/${object_id}`} size="sm">
        {data.name}
      </PageLink>
    )
  if (object_kind === 'investigation') return <HeldCase investigation_id={object_id} />
  return (
    <>
      {toSentence(object_kind)}{' '}
      <span className="mono" title={object_id}>
        {object_id.slice(-8)}
      </span>
    </>
  )
}

/** By its number. Who may not open cases learns the kind only. */
function HeldCase({ investigation_id }: { readonly investigation_id: string }) {
  const may = usePermission()
  const listed = useCase({ investigation_id })
  return (
    <Text size="sm" component="span">
      {may('getInvestigation') || listed ? <CaseName investigation_id={investigation_id} /> : 'Investigation'}
    </Text>
  )
}
