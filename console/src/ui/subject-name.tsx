/** A subject by its name. */
import { useQuery } from '@tanstack/react-query'
import { usePermission } from '#console/session/queries.ts'
import { PageLink } from './link.tsx'
import { subjectQuery } from './subject-queries.ts'

/** A link where the viewer may open the subject. */
export function SubjectName({ subject_id }: { readonly subject_id: string | null }) {
  const may = usePermission()
  const enabled = subject_id !== null && may('getSubject')
  const { data } = useQuery({ ...subjectQuery(subject_id ?? ''), enabled, throwOnError: false })
  if (subject_id === null) return <span className="quiet">–</span>
  if (!enabled) return <span className="mono">{subject_id.slice(-8)}</span>
  return (
    <PageLink to={`/subjects/${subject_id}`} size="sm">
      {data?.name ?? subject_id.slice(-8)}
    </PageLink>
  )
}
