/** Reports: requested, read in several formats, made again to compare, and deleted with a record left. */
import { everyone } from '#kernel/auth/roles.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import { describeSchemaErrors } from '#kernel/http/validation.ts'
import { JobView } from '#kernel/job/schema.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { paginate } from '#kernel/page.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import type { ReportTemplate } from '#kernel/report-template.ts'
import { assertRevision } from '#kernel/revision.ts'
import { fileMediaTypes, streamReply } from '#kernel/route.ts'
import { chooseFormats, createReport, findTemplate, listTemplates, MAKE_REPORT } from './create-report.ts'
import type { ReportFormatName } from './model.ts'
import { findManifest, listReports, removeParts, updateEnded } from './queries.ts'
import { expectContent, expectDeletable, getFile, openReport, openReportForChange } from './report-access.ts'
import { readPart, readSnapshot } from './report-content.ts'
import {
  ContentQuery,
  Manifest,
  Report,
  ReportEnd,
  ReportPage,
  ReportParams,
  ReportQuery,
  ReportRequest,
  StoredManifest,
  Template,
  TemplatePage,
  TemplateParams,
} from './schema.ts'
import { hashText } from './snapshot.ts'
import { VERIFY_REPORT } from './verify-report.ts'

const readers = ['analyst', 'compliance_officer', 'auditor', 'service'] as const

const mediaTypes: Readonly<Record<ReportFormatName, string>> = {
  json: fileMediaTypes.json,
  html: 'text/html; charset=utf-8',
  csv: fileMediaTypes.csv,
  pdf: 'application/pdf',
}

const toTemplateView = (template: ReportTemplate, formats: ReportFormatName[]) => ({
  key: template.key,
  version: template.version,
  title: template.title,
  description: template.description,
  roles: [...template.roles],
  formats,
  parameters: JSON.parse(JSON.stringify(template.parameters)) as Record<string, unknown>,
})

/** Which report it is, then what it is about; the id names it to the service, and no two files are called the same. */
export function toFileName(
  { template_key, report_id }: { readonly template_key: string; readonly report_id: string },
  reference: string | undefined,
  format: ReportFormatName,
): string {
  const safe = (reference ?? '')
    .replaceAll(/[^A-Za-z0-9]+/g, '-')
    .slice(0, 60)
    .replaceAll(/^-+|-+$/g, '')
  return `${[template_key, safe, report_id].filter(Boolean).join('-')}.${format}`
}

const findEngine = async ({ kernel }: { readonly kernel: Capabilities<'printing'> }): Promise<void> => {
  await kernel.printing.pdf.findEngine()
}

