/** Reprocesses a quarantined payload under the version in force now: a new admission that cites the one before. */
import { defineJob } from '#kernel/job/define-job.ts'
import { closed, Id } from '#kernel/schema.ts'
import { admitPayload } from './admissions.ts'

export const REPROCESS_PAYLOAD = 'contract-reprocess'

export const reprocessJob = defineJob({
  kind: REPROCESS_PAYLOAD,
  summary: 'Checks a quarantined payload again, by the version of its contract that is in force now.',
  payload: closed({ payload_id: Id(), admission_id: Id() }),
  resumes: 'restart',
  visible_to: ['policy_editor', 'compliance_officer', 'auditor'],
  uses: ['transactions', 'caches', 'metrics', 'threads', 'encryption'],
  run: async ({ payload, scope, kernel, finish }) => {
    const { payload_id, admission_id } = payload
    const reprocess = { replaces_admission_id: admission_id }
    // Repeating it after a crash finds the admission that was made.
    const admission = await admitPayload(kernel, scope, { payload_id, reprocess })
    await finish(async () => ({
      payload_id,
      admission_id: admission.admission_id,
      replaces_admission_id: admission_id,
      result: admission.result,
      contract_version: admission.contract_version,
      violations: admission.violations.length + admission.more_violations,
    }))
    return null
  },
})
