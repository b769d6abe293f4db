/** The job of acts on many alerts. */

import type { Tx } from '#kernel/database/tx.ts'
import { defineJob } from '#kernel/job/define-job.ts'
import { closed, type Static, Type, text } from '#kernel/schema.ts'
import { findPresentRoles } from '#modules/access/index.ts'
import { BulkRequest } from '../schema.ts'
import { type BulkCaller, performBulk } from './bulk.ts'

export const ALERT_BULK = 'alert-bulk'

const BULK_STEP = 100

/** Who may ask for it, and for whom the job still does it. */
export const bulkRoles = ['analyst', 'compliance_officer'] as const

const { dry_run: _, ...asked } = BulkRequest.properties
const BulkPayload = closed({ ...asked, principal: text(200), may_release_others: Type.Boolean() })

/** By its place in the request, from 1: the id would name an alert that is restricted later to everybody who may read the job. */
interface RefusedAlert {
  readonly position: number
  readonly code: string | null
  readonly detail: string | null
}

interface Progress {
  readonly done: number
  readonly refused: readonly RefusedAlert[]
}

/** As the principal may act now, and not only when it asked; undefined where it may not any more. */
async function findCaller(
  tx: Tx,
  { principal, may_release_others }: Pick<BulkCaller, 'principal' | 'may_release_others'>,
): Promise<BulkCaller | undefined> {
  const roles = await findPresentRoles(tx, principal)
  if (roles && !bulkRoles.some((role) => roles.includes(role))) return undefined
  const is_officer = roles === undefined || roles.includes('compliance_officer')
  return { principal, may_release_others: may_release_others && is_officer, request_id: null }
}

const refuseAll = (alert_ids: readonly string[], principal: string) =>
  alert_ids.map((alert_id) => ({
    alert_id,
    done: false,
    code: 'author_not_permitted',
    detail: `${principal} asked for this and is no longer active, or no longer has a role that may do it.`,
  }))

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
    const positions = new Map(alert_ids.map((alert_id, index) => [alert_id, index + 1]))
    let { done, refused } = (checkpoint as Progress | null) ?? { done: 0, refused: [] }
    for (let from = done + refused.length; from < total; from += BULK_STEP) {
      signal.throwIfAborted()
      await step(async (tx) => {
        const portion = { ...act, alert_ids: alert_ids.slice(from, from + BULK_STEP), dry_run: false }
        const caller = await findCaller(tx, { principal, may_release_others })
        const items = caller ? await performBulk(kernel, tx, portion, caller) : refuseAll(portion.alert_ids, principal)
        const before = { done, refused }
        done = before.done + items.filter((item) => item.done).length
        const refusals = items.flatMap(({ alert_id, done: isDone, code, detail }) =>
          isDone ? [] : [{ position: positions.get(alert_id) as number, code, detail }],
        )
        refused = [...before.refused, ...refusals]
        return { checkpoint: { done, refused }, progress: { done: done + refused.length, total, unit: 'alerts' } }
      })
    }
    const items = refused.toSorted((a, b) => a.position - b.position)
    await finish(async () => ({ done, refused: items.length, items }))
    return null
  },
})
