/** The job of acts on many alerts. */
import { defineJob } from '#kernel/job/define-job.ts'
import { closed, type Static, Type, text } from '#kernel/schema.ts'
import { BulkRequest } from '../schema.ts'
import { type BulkItem, performBulk } from './bulk.ts'

export const ALERT_BULK = 'alert-bulk'

const BULK_STEP = 100

const { dry_run: _, ...asked } = BulkRequest.properties
const BulkPayload = closed({ ...asked, principal: text(200), may_release_others: Type.Boolean() })

export const bulkJob = defineJob({
  kind: ALERT_BULK,
  summary: 'Does the same with many alerts.',
  payload: BulkPayload,
  resumes: 'checkpoint',
  // Its result names what was refused, and people without access read it: a restricted alert does not exist for it.
  visible_to: ['analyst', 'compliance_officer', 'auditor'],
  uses: ['auditKeys', 'caches', 'encryption', 'jobs', 'modules'],
  run: async ({ payload, checkpoint, step, finish, kernel, signal }) => {
    const { alert_ids, principal, may_release_others, ...act } = payload as Static<typeof BulkPayload>
    const total = alert_ids.length
    let { done, refused } = (checkpoint as { done: number; refused: BulkItem[] } | null) ?? { done: 0, refused: [] }
    for (let from = done + refused.length; from < total; from += BULK_STEP) {
      signal.throwIfAborted()
      await step(async (tx) => {
        const portion = { ...act, alert_ids: alert_ids.slice(from, from + BULK_STEP), dry_run: false }
        const items = await performBulk(kernel, tx, portion, { principal, may_release_others, request_id: null })
        const before = { done, refused }
        done = before.done + items.filter((item) => item.done).length
        refused = [...before.refused, ...items.filter((item) => !item.done)]
        return { checkpoint: { done, refused }, progress: { done: done + refused.length, total, unit: 'alerts' } }
      })
    }
    await finish(async () => ({ done, refused: refused.length, items: refused }))
    return null
  },
})
