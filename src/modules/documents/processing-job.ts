/** Takes over the bytes of a large upload, and has the document scanned where the operator configured a scanner. */
import { recordEvent } from '#kernel/audit/record.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { emit } from '#kernel/events/emit.ts'
import { defineJob } from '#kernel/job/define-job.ts'
import type { JobContext } from '#kernel/job/kind.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { type MalwareScanner, ScanFailed, type ScanVerdict } from '#kernel/malware-scanner.ts'
import { Problem } from '#kernel/problem.ts'
import { closed, Id, Type } from '#kernel/schema.ts'
import { findUpload, readUploadChunk, removeUpload } from '#modules/system/index.ts'
import { createTextCheck } from './content-type.ts'
import { countChunks, DocumentDigest, readDocument, storeChunk } from './document-bytes.ts'
import { documentStored } from './document-events.ts'
import { documentScans } from './document-metrics.ts'
import {
  type DocumentRow,
  findDocument,
  findStoring,
  removeChunks,
  updateFailed,
  updateScanned,
  updateStored,
} from './queries.ts'

export const PROCESS_DOCUMENT = 'document-processing'

/** The scanner is asked again then. */
const RESCAN_MS = 60_000

type ProcessKernel = Capabilities<'auditKeys' | 'encryption' | 'metrics' | 'scanner'>
type Context = JobContext<{ document_id: string; is_text?: boolean }, unknown, ProcessKernel>

/** An event of the document, beside the one of the job: custody is read from it. */
export const recordDocumentEvent = (
  kernel: Capabilities<'auditKeys'>,
  tx: Tx,
  event: {
    readonly kind: string
    readonly document_id: string
    readonly restriction_id: string | null
    readonly detail: Record<string, unknown>
  },
): string =>
  recordEvent(tx, kernel.auditKeys, {
    operation: `job:${event.kind}`,
    object_type: 'documents',
    object_id: event.document_id,
    request_id: null,
    detail: event.detail,
    restriction_id: event.restriction_id,
  })

/** The restriction of the job is that of the document. */
const getRestriction = ({ sight }: Context['scope']): string | null =>
  sight.startsWith('restriction:') ? sight.slice('restriction:'.length) : null

export const processDocumentJob = defineJob({
  kind: PROCESS_DOCUMENT,
  summary: 'Takes over the bytes of a document from its upload, and has it scanned for malware.',
  payload: closed({ document_id: Id(), is_text: Type.Optional(Type.Boolean()) }),
  resumes: 'restart',
  visible_to: ['analyst', 'compliance_officer', 'auditor', 'service'],
  uses: ['auditKeys', 'encryption', 'metrics', 'scanner'],
  run: async (context) => {
    const { document_id } = context.payload
    const found = await context.read((tx) => findDocument(tx, document_id))
    // Removed with its tenant or by retention.
    if (!found) return null
    if (found.state === 'storing') await takeOver(context).catch((error) => giveUp(context, error))
    const document = await context.read((tx) => findDocument(tx, document_id))
    if (document?.state !== 'stored' || !context.kernel.scanner) return { state: document?.state ?? null }
    return scan(context, document)
  },
})

/** What a later attempt would find again ends the document too. */
async function giveUp(context: Context, error: unknown): Promise<never> {
  const { document_id } = context.payload
  const isFinal = error instanceof Problem && ['document_refused', 'content_corrupt', 'not_found'].includes(error.code)
  if (isFinal)
    await context.step(async (tx) => {
      await updateFailed(tx, document_id)
      await removeChunks(tx, [document_id])
      return {}
    })
  throw error
}

async function takeOver(context: Context): Promise<void> {
  const { kernel, read, step, scope } = context
  const { document_id, is_text = false } = context.payload
  const { document, upload } = await read((tx) => loadStoring(tx, document_id))
  const { upload_id } = upload
  const total = countChunks(document.size_bytes)
  const digest = new DocumentDigest()
  const text = createTextCheck({ content: is_text ? 'text' : 'signature', media_type: document.media_type })
  // What an attempt before this one has left.
  await step(async (tx) => {
    await removeChunks(tx, [document_id])
    return { progress: { done: 0, total, unit: 'chunks' } }
  })
  for (let seq = 0; seq < total; seq++) {
    const plain = await read((tx) => readUploadChunk(tx, upload_id, seq))
    text.add(plain)
    let stored = plain
    await step(async (tx) => {
      stored = await storeChunk(kernel, tx, document, { seq, plain })
      return { progress: { done: seq + 1, total, unit: 'chunks' } }
    })
    digest.add(plain, stored)
  }
  text.end()
  const hashes = digest.end()
  if (hashes.sha256 !== upload.sha256) throw new Problem('content_corrupt')
  await step(async (tx) => {
    await updateStored(tx, document_id, hashes)
    await removeUpload(tx, upload_id)
    const restriction_id = getRestriction(scope)
    recordDocumentEvent(kernel, tx, { kind: PROCESS_DOCUMENT, document_id, restriction_id, detail: { act: 'stored' } })
    await emit(tx, documentStored, { object_id: document_id, restriction_id, data: {} })
    return {}
  })
}

async function loadStoring(tx: Tx, document_id: string) {
  const document = await findStoring(tx, document_id)
  const upload = document && (await findUpload(tx, document.upload_id))
  if (!upload) throw new Problem('not_found', 'The upload of the document is gone.')
  return { document, upload }
}

/** Without a verdict the document stays locked, and the scanner is asked again later. */
async function scan(context: Context, document: DocumentRow): Promise<Record<string, unknown>> {
  const { kernel, read, step, scope, signal } = context
  const { document_id } = document
  const store = (state: 'clean' | 'infected' | 'failed', result: string | null) =>
    step(async (tx) => {
      await updateScanned(tx, document_id, { state, result })
      const restriction_id = getRestriction(scope)
      const detail = { act: 'scanned', scan_state: state }
      recordDocumentEvent(kernel, tx, { kind: PROCESS_DOCUMENT, document_id, restriction_id, detail })
      return {}
    })
  let verdict: ScanVerdict
  try {
    verdict = await (kernel.scanner as MalwareScanner).scan(readDocument(kernel, read, document), signal)
  } catch (error) {
    if (!(error instanceof ScanFailed)) throw error
    kernel.metrics.increment(documentScans, { outcome: 'failed' })
    if (document.scan_state !== 'failed') await store('failed', error.message.slice(0, 200))
    context.log.warn({ document_id, reason: error.message }, 'failed to scan a document')
    return context.defer(new Date(Date.now() + RESCAN_MS), new Problem('dependency_unavailable', error.message))
  }
  kernel.metrics.increment(documentScans, { outcome: verdict.state })
  await store(verdict.state, verdict.state === 'infected' ? verdict.name : null)
  return { state: document.state, scan_state: verdict.state }
}
