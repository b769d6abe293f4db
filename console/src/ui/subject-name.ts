/** The name of a subject where only its id is at hand, for those who may read it. */
import { useQuery } from '@tanstack/react-query'
import { usePermission } from '#console/session/queries.ts'
import { subjectQuery } from './subject-queries.ts'

/** undefined: not read yet, not allowed, or erased. */
export function useSubjectName(subject_id: string): string | undefined {
  const may = usePermission()
  const { data } = useQuery({ ...subjectQuery(subject_id), enabled: may('getSubject'), throwOnError: false })
  return data?.erased_at === null ? data.name : undefined
}
