/** Whether the content of a report may be given out, and whether it may be deleted. */
import type { AuditNotes } from '#kernel/audit/record.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import { isHeld } from '#modules/holds/index.ts'
import { findRetentionPolicy } from '#modules/tenant/index.ts'
import type { ReportFormatName } from './model.ts'
import { findReport, findReportRestriction, lockReport, type ReportFile, type ReportRow } from './queries.ts'

const DAY_MS = 86_400_000

interface Reader {
  readonly tx: Tx
  readonly actor: { readonly roles: readonly string[] }
  readonly audit: Pick<AuditNotes, 'belongsTo'>
}

async function noteReport({ tx, audit }: Reader, report_id: string): Promise<void> {
  audit.belongsTo(assertFound(await findReportRestriction(tx, report_id)))
}

/** 404 where it does not exist, is hidden, or none of the roles may read it. */
export async function openReport(reader: Reader, report_id: string): Promise<ReportRow> {
  const report = assertFound(await findReport(reader.tx, reader.actor.roles, report_id))
  await noteReport(reader, report_id)
  return report
}

export async function openReportForChange(reader: Reader, report_id: string): Promise<ReportRow> {
  const report = assertFound(await lockReport(reader.tx, reader.actor.roles, report_id))
  await noteReport(reader, report_id)
  return report
}

/** Deleted and erased reports have no content. */
export function expectContent({ state, files, snapshot_sha256, job_id }: ReportRow): void {
  if (state === 'deleted' || state === 'erased') fail('erased', { members: { snapshot_sha256, files } })
  if (state === 'collecting') fail('not_finished', `The content of the report is being collected by job ${job_id}.`)
}

/** A file that the job still makes is another answer than one that it will never make. */
export function getFile(report: ReportRow, format: ReportFormatName): ReportFile {
  expectContent(report)
  const { state, files, formats, failure, job_id } = report
  const file = files.find((one) => one.format === format)
  if (file) return file
  if (state === 'rendering' && formats.includes(format))
    return fail('not_finished', `The ${format} file is being made by job ${job_id}.`)
  const isRequested = formats.includes(format) && failure !== null
  return fail('format_unavailable', isRequested ? failure : `The report was not requested as ${format}.`)
}

/** Holds first: the period passes by itself. A class that the policy does not name is kept, and so is one without a period. */
export async function expectDeletable(tx: Tx, { report_id, subject_id, state, ready_at }: ReportRow): Promise<void> {
  if (state === 'collecting' || state === 'rendering') fail('not_finished', 'The report is being made.')
  if (state === 'deleted' || state === 'erased') fail('transition_not_allowed', `The report is ${state}.`)
  if (await isHeld(tx, [report_id, subject_id])) fail('legal_hold')
  if (ready_at === null) return
  const policy = await findRetentionPolicy(tx)
  const keep_days = policy?.classes.find(({ record_class }) => record_class === 'reports')?.keep_days ?? null
  if (keep_days === null)
    fail('retention', { detail: 'The retention policy keeps reports without limit.', members: { keep_until: null } })
  const keep_until = new Date(Date.parse(ready_at) + keep_days * DAY_MS).toISOString()
  if (Date.parse(keep_until) > Date.now())
    fail('retention', { detail: `The retention policy keeps it until ${keep_until}.`, members: { keep_until } })
}
