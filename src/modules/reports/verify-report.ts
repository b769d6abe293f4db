/** Makes the files of a report again from its snapshot and compares them with the stored hashes. */
import { isDeepStrictEqual } from 'node:util'
import type { Tx } from '#kernel/database/tx.ts'
import { describeSchemaErrors } from '#kernel/http/validation.ts'
import { defineJob } from '#kernel/job/define-job.ts'
import type { JobContext } from '#kernel/job/kind.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { assertFound, fail, Problem } from '#kernel/problem.ts'
import { closed, Id } from '#kernel/schema.ts'
import { PdfFailure } from '#kernel/typesetting/pdf-compiler.ts'
import type { Printing } from '#kernel/typesetting/printing.ts'
import type { ReportFormatName, ReportPart } from './model.ts'
import { findStoredReport, type ReportFile, type StoredReport, updateVerified } from './queries.ts'
import { type RenderInput, type RenderOptions, renderFormat } from './render/render-report.ts'
import { readPart } from './report-content.ts'
import { reportVerifications } from './report-metrics.ts'
import { StoredManifest } from './schema.ts'
import {
  describePrinting,
  hashManifest,
  hashReaders,
  hashRequest,
  hashText,
  type Manifest,
  type Snapshot,
} from './snapshot.ts'

export const VERIFY_REPORT = 'report-verification'

/**
 * What a file was made with and what is used now: `engine` is the compiler or the renderer; `template` is layout and stylesheet; `snapshot` and `content` mean that stored bytes were
 * altered; `request`: what the row says was requested, when, and for which readers is not what was; `manifest`: it cannot be read, or is not the one that was stored; `missing`: the file cannot be made here.
 */
export const differences = [
  ...(['engine', 'fonts', 'template'] as const),
  ...(['snapshot', 'request', 'manifest', 'content', 'missing', 'unexplained'] as const),
] as const
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
  const { layout_sha256 = manifest.template.sha256 } = manifest
  if ((isPdf || format === 'html') && now.layout_sha256 !== layout_sha256) found.push('template')
  return found
}

/** Members of a stored object have an order of their own. */
const sortFonts = (fonts: Manifest['fonts']): string[] => fonts.map(({ file, sha256 }) => `${file} ${sha256}`)

export interface VerifyInput extends RenderInput {
  readonly snapshot_text: string
}

/** What differs of the row and the manifest from the snapshot, which nobody alters without the key. */
export function listAltered(report: StoredReport, input: RenderInput): Difference[] {
  const found: Difference[] = []
  if (!isAsRequested(report, input)) found.push('request')
  if (!isManifestIntact(input)) found.push('manifest')
  return found
}

function isAsRequested(report: StoredReport, { snapshot, manifest }: RenderInput): boolean {
  const { template_key: key, template_version: version, locale, time_zone, parameters, formats, files } = report
  const { template, request_sha256, readers_sha256, salt } = snapshot
  if (request_sha256 !== undefined && request_sha256 !== hashRequest(salt, report)) return false
  if (readers_sha256 !== undefined && readers_sha256 !== hashReaders(salt, report)) return false
  // A file that could not be made is explained by `failure`.
  const hasFiles = report.state !== 'ready' || report.failure !== null || files.length >= formats.length
  return (
    hasFiles &&
    snapshot.report_id === report.report_id &&
    isSameTime(snapshot.created_at, report.created_at) &&
    isEqual([key, version, locale, time_zone], [template.key, template.version, snapshot.locale, snapshot.time_zone]) &&
    isEqual([key, version, locale, time_zone], [...getTemplate(manifest), manifest.locale, manifest.time_zone]) &&
    isDeepStrictEqual(parameters, manifest.parameters)
  )
}

/** Of reports of earlier releases, as far as the manifest repeats what is stored elsewhere. */
function isManifestIntact({ snapshot, manifest }: RenderInput): boolean {
  const { manifest_sha256, salt, created_at } = snapshot
  if (manifest_sha256 !== undefined) return manifest_sha256 === hashManifest(salt, manifest)
  const { decisions, receipts } = manifest
  const cited = decisions?.map(({ receipt_id }) => receipt_id) ?? receipts
  return isEqual(cited, receipts) && isSameTime(created_at, manifest.created_at)
}

const isSameTime = (one: string, two: string): boolean => Date.parse(one) === Date.parse(two)

const getTemplate = ({ template }: Manifest) => [template.key, template.version]

interface StoredContent {
  readonly sha256: string
  readonly size_bytes: number
}

interface StoredFile extends ReportFile {
  /** Undefined: there is none, or it cannot be read. */
  readonly stored: StoredContent | undefined
}

