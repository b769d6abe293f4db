/** The template `programme-overview`: the portfolio, the work and the policy changes of a period, in numbers. It names no subject. */
import { nameActors, toName } from '#kernel/auth/actor-names.ts'
import type { Tx } from '#kernel/database/tx.ts'
import {
  type CollectCapabilities,
  declareTemplate,
  type ReportFormat,
  type ReportSection,
} from '#kernel/report-template.ts'
import { closed, integer, Type } from '#kernel/schema.ts'
import { getRiskDistribution } from '#modules/analytics/index.ts'
import { findIssuer } from '../queries.ts'
import { arrangeCases, collectCaseCounts } from './case-counts.ts'
import { countAlerts, countMissedClocks, countPeriod, listPolicyChanges } from './queries.ts'

interface Parameters {
  readonly days?: number
}

const DEFAULT_DAYS = 30
const DAY_MS = 86_400_000
const MOST_CHANGES = 200
/** Points of the chart. */
const MOST_POINTS = 60

const toDay = (time_ms: number): string => new Date(time_ms).toISOString().slice(0, 10)

/** Whole days in UTC, the day of the report included. */
async function collectOverview(kernel: CollectCapabilities, tx: Tx, { days = DEFAULT_DAYS }: Parameters) {
  const now = Date.parse((await findIssuer(tx))?.now ?? '')
  const from_on = toDay(now - (days - 1) * DAY_MS)
  const until_on = toDay(now)
  const period = { from: `${from_on}T00:00:00Z`, until: `${toDay(now + DAY_MS)}T00:00:00Z` }
  const distribution = await getRiskDistribution(kernel, tx, { from_on, until_on })
  const changes = await listPolicyChanges(tx, period, MOST_CHANGES)
  return {
    from_on,
    until_on,
    days,
    counts: await countPeriod(tx, period),
    alerts: await countAlerts(tx, period),
    cases: await collectCaseCounts(kernel, tx, period),
    missed_clocks: await countMissedClocks(tx, period),
    portfolio: { bands: distribution.bands, days: distribution.days, lists: distribution.lists },
    changes,
    names: await nameActors(
      tx,
      changes.map(({ actor }) => actor),
    ),
  }
}
type Data = Awaited<ReturnType<typeof collectOverview>>

/** Evenly spaced, the last day always among them. */
function pickDays<T>(days: readonly T[]): T[] {
  const step = Math.ceil(days.length / MOST_POINTS)
  return days.filter((_, at) => (days.length - 1 - at) % step === 0)
}

const families: Readonly<Record<string, string>> = {
  list: 'List',
  matrix: 'Risk matrix',
  rule: 'Rule',
  contract: 'Source contract',
  provider: 'Provider',
  plugin: 'Plugin',
  playbook: 'Playbook',
}

/** Subjects by rating, now and over the period. */
function arrangePortfolio(portfolio: Data['portfolio'], format: ReportFormat): ReportSection {
  const points = pickDays(portfolio.days)
  const series = portfolio.bands.map(({ band, title }) => ({
    title,
    values: points.map((day) => day.bands.find((one) => one.band === band)?.subjects ?? 0),
  }))
  return {
    title: 'Portfolio',
    blocks: [
      {
        kind: 'chart',
        type: 'bar',
        title: 'Subjects by rating, latest day',
        labels: portfolio.bands.map(({ title }) => title),
        series: [{ title: 'Subjects', values: portfolio.bands.map(({ subjects }) => subjects) }],
      },
      ...(points.length > 1 && series.length > 0
        ? [
            {
              kind: 'chart' as const,
              type: 'line' as const,
              title: 'Subjects by rating over the period',
              labels: points.map(({ on }) => format.day(`${on}T12:00:00Z`)),
              series,
            },
          ]
        : []),
      {
        kind: 'table',
        title: 'Ratings',
        columns: [
          { title: 'Rating', width: 3, style: 'strong' },
          { title: 'Subjects', width: 1, align: 'right' },
          { title: 'Change in the period', width: 2, align: 'right' },
        ],
        rows: portfolio.bands.map(({ title, subjects, change }) => [
          title,
          format.count(subjects),
          change > 0 ? `+${format.count(change)}` : format.count(change),
        ]),
        empty: 'No subject is rated.',
      },
    ],
  }
}

