/**
 * The job that imports a bulk file: it reads the file to its end first, so that a broken file changes nothing, then imports it
 * step by step. Another worker resumes after the last step.
 */
import { canonicalJson } from '#kernel/canonical-json.ts'
import { defineJob } from '#kernel/job/define-job.ts'
import type { JobContext } from '#kernel/job/kind.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import { closed, Id } from '#kernel/schema.ts'
import { readUpload } from '#modules/system/index.ts'
import type { Batch } from '#registry/adapter.ts'
import { countRows, NO_COUNTS } from './file-rows.ts'
import { type BulkProgress, importPortion, readBatches, toPortions } from './import-subjects.ts'
import { findBulk, removeExternalIds, updateBulkFinished } from './queries.ts'

const STEP_ROWS = 1000

interface Checkpoint extends BulkProgress {
  /** Number of rows in the file. */
  readonly total: number
}

const Payload = closed({ bulk_id: Id() })

export const subjectBulkJob = defineJob({
  kind: 'subject-bulk',
  summary: 'Makes and changes subjects from an uploaded file.',
  payload: Payload,
  resumes: 'checkpoint',
  uses: ['auditKeys', 'encryption'],
  run: async (context: JobContext<{ bulk_id: string }, Checkpoint, Capabilities<'auditKeys' | 'encryption'>>) => {
    const { read, step, finish, signal, kernel } = context
    const { bulk_id } = context.payload
    const bulk = assertFound(await read((tx) => findBulk(tx, bulk_id)))
    const upload_id = bulk.upload_id ?? fail('not_found', 'The upload is no longer there.')
    const batches = () => readBatches(readUpload(read, upload_id), bulk.format, bulk.options)

    let reached = context.checkpoint ?? (await countFileRows(context, batches()))
    for await (const portion of toPortions(batches(), bulk.format, reached.counts.rows, STEP_ROWS)) {
      signal.throwIfAborted()
      let next = reached
      await step(async (tx) => {
        next = { ...reached, ...(await importPortion(kernel, tx, bulk_id, { items: portion, before: reached })) }
        return {
          checkpoint: next,
          progress: { done: next.counts.rows, total: next.total, unit: 'rows' },
          audit: {
            bulk_id,
            counts: { ...next.counts },
            // A hash only: the event proves which rows were imported to whoever holds the file, and reveals nothing else.
            digest: kernel.auditKeys.fingerprint(canonicalJson(portion.map(({ subject }) => subject ?? null))),
          },
        }
      })
      reached = next
    }
    await finish(async (tx) => {
      await removeExternalIds(tx, bulk_id)
      await updateBulkFinished(tx, bulk_id)
      return { bulk_id, ...reached.counts }
    })
    return null
  },
})

/** Reads the file to its end without checking rows; a truncated or unreadable file fails here. */
async function countFileRows(
  { step, signal }: JobContext<unknown, Checkpoint>,
  batches: AsyncIterable<Batch>,
): Promise<Checkpoint> {
  let total = 0
  for await (const batch of batches) {
    signal.throwIfAborted()
    total += countRows(batch)
  }
  const checkpoint = { total, counts: NO_COUNTS, kept: 0 }
  await step(async () => ({ checkpoint, progress: { done: 0, total, unit: 'rows' } }))
  return checkpoint
}
