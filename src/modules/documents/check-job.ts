/** Once a day: compares the stored bytes of every document with their hash, and queues scans that are missing. */
import { defineJob } from '#kernel/job/define-job.ts'
import { closed } from '#kernel/schema.ts'
import { checkStoredBytes } from './check-document.ts'
import { PROCESS_DOCUMENT, recordDocumentEvent } from './processing-job.ts'
import { listStoredAfter, type StoredDocument, updateAbandoned, updateChecked } from './queries.ts'

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
  run: async ({ kernel, read, step, finish, signal, tenant_id, checkpoint }) => {
    let state = (checkpoint as Checkpoint | null) ?? { after: null, checked: 0, damaged: 0, scans: 0 }
    await step(async (tx) => {
      await updateAbandoned(tx)
      return {}
    })
    for (;;) {
      const documents = await read((tx) => listStoredAfter(tx, state.after, BATCH))
      for (const document of documents) {
        signal.throwIfAborted()
        const is_intact = await checkStoredBytes(kernel, { tenant_id, read }, document)
        const needsScan = kernel.scanner !== null && ['not_scanned', 'failed'].includes(document.scan_state)
        const isQueued = needsScan && state.scans < MAX_SCANS
        const next: Checkpoint = {
          after: document.document_id,
          checked: state.checked + 1,
          damaged: state.damaged + (is_intact ? 0 : 1),
          scans: state.scans + (isQueued ? 1 : 0),
        }
        await step(async (tx) => {
          // Bytes that fit again were restored: a person confirms that by verifying the document.
          if (is_intact && document.state === 'stored') await updateChecked(tx, document.document_id, 'stored')
          if (!is_intact) await updateChecked(tx, document.document_id, 'damaged')
          if (!is_intact && document.state === 'stored') recordDamage(document, tx)
          if (isQueued) await queueScan(document, tx)
          return { checkpoint: next, progress: { done: next.checked, unit: 'documents' } }
        })
        state = next
      }
      if (documents.length < BATCH) break
    }
    await finish(async () => ({ checked: state.checked, damaged: state.damaged, scans: state.scans }))
    return null

    function recordDamage({ document_id, restriction_id }: StoredDocument, tx: Parameters<typeof updateAbandoned>[0]) {
      const detail = { act: 'damaged' }
      recordDocumentEvent(kernel, tx, { kind: CHECK_DOCUMENTS, document_id, restriction_id, detail })
    }

    function queueScan({ document_id, restriction_id }: StoredDocument, tx: Parameters<typeof updateAbandoned>[0]) {
      return kernel.jobs.enqueue(tx, {
        kind: PROCESS_DOCUMENT,
        payload: { document_id },
        resource: `/documents/${document_id}`,
        restriction_id,
        unlimited: true,
      })
    }
  },
})
