/** Investigations of a period as the overview of the programme shows them, in numbers. */
import type { Tx } from '#kernel/database/tx.ts'
import type { CollectCapabilities, ReportBlock, ReportFormat, ReportSection } from '#kernel/report-template.ts'
import { countCaseOutcomes, countCasesOfPeriod, countMissedClocks, countOpenCases, type Period } from './queries.ts'
import { loadTitles } from './value-texts.ts'

export async function collectCaseCounts(kernel: CollectCapabilities, tx: Tx, period: Period) {
  const outcomes = await countCaseOutcomes(tx, period)
  const codes = outcomes.map(({ outcome }) => outcome)
  return {
    counts: await countCasesOfPeriod(tx, period),
    open: await countOpenCases(tx),
    outcomes,
    missed_clocks: await countMissedClocks(tx, period, 'investigation'),
    titles: await loadTitles(kernel, tx, 'reason-codes', codes),
  }
}
export type CaseCounts = Awaited<ReturnType<typeof collectCaseCounts>>

const HOURS_A_DAY = 24

function describeDuration(hours: number | null, format: ReportFormat): string {
  if (hours === null) return '–'
  return hours < 2 * HOURS_A_DAY
    ? `${format.count(Math.round(hours))} hours`
    : `${format.count(Math.round(hours / HOURS_A_DAY))} days`
}

export function arrangeCases({ counts, open, outcomes, missed_clocks, titles }: CaseCounts, format: ReportFormat) {
  const ages: readonly (readonly [string, number])[] = [
    ['0–2 days', open.days_2],
    ['3–7 days', open.days_7],
    ['8–30 days', open.days_30],
    ['More than 30 days', open.older],
  ]
  const blocks: ReportBlock[] = [
    {
      kind: 'facts',
      items: [
        { label: 'Opened', value: format.count(counts.opened) },
        { label: 'Closed', value: format.count(counts.closed) },
        { label: 'Opened again', value: format.count(counts.reopened) },
        { label: 'Proposals returned', value: format.count(counts.returned) },
        { label: 'Median time to close', value: describeDuration(counts.median_hours, format) },
        { label: 'Deadlines missed', value: format.count(missed_clocks) },
        {
          label: 'Open now',
          value: `${format.count(open.open)}, of them with a proposed outcome: ${format.count(open.proposed)}`,
        },
      ],
    },
    {
      kind: 'table',
      title: 'Outcomes of those closed in the period',
      columns: [
        { title: 'Outcome', width: 5, style: 'strong' },
        { title: 'Closed', width: 1, align: 'right' },
      ],
      rows: outcomes.map(({ outcome, cases }) => [titles[outcome]?.title ?? outcome, format.count(cases)]),
      empty: 'None was closed in the period.',
    },
    {
      kind: 'table',
      title: 'Age of those that are open now',
      columns: [
        { title: 'Open since', width: 5, style: 'strong' },
        { title: 'Investigations', width: 1, align: 'right' },
      ],
      rows: open.open === 0 ? [] : ages.map(([age, cases]) => [age, format.count(cases)]),
      empty: 'None is open.',
    },
    {
      kind: 'note',
      text: 'Restricted investigations are not counted. One that was closed more than once counts each time.',
    },
  ]
  return { title: 'Investigations', blocks } satisfies ReportSection
}
