/** A first version to write on: what the evidence says, in the order of the questions an examiner asks. Nothing is invented. */
import type { evidenceStore } from '#modules/documents/index.ts'
import type { CaseAlertRow, InvestigationRow } from '../queries.ts'
import type { Paragraph } from './narrative.ts'

const toDay = (instant: string): string => instant.slice(0, 10)

const fact = (text: string, cites: readonly string[] = []): Paragraph => ({ kind: 'fact', text, cites })
const assessment = (text: string): Paragraph => ({ kind: 'assessment', text, cites: [] })

export function createSkeleton(
  row: InvestigationRow,
  alerts: readonly CaseAlertRow[],
  evidence: readonly evidenceStore.EvidenceRow[],
): Paragraph[] {
  const attached = evidence.filter(({ detached_at, erased_at }) => detached_at === null && erased_at === null)
  const who = attached.filter(({ kind }) => kind === 'subject_version')
  const rest = attached.filter(({ kind }) => kind !== 'subject_version')
  const because = alerts.length === 0 ? '' : ` Alerts: ${alerts.map(({ title }) => title).join('; ')}.`
  return [
    who.length === 0
      ? assessment(`Who: ${row.subject_name}, ${row.subject_type}.`)
      : fact(
          `Who: ${row.subject_name}, ${row.subject_type}.`,
          who.map(({ evidence_id }) => evidence_id),
        ),
    ...rest.map(({ evidence_id, title, source, obtained_at }) =>
      fact(`What and when: ${title ?? ''} (${source ?? ''}, obtained on ${toDay(obtained_at)}).`, [evidence_id]),
    ),
    assessment(`Why it was looked into: opened on ${toDay(row.created_at)} by ${row.origin}.${because}`),
    assessment('Where and how: '),
    assessment('Conclusion: '),
  ]
}
