/** Accepts the request for a report: finds its template, checks the parameters, and starts the job that makes it. */
import type { Tx } from '#kernel/database/tx.ts'
import { describeSchemaErrors } from '#kernel/http/validation.ts'
import type { JobRow } from '#kernel/job/queries.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import type { Module } from '#kernel/module.ts'
import { assertFound, assertReferenced, fail } from '#kernel/problem.ts'
import type { ReportTemplate } from '#kernel/report-template.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { findRestriction, prepareRestriction } from '#modules/restrictions/index.ts'
import { type ReportFormatName, reportFormats } from './model.ts'
import { findIssuer, insertReport } from './queries.ts'
import { isLocale, isTimeZone } from './report-format.ts'

export const MAKE_REPORT = 'report'

export interface ReportRequest {
  readonly template: string
  readonly parameters?: Record<string, unknown>
  readonly formats?: readonly ReportFormatName[]
  readonly locale?: string
  readonly time_zone?: string
  readonly restriction_id?: string | null
}

export type CreateCapabilities = Capabilities<'jobs' | 'modules' | 'printing'>

export const listTemplates = (modules: readonly Module[]): ReportTemplate[] =>
  modules.flatMap(({ report_templates = [] }) => report_templates)

export const findTemplate = (modules: readonly Module[], key: string): ReportTemplate | undefined =>
  listTemplates(modules).find((template) => template.key === key)

export function refuse(pointer: string, detail: string): never {
  return fail('report_invalid', { detail, errors: [{ in: 'body', pointer: `#/${pointer}`, detail }] })
}

/** The template, where one of the roles may request it. */
export function getTemplate(modules: readonly Module[], key: string, roles: readonly string[] | null): ReportTemplate {
  const template = findTemplate(modules, key)
  if (!template || !(roles === null || template.roles.some((role) => roles.includes(role))))
    return refuse('template', 'There is no such template, or none of your roles may request it.')
  return template
}

export function expectParameters(template: ReportTemplate, parameters: Record<string, unknown>): void {
  const fault = describeSchemaErrors(template.parameters, parameters)
  if (fault !== null) refuse('parameters', `The parameters do not fit the template: ${fault}.`)
}

/** All formats of the installation where none is named; PDF only where it can be made. */
export async function chooseFormats(
  { printing }: Capabilities<'printing'>,
  formats: readonly ReportFormatName[] | undefined,
): Promise<ReportFormatName[]> {
  const hasPdf = (formats === undefined || formats.includes('pdf')) && (await printing.pdf.findEngine()) !== null
  if (formats === undefined) return reportFormats.filter((format) => format !== 'pdf' || hasPdf)
  if (formats.includes('pdf') && !hasPdf)
    fail(
      'format_unavailable',
      'PDF files cannot be made here: the package @myriaddreamin/typst-ts-node-compiler is not installed for this platform.',
    )
  return reportFormats.filter((format) => formats.includes(format))
}

export function expectLocale({ locale, time_zone }: Pick<ReportRequest, 'locale' | 'time_zone'>): void {
  if (locale !== undefined && !isLocale(locale)) refuse('locale', 'There is no such locale. Give one such as en-GB.')
  if (time_zone !== undefined && !isTimeZone(time_zone))
    refuse('time_zone', 'There is no such time zone. Give an IANA name such as Europe/Berlin.')
}

export const DEFAULT_LOCALE = 'en-GB'

/** That of the request, of what the report is about, or a new one, so that the report can be restricted later. */
async function chooseRestriction(
  tx: Tx,
  request: ReportRequest,
  own: string | null,
  report_id: string,
): Promise<string> {
  if (request.restriction_id) {
    assertReferenced(await findRestriction(tx, request.restriction_id), 'restriction with this id')
    if (own !== null && own !== request.restriction_id)
      refuse('restriction_id', 'What the report is about belongs to another restriction.')
    return request.restriction_id
  }
  return own ?? prepareRestriction(tx, `Report ${report_id}`, 'report')
}

export interface CreatedReport {
  readonly report_id: string
  readonly job: JobRow
}

/** `roles` null: a schedule requests it. */
export async function createReport(
  kernel: CreateCapabilities,
  tx: Tx,
  request: ReportRequest,
  {
    roles,
    formats,
    schedule_id = null,
  }: {
    readonly roles: readonly string[] | null
    readonly formats: readonly ReportFormatName[]
    readonly schedule_id?: string | null
  },
): Promise<CreatedReport> {
  const template = getTemplate(kernel.modules, request.template, roles)
  const { parameters = {}, locale = DEFAULT_LOCALE } = request
  expectParameters(template, parameters)
  expectLocale(request)
  await template.check?.(tx, parameters)
  const issuer = assertFound(await findIssuer(tx))
  const [report_id, job_id] = [uuidv7(), uuidv7()]
  const own = (await template.findRestriction?.(tx, parameters)) ?? null
  const restriction_id = await chooseRestriction(tx, request, own, report_id)
  await insertReport(tx, {
    report_id,
    restriction_id,
    subject_id: (await template.findSubject?.(tx, parameters)) ?? null,
    template_key: template.key,
    template_version: template.version,
    parameters,
    formats,
    readers: template.roles,
    locale,
    time_zone: request.time_zone ?? issuer.time_zone,
    schedule_id,
    job_id,
  })
  const job = await kernel.jobs.enqueue(tx, {
    kind: MAKE_REPORT,
    payload: { report_id },
    job_id,
    resource: `/api/reports/${report_id}`,
    restriction_id,
    total: formats.length + 1,
    unit: 'parts',
    ...(schedule_id !== null && { unlimited: true }),
  })
  return { report_id, job }
}