/** Alerts by priority. */
function arrangeAlerts(alerts: Data['alerts'], format: ReportFormat): ReportSection {
  return {
    title: 'Alerts',
    blocks: [
      ...(alerts.length > 0
        ? [
            {
              kind: 'chart' as const,
              type: 'stacked' as const,
              title: 'Alerts by priority',
              labels: alerts.map(({ priority }) => priority),
              series: [
                { title: 'Open now', values: alerts.map(({ open_now }) => open_now), tone: 'warning' as const },
                {
                  title: 'Dismissed in the period',
                  values: alerts.map(({ dismissed }) => dismissed),
                  tone: 'neutral' as const,
                },
                {
                  title: 'Escalated in the period',
                  values: alerts.map(({ escalated }) => escalated),
                  tone: 'bad' as const,
                },
              ],
            },
          ]
        : []),
      {
        kind: 'table',
        columns: [
          { title: 'Priority', width: 2, style: 'strong' },
          { title: 'Raised', width: 1, align: 'right' },
          { title: 'Dismissed', width: 1, align: 'right' },
          { title: 'Escalated', width: 1, align: 'right' },
          { title: 'Open now', width: 1, align: 'right' },
        ],
        rows: alerts.map((row) => [
          row.priority,
          ...[row.raised, row.dismissed, row.escalated, row.open_now].map(format.count),
        ]),
        empty: 'There are no alerts.',
      },
      { kind: 'note', text: 'Restricted alerts are not counted.' },
    ],
  }
}

/** Versions that came into force. */
function arrangePolicy({ changes, names }: Data, format: ReportFormat): ReportSection {
  return {
    title: 'Policy changes',
    blocks: [
      {
        kind: 'table',
        columns: [
          { title: 'In force from', width: 3 },
          { title: 'What', width: 4, style: 'strong' },
          { title: 'Version', width: 0, align: 'right' },
          { title: 'By', width: 3 },
          { title: 'Reason', width: 5 },
        ],
        rows: changes.map((change) => [
          format.instant(change.effective_from),
          `${families[change.family] ?? change.family} ${change.list_key}`,
          change.version === null ? '–' : String(change.version),
          toName(names, change.actor),
          change.reason,
        ]),
        empty: 'Nothing was put in force in the period.',
      },
      ...(changes.length < MOST_CHANGES
        ? []
        : [{ kind: 'note' as const, text: `The newest ${MOST_CHANGES} are listed.` }]),
    ],
  }
}

function arrange(data: Data, format: ReportFormat) {
  const { counts, alerts, cases, portfolio, missed_clocks } = data
  const total = portfolio.bands.reduce((sum, { subjects }) => sum + subjects, 0)
  const open = alerts.reduce((sum, { open_now }) => sum + open_now, 0)
  return {
    title: 'Programme overview',
    reference: `${data.from_on} ${data.until_on}`,
    subtitle: `${format.day(`${data.from_on}T12:00:00Z`)} to ${format.day(`${data.until_on}T12:00:00Z`)} (${data.days} days)`,
    blocks: [
      {
        kind: 'callout' as const,
        tone: missed_clocks > 0 ? ('warning' as const) : ('neutral' as const),
        title: `Rated subjects: ${format.count(total)}. Open alerts: ${format.count(open)}. Open investigations: ${format.count(cases.open.open)}.`,
        text:
          missed_clocks === 0
            ? 'No deadline was missed in the period.'
            : `Deadlines missed in the period: ${format.count(missed_clocks)}.`,
      },
      {
        kind: 'facts' as const,
        items: [
          {
            label: 'Decisions one by one',
            value: `${format.count(counts.decisions)}, of them hits of rules: ${format.count(counts.hits)}`,
          },
          {
            label: 'Decisions in batches',
            value: `${format.count(counts.batch_decisions)}, in batches: ${format.count(counts.batches)}`,
          },
          { label: 'Subjects added', value: format.count(counts.subjects_added) },
          { label: 'Overrides', value: format.count(counts.overrides) },
          { label: 'Documents stored', value: format.count(counts.documents_stored) },
          {
            label: 'Change requests',
            value: `${format.count(counts.changes_decided)} approved, ${format.count(counts.changes_rejected)} rejected`,
          },
        ],
      },
    ],
    sections: [
      arrangePortfolio(portfolio, format),
      arrangeAlerts(alerts, format),
      arrangeCases(cases, format),
      arrangePolicy(data, format),
    ],
  }
}

export const programmeOverview = declareTemplate<Parameters, Data>({
  key: 'programme-overview',
  version: 3,
  title: 'Programme overview',
  description: 'Portfolio by rating, alerts, investigations, decisions and policy changes of a period, in numbers.',
  roles: ['compliance_officer', 'auditor'],
  parameters: closed({
    days: Type.Optional(integer(1, 366, { description: 'Days of the period, which ends today; 30 unless given.' })),
  }),
  collect: async (kernel, tx, parameters) => {
    const data = await collectOverview(kernel, tx, parameters)
    return { data, decisions: [], list_versions: data.portfolio.lists, restrictions: [] }
  },
  arrange,
})
