/** Alerts: list, report from outside, read with history and occurrences. */
import { noteNamed } from '#kernel/audit/restricted-object.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import { paginate } from '#kernel/page.ts'
import { assertReferenced, fail } from '#kernel/problem.ts'
import { reservedSources } from './model.ts'
import {
  findAlert,
  findRestrictionId,
  findSubjectId,
  listAlerts,
  listHistory,
  listOccurrences,
  listUrgentAlerts,
} from './queries.ts'
import { raiseAlert } from './raise/raise-alert.ts'
import {
  Alert,
  AlertPage,
  AlertParams,
  AlertQuery,
  AlertRequest,
  HistoryPage,
  HistoryQuery,
  OccurrencePage,
  RaisedAlert,
} from './schema.ts'
import { assertAlert, toAlertHeaders, toAlertView } from './view.ts'

const readers = ['analyst', 'compliance_officer', 'auditor'] as const
const mayReadAlerts: ReadonlySet<string> = new Set(readers)

function assertOwnSource(source: string): void {
  if (!reservedSources.includes(source)) return
  const detail = `is reserved for the service itself, like ${reservedSources.filter((name) => name !== source).join(' and ')}`
  fail('validation_failed', {
    detail: `The source ${source} ${detail}. Report under a name of your own.`,
    errors: [{ in: 'body', pointer: '#/source', detail, keyword: 'reserved' }],
  })
}

export const alertRoutes = [
  tenantRoute('GET /alerts', {
    id: 'listAlerts',
    summary: 'Alerts that I may see, newest or highest priority first',
    roles: readers,
    tx: 'one',
    uses: ['cursors'],
    query: AlertQuery,
    reply: [200, AlertPage],
  }).handle(async (input) => {
    const { limit: _, cursor: __, sort = 'newest', ...filter } = input.query
    const found =
      sort === 'urgent'
        ? await paginate(input, 'listAlerts', ['priority_rank', 'alert_id'], (after, count) =>
            listUrgentAlerts(input.tx, filter, after, count),
          )
        : await paginate(input, 'listAlerts', ['alert_id'], (after, count) =>
            listAlerts(input.tx, filter, after, count),
          )
    return { ...found, items: found.items.map((row) => toAlertView(row, input.actor)) }
  }),

  tenantRoute('POST /alerts', {
    id: 'createAlert',
    summary: 'Report a match: it opens an alert, or is one more occurrence of one',
    description:
      '201 when an alert was opened; 200 when the report joined an open one, was counted on one that was closed with the same ' +
      'facts at this priority or a higher one, or on a suppression. No report is dropped: each is an occurrence. The priority of an open alert rises to the highest that ' +
      'was reported. A dedup_key belongs to the source that used it first (409 for another). The sources of the service itself are reserved (422).',
    roles: ['analyst', 'compliance_officer', 'service'],
    tx: 'write',
    uses: ['caches'],
    body: AlertRequest,
    reply: [201, RaisedAlert],
    alternateStatus: { status: 200, when: ({ outcome }) => outcome !== 'opened' },
    headers: ({ alert_id }): Record<string, string> =>
      alert_id === null ? {} : { location: `/api/alerts/${alert_id}` },
    links: { getAlert: { alert_id: 'alert_id' } },
    // not_found: a repeated request, after the alert was restricted.
    problems: ['not_found', 'conflict', 'erased', 'overloaded'],
  }).handle(async ({ tx, body, kernel, audit, actor }) => {
    const { facts = [], explanation, subject_id = null, restriction_id = null, ...report } = body
    assertOwnSource(report.source)
    const names = facts.map(({ name }) => name)
    if (new Set(names).size !== names.length) fail('conflict', 'A fact is named twice.')
    if (subject_id !== null) assertReferenced(await findSubjectId(tx, subject_id), 'subject with this id')
    const restriction =
      restriction_id === null
        ? null
        : assertReferenced(await findRestrictionId(tx, restriction_id), 'restriction with this id')
    const raised = await raiseAlert(kernel, tx, {
      ...report,
      subject_id,
      restriction_id,
      facts: Object.fromEntries(facts.map(({ name, value }) => [name, value])),
      explanation: explanation ?? { sentence: report.title, fields: [], references: [] },
    })
    audit.belongsTo({ restriction_id: raised.restriction_id, is_in_force: restriction?.is_in_force ?? false })
    await noteNamed({ tx, audit }, [['alert', raised.previous_alert_id]])
    audit.recordHashes(null, { source: report.source, dedup_key: report.dedup_key, outcome: raised.outcome })
    const { restriction_id: _, changes, ...shown } = raised
    // What changed quotes the facts before, which people may have written.
    return { ...shown, changes: actor.roles.some((role) => mayReadAlerts.has(role)) ? changes : null }
  }),

  tenantRoute('GET /alerts/:alert_id', {
    id: 'getAlert',
    summary: 'Get an alert with its explanation',
    description: 'While its restriction is in force, reading it is recorded.',
    roles: readers,
    tx: 'one',
    params: AlertParams,
    reply: [200, Alert],
    revisioned: true,
    headers: toAlertHeaders,
    problems: ['not_found'],
  }).handle(async ({ tx, params, audit, actor }) =>
    toAlertView(assertAlert(await findAlert(tx, params.alert_id), audit), actor),
  ),

  tenantRoute('GET /alerts/:alert_id/history', {
    id: 'listAlertHistory',
    summary: 'Changes of an alert and comments on it, newest first',
    roles: readers,
    tx: 'read',
    uses: ['cursors'],
    params: AlertParams,
    query: HistoryQuery,
    reply: [200, HistoryPage],
    problems: ['not_found'],
  }).handle(async (input) => {
    const { alert_id } = assertAlert(await findAlert(input.tx, input.params.alert_id), input.audit)
    return paginate(input, `listAlertHistory ${alert_id}`, ['recorded_at', 'entry'], (after, count) =>
      listHistory(input.tx, alert_id, after, count),
    )
  }),

  tenantRoute('GET /alerts/:alert_id/occurrences', {
    id: 'listAlertOccurrences',
    summary: 'Every report of an alert, newest first',
    roles: readers,
    tx: 'read',
    uses: ['cursors'],
    params: AlertParams,
    query: HistoryQuery,
    reply: [200, OccurrencePage],
    problems: ['not_found'],
  }).handle(async (input) => {
    const { alert_id } = assertAlert(await findAlert(input.tx, input.params.alert_id), input.audit)
    return paginate(input, `listAlertOccurrences ${alert_id}`, ['occurrence_id'], (after, count) =>
      listOccurrences(input.tx, alert_id, after, count),
    )
  }),
]
