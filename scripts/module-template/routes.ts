/** Sample widgets: what a client does with them. */

import { tenantRoute } from '#kernel/declare-route.ts'
import { paginate } from '#kernel/page.ts'
import { assertFound } from '#kernel/problem.ts'
import { assertRevision } from '#kernel/revision.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import {
  findSampleWidget,
  insertSampleWidget,
  listSampleWidgets,
  lockSampleWidget,
  removeSampleWidget,
  type SampleWidgetRow,
  updateSampleWidget,
} from './queries.ts'
import {
  SampleWidget,
  SampleWidgetChange,
  SampleWidgetPage,
  SampleWidgetParams,
  SampleWidgetQuery,
  SampleWidgetRequest,
} from './schema.ts'

const readers = ['analyst', 'compliance_officer', 'auditor'] as const
const editors = ['compliance_officer'] as const

/** The members whose values the audit event holds. For records with personal data, use `audit.recordHashes` instead. */
const toAuditSettings = ({ name, note }: SampleWidgetRow) => ({ name, note })

export const sampleWidgetRoutes = [
  tenantRoute('GET /sample-widgets', {
    id: 'listSampleWidgets',
    summary: 'List sample widgets, oldest first',
    roles: readers,
    tx: 'one',
    uses: ['cursors'],
    query: SampleWidgetQuery,
    reply: [200, SampleWidgetPage],
  }).handle((input) =>
    paginate(input, 'listSampleWidgets', ['created_at', 'sample_widget_id'], (after, count) =>
      listSampleWidgets(input.tx, { name: input.query.name ?? null }, after, count),
    ),
  ),

  tenantRoute('POST /sample-widgets', {
    id: 'createSampleWidget',
    summary: 'Create a sample widget',
    roles: editors,
    tx: 'write',
    body: SampleWidgetRequest,
    reply: [201, SampleWidget],
    revisioned: true,
    location: ({ sample_widget_id }) => `/sample-widgets/${sample_widget_id}`,
    links: { getSampleWidget: { sample_widget_id: 'sample_widget_id' } },
    problems: ['duplicate'],
  }).handle(async ({ tx, body, audit }) => {
    const { name, note = null } = body
    const created = assertFound(await insertSampleWidget(tx, { sample_widget_id: uuidv7(), name, note }))
    audit.recordDiff(null, toAuditSettings(created))
    return created
  }),

  tenantRoute('GET /sample-widgets/:sample_widget_id', {
    id: 'getSampleWidget',
    summary: 'Get a sample widget',
    roles: readers,
    tx: 'one',
    params: SampleWidgetParams,
    reply: [200, SampleWidget],
    revisioned: true,
    problems: ['not_found'],
  }).handle(async ({ tx, params }) => assertFound(await findSampleWidget(tx, params.sample_widget_id))),

  tenantRoute('PATCH /sample-widgets/:sample_widget_id', {
    id: 'updateSampleWidget',
    summary: 'Change a sample widget',
    roles: editors,
    tx: 'write',
    params: SampleWidgetParams,
    body: SampleWidgetChange,
    reply: [200, SampleWidget],
    revisioned: true,
    problems: ['not_found', 'duplicate'],
  }).handle(async (input) => {
    const { tx, params, body, audit } = input
    const before = assertFound(await lockSampleWidget(tx, params.sample_widget_id))
    assertRevision(before.revision, input)
    const { name = before.name, note = before.note } = body
    const after = assertFound(await updateSampleWidget(tx, params.sample_widget_id, { name, note }))
    audit.recordDiff(toAuditSettings(before), toAuditSettings(after))
    return after
  }),

  tenantRoute('DELETE /sample-widgets/:sample_widget_id', {
    id: 'deleteSampleWidget',
    summary: 'Delete a sample widget',
    roles: editors,
    tx: 'write',
    params: SampleWidgetParams,
    reply: [204, null],
    problems: ['not_found'],
  }).handle(async (input) => {
    const { tx, params, audit } = input
    const before = assertFound(await lockSampleWidget(tx, params.sample_widget_id))
    assertRevision(before.revision, input)
    await removeSampleWidget(tx, params.sample_widget_id)
    audit.recordDiff(toAuditSettings(before), {})
    return undefined
  }),
]
