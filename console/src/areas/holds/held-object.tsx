/** The object of a hold: the name of a subject, the kind and id of anything else. */
import type { Schemas } from '@probity/client'
import { useQuery } from '@tanstack/react-query'
import { usePermission } from '#console/session/queries.ts'
import { toSentence } from '#console/ui/format.ts'
import { PageLink } from '#console/ui/link.tsx'
import { subjectQuery } from '#console/ui/subject-queries.ts'

type Held = Pick<Schemas['Hold'], 'object_kind' | 'object_id'>

export function HeldObject({ hold: { object_kind, object_id } }: { readonly hold: Held }) {
  const may = usePermission()
  const isReadable = object_kind === 'subject' && may('getSubject')
  const { data } = useQuery({ ...subjectQuery(object_id), enabled: isReadable, throwOnError: false })
  if (isReadable && data)
    return (
      <PageLink to={`/subjects/${object_id}`} size="sm">
        {data.name}
      </PageLink>
    )
  return (
    <>
      {toSentence(object_kind)}{' '}
      <span className="mono" title={object_id}>
        {object_id.slice(-8)}
      </span>
    </>
  )
}
