/** The job that carries out a confirmed erasure. */
import { defineJob } from '#kernel/job/define-job.ts'
import { Problem } from '#kernel/problem.ts'
import { closed, Id } from '#kernel/schema.ts'
import { findErasure } from './queries.ts'
import { runErasure, SUBJECT_ERASURE } from './run-erasure.ts'

/** How often it looks whether a hold that keeps a part was released. */
const HELD_PAUSE_MS = 300_000

export const subjectErasureJob = defineJob({
  kind: SUBJECT_ERASURE,
  summary: 'Erases a subject: destroys its key, overwrites live rows and signs a certificate.',
  payload: closed({ erasure_id: Id() }),
  // Tried for days: nothing else continues what two people confirmed.
  max_attempts: 1000,
  can_cancel: false,
  // The steps that are done are rows of their own.
  resumes: 'restart',
  visible_to: ['compliance_officer', 'tenant_admin', 'auditor'],
  // What belongs to a restriction is erased too.
  sees: 'all',
  uses: ['modules', 'encryption', 'auditKeys', 'erasureLedger', 'backup_days'],
  run: async ({ payload, tenant_id, read, step, defer, kernel }) => {
    const { erasure_id } = payload
    const write: Parameters<typeof runErasure>[1]['write'] = (body) =>
      step(async (tx) => {
        await body(tx)
        return { audit: { erasure_id } }
      })
    try {
      await runErasure(kernel, { read, write }, { tenant_id, erasure_id })
    } catch (error) {
      // It has begun, and goes on when the hold is released.
      const isHeld = error instanceof Problem && error.code === 'legal_hold'
      if (isHeld && (await read((tx) => findErasure(tx, erasure_id)))?.state === 'executing')
        defer(new Date(Date.now() + HELD_PAUSE_MS), error)
      throw error
    }
    return { erasure_id }
  },
})