/** `input` null: the snapshot cannot be read. */
export async function verifyFile(
  printing: Printing,
  { report, input, manifest, altered }: Omit<Verification, 'stored'>,
  { format, sha256, size_bytes, stored }: StoredFile,
  options: RenderOptions,
): Promise<VerifiedFile> {
  if (manifest === null) return { format, is_identical: false, sha256, made_sha256: null, differs: [...altered] }
  const differs = await compareInstallation(printing, format, manifest)
  const snapshot_sha256 = input && hashText(input.snapshot_text)
  const hasSnapshot = snapshot_sha256 === manifest.snapshot_sha256 && snapshot_sha256 === report.snapshot_sha256
  if (!hasSnapshot) differs.push('snapshot')
  differs.push(...altered)
  const hasContent = stored?.sha256 === sha256 && stored.size_bytes === size_bytes
  if (!hasContent) differs.push('content')
  const made_sha256 = input === null ? null : await makeAgain(printing, format, input, options)
  if (made_sha256 === null && input !== null) differs.push('missing')
  const is_identical = hasSnapshot && altered.length === 0 && made_sha256 === sha256 && hasContent
  if (!is_identical && differs.length === 0) differs.push('unexplained')
  return { format, is_identical, sha256, made_sha256, differs }
}

const makeAgain = (
  printing: Printing,
  format: ReportFormatName,
  input: RenderInput,
  options: RenderOptions,
): Promise<string | null> =>
  renderFormat(printing, format, input, options).then(hashText, (error: unknown) => {
    if (!(error instanceof PdfFailure)) throw error
    return null
  })

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
    const loaded = await context.read((tx) => loadVerification(context.kernel, tx, report_id))
    const { report, stored } = loaded
    const verified: VerifiedFile[] = []
    for (const file of report.files) {
      const options = { caller: context.tenant_id, signal: context.signal }
      const found = { ...file, stored: stored.get(file.format) }
      verified.push(await verifyFile(context.kernel.printing, loaded, found, options))
    }
    const { altered } = loaded
    const is_identical = altered.length === 0 && verified.every((file) => file.is_identical)
    reportResult(context, report, { is_identical, files: verified, altered })
    await context.finish(async (tx) => {
      await updateVerified(tx, report_id, is_identical)
      return { report_id, is_identical, files: verified }
    })
    return null
  },
})

interface Verification {
  readonly report: StoredReport
  /** Null: it is not one. */
  readonly manifest: Manifest | null
  readonly input: VerifyInput | null
  /** What differs of the row and the manifest. */
  readonly altered: readonly Difference[]
  readonly stored: ReadonlyMap<ReportFormatName, StoredContent>
}

/** Undefined where the stored bytes are not what was encrypted. A key that was destroyed is another matter. */
async function readIntact(kernel: Context['kernel'], tx: Tx, report: StoredReport, part: ReportPart) {
  try {
    return await readPart(kernel, tx, report, part)
  } catch (error) {
    if (error instanceof Problem && error.code === 'content_corrupt') return undefined
    throw error
  }
}

async function loadVerification(kernel: Context['kernel'], tx: Tx, report_id: string): Promise<Verification> {
  const report = assertFound(await findStoredReport(tx, report_id))
  if (report.manifest === null || report.state === 'deleted' || report.state === 'erased') return fail('erased')
  const snapshot_text = (await readIntact(kernel, tx, report, 'snapshot'))?.toString('utf8')
  const stored = new Map<ReportFormatName, StoredContent>()
  for (const { format } of report.files) {
    const content = await readIntact(kernel, tx, report, format)
    if (content) stored.set(format, { sha256: hashText(content), size_bytes: content.length })
  }
  if (describeSchemaErrors(StoredManifest, report.manifest) !== null)
    return { report, manifest: null, stored, input: null, altered: ['manifest'] }
  const { manifest } = report
  if (snapshot_text === undefined) return { report, manifest, stored, input: null, altered: [] }
  const input = { snapshot: JSON.parse(snapshot_text) as Snapshot, manifest, snapshot_text }
  return { report, manifest, stored, input, altered: listAltered(report, input) }
}

/** A difference that the installation does not explain means that stored bytes were altered, or that the same input gave other bytes. */
function reportResult(
  { kernel, tenant_id }: Context,
  { report_id }: StoredReport,
  { is_identical, altered, files }: Pick<Verification, 'altered'> & { is_identical: boolean; files: VerifiedFile[] },
): void {
  kernel.metrics.increment(reportVerifications, { result: is_identical ? 'identical' : 'different' })
  const alteredFiles = files.filter(({ differs }) =>
    ['snapshot', 'request', 'manifest', 'content', 'unexplained'].some((one) => differs.includes(one as Difference)),
  )
  if (alteredFiles.length > 0 || altered.length > 0)
    kernel.raiseAlarm(
      'report_altered',
      { tenant_id, report_id, formats: alteredFiles.map(({ format }) => format) },
      'a report cannot be made again from its snapshot',
    )
}
