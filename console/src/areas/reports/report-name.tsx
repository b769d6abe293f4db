/** What a report is about, from its parameters: the subject, the case, the list with its versions, the period. */
import { useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { formatCount } from '#console/ui/format.ts'
import { PageLink } from '#console/ui/link.tsx'
import { RestrictionMark } from '#console/ui/restriction/padlock.tsx'
import { SubjectName } from '#console/ui/subject-name.tsx'
import { isGone, type Report } from './report-queries.ts'

const toText = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

export function ReportAbout({ report }: { readonly report: Report }) {
  const { parameters, subject_id } = report
  const { list_key, from_version, to_version, days } = parameters
  const investigation_id = toText(parameters['investigation_id'])
  const evaluation_id = toText(parameters['evaluation_id'])
  if (investigation_id !== null) return <CaseName investigation_id={investigation_id} />
  if (evaluation_id !== null)
    return (
      <PageLink to={`/evaluations/${evaluation_id}`} size="sm">
        Open the decision
      </PageLink>
    )
  if (toText(list_key) !== null)
    return (
      <PageLink to={`/datasets/${String(list_key)}`} size="sm">
        {`${String(list_key)}, version ${String(from_version)} to ${String(to_version)}`}
      </PageLink>
    )
  if (typeof days === 'number') return <>{formatCount(days, 'day')}</>
  const about = toText(parameters['subject_id']) ?? subject_id
  return about === null || isGone(report) ? null : <SubjectName subject_id={about} />
}

function CaseName({ investigation_id }: { readonly investigation_id: string }) {
  const may = usePermission()
  const { data } = useQuery({
    queryKey: ['investigations', 'names'],
    queryFn: ({ signal }) => probity.GET('/api/investigations', { params: { query: { limit: 200 } }, signal }),
    enabled: may('listInvestigations'),
    staleTime: 60_000,
    throwOnError: false,
  })
  const found = data?.items.find((one) => one.investigation_id === investigation_id)
  if (!may('getInvestigation')) return <>{found?.reference ?? 'A case'}</>
  return (
    <>
      <PageLink to={`/investigations/${investigation_id}`} size="sm">
        {found?.reference ?? 'Open the case'}
      </PageLink>
      <RestrictionMark restriction_id={found?.is_restricted ? found.restriction_id : null} />
    </>
  )
}
