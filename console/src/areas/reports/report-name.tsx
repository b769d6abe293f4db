/** What a report is about, from its parameters: the subject, the case, the list with its versions, the period. */
import { formatCount } from '#console/ui/format.ts'
import { PageLink } from '#console/ui/link.tsx'
import { SubjectName } from '#console/ui/subject-name.tsx'
import { CaseName } from '#console/ui/work/case-name.tsx'
import { isGone, type Report } from './report-queries.ts'

const toText = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

export function ReportAbout({ report }: { readonly report: Report }) {
  const { parameters, subject_id } = report
  const { list_key, from_version, to_version, days } = parameters
  const investigation_id = toText(parameters['investigation_id'])
  const evaluation_id = toText(parameters['evaluation_id'])
  if (investigation_id !== null) return <CaseName investigation_id={investigation_id} subject_id={subject_id} />
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
