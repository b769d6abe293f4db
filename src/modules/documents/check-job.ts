/** Once a day: compares the stored bytes of every document with their hash, and queues scans that are missing. */
import type { Tx } from '#kernel/database/tx.ts'
import { defineJob } from '#kernel/job/define-job.ts'
import type { JobContext } from '#kernel/job/kind.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { closed } from '#kernel/schema.ts'
import { checkStoredBytes } from './check-document.ts'
import { PROCESS_DOCUMENT, recordDocumentEvent } from './processing-job.ts'
import { listRestrictedAfter, listStoredAfter, type StoredDocument, updateAbandoned, updateChecked } from './queries.ts'

export const CHECK_DOCUMENTS = 'document-check'

const BATCH = 50
/** Scans that one run queues; the others wait for the next night. */
const MAX_SCANS = 1000

interface Checkpoint {
  readonly after: string | null
  readonly checked: number
  readonly damaged: number
  readonly scans: number
}
const START: Checkpoint = { after: null, checked: 0, damaged: 0, scans: 0 }

type CheckKernel = Capabilities<'auditKeys' | 'jobs' | 'metrics' | 'raiseAlarm' | 'scanner'>
type Context = JobContext<unknown, Checkpoint, CheckKernel>

export const checkDocumentsJob = defineJob({
  kind: CHECK_DOCUMENTS,
  every_s: 86_400,
  summary: 'Compares the stored bytes of every document with their hash, and raises an alarm for each difference.',
  payload: closed({}),
  resumes: 'checkpoint',
  visible_to: ['compliance_officer', 'auditor', 'tenant_admin'],
  // Bytes of restricted documents are checked too.
  sees: 'all',
  uses: ['auditKeys', 'jobs', 'metrics', 'raiseAlarm', 'scanner'],
  run: async (context: Context) => {
    const { read, step, write, visible, finish } = context
    await step(async (tx) => {
      await updateAbandoned(tx)
      return {}
    })
    const { checked, damaged, scans } = await checkAll(context, context.checkpoint ?? START, {
      list: (after) => visible.read((tx) => listStoredAfter(tx, after, BATCH)),
      save: (checkpoint, apply) =>
        step(async (tx) => {
          await apply(tx)
          return { checkpoint, progress: { done: checkpoint.checked, unit: 'documents' } }
        }),
    })
    // Not counted, and without steps of the job: its readers do not know of these.
    await checkAll(context, START, {
      list: (after) => read((tx) => listRestrictedAfter(tx, after, BATCH)),
      save: (_, apply) => write(apply),
    })
    await finish(async () => ({ checked, damaged, scans }))
    return null
  },
})

interface Pass {
  readonly list: (after: string | null) => Promise<readonly StoredDocument[]>
  readonly save: (next: Checkpoint, apply: (tx: Tx) => Promise<void>) => Promise<void>
}

async function checkAll(context: Context, start: Checkpoint, { list, save }: Pass): Promise<Checkpoint> {
  const { kernel, read, signal, tenant_id } = context
  let state = start
  for (;;) {
    const documents = await list(state.after)
    for (const document of documents) {
      signal.throwIfAborted()
      const is_intact = await checkStoredBytes(kernel, { tenant_id, read }, document)
      const needsScan = kernel.scanner !== null && ['not_scanned', 'failed'].includes(document.scan_state)
      const isQueued = needsScan && state.scans < MAX_SCANS
      state = {
        after: document.document_id,
        checked: state.checked + 1,
        damaged: state.damaged + (is_intact ? 0 : 1),
        scans: state.scans + (isQueued ? 1 : 0),
      }
      await save(state, async (tx) => {
        await storeCheck(kernel, tx, document, is_intact)
        if (isQueued) await queueScan(kernel, tx, document)
      })
    }
    if (documents.length < BATCH) return state
  }
}

async function storeCheck(
  kernel: CheckKernel,
  tx: Tx,
  { document_id, restriction_id, state }: StoredDocument,
  is_intact: boolean,
): Promise<void> {
  // Bytes that fit again were restored: a person confirms that by verifying the document.
  if (is_intact && state === 'stored') await updateChecked(tx, document_id, 'stored')
  if (!is_intact) await updateChecked(tx, document_id, 'damaged')
  const detail = { act: 'damaged' }
  if (!is_intact && state === 'stored')
    recordDocumentEvent(kernel, tx, { kind: CHECK_DOCUMENTS, document_id, restriction_id, detail })
}

const queueScan = (kernel: CheckKernel, tx: Tx, { document_id, restriction_id }: StoredDocument) =>
  kernel.jobs.enqueue(tx, {
    kind: PROCESS_DOCUMENT,
    payload: { document_id },
    resource: `/api/documents/${document_id}`,
    restriction_id,
    unlimited: true,
  })
