/** Makes the files of a report again from its snapshot and compares them with the stored hashes. */
import { defineJob } from '#kernel/job/define-job.ts'
import type { JobContext } from '#kernel/job/kind.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import { closed, Id } from '#kernel/schema.ts'
import { PdfFailure } from '#kernel/typesetting/pdf-compiler.ts'
import type { Printing } from '#kernel/typesetting/printing.ts'
import type { ReportFormatName } from './model.ts'
import { findStoredReport, type ReportFile, type StoredReport, updateVerified } from './queries.ts'
import { type RenderInput, type RenderOptions, renderFormat } from './render/render-report.ts'
import { readPart, readSnapshot } from './report-content.ts'
import { reportVerifications } from './report-metrics.ts'
import { describePrinting, hashText, type Manifest } from './snapshot.ts'

export const VERIFY_REPORT = 'report-verification'

/**
 * What a file was made with and what is used now: `engine` is the compiler or the renderer; `snapshot` and `content` mean that stored bytes were
 * altered; `missing`: the file cannot be made here.
 */
export const differences = ['engine', 'fonts', 'template', 'snapshot', 'content', 'missing', 'unexplained'] as const
export type Difference = (typeof differences)[number]

export interface VerifiedFile {
  readonly format: ReportFormatName
  readonly is_identical: boolean
  readonly sha256: string
  /** Null where the file could not be made again. */
  readonly made_sha256: string | null
  readonly differs: Difference[]
}

const isEqual = (one: unknown, two: unknown): boolean => JSON.stringify(one) === JSON.stringify(two)

/** What changed in the installation since the report was made. */
export async function compareInstallation(printing: Printing, format: ReportFormatName, manifest: Manifest) {
  const now = await describePrinting(printing, [format])
  const found: Difference[] = []
  const isPdf = format === 'pdf'
  if (
    now.renderer !== manifest.renderer ||
    (isPdf && (now.engine?.version !== manifest.engine?.version || now.engine?.name !== manifest.engine?.name))
  )
    found.push('engine')
  if (isPdf && !isEqual(sortFonts(now.fonts), sortFonts(manifest.fonts))) found.push('fonts')
  if ((isPdf || format === 'html') && now.sha256 !== manifest.template.sha256) found.push('template')
  return found
}

/** Members of a stored object have an order of their own. */
const sortFonts = (fonts: Manifest['fonts']): string[] => fonts.map(({ file, sha256 }) => `${file} ${sha256}`)

export interface VerifyInput extends RenderInput {
  readonly snapshot_text: string
}

/** `stored` is the hash of the stored file. */
export async function verifyFile(
  printing: Printing,
  input: VerifyInput,
  file: ReportFile & { readonly stored_sha256: string | null },
  options: RenderOptions,
): Promise<VerifiedFile> {
  const { format, sha256, stored_sha256 } = file
  const differs = await compareInstallation(printing, format, input.manifest)
  if (hashText(input.snapshot_text) !== input.manifest.snapshot_sha256) differs.push('snapshot')
  if (stored_sha256 !== sha256) differs.push('content')
  const made_sha256 = await renderFormat(printing, format, input, options).then(hashText, (error: unknown) => {
    if (!(error instanceof PdfFailure)) throw error
    return null
  })
  if (made_sha256 === null) differs.push('missing')
  const is_identical = made_sha256 === sha256 && stored_sha256 === sha256
  if (!is_identical && differs.length === 0) differs.push('unexplained')
  return { format, is_identical, sha256, made_sha256, differs }
}

type Context = JobContext<
  { report_id: string },
  unknown,
  Capabilities<'encryption' | 'metrics' | 'printing' | 'raiseAlarm'>
>

export const verifyReportJob = defineJob({
  kind: VERIFY_REPORT,
  summary: 'Makes the files of a report again and compares them with the stored hashes.',
  payload: closed({ report_id: Id() }),
  resumes: 'restart',
  visible_to: ['compliance_officer', 'auditor'],
  // It may be made from rows of several restrictions.
  sees: 'requester',
  uses: ['encryption', 'metrics', 'printing', 'raiseAlarm'],
  run: async (context) => {
    const { report_id } = context.payload
    const { report, input, stored } = await context.read((tx) => loadVerification(context.kernel, tx, report_id))
    const verified: VerifiedFile[] = []
    for (const file of report.files) {
      const options = { caller: context.tenant_id, signal: context.signal }
      const stored_sha256 = stored.get(file.format) ?? null
      verified.push(await verifyFile(context.kernel.printing, input, { ...file, stored_sha256 }, options))
    }
    const is_identical = verified.every((file) => file.is_identical)
    reportResult(context, report, verified)
    await context.finish(async (tx) => {
      await updateVerified(tx, report_id, is_identical)
      return { report_id, is_identical, files: verified }
    })
    return null
  },
})

async function loadVerification(
  kernel: Context['kernel'],
  tx: Parameters<typeof findStoredReport>[0],
  report_id: string,
) {
  const report = assertFound(await findStoredReport(tx, report_id))
  if (report.manifest === null || report.state === 'deleted' || report.state === 'erased') return fail('erased')
  const { bytes, snapshot } = await readSnapshot(kernel, tx, report)
  const stored = new Map<ReportFormatName, string>()
  for (const { format } of report.files) {
    const content = await readPart(kernel, tx, report, format)
    if (content) stored.set(format, hashText(content))
  }
  return { report, stored, input: { snapshot, manifest: report.manifest, snapshot_text: bytes.toString('utf8') } }
}

/** A difference that the installation does not explain means that stored bytes were altered, or that the same input gave other bytes. */
function reportResult(
  { kernel, tenant_id }: Context,
  { report_id }: StoredReport,
  files: readonly VerifiedFile[],
): void {
  const is_identical = files.every((file) => file.is_identical)
  kernel.metrics.increment(reportVerifications, { result: is_identical ? 'identical' : 'different' })
  const altered = files.filter(({ differs }) =>
    ['snapshot', 'content', 'unexplained'].some((one) => differs.includes(one as Difference)),
  )
  if (altered.length > 0)
    kernel.raiseAlarm(
      'report_altered',
      { tenant_id, report_id, formats: altered.map(({ format }) => format) },
      'a report cannot be made again from its snapshot',
    )
}