export const reportRoutes = [
  tenantRoute('GET /reports/templates', {
    id: 'listReportTemplates',
    summary: 'Kinds of report, with their parameters and who may request them',
    roles: everyone,
    tx: 'self',
    uses: ['modules', 'printing'],
    reply: [200, TemplatePage],
  }).handle(async ({ kernel }) => {
    const formats = await chooseFormats(kernel, undefined)
    return { items: listTemplates(kernel.modules).map((template) => toTemplateView(template, formats)) }
  }),

  tenantRoute('GET /reports/templates/:key', {
    id: 'getReportTemplate',
    summary: 'One kind of report, with the schema of its parameters',
    roles: everyone,
    tx: 'self',
    uses: ['modules', 'printing'],
    params: TemplateParams,
    reply: [200, Template],
    problems: ['not_found'],
  }).handle(async ({ params, kernel }) =>
    toTemplateView(assertFound(findTemplate(kernel.modules, params.key)), await chooseFormats(kernel, undefined)),
  ),

  tenantRoute('GET /reports', {
    id: 'listReports',
    summary: 'Reports that the caller may read, newest first',
    tool: {
      name: 'list_reports',
      title: 'List reports',
      description:
        'Reports that were made, newest first, with state, formats and hashes; by template, subject or state.',
      effect: 'read',
      omit: ['template_key', 'schedule_id'],
    },
    roles: readers,
    tx: 'one',
    uses: ['cursors'],
    query: ReportQuery,
    reply: [200, ReportPage],
  }).handle((input) => {
    const { limit: _limit, cursor: _cursor, ...filter } = input.query
    return paginate(input, 'listReports', ['created_at', 'report_id'], (after, count) =>
      listReports(input.tx, { roles: input.actor.roles, ...filter }, after, count),
    )
  }),

  tenantRoute('POST /reports', {
    id: 'createReport',
    summary: 'Request a report; a job collects its content and makes its files',
    tool: {
      name: 'request_report',
      title: 'Request a report',
      description:
        'Makes a report by a template, such as subject-dossier with parameters {"subject_id": …}; nothing restricted is in it. Returns job_id; follow it with get_job, then list_reports shows the files.',
      effect: 'work',
      omit: ['restriction_id', 'locale', 'time_zone'],
    },
    description:
      'The content is read once and stored as a snapshot; every file is made from it and can be made again. Without ' +
      '`restriction_id` nothing restricted is in the report.',
    roles: readers,
    tx: 'write',
    uses: ['jobs', 'modules', 'printing'],
    beforeTransaction: findEngine,
    body: ReportRequest,
    reply: [202, JobView],
    starts: MAKE_REPORT,
    // not_found: a repeated request, after the access to what it created was revoked.
    problems: ['not_found', 'conflict', 'report_invalid', 'format_unavailable', 'erased', 'concurrency_limited'],
  }).handle(async ({ tx, body, kernel, actor, audit }) => {
    const formats = await chooseFormats(kernel, body.formats)
    const { report_id, job } = await createReport(kernel, tx, body, { roles: actor.roles, formats })
    await openReport({ tx, actor, audit }, report_id)
    audit.recordDiff(null, { report_id, template: body.template, formats })
    return job
  }),

  tenantRoute('GET /reports/:report_id', {
    id: 'getReport',
    summary: 'One report: its state, files and hashes',
    roles: readers,
    tx: 'read',
    params: ReportParams,
    reply: [200, Report],
    revisioned: true,
    problems: ['not_found'],
  }).handle((input) => openReport(input, input.params.report_id)),

  tenantRoute('GET /reports/:report_id/content', {
    id: 'getReportContent',
    summary: 'A file of a report, as an attachment or for a preview',
    description:
      'Recorded in the audit record. HTML has no script, and is sent with a content security policy of its own. While the file ' +
      'is being made the answer is 409 `not_finished`, which names the job; a format that was not requested, or that could not be ' +
      'made, is 409 `format_unavailable`.',
    roles: readers,
    tx: 'self',
    uses: ['encryption'],
    params: ReportParams,
    query: ContentQuery,
    reply: [
      200,
      streamReply([mediaTypes.html, mediaTypes.json, mediaTypes.csv, mediaTypes.pdf], 'The file as it was made.', {
        [mediaTypes.json]: '{"title":"Portfolio overview","generated_at":"2026-03-02T09:30:00Z","sections":[]}\n',
        [mediaTypes.csv]: 'section,name,value\r\nBands,high,86\r\n',
      }),
    ],
    headers: () => ({ 'content-security-policy': "sandbox; default-src 'none'; style-src 'unsafe-inline'" }),
    audited: true,
    problems: ['not_found', 'not_finished', 'format_unavailable', 'erased', 'content_corrupt'],
  }).handle(async ({ params, query, read, kernel, actor, audit }) => {
    const { format, preview = false } = query
    const { report, sha256, reference, bytes } = await read(async (tx) => {
      const found = await openReport({ tx, actor, audit }, params.report_id)
      const file = getFile(found, format)
      const { snapshot } = await readSnapshot(kernel, tx, found)
      const stored = await readPart(kernel, tx, found, format)
      return { report: found, sha256: file.sha256, reference: snapshot.document.reference, bytes: stored }
    })
    if (!bytes || hashText(bytes) !== sha256) return fail('content_corrupt')
    const content = (async function* () {
      yield bytes
    })()
    const file_name = toFileName(report, reference, format)
    return Object.assign(content, { media_type: mediaTypes[format], ...(!preview && { file_name }) })
  }),

  tenantRoute('GET /reports/:report_id/manifest', {
    id: 'getReportManifest',
    summary: 'What a report was made with: template, engine, fonts, receipts, list versions',
    roles: readers,
    tx: 'read',
    params: ReportParams,
    reply: [200, Manifest],
    problems: ['not_found', 'not_finished', 'content_corrupt'],
  }).handle(async (input) => {
    const { report_id } = await openReport(input, input.params.report_id)
    const manifest = await findManifest(input.tx, report_id)
    if (manifest === null) return fail('not_finished', 'The content of the report was not collected.')
    return describeSchemaErrors(StoredManifest, manifest) === null
      ? { report_id, ...manifest }
      : fail('content_corrupt')
  }),

  tenantRoute('POST /reports/:report_id/verify', {
    id: 'verifyReport',
    summary: 'Make the files again from the snapshot and compare the bytes',
    description:
      'The result of the job says for each file whether it is identical, or which of engine, fonts, template, snapshot, request, manifest and stored content differs.',
    roles: ['compliance_officer', 'auditor'],
    tx: 'write',
    uses: ['jobs'],
    params: ReportParams,
    reply: [202, JobView],
    starts: VERIFY_REPORT,
    problems: ['not_found', 'not_finished', 'erased', 'concurrency_limited'],
  }).handle(async (input) => {
    const { tx, kernel, audit } = input
    const report = await openReport(input, input.params.report_id)
    expectContent(report)
    if (report.snapshot_sha256 === null) fail('not_finished', 'The content of the report was not collected.')
    const { report_id } = report
    const { restriction_id } = audit.restriction
    return kernel.jobs.enqueue(tx, {
      kind: VERIFY_REPORT,
      payload: { report_id },
      resource: `/api/reports/${report_id}`,
      restriction_id,
    })
  }),

  tenantRoute('DELETE /reports/:report_id', {
    id: 'deleteReport',
    summary: 'Delete the content of a report; its record, manifest and hashes stay',
    description:
      'Refused with 409 `legal_hold` while a hold keeps it, and with 409 `retention` until the period of the class `reports` of ' +
      'the retention policy has passed.',
    roles: ['compliance_officer'],
    tx: 'write',
    params: ReportParams,
    query: ReportEnd,
    reply: [204, null],
    problems: ['not_found', 'not_finished', 'transition_not_allowed', 'legal_hold', 'retention'],
  }).handle(async (input) => {
    const { tx, params, query, audit } = input
    const report = await openReportForChange(input, params.report_id)
    assertRevision(report.revision, input)
    await expectDeletable(tx, report)
    await updateEnded(tx, [report.report_id], { state: 'deleted', reason: query.reason })
    await removeParts(tx, [report.report_id])
    audit.recordDiff({ state: report.state }, { state: 'deleted' })
    return undefined
  }),
]
