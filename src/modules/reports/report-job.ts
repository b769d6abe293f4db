/** The job of a report: collects the snapshot once, stores it with its manifest, and makes one file after the other from it. */
import { nameActors, toName } from '#kernel/auth/actor-names.ts'
import { emit } from '#kernel/events/emit.ts'
import { declareEvent } from '#kernel/events/event-type.ts'
import { defineJob } from '#kernel/job/define-job.ts'
import type { JobContext } from '#kernel/job/kind.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { assertFound, fail, Problem } from '#kernel/problem.ts'
import type { CollectCapabilities } from '#kernel/report-template.ts'
import { closed, Id } from '#kernel/schema.ts'
import { PdfFailure } from '#kernel/typesetting/pdf-compiler.ts'
import { findTemplate, MAKE_REPORT } from './create-report.ts'
import type { ReportFormatName } from './model.ts'
import {
  findIssuer,
  findStoredReport,
  insertFile,
  insertSources,
  type StoredReport,
  updateCollected,
  updateFailed,
  updateReady,
  updateRestarted,
} from './queries.ts'
import { renderFormat } from './render/render-report.ts'
import { readSnapshot, storePart } from './report-content.ts'
import { createReportFormat } from './report-format.ts'
import { reportFiles } from './report-metrics.ts'
import {
  describeReport,
  hashManifest,
  hashReaders,
  hashRequest,
  hashText,
  newSalt,
  type Snapshot,
  toSnapshotText,
} from './snapshot.ts'

/** Of the plain snapshot. */
const MAX_SNAPSHOT_BYTES = 16 * 1024 * 1024

type Context = JobContext<
  { report_id: string },
  unknown,
  CollectCapabilities & Capabilities<'jobs' | 'metrics' | 'modules' | 'printing' | 'public_url'>
>

export const reportReady = declareEvent({
  type: 'report.ready',
  summary: 'A report was made and can be read.',
  object_kind: 'report',
  data: { template_key: 'Key of its template.' },
})

export const makeReportJob = defineJob({
  kind: MAKE_REPORT,
  summary: 'Collects the content of a report and makes its files.',
  payload: closed({ report_id: Id() }),
  // What was stored stays: a later attempt makes the files that are missing.
  resumes: 'restart',
  visible_to: ['analyst', 'compliance_officer', 'auditor', 'service'],
  uses: [
    ...(['caches', 'encryption', 'integrity', 'jobs', 'metrics', 'modules'] as const),
    ...(['plugin_policy', 'printing', 'public_url', 'threads'] as const),
  ],
  run: async (context) => {
    const { report_id } = context.payload
    await context.step(async (tx) => {
      await updateRestarted(tx, report_id)
      return {}
    })
    const report = await context.read((tx) => findStoredReport(tx, report_id))
    // Deleted or erased since.
    if (!report || report.state === 'deleted' || report.state === 'erased') return null
    let failure: string | null = null
    try {
      if (report.manifest === null) await collect(context, report)
      failure = await render(context)
    } catch (error) {
      await giveUp(context, error)
    }
    await context.finish(async (tx) => {
      await updateReady(tx, report_id, failure)
      const { template_key, own_restriction_id } = report
      await emit(tx, reportReady, { object_id: report_id, restriction_id: own_restriction_id, data: { template_key } })
      return { report_id }
    })
    return null
  },
})

/** What a later attempt would find again is said on the report too. */
async function giveUp({ step, payload, signal }: Context, error: unknown): Promise<never> {
  if (signal.aborted) throw error
  const problem = error instanceof PdfFailure ? toProblem(error) : error
  if (problem instanceof Problem)
    await step(async (tx) => {
      await updateFailed(tx, payload.report_id, problem.extra.detail ?? problem.message)
      return {}
    })
  throw problem
}

const toProblem = ({ message }: PdfFailure): Problem =>
  new Problem('format_unavailable', `No PDF file was made: ${message}`)

