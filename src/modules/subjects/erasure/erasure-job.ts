/** The job that carries out a confirmed erasure. */
import { defineJob } from '#kernel/job/define-job.ts'
import { closed, Id } from '#kernel/schema.ts'
import { runErasure } from './run-erasure.ts'

export const SUBJECT_ERASURE = 'subject-erasure'

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
  run: async ({ payload, tenant_id, read, step, kernel }) => {
    const { erasure_id } = payload
    const write: Parameters<typeof runErasure>[1]['write'] = (body) =>
      step(async (tx) => {
        await body(tx)
        return { audit: { erasure_id } }
      })
    await runErasure(kernel, { read, write }, { tenant_id, erasure_id })
    return { erasure_id }
  },
})
