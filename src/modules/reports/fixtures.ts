/** Test fixtures of reports: one valid call per operation. */
import { uuidv7 } from '#kernel/uuid.ts'
import { ensureList } from '#modules/reference-data/fixtures.ts'
import type { ExampleTenant } from '#test/support/example-tenant.ts'
import { createOncePerTenant, type Fixture, type Fixtures } from '#test/support/operation-fixture.ts'

const oncePerTenant = createOncePerTenant()

/** Every role that may request reports may request this one. */
const buildRequest = async (t: ExampleTenant) => ({
  template: 'list-change-note',
  parameters: { list_key: await ensureList(t), from_version: 1, to_version: 2 },
  formats: ['json', 'html', 'csv'],
})

/** A new one whose files are made. */
export const newReport = async (t: ExampleTenant): Promise<string> => {
  const job = await t.make('POST /reports', { body: await buildRequest(t) })
  await t.runToEnd(job)
  return (job.resource as string).split('/').at(-1) as string
}

const ensureReport = (t: ExampleTenant): Promise<string> => oncePerTenant(t, 'report', () => newReport(t))
const existing: Fixture = async (t) => ({ params: { report_id: await ensureReport(t) } })

/** Its content could not be collected, so that no retention policy keeps it: no operation makes one. */
const newFailedReport = (t: ExampleTenant): Promise<string> =>
  t.write(async (tx) => {
    const [row] = await tx.query<{ report_id: string }>(
      `insert into app.report (tenant_id, report_id, template_key, template_version, parameters, formats, readers, locale, time_zone, job_id,
         state, failure, created_by, updated_by)
       values ($1, gen_random_uuid(), 'subject-dossier', 1, '{}', '{json}', '{analyst,compliance_officer,auditor}', 'en-GB', 'UTC',
         gen_random_uuid(), 'failed', 'The content could not be collected.', $2, $2) returning report_id`,
      [tx.tenant_id, tx.actor],
    )
    return row?.report_id as string
  })

/** As people use it: it is the example of the documentation. */
const buildMonthly = () => ({ ...buildSchedule(), cron: '0 6 1 * *' })

/** Its next time is a 29 February, so that no run starts while a test runs. */
const buildSchedule = () => ({
  name: `Monthly overview ${uuidv7()}`,
  template: 'programme-overview',
  parameters: { days: 30 },
  formats: ['json'],
  cron: '0 6 29 2 *',
  time_zone: 'Europe/Berlin',
})
const newSchedule = async (t: ExampleTenant): Promise<string> =>
  (await t.make('POST /reports/schedules', { body: buildSchedule() })).schedule_id
const existingSchedule: Fixture = async (t) => ({
  params: { schedule_id: await oncePerTenant(t, 'report-schedule', () => newSchedule(t)) },
})

export const fixtures: Fixtures = {
  listReportTemplates: async () => ({}),
  getReportTemplate: async () => ({ params: { key: 'subject-dossier' }, shared: true }),
  listReports: async (t) => {
    await ensureReport(t)
    return {}
  },
  createReport: async (t) => ({ body: await buildRequest(t) }),
  getReport: existing,
  getReportContent: async (t, role) => ({ ...(await existing(t, role)), query: { format: 'html' } }),
  getReportManifest: existing,
  verifyReport: existing,
  deleteReport: async (t) => ({
    params: { report_id: await newFailedReport(t) },
    query: { reason: 'Requested by mistake' },
  }),
  listReportSchedules: async (t) => {
    await oncePerTenant(t, 'report-schedule', () => newSchedule(t))
    return {}
  },
  createReportSchedule: async () => ({ body: buildMonthly() }),
  getReportSchedule: existingSchedule,
  updateReportSchedule: async (t) => ({ params: { schedule_id: await newSchedule(t) }, body: { paused: true } }),
  deleteReportSchedule: async (t) => ({ params: { schedule_id: await newSchedule(t) } }),
}