async function collect(context: Context, report: StoredReport): Promise<void> {
  const { kernel, read, step } = context
  const { report_id, parameters, formats, locale, time_zone } = report
  const template =
    findTemplate(kernel.modules, report.template_key) ?? fail('conflict', 'The template exists no longer.')
  const { collected, issuer, created_by } = await read(async (tx) => {
    await template.check?.(tx, parameters)
    return {
      collected: await template.collect(kernel, tx, parameters),
      issuer: assertFound(await findIssuer(tx)).name,
      created_by: toName(await nameActors(tx, [report.created_by]), report.created_by),
    }
  })
  const salt = newSalt()
  const { decisions, list_versions } = collected
  const sources = [...new Set(collected.restrictions)].sort()
  const made = { template, formats, parameters, decisions, list_versions, snapshot: report }
  const described = await describeReport(kernel.printing, made)
  const snapshot: Snapshot = {
    format: 'probity-report/1',
    salt,
    report_id,
    template: { key: template.key, version: template.version, title: template.title },
    issuer,
    locale,
    time_zone,
    is_restricted: report.is_restricted,
    created_at: report.created_at,
    created_by,
    request_sha256: hashRequest(salt, report),
    readers_sha256: hashReaders(salt, { ...report, sources }),
    manifest_sha256: hashManifest(salt, described),
    service_url: kernel.public_url,
    data: collected.data,
    document: template.arrange(collected.data, createReportFormat(locale, time_zone)),
  }
  const text = toSnapshotText(snapshot)
  if (text.length > MAX_SNAPSHOT_BYTES)
    fail('report_invalid', 'The content is larger than a report can hold. Choose a shorter period or fewer versions.')
  const manifest = { ...described, snapshot_sha256: hashText(text) }
  await step(async (tx) => {
    await storePart(kernel, tx, report, { part: 'snapshot', bytes: Buffer.from(text) })
    if (sources.length > 0) await insertSources(tx, report_id, sources)
    await updateCollected(tx, report_id, { manifest, source_count: sources.length })
    return { progress: { done: 1, total: formats.length + 1, unit: 'parts' } }
  })
}

/** A file that can never be made of this content does not take the others away; one that failed for another reason is tried again. */
const isLost = (error: unknown, made: readonly string[]): error is PdfFailure =>
  error instanceof PdfFailure && error.reason === 'refused' && made.length > 0

/**
 * From what is stored, never from what was collected: a later attempt has nothing else. PDF comes last; why there is none is returned.
 */
async function render(context: Context): Promise<string | null> {
  const { kernel, read, step, payload, tenant_id, signal } = context
  const { report, input } = await read(async (tx) => {
    const stored = assertFound(await findStoredReport(tx, payload.report_id))
    if (stored.manifest === null) return fail('erased')
    const { snapshot } = await readSnapshot(kernel, tx, stored)
    return { report: stored, input: { snapshot, manifest: stored.manifest } }
  })
  const made = report.files.map(({ format }) => format)
  const missing = report.formats.filter((format): format is ReportFormatName => !made.includes(format))
  let failure: string | null = null
  for (const format of [...missing].sort((one, two) => Number(one === 'pdf') - Number(two === 'pdf'))) {
    const started = performance.now()
    const bytes = await renderFormat(kernel.printing, format, input, { caller: tenant_id, signal }).catch((error) => {
      if (!isLost(error, made)) throw error
      failure = toProblem(error).extra.detail ?? null
      return null
    })
    if (bytes === null) continue
    kernel.metrics.observe(reportFiles, { format }, (performance.now() - started) / 1000)
    await step(async (tx) => {
      await storePart(kernel, tx, report, { part: format, bytes })
      await insertFile(tx, report.report_id, { format, sha256: hashText(bytes), size_bytes: bytes.length })
      return { progress: { done: made.push(format) + 1, total: report.formats.length + 1, unit: 'parts' } }
    })
  }
  return failure
}
