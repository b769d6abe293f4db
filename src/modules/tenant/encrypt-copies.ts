/** Encrypts copies of personal content that earlier releases stored plain, in small transactions while the tenant is at work. */
import { defineJob } from '#kernel/job/define-job.ts'
import { declareMetric } from '#kernel/module-metrics.ts'
import { closed } from '#kernel/schema.ts'

/** Rows per transaction, and transactions per run; what is left waits for the next run. */
const STEP_ROWS = 200
const MAX_STEPS = 5000

export const copiesEncrypted = declareMetric({
  name: 'probity_copies_encrypted_total',
  help: 'Rows of earlier releases whose personal content was encrypted.',
  labels: {},
})

export const encryptCopiesJob = defineJob({
  kind: 'encrypt-copies',
  every_s: 3600,
  summary:
    'Encrypts decisions, items of batches and earlier versions of subjects that an earlier release stored plain.',
  payload: closed({}),
  // What is left to do is found in the rows.
  resumes: 'restart',
  uses: ['encryption', 'metrics', 'modules'],
  run: async ({ step, finish, kernel, signal }) => {
    const encrypted: Record<string, number> = {}
    let done = 0
    for (const { table, encrypt } of kernel.modules.flatMap(({ plain_copies = [] }) => plain_copies)) {
      encrypted[table] = 0
      for (let steps = 0, count = 1; steps < MAX_STEPS && count > 0; steps++) {
        signal.throwIfAborted()
        await step(async (tx) => {
          count = await encrypt(kernel, tx, { subject_id: null, count: STEP_ROWS })
          if (count === 0) return {}
          return { progress: { done: done + count, unit: 'rows' }, audit: { table, encrypted: count } }
        })
        done += count
        encrypted[table] += count
        if (count > 0) kernel.metrics.increment(copiesEncrypted, {}, count)
      }
    }
    await finish(async () => encrypted)
    return null
  },
})
